// Incomplete gamma, zeta and Bessel functions, binary fractions, differences and pools of norms:
// how exact they are, and what they refuse. Values and gradients are PyTorch's, in
// tests/data/torch_values_numeric.json.
#include <cmath>
#include <limits>

#include "refusals.h"

namespace {

struct Gammas {
  double a, x, lower, upper;
};

// By mpmath with 60 digits: gammainc(a, 0, x, regularized=True) and gammainc(a, x, inf, ..), and from
// a = 5000 on the power series (DLMF 8.11.4) and the continued fraction (DLMF 8.9.2), thousands of
// terms of each.
const std::vector<Gammas>& exact_gammas() {
  static const std::vector<Gammas> list = {
      {0.001, 0.001, 0.99368764670886029, 0.0063123532911397099},
      {0.001, 0.5, 0.99943993334352925, 0.00056006665647074989},
      {0.001, 3.0, 0.99998692686019879, 1.3073139801213743e-5},
      {0.05, 1e-08, 0.40894239958340559, 0.59105760041659441},
      {0.5, 0.25, 0.52049987781304654, 0.47950012218695346},
      {0.5, 4.0, 0.99532226501895273, 0.0046777349810472658},
      {0.5, 700.0, 1.0, 2.1010145162642175e-306},
      {1.0, 1e-10, 9.9999999995000004e-11, 0.9999999999},
      {2.5, 3.4999, 0.77934481738476142, 0.22065518261523858},
      {2.5, 30.0, 0.99999999998784543, 1.2154569777183039e-11},
      {7.0, 4.0, 0.11067397840257369, 0.88932602159742631},
      {7.0, 8.001, 0.68674784541114647, 0.31325215458885353},
      {29.9, 5.0, 3.3775005451641336e-14, 0.99999999999996622},
      {29.9, 30.5, 0.56745921427475557, 0.43254078572524443},
      {29.9, 31.0, 0.60240449570923032, 0.39759550429076968},
      {29.9, 200.0, 1.0, 8.1021347687393232e-52},
      {30.0, 1.0, 1.4330814167223182e-33, 1.0},
      {30.0, 29.0, 0.4508291147181239, 0.5491708852818761},
      {30.0, 29.5, 0.48771114641816942, 0.51228885358183058},
      {30.0, 90.0, 0.99999999999993607, 6.3926569911374996e-14},
      {55.0, 20.0, 9.0515928231323741e-11, 0.99999999990948407},
      {55.0, 54.0, 0.46389271994519133, 0.53610728005480867},
      {55.0, 120.0, 0.99999999998873623, 1.1263769763066618e-11},
      {300.0, 150.0, 3.1304151256965149e-27, 1.0},
      {300.0, 299.0, 0.48462561924074428, 0.51537438075925572},
      {300.0, 310.0, 0.72248875417186111, 0.27751124582813889},
      {300.0, 500.0, 1.0, 1.6933836864708698e-22},
      {5000.0, 4500.0, 1.2697731705204421e-13, 0.99999999999987302},
      {5000.0, 5001.0, 0.50752168372609821, 0.49247831627390179},
      {5000.0, 5600.0, 0.99999999999999985, 1.5105660300761265e-16},
      {99999.0, 97000.0, 4.8917821669481228e-22, 1.0},
      {99999.0, 99998.0, 0.49915894849012422, 0.50084105150987578},
      {99999.0, 102000.0, 0.99999999983825468, 1.617453205879099e-10},
      {100000.0, 97000.0, 4.7435268410334277e-22, 1.0},
      {100000.0, 100000.0, 0.50042052211036518, 0.49957947788963482},
      {100000.0, 102500.0, 0.99999999999999778, 2.2204960520410972e-15},
      {1000000.0, 992000.0, 5.2401228154308307e-16, 0.99999999999999948},
      {1000000.0, 1000000.0, 0.50013298076087259, 0.49986701923912741},
      {1000000.0, 1001000.0, 0.84134478636834029, 0.15865521363165971},
      {1000000.0, 1008000.0, 0.99999999999999926, 7.3702785796052557e-16},
      {1000000.0, 1030000.0, 1.0, 3.262430144876734e-194},
  };
  return list;
}

// Also where they are small: the tails are computed by themselves. But below max(a + 1, 4) and
// a = 30 the upper one is 1 less the lower.
TEST(IncompleteGamma, IsExactToTwelveDigitsInBothTails) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const Gammas& g : exact_gammas()) {
      SCOPED_TRACE(std::to_string(g.a) + ", " + std::to_string(g.x));
      const Tensor a = tn::full({1}, g.a, tn::float64, d), x = tn::full({1}, g.x, tn::float64, d);
      const bool is_rest = g.a < 30 && g.x < std::max(g.a + 1, 4.0);
      EXPECT_NEAR(tn::igamma(a, x).item<double>(), g.lower, 1e-12 * g.lower);
      EXPECT_NEAR(tn::igammac(a, x).item<double>(), g.upper,
                  1e-12 * g.upper + (is_rest ? 1e-15 : 0));
      const Tensor narrow = tn::igamma(a.to(tn::float32), x.to(tn::float32));
      EXPECT_EQ(narrow.dtype(), tn::float32);
    }
  }
}

// Γ(1, x) and Γ(1/2, x) are functions of the C library, and both results add up to 1.
TEST(IncompleteGamma, IsTheExponentialAndTheErrorFunction) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::linspace(0.01, 30, 97, tn::float64, d);
    const Tensor one = tn::ones({}, tn::float64, d), half = one * 0.5;
    std::vector<double> exponentials, errors;
    for (const double v : x.to_vector<double>()) {
      exponentials.push_back(std::exp(-v));
      errors.push_back(std::erf(std::sqrt(v)));
    }
    expect_near(tn::igammac(one, x), exponentials, 3e-15);
    expect_near(tn::igamma(half, x), errors, 3e-15);
    const Tensor both = tn::igamma(x, x + 1) + tn::igammac(x, x + 1);
    expect_near(both, std::vector<double>(97, 1), 1e-15);
  }
}

// What a double holds of numbers that no quadrature and no series here reaches.
TEST(IncompleteGamma, HoldsAtTheEndsOfTheDoubles) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto at = [&](double a, double x) {
      return tn::igamma(tn::full({1}, a, tn::float64, d), tn::full({1}, x, tn::float64, d))
          .item<double>();
    };
    EXPECT_NEAR(at(1e300, 1e300), 0.5, 1e-15);
    EXPECT_NEAR(at(1e15, 1e15), 0.5, 1e-8);
    EXPECT_EQ(at(1e300, 1e299), 0);
    EXPECT_EQ(at(1e299, 1e300), 1);
    EXPECT_EQ(at(1e6, 1e308), 1);
    EXPECT_EQ(at(50, 1e308), 1);
    EXPECT_EQ(at(2, 1e308), 1);
    EXPECT_EQ(at(1e-300, 1), 1);
    EXPECT_EQ(at(50, 1e-300), 0);
    EXPECT_EQ(at(2, 1e-300), 0);
  }
}

TEST(Zeta, IsRiemannsAndMovesByItsTerms) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const double x : {1.001, 1.5, 2.0, 3.5, 10.0, 60.0}) {
      const Tensor one = tn::ones({1}, tn::float64, d);
      EXPECT_NEAR(tn::zeta(x, one).item<double>() / std::riemann_zeta(x), 1, 1e-13) << x;
    }
    // ζ(x, q) - ζ(x, q + 1) is q^-x, of negative q too.
    for (const double x : {2.0, 3.0, 7.0, 8.0}) {
      for (const double q : {-30.25, -7.5, -1.0625, -0.5, 0.25, 3.0}) {
        const Tensor at = tn::full({1}, q, tn::float64, d);
        const double step = (tn::zeta(x, at) - tn::zeta(x, at + 1)).item<double>();
        const double scale = std::abs(tn::zeta(x, at).item<double>());
        EXPECT_NEAR(step, std::pow(q, -x), 1e-13 * (1 + scale)) << x << ", " << q;
      }
    }
  }
}

// Over the ranges of their formulas and across where these meet.
TEST(Bessel, AgreesWithTheStandardLibrary) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (double v = 0.0625; v < 60; v += 0.21) {
      SCOPED_TRACE(v);
      const Tensor x = tn::full({1}, v, tn::float64, d);
      EXPECT_NEAR(tn::bessel_j0(x).item<double>(), std::cyl_bessel_j(0, v), 2e-13);
      EXPECT_NEAR(tn::bessel_j1(x).item<double>(), std::cyl_bessel_j(1, v), 2e-13);
      EXPECT_NEAR(tn::bessel_y0(x).item<double>(), std::cyl_neumann(0, v), 2e-13);
      const double y1 = std::cyl_neumann(1, v);
      EXPECT_NEAR(tn::bessel_y1(x).item<double>(), y1, 2e-13 * std::max(1.0, std::abs(y1)));
      const double k0 = std::cyl_bessel_k(0, v), k1 = std::cyl_bessel_k(1, v);
      EXPECT_NEAR(tn::modified_bessel_k0(x).item<double>() / k0, 1, 2e-13);
      EXPECT_NEAR(tn::modified_bessel_k1(x).item<double>() / k1, 1, 2e-13);
      const double scale = std::exp(v);
      EXPECT_NEAR(tn::scaled_modified_bessel_k0(x).item<double>() / (scale * k0), 1, 2e-13);
      EXPECT_NEAR(tn::scaled_modified_bessel_k1(x).item<double>() / (scale * k1), 1, 2e-13);
      EXPECT_NEAR(tn::spherical_bessel_j0(x).item<double>(), std::sph_bessel(0, v), 1e-14);
    }
    // Relatively, where they are small and where they are large: by the first term.
    for (const double v : {1e-300, 1e-20, 1e-9}) {
      const Tensor x = tn::full({1}, v, tn::float64, d);
      EXPECT_NEAR(tn::bessel_j1(x).item<double>() / (0.5 * v), 1, 1e-14);
      EXPECT_NEAR(tn::bessel_y1(x).item<double>() * v * M_PI / -2, 1, 1e-14);
      EXPECT_NEAR(tn::modified_bessel_k1(x).item<double>() * v, 1, 1e-14);
      EXPECT_EQ(tn::spherical_bessel_j0(x).item<double>(), 1);
    }
    const Tensor far = tn::full({1}, 1e300, tn::float64, d);
    EXPECT_NEAR(tn::scaled_modified_bessel_k0(far).item<double>() / std::sqrt(M_PI / 2e300), 1,
                1e-13);
    EXPECT_EQ(tn::modified_bessel_k0(far).item<double>(), 0);
    const Tensor whole = tn::tensor({3, -4}, d);
    expect_near(tn::bessel_j0(whole), {std::cyl_bessel_j(0, 3.0), std::cyl_bessel_j(0, 4.0)}, 1e-7);
    EXPECT_EQ(tn::bessel_j0(whole).dtype(), tn::float32);
  }
}

// Bit for bit what the C library says, of every power of two and numbers between them.
TEST(BinaryFractions, AreThoseOfTheStandardLibrary) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    std::vector<double> values = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.7976931348623157e308};
    for (int k = -1074; k < 1024; ++k) {
      const double power = std::ldexp(1.0, k);
      for (const double v : {power, -power, power * 1.7, std::nextafter(power, 0.0)})
        values.push_back(v);
    }
    const auto n = int64_t(values.size());
    const auto [mantissa, exponent] = tn::frexp(float64_tensor(values, {n}, d));
    EXPECT_EQ(exponent.dtype(), tn::int32);
    const std::vector<double> found = mantissa.to_vector<double>();
    const std::vector<int32_t> powers = exponent.to_vector<int32_t>();
    for (size_t i = 0; i < values.size(); ++i) {
      int want = 0;
      const double fraction = std::frexp(values[i], &want);
      if (!std::isfinite(values[i])) want = 0;
      EXPECT_EQ(powers[i], want) << values[i];
      if (std::isnan(fraction)) {
        EXPECT_TRUE(std::isnan(found[i]));
      } else {
        EXPECT_EQ(found[i], fraction) << values[i];
        EXPECT_EQ(std::signbit(found[i]), std::signbit(fraction)) << values[i];
      }
    }
    std::vector<float> floats;
    for (int k = -149; k < 128; ++k) floats.push_back(std::ldexp(1.0f, k));
    const auto [narrow, whole] = tn::frexp(Tensor::from(floats, {int64_t(floats.size())}).to(d));
    EXPECT_EQ(narrow.to_vector<float>(), std::vector<float>(floats.size(), 0.5f));
    EXPECT_EQ(whole.to_vector<int32_t>().front(), -148);
    EXPECT_EQ(whole.to_vector<int32_t>().back(), 128);
  }
}

// Exactly, and a gradient that scales by a power of two.
TEST(BinaryFractions, AreJoinedAgain) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = float64_tensor({0.7, -3.5, 1e-3, 1e200, -12345.678}, {5}, d).requires_grad_();
    const auto [mantissa, exponent] = tn::frexp(x);
    EXPECT_EQ(tn::ldexp(mantissa, exponent).to_vector<double>(), x.to_vector<double>());
    const Tensor g = tn::grad({mantissa.sum()}, {x})[0];
    const std::vector<double> slope = g.to_vector<double>();
    const std::vector<int32_t> powers = exponent.to_vector<int32_t>();
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(slope[i], std::ldexp(1.0, -powers[i]));
  }
}

TEST(Numeric, SaysWhatItRefuses) {
  expect_refusals({
      {[](tn::Device d) { tn::igamma(places_on(d, {2}), places_on(d, {2})); },
       "igamma: a is int64 and x int64, expected a floating dtype of one of them"},
      {[](tn::Device d) {
         const Tensor a = tn::ones({2}, {}, d).requires_grad_();
         tn::igamma(a, tn::ones({2}, {}, d)).sum().backward();
       },
       "igamma: has no gradient to a"},
      {[](tn::Device d) {
         const Tensor a = tn::ones({2}, {}, d).requires_grad_();
         tn::igammac(a, tn::ones({2}, {}, d)).sum().backward();
       },
       "igammac: has no gradient to a"},
      {[](tn::Device d) {
         const Tensor x = tn::full({2}, 3.0, {}, d).requires_grad_();
         tn::zeta(x, tn::ones({2}, {}, d)).sum().backward();
       },
       "zeta: has no gradient to x"},
      {[](tn::Device) { tn::zeta(2, 3); },
       "zeta: x and q are numbers, expected one tensor at least"},
      {[](tn::Device d) { tn::mvlgamma(zeros_on(d, {2}), 0); },
       "mvlgamma: p is 0, expected 1 or more"},
      {[](tn::Device d) { tn::mvlgamma(tn::ones({2}, tn::bool_, d), 2); },
       "mvlgamma: x is bool, expected numbers"},
      {[](tn::Device d) { tn::frexp(places_on(d, {2})); },
       "frexp: x is int64, expected a floating dtype"},
      {[](tn::Device d) {
         tn::lp_pool2d(zeros_on(d, {1, 4, 4}), 0, 2);
       },
       "lp_pool2d: norm_type is 0, expected another number"},
      {[](tn::Device d) {
         tn::vander(zeros_on(d, {2, 2}));
       },
       "vander: x is [2, 2], expected 1 dimension"},
      {[](tn::Device d) { tn::vander(zeros_on(d, {2}), -1); },
       "vander: N is -1, expected 0 or more"},
  });
}

TEST(Differences, SayWhatTheyRefuse) {
  expect_refusals({
      {[](tn::Device d) { tn::gradient(tn::ones({3}, tn::uint8, d)); },
       "gradient: x is uint8, expected signed numbers"},
      {[](tn::Device d) { tn::gradient(zeros_on(d, {3}), {.edge_order = 3}); },
       "gradient: edge_order is 3, expected 1 or 2"},
      {[](tn::Device d) {
         tn::gradient(zeros_on(d, {2, 3}), {.edge_order = 2});
       },
       "gradient: x is [2, 3], expected 3 elements at least along dimension 0"},
      {[](tn::Device d) {
         tn::gradient(zeros_on(d, {3, 3}), {.spacing = {1.0, 2.0, 3.0}});
       },
       "gradient: 3 spacings, expected 1 or 2, one for each dimension"},
      {[](tn::Device d) {
         tn::gradient_at(zeros_on(d, {3, 3}), {zeros_on(d, {3})});
       },
       "gradient_at: 1 coordinates, expected 2, one for each dimension"},
      {[](tn::Device d) { tn::gradient_at(zeros_on(d, {3}), {zeros_on(d, {2})}); },
       "gradient_at: coordinates 0 are [2], expected [3], the size of x along dimension 0"},
  });
}

// As PyTorch promotes: a tensor without dimensions counts by its kind alone.
TEST(Numeric, NumbersInTensorsKeepTheDtypeOfTheOthers) {
  for (const tn::Device d : devices()) {
    const Tensor x = tn::tensor({12, 18}).to(d, tn::uint8), n = tn::tensor(8, d);
    EXPECT_EQ(tn::gcd(x, n).dtype(), tn::uint8);
    expect_near(tn::gcd(x, n), {4, 2});
    EXPECT_EQ(tn::lcm(n, x).dtype(), tn::uint8);
    expect_near(tn::lcm(n, x), {24, 72});
    // Operands are taken as the result's dtype has them.
    const Tensor few = tn::tensor({12, 15, 18, 100}, tn::uint8, d);
    expect_near(tn::gcd(few, tn::tensor(260, d)), {4, 1, 2, 4});
    expect_near(tn::lcm(few, tn::tensor(1000, d)), {184, 152, 40, 168});
    // The least integers have no absolute value.
    const Tensor least = Tensor::from(std::vector<int64_t>{INT64_MIN, 12, 3, -1}, {4}, d);
    const Tensor other =
        Tensor::from(std::vector<int64_t>{12, INT64_MIN, INT64_MIN, INT64_MIN}, {4}, d);
    EXPECT_EQ(tn::gcd(least, other).to_vector<int64_t>(), (std::vector<int64_t>{4, 4, 1, 1}));
    expect_near(tn::lcm(tn::tensor({12}, tn::int32, d), tn::tensor({INT32_MIN + 1}, tn::int32, d)),
                {12});
    const Tensor y = tn::ones({2}, tn::bfloat16, d);
    const Tensor next = tn::nextafter(y, tn::tensor(2.0, d));
    EXPECT_EQ(next.dtype(), tn::bfloat16);
    expect_near(next, {1.0078125, 1.0078125}, 0);
    // Integers take the dtype of the floats that they meet.
    const Tensor whole = tn::tensor({1, 2, 4}).to(d), half = whole.to(tn::float16);
    for (const Tensor& area : {tn::trapezoid(whole, half), tn::trapezoid(half, whole)}) {
      EXPECT_EQ(area.dtype(), tn::float16);
      expect_near(area, {7.5}, 0);
    }
    EXPECT_EQ(tn::cov(whole, {.aweights = half}).dtype(), tn::float16);
    if (!d.is_cpu()) continue;  // elsewhere weights are not looked at
    const Tensor one = tn::ones({1, 3});
    expect_error(
        [&] {
          tn::cov(one, {.fweights = tn::tensor({1, -1, 2})});
        },
        "cov: an element of fweights is not 0 or more");
    expect_error(
        [&] {
          tn::cov(one, {.aweights = tn::tensor({1.f, -1.f, 2.f})});
        },
        "cov: an element of aweights is not 0 or more");
  }
}

}  // namespace
