// Special functions: float32 as exact as it can be, neighbours in every dtype, errors. Values in
// float64 and gradients are in torch_values_test.
#include <cmath>
#include <limits>

#include "ops_support.h"
#include "tenon/halves.hpp"

namespace {

using Reference = double (*)(double);

// The nearest float32 of the exact value, or its neighbour, over a range.
void expect_exact(Tensor (*op)(const Tensor&), Reference exact, double low, double high,
                  tn::Device d) {
  const Tensor x = tn::linspace(low, high, 301, tn::float32, d);
  const std::vector<float> in = x.to_vector<float>(), out = op(x).to_vector<float>();
  for (size_t i = 0; i < in.size(); ++i) {
    const double want = exact(in[i]);
    const auto nearest = static_cast<float>(want);
    const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
    EXPECT_NEAR(out[i], want, 0.6 * unit + 1e-14) << "of " << in[i];
  }
}

TEST(Special, Float32IsRoundedOnce) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto lgamma = [](const Tensor& x) { return tn::lgamma(x); };
    expect_exact(lgamma, std::lgamma, 0.01, 20, d);
    expect_exact(lgamma, std::lgamma, -4.96, -4.04, d);
    const auto i0 = [](const Tensor& x) { return tn::i0(x); };
    expect_exact(
        i0, [](double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }, -30, 30, d);
    const auto i1 = [](const Tensor& x) { return tn::i1(x); };
    expect_exact(
        i1, [](double x) { return std::cyl_bessel_i(1.0, x); }, 0, 30, d);
    const Tensor y = tn::linspace(-0.999, 0.999, 201, tn::float64, d);
    expect_near(tn::erf(tn::erfinv(y)), y.to_vector<double>(), 1e-14);
  }
}

// Near 0 and near 1, too, beside what float64 finds.
TEST(Special, InverseOfErfInFloat32) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    std::vector<float> in;
    for (int i = 0; i < 2000; ++i) in.push_back(static_cast<float>(i) / 2000);
    for (int i = 1; i <= 24; ++i) in.push_back(1 - std::ldexp(1.0F, -i));
    for (int i = 1; i <= 126; ++i) in.push_back(std::ldexp(1.0F, -i));
    const auto n = static_cast<int64_t>(in.size());
    const Tensor x = float64_tensor({in.begin(), in.end()}, {n}, d).to(tn::float32);
    const std::vector<float> out = tn::erfinv(x).to_vector<float>();
    const std::vector<float> turned = tn::erfinv(-x).to_vector<float>();
    const std::vector<double> want = tn::erfinv(x.to(tn::float64)).to_vector<double>();
    for (size_t i = 0; i < in.size(); ++i) {
      const auto nearest = static_cast<float>(want[i]);
      EXPECT_NEAR(out[i], want[i], 4.5 * (std::nextafter(nearest, INFINITY) - nearest))
          << "of " << in[i];
      EXPECT_EQ(turned[i], -out[i]);
    }
    const Tensor ends = tn::tensor<float>({1, -1, 1.5F, -1.5F, NAN}, d);
    const std::vector<float> of_ends = tn::erfinv(ends).to_vector<float>();
    EXPECT_EQ(of_ends[0], INFINITY);
    EXPECT_EQ(of_ends[1], -INFINITY);
    for (size_t i = 2; i < of_ends.size(); ++i) EXPECT_TRUE(std::isnan(of_ends[i]));
  }
}

TEST(Special, IntegersBecomeFloat32) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::tensor({1, 2, 5}, d).to(tn::int32);
    EXPECT_EQ(tn::lgamma(x).dtype(), tn::float32);
    expect_near(tn::lgamma(x), {0, 0, std::log(24.0)}, 1e-6);
    EXPECT_EQ(tn::polygamma(1, x).dtype(), tn::float32);
    EXPECT_EQ(tn::i0(x).dtype(), tn::float32);
    EXPECT_EQ(tn::erfinv(x > 0).dtype(), tn::float32);
  }
}

// psi_n(1) is -(-1)^n n! zeta(n + 1), and psi_n(x) = psi_n(x + 1) - (-1)^n n! / x^(n + 1).
// As PyTorch: what is below eps first.
TEST(Special, LogitWithBoundsThatCross) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({0.5, 0.9, 0.1}, tn::float64).to(d);
    const double at = std::log(0.6 / 0.4);
    expect_near(tn::logit(x, 0.6), {at, -at, at}, 1e-14);
  }
}

TEST(Special, LogitOfSmallIntegersIsThatOfFloats) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({0, 1, 255}).to(tn::uint8).to(d);
    const std::vector<float> y = tn::logit(x).to_vector<float>();
    EXPECT_EQ(y[0], -INFINITY);
    EXPECT_EQ(y[1], INFINITY);
    EXPECT_TRUE(std::isnan(y[2]));
  }
}

TEST(Special, PolygammaOfHighOrders) {
  for (tn::Device d : devices()) {
    const Tensor one = tn::ones({1}, tn::float64, d);
    for (int n : {1, 3, 7, 20, 60}) {
      const double sign = n % 2 == 0 ? 1 : -1, factorial = std::tgamma(n + 1.0);
      const double exact = -sign * factorial * std::riemann_zeta(n + 1.0);
      EXPECT_NEAR(tn::polygamma(n, one).item<double>() / exact, 1, 1e-13) << n;
      if (n > 20) continue;
      const Tensor x = tn::tensor({-2.7, -2.2, -1.3}, d).to(tn::float64);
      const Tensor moved = tn::polygamma(n, x + 1) - sign * factorial / tn::pow(x, n + 1);
      expect_near(tn::polygamma(n, x) / moved, {1, 1, 1}, 1e-11);
    }
    EXPECT_EQ(tn::polygamma(3, tn::full({1}, -2.0, tn::float64, d)).item<double>(), INFINITY);
    EXPECT_EQ(tn::polygamma(2, tn::full({1}, -2.0, tn::float64, d)).item<double>(), -INFINITY);
  }
}

template <typename T>
void expect_neighbours(tn::Dtype dtype, tn::Device d, const std::vector<T>& values) {
  std::vector<double> from, to, want;
  for (T x : values) {
    for (T y : {T(-INFINITY), T(0), T(INFINITY)}) {
      from.push_back(x), to.push_back(y), want.push_back(std::nextafter(x, y));
    }
  }
  const auto n = static_cast<int64_t>(from.size());
  const Tensor y =
      tn::nextafter(Tensor::from(from, {n}, d).to(dtype), Tensor::from(to, {n}, d).to(dtype));
  EXPECT_EQ(y.dtype(), dtype);
  EXPECT_EQ(y.to_vector<double>(), want);
}

TEST(Special, NextafterIsTheNeighbourOfTheDtype) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    expect_neighbours<double>(tn::float64, d,
                              {0, 1, -1, 3.7, 0x1p-1022, 0x1.8p-1022, 0x1p-1021, 0x1p-960, 0x1p-930,
                               -0x1.fp-800, 0x1p1000, 5e-324});
    expect_neighbours<float>(tn::float32, d,
                             {0, 1, -1, 3.7f, 0x1p-126f, 0x1.8p-126f, 0x1p-125f, 0x1p-149f,
                              -0x1.8p100f, 3.4028234663852886e38f});
    const Tensor half = tn::tensor({1.0f, 2.0f, 0.0f, 65504.0f}, d).to(tn::float16);
    expect_near(tn::nextafter(half, tn::zeros_like(half)), {1 - 0x1p-11, 2 - 0x1p-10, 0, 65472}, 0);
    const Tensor wide = tn::tensor({1.0f, 0.0f}, d).to(tn::bfloat16);
    expect_near(tn::nextafter(wide, tn::full_like(wide, 3)), {1 + 0x1p-7, 0x1p-133}, 0);
  }
}

// PyTorch's has none. It is flat but for the jump, and there it is `values`.
TEST(Special, HeavisideHasTheGradientOfItsValuesAtTheJump) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::tensor({-1.0, 0.0, 2.0, 0.0}, tn::float64, d).requires_grad_(),
           values = tn::tensor({5.0, 6.0, 7.0, 8.0}, tn::float64, d).requires_grad_();
    const Tensor y = tn::heaviside(x, values);
    expect_near(y, {0, 6, 1, 8}, 0);
    const auto g =
        tn::grad({(y * y).sum()}, {x, values}, {.create_graph = true, .allow_unused = true});
    EXPECT_FALSE(g[0].defined());
    expect_near(g[1], {0, 12, 0, 16}, 0);
    expect_near(tn::grad({g[1].sum()}, {values})[0], {0, 2, 0, 2}, 0);
  }
}

TEST(Special, Errors) {
  const Tensor x = tn::ones({2}), whole = tn::ones({2}, tn::int64);
  expect_error([&] { tn::polygamma(-1, x); }, "polygamma: n is -1, expected 0 to 150");
  expect_error([&] { tn::polygamma(151, x); }, "polygamma: n is 151, expected 0 to 150");
  expect_error([&] { tn::nextafter(whole, whole); },
               "nextafter: x is int64 and y int64, expected a floating dtype");
  expect_error(
      [&] {
        tn::glu(tn::ones({2, 3}));
      },
      "glu: x is [2, 3], expected an even size along dimension 1");
}

TEST(Special, SincHasAGradientWhereItsSquareIsZero) {
  for (const tn::Device d : devices()) {
    for (const double tiny : {1e-45, 1e-30, 1e-24, 0.0}) {
      const Tensor x = tn::tensor({tiny}, d).requires_grad_();
      tn::sinc(x).sum().backward();
      expect_near(x.grad(), {0});
    }
  }
}

// What the ops are made of would have one.
TEST(Special, StepsToTheNextNumberHaveNoGradient) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({1.0, -2.0}, d).requires_grad_();
    const Tensor y = tn::nextafter(x, tn::tensor({2.0, 2.0}, d));
    EXPECT_FALSE(y.requires_grad());
    EXPECT_TRUE(x.is_leaf() && x.requires_grad());
  }
}

}  // namespace
