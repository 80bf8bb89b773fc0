// The distributions of relaxed.hpp, gamma_quotients.hpp, circular.hpp, continuous_bernoulli.hpp,
// low_rank_multivariate_normal.hpp and matrices.hpp, NegativeBinomial, Multinomial and
// GeneralizedPareto: whether draws have the distribution and the moments, gradients of rsample,
// what is refused. Their values beside PyTorch's are in distribution_values_test.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "distribution_moments.h"
#include "draws.h"
#include "message_of.h"
#include "tenon/distributions.hpp"
#include "tenon/gradcheck.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using namespace tn::distributions;
using tn::Tensor;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class MoreDistributions : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    tn::manual_seed(0);
    device = tn::Device(GetParam());
    // A draw of Poisson takes some hundred calls of ops, and one of angles too.
    if (!device.is_cpu()) counts = 1000, many = kDraws / 4;
  }
  Tensor at(const Values& values, tn::Dtype dtype = tn::float32) const {
    return Tensor::from(values).to(device, dtype);
  }
  Tensor matrix(const Values& values, tn::Dtype dtype = tn::float32) const {
    return Tensor::from(values, {2, 2}).to(device, dtype);
  }
  tn::Device device;
  int64_t counts = kDraws, many = kDraws;
};
INSTANTIATE_TEST_SUITE_P(Devices, MoreDistributions, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(MoreDistributions, DrawsOfOneNumberHaveTheDistribution) {
  const auto expect = [&](const Distribution& d, const std::function<double(double)>& below) {
    SCOPED_TRACE(d.name());
    expect_distribution(d.sample({many}).to_vector<double>(), below);
  };
  const Tensor one = at({1});
  expect(InverseGamma(one, 3.0), [](double x) { return std::exp(-3 / x); });
  expect(FisherSnedecor(2 * one, 4.0), [](double x) { return 1 - std::pow(1 + x / 2, -2); });
  for (const double p : {1e-4, 0.2, 0.9}) {
    expect(ContinuousBernoulli(p * one), [&](double x) {
      return (std::pow(p, x) * std::pow(1 - p, 1 - x) + p - 1) / (2 * p - 1);
    });
  }
  expect(ContinuousBernoulli(0.5 * one), [](double x) { return x; });
  expect(ContinuousBernoulli(0.501 * one), [](double x) { return x - 0.002 * x * (1 - x); });
  for (const double c : {0.4, -0.5, -1.0}) {
    expect(GeneralizedPareto(one, 2.0, c),
           [&](double x) { return 1 - std::pow(1 + c * (x - 1) / 2, -1 / c); });
  }
  expect(GeneralizedPareto(one, 2.0, 0.0), [](double x) { return -std::expm1(-(x - 1) / 2); });
  expect(RelaxedBernoulli(0.6, 0.3 * one),
         [](double x) { return sigmoid(0.6 * std::log(x / (1 - x)) - std::log(0.3 / 0.7)); });
}

// By the Fourier series of the density.
TEST_P(MoreDistributions, DrawsOfAnglesHaveTheDistribution) {
  const Values concentrations = {1e-6, 0.3, 2, 60};
  const Tensor draws = VonMises(2.5, at(concentrations)).sample({many});
  EXPECT_EQ(draws.dtype(), tn::float32);
  for (size_t i = 0; i < concentrations.size(); ++i) {
    SCOPED_TRACE(concentrations[i]);
    const double k = concentrations[i];
    Values waves;
    double start = 0.5;
    for (int j = 1; j < 45; ++j) {
      waves.push_back(std::cyl_bessel_i(j, k) / std::cyl_bessel_i(0, k) / (j * M_PI));
      start += waves.back() * std::sin(j * (M_PI + 2.5));
    }
    expect_distribution(column(draws, int64_t(i)), [&](double x) {
      double f = start + x / (2 * M_PI);
      for (int j = 1; j < 45; ++j) f += waves[size_t(j - 1)] * std::sin(j * (x - 2.5));
      return f;
    });
  }
  // Of a high concentration they are normal, and keep their digits.
  const Tensor near = VonMises(0.0, at({1e8})).sample({many}) * 1e4;
  expect_distribution(near.to_vector<double>(),
                      [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; });
}

TEST_P(MoreDistributions, DrawsHaveTheMoments) {
  const Tensor one = at({1}).select(0, 0);
  expect_moments(InverseGamma(12 * one, 3.0), many);
  expect_moments(FisherSnedecor(5 * one, 30.0), many);
  expect_moments(ContinuousBernoulli(0.47 * one), many);
  expect_moments(GeneralizedPareto(one, 2.0, -0.3), many);
  expect_moments(NegativeBinomial(7, 0.6 * one), counts);
  expect_moments(NegativeBinomial(0.7 * one, 0.3), counts);
}

TEST_P(MoreDistributions, DrawsOfNegativeBinomialHaveTheDistribution) {
  const Values totals = {0, 1, 0.4, 6, 30}, probs = {0.5, 0.3, 0.9, 0.05, 0.7};
  const Tensor draws = NegativeBinomial(at(totals), at(probs)).sample({counts});
  for (size_t i = 0; i < totals.size(); ++i) {
    SCOPED_TRACE(i);
    const double n = totals[i], p = probs[i];
    expect_counts(column(draws, int64_t(i)), [&](double k) {
      if (n == 0) return k == 0 ? 0.0 : -double(INFINITY);
      return std::lgamma(n + k) - std::lgamma(n) - std::lgamma(k + 1) + n * std::log1p(-p) +
             k * std::log(p);
    });
  }
}

// How often one class comes is binomial, and two classes have the covariance -n p q.
TEST_P(MoreDistributions, DrawsOfMultinomialHaveTheDistribution) {
  const Multinomial d(8, at({1, 3, 0, 4}));
  const Tensor draws = d.sample({many});
  EXPECT_EQ(draws.dtype(), tn::float32);
  EXPECT_EQ(draws.sum({-1}).min().item<float>(), 8);
  EXPECT_EQ(draws.sum({-1}).max().item<float>(), 8);
  EXPECT_EQ(draws.select(1, 2).max().item<float>(), 0);
  for (const auto& [i, p] : {std::pair(0, 0.125), std::pair(1, 0.375), std::pair(3, 0.5)}) {
    expect_counts(column(draws, i), [p = p](double k) {
      return std::lgamma(9) - std::lgamma(k + 1) - std::lgamma(9 - k) + k * std::log(p) +
             (8 - k) * std::log1p(-p);
    });
  }
  expect_mean(((draws.select(1, 1) - 3) * (draws.select(1, 3) - 4)).to_vector<double>(),
              -8 * 0.375 * 0.5);
  expect_mean((-d.log_prob(draws)).to_vector<double>(), d.entropy().item<double>());
}

// The greatest number is a draw of the classes, and at a temperature of 1 two classes are even.
TEST_P(MoreDistributions, DrawsOfRelaxedClassesHaveTheProbabilities) {
  const Values wanted = {0.125, 0.375, 0.5};
  const RelaxedOneHotCategorical d(0.4, at({1, 3, 4}));
  const Tensor draws = d.sample({many});
  EXPECT_LT((draws.sum({-1}) - 1).abs().max().item<double>(), 1e-5);
  const Tensor greatest = draws.argmax({-1});
  for (int64_t i = 0; i < 3; ++i) {
    const double rate = (greatest == i).to(tn::float32).mean().item<double>();
    EXPECT_NEAR(rate, wanted[size_t(i)], far_of(double(many)));
  }
  const Tensor even = RelaxedOneHotCategorical(at({1}), at({2, 2})).sample({many});
  EXPECT_EQ(std::vector<int64_t>(even.sizes()), std::vector<int64_t>({many, 2}));
  expect_distribution(column(even, 0), [](double x) { return x; });
  // Of a low temperature most numbers round to 0 or 1, where the density is infinite.
  const RelaxedOneHotCategorical cold(0.01, at({1, 3, 4}));
  const Tensor ends = cold.sample({500});
  EXPECT_GT(ends.min().item<double>(), 0);
  EXPECT_LT(ends.max().item<double>(), 1);
  EXPECT_TRUE(tn::isfinite(cold.log_prob(ends)).all().item<bool>());
}

// A projection of a normal vector is normal.
TEST_P(MoreDistributions, DrawsOfLowRankHaveTheCovariance) {
  const Tensor factor = Tensor::from(Values{2, -1, 0.5}, {3, 1}).to(device, tn::float32);
  const LowRankMultivariateNormal d(at({1, -2, 0}), factor, at({0.3, 0.2, 1}));
  const Tensor draws = d.sample({many});
  const auto below = [](double loc, double variance) {
    return [=](double x) { return std::erfc((loc - x) / std::sqrt(2 * variance)) / 2; };
  };
  expect_distribution(column(draws, 0), below(1, 4.3));
  expect_distribution((draws.select(1, 0) + 2 * draws.select(1, 1)).to_vector<double>(),
                      below(-3, 0.3 + 0.8));
  const Tensor covariance = d.covariance_matrix(), l = d.scale_tril();
  EXPECT_TRUE(tn::allclose(matmul(l, l.mT()), covariance, 1e-4, 1e-4));
  EXPECT_TRUE(tn::allclose(matmul(d.precision_matrix(), covariance),
                           tn::eye(3, 3, tn::float32, device), 1e-4, 1e-4));
}

// An element of the diagonal is Sigma's times a Chi2(df).
TEST_P(MoreDistributions, DrawsOfWishartHaveTheMoments) {
  const Wishart d(4.0, matrix({2, -0.9, -0.9, 0.5}));
  const Tensor draws = d.sample({many}), mean = d.mean(), variance = d.variance();
  for (const auto& [i, scale] : {std::pair(0, 2.0), std::pair(1, 0.5)}) {
    const Tensor squares = draws.select(2, i).select(1, i) / scale;
    expect_distribution(squares.to_vector<double>(),
                        [](double x) { return 1 - std::exp(-x / 2) * (1 + x / 2); });
    for (int64_t j = 0; j < 2; ++j) {
      const Tensor each = draws.select(2, i).select(1, j);
      const double wanted = mean[{j, i}].item<double>();
      expect_mean(each.to_vector<double>(), wanted);
      expect_mean((each - wanted).square().to_vector<double>(), variance[{j, i}].item<double>());
    }
  }
  expect_mean((-d.log_prob(draws)).to_vector<double>(), d.entropy().item<double>());
  const Wishart q(6.0, matrix({1, 0.2, 0.2, 1}));
  expect_mean((d.log_prob(draws) - q.log_prob(draws)).to_vector<double>(),
              kl_divergence(d, q).item<double>());
}

// Each correlation is 2 x - 1 of an x of Beta(m, m) with m = concentration + (dim - 2) / 2.
// PyTorch's draws have it in the second row alone: the sizes of its others are of Beta(i - 1 / 2,
// ..) in the place of Beta(i / 2, ..).
TEST_P(MoreDistributions, DrawsOfCorrelationsHaveTheDistribution) {
  const Tensor l = LKJCholesky(3, at({0.5, 1})).sample({many}), all = matmul(l, l.mT());
  EXPECT_LT((all.diagonal(0, -2, -1) - 1).abs().max().item<double>(), 1e-5);
  for (const auto& [i, j] : {std::pair(1, 0), std::pair(2, 0), std::pair(2, 1)}) {
    const Tensor each = all.select(-1, j).select(-1, i);
    expect_distribution(column(each, 0), [](double x) { return 0.5 + 0.5 * x; });
    expect_distribution(column(each, 1), [](double x) {
      return 0.5 + (x * std::sqrt(1 - x * x) + std::asin(x)) / M_PI;
    });
  }
  // The density of the factor of two rows is that of its one correlation, from -1 to 1.
  const LKJCholesky even(2, 1.0);
  EXPECT_NEAR(even.log_prob(even.sample()).item<double>(), -std::log(2), 1e-6);
}

// PyTorch has no entropy of these: it is the mean of -log_prob.
TEST_P(MoreDistributions, EntropiesAreMeans) {
  const auto expect = [&](const Distribution& d) {
    SCOPED_TRACE(d.name());
    const Tensor x = d.sample({many});
    expect_mean((-d.log_prob(x)).to_vector<double>(), d.entropy().item<double>());
  };
  const Tensor one = at({1}).select(0, 0);
  expect(VonMises(one, 0.4));
  expect(VonMises(one, 9.0));
  expect(FisherSnedecor(3 * one, 5.0));
}

// A draw of the same random numbers is a smooth function of the parameters.
TEST_P(MoreDistributions, GradientsAreThoseOfTheDrawsFunction) {
  const auto check = [&](auto draw, const Values& first = {0.5, 1.2}) {
    tn::gradcheck(
        [draw](Tensor a, Tensor b) {
          tn::manual_seed(3);
          return draw(a, b).rsample({3});
        },
        {at(first, tn::float64).requires_grad_(), at({0.8, 2}, tn::float64).requires_grad_()});
  };
  check([](Tensor a, Tensor b) { return RelaxedBernoulli(b, {.logits = a}); });
  check([](Tensor a, Tensor b) { return RelaxedBernoulli(b, a / 2); });
  check([](Tensor a, Tensor b) { return RelaxedOneHotCategorical(b.sum(), a); });
  check([](Tensor a, Tensor b) {
    return ExpRelaxedCategorical(b, {.logits = tn::stack({a, b, a * b}, -1)});
  });
  check([](Tensor a, Tensor b) { return ContinuousBernoulli({.logits = a * b}); });
  check([](Tensor a, Tensor b) { return ContinuousBernoulli({.logits = a * b}); }, {-3, -0.001});
  check([](Tensor a, Tensor b) { return GeneralizedPareto(a, b, a - b); });
  check([](Tensor a, Tensor b) {
    return LowRankMultivariateNormal(a, tn::stack({a, a * b}, -1), b);
  });
  check([](Tensor a, Tensor b) { return LogisticNormal(a, b); });
}

// The mean of the gradients is the gradient of the mean.
TEST_P(MoreDistributions, GradientsOfGammasAverageToThatOfTheMean) {
  const auto wide = [&](double x) {
    return tn::full({many / 4}, x, tn::float32, device).requires_grad_();
  };
  const Tensor concentration = wide(9), df1 = wide(4), df2 = wide(30), df = wide(5);
  InverseGamma(concentration, 3.0).rsample().sum().backward();
  expect_mean(concentration.grad().to_vector<double>(), -3.0 / 64);
  FisherSnedecor(df1, df2).rsample().sum().backward();
  expect_mean(df1.grad().to_vector<double>(), 0);
  expect_mean(df2.grad().to_vector<double>(), -2.0 / (28 * 28));
  Wishart(df, matrix({2, -0.9, -0.9, 0.5})).rsample().sum().backward();
  expect_mean(df.grad().to_vector<double>(), 2 - 1.8 + 0.5);
}

}  // namespace
