// tenon/special.hpp: PyTorch's values of orthogonal polynomials (tests/data/torch_polynomials.json),
// gradients, which PyTorch has not, by differences and by identities, dtypes, and what is refused.
#include <tenon/special.hpp>

#include "refusals.h"
#include "torch_functions.h"

namespace {

using torch_functions::Given;
namespace special = tn::special;

struct Family {
  std::string name;
  Tensor (*of_int)(const Tensor&, tn::Int);
  Tensor (*of_tensor)(const Tensor&, const Tensor&);
};
const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {"chebyshev_polynomial_t", special::chebyshev_polynomial_t, special::chebyshev_polynomial_t},
      {"chebyshev_polynomial_u", special::chebyshev_polynomial_u, special::chebyshev_polynomial_u},
      {"chebyshev_polynomial_v", special::chebyshev_polynomial_v, special::chebyshev_polynomial_v},
      {"chebyshev_polynomial_w", special::chebyshev_polynomial_w, special::chebyshev_polynomial_w},
      {"shifted_chebyshev_polynomial_t", special::shifted_chebyshev_polynomial_t,
       special::shifted_chebyshev_polynomial_t},
      {"shifted_chebyshev_polynomial_u", special::shifted_chebyshev_polynomial_u,
       special::shifted_chebyshev_polynomial_u},
      {"shifted_chebyshev_polynomial_v", special::shifted_chebyshev_polynomial_v,
       special::shifted_chebyshev_polynomial_v},
      {"shifted_chebyshev_polynomial_w", special::shifted_chebyshev_polynomial_w,
       special::shifted_chebyshev_polynomial_w},
      {"hermite_polynomial_h", special::hermite_polynomial_h, special::hermite_polynomial_h},
      {"hermite_polynomial_he", special::hermite_polynomial_he, special::hermite_polynomial_he},
      {"laguerre_polynomial_l", special::laguerre_polynomial_l, special::laguerre_polynomial_l},
      {"legendre_polynomial_p", special::legendre_polynomial_p, special::legendre_polynomial_p},
  };
  return list;
}

TEST(Polynomials, HaveTheValuesOfPyTorch) {
  torch_functions::Functions functions;
  for (const Family& f : families()) {
    functions[f.name] = [f](const Given& g) {
      const bool is_tensor = g.as<tn_value>(1).kind == TN_KIND_TENSOR;
      return is_tensor ? f.of_tensor(g.tensor(0), g.tensor(1))
                       : f.of_int(g.tensor(0), g.as<int64_t>(1));
    };
  }
  torch_functions::expect_cases("torch_polynomials.json", functions);
}

TEST(Polynomials, GradientsAreThoseOfDifferences) {
  load_all();
  // The ends of the intervals are among the places: the values there have gradients as all others.
  const Tensor x = float64_tensor({-1, 1, 0, 0.3, -0.7, 1.4}, {6});
  const Tensor n = tn::tensor({4, 0, 2, 5, 1, -1}).unsqueeze(1);
  for (const Family& f : families()) {
    SCOPED_TRACE(f.name);
    for (const int64_t order : {1, 2, 5})
      gradcheck([&](const TensorList& in) { return f.of_int(in[0], order); }, {x});
    gradcheck([&](const TensorList& in) { return f.of_tensor(in[0], n); }, {x});
  }
}

// Derivatives by other polynomials, up to orders of which differences would say little.
TEST(Polynomials, GradientsAreThoseOfTheIdentities) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const auto slope = [&](const Family& f, const Tensor& x, int64_t n) {
      const Tensor leaf = x.detach().requires_grad_();
      return tn::grad({f.of_int(leaf, n).sum()}, {leaf})[0];
    };
    const Tensor x = float64_tensor({-1, 1, 0, 0.3, -0.7, 0.9}, {6}, d);
    for (const int64_t n : {3, 9, 30}) {
      const Tensor t = double(n) * special::chebyshev_polynomial_u(x, n - 1);
      expect_near(slope(families()[0], x, n), t.to_vector<double>(), 1e-11);
      const Tensor h = 2.0 * double(n) * special::hermite_polynomial_h(x, n - 1);
      expect_near(slope(families()[8], x, n), h.to_vector<double>(), 1e-11);
      const Tensor he = double(n) * special::hermite_polynomial_he(x, n - 1);
      expect_near(slope(families()[9], x, n), he.to_vector<double>(), 1e-11);
      Tensor l = tn::zeros_like(x);
      for (int64_t k = 0; k < n; ++k) l = l - special::laguerre_polynomial_l(x, k);
      expect_near(slope(families()[10], x, n), l.to_vector<double>(), 1e-11);
    }
    // P'(1) = n (n + 1) / 2.
    expect_near(slope(families()[11], tn::ones({1}, tn::float64, d), 20), {210}, 1e-12);
  }
}

// An order that one element wants is no reason for another to overflow.
TEST(Polynomials, OfSmallOrdersStayWhatTheyAreBesideGreatOnes) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = float64_tensor({1e10, 0.5, NAN, INFINITY}, {4}, d).requires_grad_();
    const Tensor n = tn::tensor({2, 60, 0, 0}).to(d);
    const Tensor y = special::hermite_polynomial_he(x, n);
    const double high = special::hermite_polynomial_he(x.detach()[1], 60).item<double>();
    expect_near(y, {1e20 - 1, high, 1, 1}, 1e-12);
    const double slope = 60 * special::hermite_polynomial_he(x.detach()[1], 59).item<double>();
    expect_near(tn::grad({y.sum()}, {x})[0], {2e10, slope, 0, 0}, 1e-11);
  }
}

TEST(Polynomials, OfNoOrderHaveAGradientOfZero) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const Family& f : families()) {
      SCOPED_TRACE(f.name);
      const Tensor x = tn::tensor({0.0, NAN, 2.0}).to(d).requires_grad_();
      for (const int64_t n : {-1, 0}) {
        const Tensor y = f.of_int(x, n), z = f.of_tensor(x, tn::tensor(n).to(d));
        expect_near(y, std::vector<double>(3, double(n + 1)));
        expect_near(z, std::vector<double>(3, double(n + 1)));
        expect_near(tn::grad({(y + z).sum()}, {x})[0], {0, 0, 0});
      }
    }
  }
}

TEST(Polynomials, OfHalvesAreComputedInFloat32) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (const tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
      const Tensor x = tn::tensor({0.1, -0.45, 0.8}).to(d, dtype);
      for (const Family& f : families()) {
        SCOPED_TRACE(f.name);
        const Tensor y = f.of_int(x, 7);
        EXPECT_EQ(y.dtype(), dtype);
        const std::vector<float> wide = f.of_int(x.to(tn::float32), 7).to(dtype).to_vector<float>();
        EXPECT_EQ(y.to_vector<float>(), wide);
        EXPECT_EQ(f.of_tensor(x, tn::full({}, 7, tn::int64, d)).to_vector<float>(), wide);
      }
    }
  }
}

TEST(Polynomials, AreReplayedInCompiledFunctions) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    auto f = tn::compile([](Tensor x) { return special::legendre_polynomial_p(x, 5); });
    for (int i = 0; i < 3; ++i) {
      const Tensor x = sample({4}, d, i);
      EXPECT_TRUE(tn::equal(f(x), special::legendre_polynomial_p(x, 5))) << f.describe();
    }
  }
}

TEST(Polynomials, HaveTheOtherNamesOfTorchSpecialBesideThem) {
  load_all();
  const Tensor x = sample({3}) + 2;
  EXPECT_TRUE(tn::equal(special::expit(x), tn::sigmoid(x)));
  EXPECT_TRUE(tn::equal(special::gammaln(x), tn::lgamma(x)));
  EXPECT_TRUE(tn::equal(special::psi(x), tn::digamma(x)));
  EXPECT_TRUE(tn::equal(special::gammainc(x, x), tn::igamma(x, x)));
  EXPECT_TRUE(tn::equal(special::gammaincc(x, x), tn::igammac(x, x)));
  EXPECT_TRUE(tn::equal(special::multigammaln(x, 2), tn::mvlgamma(x, 2)));
  EXPECT_TRUE(tn::equal(special::modified_bessel_i0(x), tn::i0(x)));
  EXPECT_TRUE(tn::equal(special::modified_bessel_i1(x), tn::i1(x)));
  EXPECT_TRUE(tn::equal(special::logit(x / 4, 0.1), tn::logit(x / 4, 0.1)));
  EXPECT_TRUE(tn::equal(special::softmax(x, 0), tn::softmax(x, 0)));
  EXPECT_TRUE(tn::equal(special::round(x, 1), tn::round(x, 1)));
}

TEST(Polynomials, SayWhatTheyRefuse) {
  const auto sizes = [](tn::Device d) {
    special::hermite_polynomial_h(zeros_on(d, {2}), places_on(d, {3}));
  };
  const auto none = [](tn::Device) { special::laguerre_polynomial_l(Tensor(), 2); };
  expect_refusals({
      {sizes, "hermite_polynomial_h: x is [2] and n [3], expected sizes that broadcast"},
      {none, "the tensor is None"},
  });
}

}  // namespace
