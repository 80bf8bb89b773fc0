// Ops at the edges of their domains: where what lies between overflows and the result does not, near
// roots, at 0 and without elements. The numbers are PyTorch's or the libraries' of C and SciPy.
#include <cmath>
#include <limits>

#include "refusals.h"

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// The first and the second derivative of sum(f(x)), along ones.
std::pair<Tensor, Tensor> slopes(const std::function<Tensor(const Tensor&)>& f,
                                 const Tensor& given) {
  const Tensor x = given.detach().requires_grad_();
  const Tensor first = tn::grad(f(x).sum(), x, {.create_graph = true});
  return {first.detach(), tn::grad(first.sum(), x)};
}

TEST(EdgeValues, LdexpIsFiniteWhereItsResultIs) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const std::vector<double> x = {0.5,       1, 0,           -0.0, kInf, 1e308,
                                   0x1p-1074, 3, 0x1.8p-1074, kNan, 2};
    const std::vector<int64_t> powers = {1024, -1074, 4000, -4000, -32768, -2000,
                                         2097, -1076, -1,   1,     2000};
    std::vector<double> expected;
    for (size_t i = 0; i < x.size(); ++i) expected.push_back(std::ldexp(x[i], int(powers[i])));
    const Tensor wide = tn::ldexp(Tensor::from(x, {11}).to(d), Tensor::from(powers, {11}).to(d));
    const std::vector<double> found = wide.to_vector<double>();
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(expected[i])) continue;
      EXPECT_EQ(found[i], expected[i]) << x[i] << " * 2 ** " << powers[i];
      EXPECT_EQ(std::signbit(found[i]), std::signbit(expected[i])) << i;
    }
    EXPECT_TRUE(std::isnan(found[9]));
    const Tensor ends = float64_tensor({1, 0, kInf, kInf, 2, 1}, {6}, d);
    const Tensor far = float64_tensor({kInf, kInf, kInf, -kInf, -kInf, kNan}, {6}, d);
    expect_near(tn::ldexp(ends, far), {kInf, kNan, kInf, kNan, 0, kNan});
    const std::vector<float> y = {3e38f, 0, 1e38f, 0x1p-149f, 1.5f, -1.f};
    const Tensor narrow = Tensor::from(y, {6}).to(d);
    const auto [mantissa, exponent] = tn::frexp(narrow);
    EXPECT_EQ(tn::ldexp(mantissa, exponent).to_vector<float>(), y);
    const std::vector<int64_t> by = {-250, 128, -160, 276, -149, 127};
    const std::vector<float> scaled =
        tn::ldexp(narrow, Tensor::from(by, {6}).to(d)).to_vector<float>();
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(scaled[i], std::ldexp(y[i], int(by[i]))) << i;
  }
}

TEST(EdgeValues, LdexpHasTheSlopesOfItsResult) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = float64_tensor({0x1p-1000, 0x1p900, 1.5, 0}, {4}, d).requires_grad_();
    const Tensor power = float64_tensor({1024, -1000, 2.5, 3}, {4}, d).requires_grad_();
    const Tensor g = float64_tensor({0x1p-30, 0x1p10, 1, 1}, {4}, d);
    const std::vector<Tensor> slope =
        tn::grad({tn::ldexp(x, power)}, {x, power}, {.grad_outputs = {g}});
    const double at = std::exp2(2.5), ln2 = std::log(2.0);
    expect_near(slope[0], {0x1p994, 0x1p-990, at, 8}, 1e-15);
    expect_near(slope[1], {0x1p-6 * ln2, 0x1p-90 * ln2, 1.5 * at * ln2, 0}, 1e-15);
  }
}

// Where x is 0 and the logarithm is no number, the slope is 0 along what comes in, too.
TEST(EdgeValues, MaskedLogarithmsHaveSlopesOfBothOrders) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto slope_along_g = [&](auto f, double x, double y) {
      const Tensor a = float64_tensor({x}, {1}, d).requires_grad_();
      const Tensor b = float64_tensor({y}, {1}, d);
      const Tensor g = tn::ones({1}, tn::float64, d).requires_grad_();
      const Tensor slope = tn::grad({f(a, b)}, {a}, {.grad_outputs = {g}, .create_graph = true})[0];
      return tn::grad(slope.sum(), g).template item<double>();
    };
    const auto xlogy = [](const Tensor& x, const Tensor& y) { return tn::xlogy(x, y); };
    const auto xlog1py = [](const Tensor& x, const Tensor& y) { return tn::xlog1py(x, y); };
    EXPECT_EQ(slope_along_g(xlogy, 0, 0), 0);
    EXPECT_EQ(slope_along_g(xlogy, 0, -1), 0);
    EXPECT_DOUBLE_EQ(slope_along_g(xlogy, 0, 2), std::log(2.0));
    EXPECT_EQ(slope_along_g(xlog1py, 0, -1), 0);
    EXPECT_EQ(slope_along_g(xlog1py, 0, -3), 0);
    EXPECT_DOUBLE_EQ(slope_along_g(xlog1py, 0, 2), std::log(3.0));
    const Tensor zero = tn::zeros({1}, tn::float64, d).requires_grad_();
    const Tensor none = tn::grad({tn::xlogy(zero + 1, zero)}, {zero},
                                 {.grad_outputs = {tn::zeros({1}, tn::float64, d)}})[0];
    EXPECT_TRUE(std::isnan(none.item<double>()));  // 0 * (1 / 0), of y
    const Tensor one = tn::ones({1}, tn::float64, d).requires_grad_();
    const Tensor of_x = tn::grad({tn::xlogy(one, zero.detach())}, {one},
                                 {.grad_outputs = {tn::zeros({1}, tn::float64, d)}})[0];
    EXPECT_EQ(of_x.item<double>(), 0);
  }
}

// Against 40 digits of mpmath.
TEST(EdgeValues, LgammaHasAllDigitsNearItsRoots) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const std::vector<double> at = {1.9999999998989775,
                                    1.0000000000000002,
                                    0.9999999999999999,
                                    2.0000000000000004,
                                    1.9999999999999998,
                                    1.25,
                                    0.75,
                                    1.5,
                                    1.75,
                                    2.25,
                                    2.4999999999999996,
                                    0.5,
                                    0.25,
                                    -0.25,
                                    5e-324,
                                    -5e-324,
                                    1e-300,
                                    -0.75,
                                    -1.5};
    const Tensor x = float64_tensor(at, {int64_t(at.size())}, d);
    const std::vector<double> found = tn::lgamma(x).to_vector<double>();
    const std::vector<double> exact = {
        -4.27107405006073e-11,  -1.2816762426960008e-16, 6.408381213480008e-17,
        1.8775396131086244e-16, -9.387698065543117e-17,  -0.09827183642181316,
        0.20328095143129538,    -0.12078223763524522,    -0.08440112102048555,
        0.1248717148923966,     0.28468287047291885,     0.5723649429247001,
        1.2880225246980774,     1.589575312551186,       744.4400719213812,
        744.4400719213812,      690.7755278982137,       1.5757045971498584,
        0.860047015376481};
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(found[i], exact[i], 1e-15 * std::fabs(exact[i])) << at[i];
    }
    EXPECT_EQ(tn::lgamma(float64_tensor({1, 2}, {2}, d)).to_vector<double>(),
              (std::vector<double>{0, 0}));
    const Tensor edges = float64_tensor({-1e308, 1e306, 0, -3, -kInf, kInf}, {6}, d);
    EXPECT_EQ(tn::lgamma(edges).to_vector<double>(), std::vector<double>(6, kInf));
    EXPECT_EQ(tn::lgamma(tn::tensor({1.f, 2.f}, d)).to_vector<float>(), (std::vector<float>{0, 0}));
  }
}

// To 14 digits.
void expect_digits(const Tensor& found, const std::vector<double>& wanted) {
  const std::vector<double> values = found.to_vector<double>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isinf(wanted[i])) {
      EXPECT_EQ(values[i], wanted[i]) << i;
    } else {
      EXPECT_NEAR(values[i] / wanted[i], 1, 1e-14) << i;
    }
  }
}

TEST(EdgeValues, BesselFunctionsAtTheEndsOfTheirRange) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const double most = std::numeric_limits<double>::max();
    const Tensor large = float64_tensor({most, -most}, {2}, d);
    EXPECT_EQ(tn::i0(large).to_vector<double>(), (std::vector<double>{kInf, kInf}));
    EXPECT_EQ(tn::i1(large).to_vector<double>(), (std::vector<double>{kInf, -kInf}));
    expect_digits(tn::i0e(large), {2.9754474593159003e-155, 2.9754474593159003e-155});
    expect_digits(tn::i1e(large), {2.9754474593159003e-155, -2.9754474593159003e-155});
    const Tensor tiny = float64_tensor({1e-307, 4e-309, 0x1p-1074}, {3}, d);
    expect_digits(tn::bessel_y0(tiny),
                  {-450.09626200707737, -452.14546200198447, -473.9990734230043});
    // -2 / (pi x), and 1 / x
    expect_digits(tn::bessel_y1(tiny), {-6.366197723675814e306, -1.5915494309189535e308, -kInf});
    expect_digits(tn::modified_bessel_k0(tiny),
                  {707.0095550648304, 710.2284308896985, 744.5560034370396});
    EXPECT_EQ(tn::modified_bessel_k1(tiny).to_vector<double>()[1], kInf);
    EXPECT_EQ(tn::modified_bessel_k1(tiny).to_vector<double>()[2], kInf);
    EXPECT_EQ(tn::scaled_modified_bessel_k1(tiny).to_vector<double>()[2], kInf);
    for (const tn::Dtype dtype : {tn::float64, tn::float32}) {
      const double least = dtype == tn::float64 ? 0x1p-1074 : 0x1p-149;
      const Tensor small = float64_tensor({least, -least, 0, 3 * least, 1e-36}, {5}, d).to(dtype);
      const std::vector<double> half(5, 0.5);
      const auto i1 = [](const Tensor& x) { return tn::i1(x); };
      const auto i1e = [](const Tensor& x) { return tn::i1e(x); };
      const auto j1 = [](const Tensor& x) { return tn::bessel_j1(x); };
      EXPECT_EQ(slopes(i1, small).first.to_vector<double>(), half) << dtype.name();
      EXPECT_EQ(slopes(i1e, small).first.to_vector<double>(), half) << dtype.name();
      EXPECT_EQ(slopes(j1, small).first.to_vector<double>(), half) << dtype.name();
    }
  }
}

TEST(EdgeValues, OddFunctionsKeepTheSignOfZero) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const tn::Dtype dtype : {tn::float64, tn::float32}) {
      const Tensor x = float64_tensor({-0.0, 0.0}, {2}, d).to(dtype);
      for (const Tensor& y : {tn::erfinv(x), tn::bessel_j1(x)})
        EXPECT_EQ(tn::signbit(y).to_vector<bool>(), (std::vector<bool>{true, false}));
    }
  }
}

TEST(EdgeValues, MatricesToThePower0HaveAHistory) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = sample({2, 3, 3}, d).requires_grad_();
    const Tensor y = tn::matrix_power(x, 0);
    EXPECT_TRUE(tn::equal(y, tn::eye(3, {}, tn::float64, d).expand({2, 3, 3})));
    y.sum().backward();
    EXPECT_TRUE(tn::equal(x.grad(), tn::zeros({2, 3, 3}, tn::float64, d)));
    for (const tn::Dtype dtype : {tn::int64, tn::uint8, tn::bool_, tn::float16}) {
      const Tensor one = tn::matrix_power(tn::ones({2, 2}, dtype, d), 0);
      EXPECT_EQ(one.dtype(), dtype);
      EXPECT_EQ(one.to(tn::float64).to_vector<double>(), (std::vector<double>{1, 0, 0, 1}));
    }
  }
}

TEST(EdgeValues, WholeNumbersInNormsOfNeighboursAndAngles) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    // F.local_response_norm(torch.arange(12).reshape(1, 3, 4), 2)
    const Tensor x = tn::arange(0, 12, 1, tn::int64, d).reshape({1, 3, 4});
    const Tensor y = tn::local_response_norm(x, 2);
    EXPECT_EQ(y.dtype(), tn::float32);
    expect_near(
        y, {0, 1, 1.9997, 2.9991, 3.9976, 4.9951, 5.9910, 6.9848, 7.9761, 8.9644, 9.9493, 10.9304},
        2e-5);
    // F.cosine_embedding_loss([[1, 2], [3, 4]], [[1, 2], [3, 5]], [1, -1])
    const Tensor a = tn::tensor({{1, 2}, {3, 4}}, d), b = tn::tensor({{1, 2}, {3, 5}}, d);
    const Tensor target = tn::tensor({1, -1}, d);
    expect_near(tn::cosine_embedding_loss(a, b, target), {0.4973}, 1e-4);
    expect_near(tn::cosine_embedding_loss(a, b.to(tn::float32), target), {0.4973}, 1e-4);
    expect_near(tn::cosine_embedding_loss(a.to(tn::bool_), b.to(tn::bool_), target), {0.5}, 1e-6);
  }
  expect_refusals({{[](tn::Device d) {
                      tn::local_response_norm(tn::ones({1, 2, 3}, tn::bool_, d), 2);
                    },
                    "local_response_norm: x is bool, expected numbers"}});
}

TEST(EdgeValues, NormsOfNoElements) {
  for (const tn::Device d : devices()) {
    expect_near(tn::norm(tn::zeros({0}, {}, d), 0.5), {0});
    expect_sizes(tn::norm(tn::zeros({0, 3}, {}, d), -1, 1), {0});
  }
  expect_refusals({
      {[](tn::Device d) { tn::norm(zeros_on(d, {0}), -1); },
       "norm: x is [0] and p is -1; no elements have no norm of a negative order"},
      {[](tn::Device d) {
         tn::norm(zeros_on(d, {0, 3}), -0.5, 0);
       },
       "norm: x is [0, 3] and p is -0.5; no elements have no norm of a negative order"},
  });
}

TEST(EdgeValues, TensorsOfNothingAreJoinedAlongAnyDimension) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor none = tn::zeros({0}, {}, d).requires_grad_();
    for (const int64_t dim : {0, 1, 2, -1, -3}) {
      const Tensor y = tn::cat({none, none}, dim);
      expect_sizes(y, {0});
      expect_sizes(tn::grad(y.sum(), none), {0});
    }
    const Tensor rows = tn::ones({2, 3}, {}, d).requires_grad_();
    const Tensor y = tn::cat({none, rows}, 1);
    const std::vector<Tensor> g = tn::grad({y.sum()}, {none, rows});
    expect_sizes(g[0], {0});
    expect_near(g[1], std::vector<double>(6, 1));
  }
}

TEST(EdgeValues, AdaptivePoolsOfNoWindows) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::ones({2, 3, 4, 5}, {}, d).requires_grad_();
    for (const bool is_max : {false, true}) {
      const auto pool = [&](const Tensor& of, tn::Ints size) {
        return is_max ? tn::adaptive_max_pool2d(of, size) : tn::adaptive_avg_pool2d(of, size);
      };
      expect_sizes(pool(x, {0, 2}), {2, 3, 0, 2});
      expect_sizes(pool(x[0], 0), {3, 0, 0});
      expect_near(tn::grad(pool(x, {0, 2}).sum(), x), std::vector<double>(120, 0));
    }
    expect_sizes(tn::adaptive_avg_pool1d(x[0], 0), {3, 4, 0});
    expect_sizes(tn::adaptive_max_pool3d(x, {2, 0, 1}), {2, 2, 0, 1});
    const auto [values, indices] = tn::adaptive_max_pool2d_with_indices(x, {2, 0});
    expect_sizes(values, {2, 3, 2, 0});
    expect_sizes(indices, {2, 3, 2, 0});
    EXPECT_EQ(indices.dtype(), tn::int64);
  }
}

TEST(EdgeValues, BagsWithoutRowsHaveAGradient) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor none = tn::zeros({0}, tn::int64, d), begins = tn::zeros({2}, tn::int64, d);
    for (const char* mode : {"max", "mean", "sum"}) {
      const Tensor weight = tn::ones({5, 3}, {}, d).requires_grad_();
      const Tensor y = tn::embedding_bag(weight, none, {.offsets = begins, .mode = mode});
      expect_near(y, std::vector<double>(6, 0));
      expect_near(tn::grad(y.sum(), weight), std::vector<double>(15, 0));
      // Bags that are rows end where these do.
      const Tensor index = tn::tensor({{0, 1}, {2, 3}}, d);
      const Tensor bags =
          tn::embedding_bag(weight, index, {.mode = mode, .include_last_offset = true});
      EXPECT_TRUE(tn::equal(bags, tn::embedding_bag(weight, index, {.mode = mode})));
    }
  }
}

// Sums of halves are rounded once, and the gradient of a table in halves is row-sparse, too.
TEST(EdgeValues, BagsOfHalvesThatAreSparse) {
  for (const tn::Device d : devices()) {
    for (const tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
      for (const char* mode : {"sum", "mean"}) {  // of "max" it is refused, as by PyTorch
        SCOPED_TRACE(d.name() + " " + dtype.name() + " " + mode);
        const Tensor values = sample({5, 3}, d).to(dtype);
        const Tensor index = tn::tensor({{0, 1, 1}, {2, 3, 0}}, d);
        const Tensor sparse = values.clone().requires_grad_();
        const Tensor dense = values.clone().requires_grad_();
        const Tensor y = tn::embedding_bag(sparse, index, {.mode = mode, .sparse = true});
        const Tensor z = tn::embedding_bag(dense, index, {.mode = mode});
        EXPECT_EQ(y.dtype(), dtype);
        EXPECT_TRUE(tn::equal(y, z));
        EXPECT_TRUE(tn::equal(
            y, tn::embedding_bag(values.to(tn::float32), index, {.mode = mode}).to(dtype)));
        y.sum().backward();
        z.sum().backward();
        ASSERT_TRUE(sparse.grad().is_row_sparse());
        EXPECT_EQ(sparse.grad().dtype(), dtype);
        expect_near(sparse.grad().to_dense(), dense.grad().to_vector<double>(), 1e-2);
      }
    }
  }
}

}  // namespace
