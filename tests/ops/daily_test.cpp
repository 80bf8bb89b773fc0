// Smaller functions that programs use daily: what they refuse, and what PyTorch's values do not
// show. Values and gradients are PyTorch's, in tests/data/torch_values_daily.json.
#include <cmath>
#include <limits>
#include <numeric>

#include "refusals.h"

namespace {

TEST(Forms, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device) { tn::broadcast_tensors({}); },
       "broadcast_tensors: the list of tensors is empty"},
      {[](tn::Device d) {
         tn::broadcast_tensors({zeros_on(d, {2, 3}), zeros_on(d, {2})});
       },
       "broadcast_tensors: tensor 1 is [2], those before have 3 along dimension -1; expected one "
       "size, or 1"},
      {[](tn::Device d) { tn::fliplr(zeros_on(d, {3})); },
       "fliplr: x is [3], expected at least 2 dimensions"},
      {[](tn::Device d) { tn::flipud(zeros_on(d, {})); },
       "flipud: x is [], expected at least 1 dimension"},
      {[](tn::Device d) {
         tn::unravel_index(places_on(d, {2}), {2, 0});
       },
       "unravel_index: shape is [2, 0], expected sizes of at least 1"},
      {[](tn::Device d) { tn::unravel_index(zeros_on(d, {2}), {2}); },
       "unravel_index: indices is float32, expected integers"},
      {[](tn::Device d) {
         tn::diag(zeros_on(d, {2, 2, 2}));
       },
       "diag: x is [2, 2, 2], expected 1 or 2 dimensions"},
      {[](tn::Device d) { tn::diag_embed(zeros_on(d, {})); },
       "diag_embed: x is [], expected 1 to 15 dimensions"},
      {[](tn::Device d) {
         tn::diag_embed(zeros_on(d, {2, 3}), 0, 1, -2);
       },
       "diag_embed: dim1 and dim2 are both 1; expected two dimensions"},
      {[](tn::Device d) {
         tn::select_scatter(zeros_on(d, {2, 3}), zeros_on(d, {2}), 0, 1);
       },
       "select_scatter: src is [2], expected [3], the sizes of what it replaces"},
      {[](tn::Device d) {
         tn::slice_scatter(zeros_on(d, {4, 3}), zeros_on(d, {3, 3}), 0, 1, 3);
       },
       "slice_scatter: src is [3, 3], expected [2, 3], the sizes of what it replaces"},
      {[](tn::Device d) {
         tn::diagonal_scatter(zeros_on(d, {4, 3}), zeros_on(d, {4}));
       },
       "diagonal_scatter: src is [4], expected [3], the sizes of what it replaces"},
  });
}

TEST(Matrices, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) {
         tn::inner(zeros_on(d, {2, 3}), zeros_on(d, {2}));
       },
       "inner: dimensions [1] of a [2, 3] and [0] of b [2] differ, expected the same sizes"},
      {[](tn::Device d) { tn::addmv(zeros_on(d, {2}), zeros_on(d, {2}), zeros_on(d, {2})); },
       "addmv: a is [2], b is [2]; expected 2 and 1 dimensions"},
      {[](tn::Device d) {
         tn::addr(zeros_on(d, {2, 2}), zeros_on(d, {2}), zeros_on(d, {3}));
       },
       "addr: x is [2, 2], the product is [2, 3]; expected sizes that broadcast to it"},
      {[](tn::Device d) {
         tn::addbmm(zeros_on(d, {2}), zeros_on(d, {2, 3, 4}), zeros_on(d, {3, 4, 2}));
       },
       "addbmm: a is [2, 3, 4], b is [3, 4, 2]; expected [batch, m, k] and [batch, k, n]"},
      {[](tn::Device d) {
         tn::matrix_norm(zeros_on(d, {2, 3}), {.ord = 2});
       },
       "matrix_norm: ord is 2, expected None (Frobenius), 1, -1, inf or -inf; others need singular "
       "values"},
      {[](tn::Device d) {
         tn::matrix_norm(zeros_on(d, {2, 3}), {.dim = 0});
       },
       "matrix_norm: dim is [0] for x of [2, 3], expected two different dimensions"},
      {[](tn::Device d) { tn::multi_dot({zeros_on(d, {2})}); },
       "multi_dot: 1 tensors, expected at least 2"},
      {[](tn::Device d) {
         tn::multi_dot({zeros_on(d, {2, 3}), zeros_on(d, {3}), zeros_on(d, {3, 2})});
       },
       "multi_dot: tensor 1 is [3], expected 2 dimensions"},
      {[](tn::Device d) {
         tn::multi_dot({zeros_on(d, {2, 3}), zeros_on(d, {2, 2})});
       },
       "multi_dot: tensor 1 is [2, 2], expected size 3 along dimension 0"},
      {[](tn::Device d) {
         tn::matrix_power(zeros_on(d, {2, 3}), 2);
       },
       "matrix_power: x is [2, 3], expected square matrices"},
      {[](tn::Device d) {
         tn::matrix_power(zeros_on(d, {2, 2}), -1);
       },
       "matrix_power: n is -1, expected 0 or more"},
  });
}

TEST(Numbers, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) { tn::gcd(zeros_on(d, {2}), places_on(d, {2})); },
       "gcd: x is float32 and y int64, expected integers"},
      {[](tn::Device d) {
         const Tensor yes = tn::ones({2}, tn::bool_, d);
         tn::lcm(yes, yes);
       },
       "lcm: x is bool and y bool, expected integers"},
      {[](tn::Device) { tn::float_power(2, 3); },
       "float_power: x and y are numbers, expected one tensor at least"},
      {[](tn::Device d) {
         tn::cov(zeros_on(d, {2, 3, 4}));
       },
       "cov: x is [2, 3, 4] float32, expected numbers with at most 2 dimensions, [variables, "
       "observations]"},
      {[](tn::Device d) {
         tn::corrcoef(tn::ones({2, 3}, tn::bool_, d));
       },
       "corrcoef: x is [2, 3] bool, expected numbers"},
      {[](tn::Device d) {
         tn::cov(zeros_on(d, {2, 3}), {.fweights = zeros_on(d, {3})});
       },
       "cov: fweights are [3] float32, expected integers and [3], one for each observation"},
      {[](tn::Device d) {
         tn::cov(zeros_on(d, {2, 3}), {.aweights = zeros_on(d, {2})});
       },
       "cov: aweights are [2] float32, expected a floating dtype and [3], one for each "
       "observation"},
      {[](tn::Device d) { tn::trapezoid(zeros_on(d, {})); },
       "trapezoid: y is [], expected 1 dimension at least"},
      {[](tn::Device d) {
         tn::cumulative_trapezoid(zeros_on(d, {2, 3}), zeros_on(d, {2}));
       },
       "cumulative_trapezoid: x is [2] for y of [2, 3], expected [3] or the sizes of y"},
      {[](tn::Device d) { tn::dist(places_on(d, {2}), places_on(d, {2})); },
       "dist: x1 is int64, x2 is int64; expected a floating dtype of one of them"},
      {[](tn::Device d) { tn::round(places_on(d, {2}), 1); },
       "round: x is int64, expected a floating dtype for decimals of 1"},
      {[](tn::Device d) { zeros_on(d, {2}).round(-309); },
       "round: decimals is -309, expected -308 to 308"},
      {[](tn::Device d) {
         tn::tensordot(zeros_on(d, {2, 3}), zeros_on(d, {2}), 2);
       },
       "tensordot: dims is 2, expected 0 to 1"},
      {[](tn::Device d) {
         tn::tensordot(zeros_on(d, {2, 3}), zeros_on(d, {2}), 1);
       },
       "tensordot: dimensions [1] of a [2, 3] and [0] of b [2] differ, expected as many, of the "
       "same sizes or "
       "of size 1"},
      {[](tn::Device d) { tn::logspace(0, 1, -1, 10, {}, d); },
       "logspace: steps is -1, at least 0 is needed"},
      {[](tn::Device d) { tn::hann_window(-1, true, {}, d); },
       "hann_window: window_length is -1, at least 0 is needed"},
      {[](tn::Device d) { tn::kaiser_window(4, true, 12, tn::int64, d); },
       "kaiser_window: dtype is int64, expected a floating dtype"},
  });
}

TEST(Numbers, AreRoundedToDecimalsAsPyTorchDoes) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({0.12345, 1.005, -2.675, 1234.5678, 0.0}, tn::float64).to(d);
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(tn::round(x, 2).to_vector<double>(),
              (std::vector<double>{0.12, 1.0, -2.68, 1234.57, 0.0}));
    EXPECT_EQ(x.round(0).to_vector<double>(), (std::vector<double>{0, 1, -3, 1235, 0}));
    EXPECT_EQ(x.round(-2).to_vector<double>(), (std::vector<double>{0, 0, -0.0, 1200, 0}));
    EXPECT_EQ(tn::tensor({25.0, 35.0, inf}).to(d).round(-1).to_vector<float>(),
              (std::vector<float>{20, 40, std::numeric_limits<float>::infinity()}));
    EXPECT_EQ(places_on(d, {3}).round(0).dtype(), tn::int64);
    const Tensor y = x.detach().requires_grad_();
    tn::sum(tn::round(y, 3)).backward();
    EXPECT_EQ(tn::sum(y.grad()).item<double>(), 0);  // flat but for its steps, as PyTorch has it
  }
}

TEST(Numbers, HistogramsTakeTheirEdges) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({0.5, 1.0, 1.5, 3.0, 4.0, NAN}).to(d);
    const auto [hist, edges] = tn::histogram(x, tn::tensor({0.0, 1.0, 3.0}).to(d));
    EXPECT_EQ(hist.to_vector<float>(), (std::vector<float>{1, 3}));
    EXPECT_EQ(edges.to_vector<float>(), (std::vector<float>{0, 1, 3}));
    // Rounding puts tenths on this or that side of an edge; the last edge belongs to its bin. Values:
    // PyTorch 2.15.
    const Tensor tenths = tn::arange(0, 11, 1, tn::float64, d) / 10;
    const auto bins_of = [](const Tensor& t) {
      return std::get<0>(tn::histogram(t, {.bins = 10, .range = {0.0, 1.0}})).to_vector<float>();
    };
    EXPECT_EQ(bins_of(tenths), (std::vector<float>{1, 1, 2, 0, 1, 1, 1, 1, 1, 2}));
    EXPECT_EQ(bins_of(tenths.to(tn::float32)), (std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2}));
    EXPECT_EQ(std::get<1>(tn::histogram(tn::zeros({0}, {}, d), {.bins = 2})).to_vector<float>(),
              (std::vector<float>{0, 0.5, 1}));
    // NaN is in no bin; a range that is given is not looked for.
    EXPECT_EQ(std::get<0>(tn::histogram(x, {.bins = 2, .range = {0.0, 4.0}})).to_vector<float>(),
              (std::vector<float>{3, 2}));
  }
}

TEST(Numbers, HistogramsReachOverAllOfFloat64) {
  for (const tn::Device d : devices()) {
    const Tensor far = tn::tensor(std::vector<double>{-1.7e308, 0, 1.7e308}).to(d);
    EXPECT_EQ(tn::histc(far, 4).to_vector<double>(), (std::vector<double>{1, 0, 1, 1}));
    EXPECT_EQ(tn::histc(far / 2.2, 10).to_vector<double>(),
              (std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 1}));
    for (const double value : {1e308, -1e16, 3.0, 0.0}) {
      EXPECT_EQ(tn::histc(tn::full({3}, value, tn::float64, d), 4).to_vector<double>(),
                (std::vector<double>{0, 0, 3, 0}));
    }
  }
}

TEST(Forms, OtherNamesAreTheSame) {
  const Tensor x = tn::tensor({{3.0, 0.0}, {1.0, 2.0}});
  EXPECT_EQ(tn::ravel(x).to_vector<float>(), (std::vector<float>{3, 0, 1, 2}));
  EXPECT_EQ(tn::msort(x).to_vector<float>(), (std::vector<float>{1, 0, 3, 2}));
  EXPECT_EQ(tn::argwhere(x).to_vector<int64_t>(), (std::vector<int64_t>{0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(tn::true_divide(x, 2).to_vector<float>(), (std::vector<float>{1.5, 0, 0.5, 1}));
  EXPECT_EQ(tn::vdot(x[0], x[1]).item<float>(), 3);
}

TEST(Forms, RealNumbersHaveWhatComplexOnesHave) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor whole = tn::tensor({1, -1, 0}, d);
    EXPECT_TRUE(tn::isreal(whole).to_vector<bool>() == std::vector<bool>(3, true));
    EXPECT_TRUE(tn::equal(tn::real(whole), whole));
    EXPECT_TRUE(tn::equal(tn::positive(whole), whole));
    EXPECT_TRUE(whole.positive().equal(whole) && whole.isreal().all().item<bool>());
    // torch.angle
    const float pi = float(M_PI);
    EXPECT_EQ(tn::angle(whole).to_vector<float>(), (std::vector<float>{0, pi, 0}));
    EXPECT_EQ(tn::angle(whole.to(tn::bool_)).to_vector<float>(), (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(whole.to(tn::float16).angle().dtype(), tn::float16);
    EXPECT_EQ(whole.to(tn::float64).angle()[1].item(), M_PI);
    const Tensor x = tn::tensor({-INFINITY, INFINITY, NAN, -0.0}, d).requires_grad_();
    const Tensor y = tn::angle(x);
    EXPECT_EQ(y[0].item<float>(), pi);
    EXPECT_EQ(y[1].item<float>(), 0);
    EXPECT_TRUE(std::isnan(y[2].item<float>()));
    EXPECT_EQ(y[3].item<float>(), 0);
    y.sum().backward();
    EXPECT_TRUE(tn::equal(x.grad(), tn::zeros({4}, {}, d)));
  }
  expect_error([] { tn::positive(tn::tensor({true})); }, "positive: x is bool, expected numbers");
}

TEST(Forms, CopiesAndPiecesHaveTorchsNames) {
  const Tensor x = tn::arange(0, 6, 1, tn::float32).reshape({3, 2});
  const Tensor part = tn::narrow_copy(x, 0, 0, 2);
  EXPECT_EQ(part.to_vector<float>(), (std::vector<float>{0, 1, 2, 3}));
  part.fill_(7);
  EXPECT_EQ(x.sum().item<float>(), 15) << "the copy has memory of its own";
  EXPECT_TRUE(x.narrow_copy(1, 1, 1).is_contiguous());
  EXPECT_EQ(tn::unsafe_chunk(x, 2).size(), 2u);
  EXPECT_EQ(tn::unsafe_split(x, 1, 1)[1].to_vector<float>(), (std::vector<float>{1, 3, 5}));
  EXPECT_EQ(tn::unsafe_split_with_sizes(x, {1, 2})[1].size(0), 2);
}

TEST(Forms, IndicesOfAllIntegersAreUnraveled) {
  for (const tn::Dtype dtype : {tn::int8, tn::uint8, tn::int16, tn::int32, tn::int64}) {
    const std::vector<Tensor> at = tn::unravel_index(tn::tensor({0, 5, 7}).to(dtype), {2, 4});
    EXPECT_EQ(at[0].to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 1}));
    EXPECT_EQ(at[1].to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 3}));
  }
}

TEST(Numbers, ScatterTakesANumber) {
  const Tensor x = tn::zeros({2, 3}), at = tn::tensor({{2}, {0}});
  const std::vector<float> expected = {0, 0, 2.5, 2.5, 0, 0};
  EXPECT_EQ(tn::scatter(x, 1, at, 2.5).to_vector<float>(), expected);
  EXPECT_EQ(x.scatter(1, at, 2.5).to_vector<float>(), expected);
}

TEST(Numbers, TensordotTakesANumberOfDimensions) {
  for (const tn::Device d : devices()) {
    const Tensor a = tn::arange(0, 24, 1, tn::float32, d).view({2, 3, 4}), b = a.view({3, 4, 2});
    EXPECT_TRUE(tn::equal(tn::tensordot(a, b, 2), tn::matmul(a.view({2, 12}), b.view({12, 2}))));
    EXPECT_TRUE(tn::equal(tn::tensordot(a, b, 2), tn::tensordot(a, b)));
    const Tensor outer = tn::tensordot(a, b, 0);
    EXPECT_EQ(outer.sizes(), (std::vector<int64_t>{2, 3, 4, 3, 4, 2}));
    EXPECT_EQ((outer[{1, 2, 3, 0, 1, 1}].item<float>()), 23 * 3);
  }
}

// Euclid's algorithm takes the most steps for neighbours in Fibonacci's sequence, whose divisor is
// 1.
TEST(Numbers, TheGreatestCommonDivisorOfEveryDtypeIsThatOfTheStandardLibrary) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    std::vector<int64_t> a = {0, 1}, b;
    while (a.size() < 92) a.push_back(a[a.size() - 1] + a[a.size() - 2]);
    b.assign(a.begin() + 1, a.end());
    b.push_back(a[a.size() - 1] + a[a.size() - 2]);
    for (const tn::Dtype dtype : {tn::int8, tn::uint8, tn::int16, tn::int32, tn::int64}) {
      const double most = dtype == tn::int8    ? 127
                          : dtype == tn::uint8 ? 255
                          : dtype == tn::int16 ? 32767
                          : dtype == tn::int32 ? 2147483647
                                               : 9e18;
      std::vector<int64_t> x, y, want;
      for (size_t i = 0; i < a.size() && double(b[i]) <= most; ++i) {
        x.insert(x.end(), {a[i], b[i]});
        y.insert(y.end(), {b[i], a[i]});
        want.insert(want.end(), 2, std::gcd(a[i], b[i]));
      }
      const int64_t n = int64_t(x.size());
      const Tensor found =
          tn::gcd(Tensor::from(x, {n}).to(d, dtype), Tensor::from(y, {n}).to(d, dtype));
      EXPECT_EQ(found.dtype(), dtype);
      EXPECT_EQ(found.to_vector<int64_t>(), want) << dtype.name();
    }
  }
}

// Relatively, far out, where the values themselves are small: by identities with the C library's
// functions.
TEST(ScaledFunctions, KeepTheirDigitsFarOut) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (double x = -20; x < 25; x += 0.37) {
      const Tensor at = tn::full({1}, x, tn::float64, d);
      const double product = std::exp(x * x) * std::erfc(x);
      EXPECT_NEAR(tn::erfcx(at).item<double>() / product, 1, 1e-12) << x;
      const double below = 0.5 * std::erfc(-x / std::sqrt(2.0));
      EXPECT_NEAR(tn::ndtr(at).item<double>() / below, 1, 1e-12) << x;
      if (x < -1) {
        EXPECT_NEAR(tn::log_ndtr(at).item<double>() / std::log(below), 1, 1e-14) << x;
      } else {
        const double above = 0.5 * std::erfc(x / std::sqrt(2.0));
        EXPECT_NEAR(tn::log_ndtr(at).item<double>() / std::log1p(-above), 1, 1e-12) << x;
      }
      if (x < 5) {
        EXPECT_NEAR(tn::ndtri(tn::ndtr(at)).item<double>(), x,
                    1e-13 * std::abs(x) + (x > 0 ? 1e-9 : 1e-13))
            << x;
      }
    }
    // Near the middle the quantile is sqrt(2 pi) times the distance from a half.
    const Tensor middle = tn::full({1}, 0.5 + 0x1p-40, tn::float64, d);
    EXPECT_NEAR(tn::ndtri(middle).item<double>() / (std::sqrt(2 * M_PI) * 0x1p-40), 1, 1e-14);
  }
}

// Many values far from each other: each place is found.
TEST(Counts, IsinFindsWhatASetFinds) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    std::vector<int64_t> among, values, want;
    for (int64_t i = 0; i < 50; ++i) among.push_back(i * i * i % 97);
    for (int64_t i = -3; i < 100; ++i) {
      values.push_back(i);
      want.push_back(std::find(among.begin(), among.end(), i) != among.end());
    }
    const Tensor list = Tensor::from(among, {5, 10}).to(d), x = Tensor::from(values, {103}).to(d);
    EXPECT_EQ(tn::isin(x, list).to_vector<int64_t>(), want);
    EXPECT_EQ(tn::isin(x.to(tn::float32), list.to(tn::int32)).to_vector<int64_t>(), want);
    EXPECT_EQ(tn::isin(x, list, false, true).logical_not().to_vector<int64_t>(), want);
  }
}

}  // namespace
