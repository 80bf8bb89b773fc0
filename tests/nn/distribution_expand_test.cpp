// `expand` of each distribution, the `cdf` and `icdf` of positive ones, of quotients of gammas, of
// mixtures and through transforms, and what is refused: logits and probabilities that are none, sizes
// of draws, pairs of a divergence.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "distribution_support.h"
#include "message_of.h"
#include "tenon/distributions.hpp"
#include "tenon/gradcheck.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using namespace tn::distributions;
using tn::Tensor;

namespace {

using Values = std::vector<double>;
using Sizes = std::vector<int64_t>;

class LargerDistributions : public DistributionsOnADevice {};
INSTANTIATE_TEST_SUITE_P(Devices, LargerDistributions, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

// Of [4, 2, batch..]: the batch and its draws grow, and log_prob is that of the smaller one.
template <typename D>
void expect_expands(const D& d) {
  SCOPED_TRACE(d.name());
  Sizes batch = {4, 2};
  for (const int64_t size : d.batch_shape()) batch.push_back(size);
  const D larger = d.expand(batch);
  EXPECT_STREQ(larger.name(), d.name());
  EXPECT_EQ(Sizes(larger.batch_shape()), batch);
  EXPECT_EQ(Sizes(larger.event_shape()), Sizes(d.event_shape()));
  const Tensor draws = larger.sample({3});
  Sizes sizes = {3};
  sizes.insert(sizes.end(), batch.begin(), batch.end());
  for (const int64_t size : d.event_shape()) sizes.push_back(size);
  EXPECT_EQ(Sizes(draws.sizes()), sizes);
  const Tensor of_larger = larger.log_prob(draws);
  EXPECT_EQ(of_larger.dim(), int64_t(batch.size()) + 1);
  EXPECT_TRUE(tn::allclose(of_larger, d.log_prob(draws), 1e-9, 1e-9));
}

TEST_P(LargerDistributions, EachExpands) {
  const Tensor a = at({0.5, 1.7}), b = at({1.2, 2.5}), u = at({0.3, 0.9});
  const Tensor one = tn::eye(2, 2, tn::float64, device);
  expect_expands(Normal(a, b));
  expect_expands(Uniform(a, b));
  expect_expands(tn::distributions::Exponential(a));
  expect_expands(Laplace(a, b));
  expect_expands(Cauchy(a, b));
  expect_expands(Gumbel(a, b));
  expect_expands(HalfNormal(a));
  expect_expands(HalfCauchy(a));
  expect_expands(StudentT(a, a, b));
  expect_expands(VonMises(a, b));
  expect_expands(Gamma(a, b));
  expect_expands(Chi2(a));
  expect_expands(Beta(a, b));
  expect_expands(Dirichlet(a));
  expect_expands(InverseGamma(a, b));
  expect_expands(FisherSnedecor(a, b));
  expect_expands(Pareto(a, b));
  expect_expands(Weibull(a, b));
  expect_expands(Kumaraswamy(a, b));
  expect_expands(GeneralizedPareto(a, b, a));
  expect_expands(ContinuousBernoulli(u));
  expect_expands(Bernoulli(u));
  expect_expands(Categorical(a));
  expect_expands(OneHotCategorical(a));
  expect_expands(OneHotCategoricalStraightThrough(a));
  expect_expands(Poisson(a));
  expect_expands(Binomial(3, u));
  expect_expands(Geometric(u));
  expect_expands(NegativeBinomial(3, u));
  expect_expands(Multinomial(3, a));
  expect_expands(LogitRelaxedBernoulli(0.5, u));
  expect_expands(RelaxedBernoulli(0.5, u));
  expect_expands(ExpRelaxedCategorical(0.5, u));
  expect_expands(RelaxedOneHotCategorical(0.5, u));
  expect_expands(LogNormal(a, b));
  expect_expands(LogisticNormal(a, b));
  expect_expands(Independent(Normal(a, b), 1));
  expect_expands(MixtureSameFamily(Categorical(u), Normal(a, b)));
  expect_expands(TransformedDistribution(Normal(a, b), TanhTransform(), AffineTransform(1.0, a)));
  expect_expands(MultivariateNormal(a, one));
  expect_expands(LowRankMultivariateNormal(a, at({1, 2}).unsqueeze(-1), b));
  expect_expands(Wishart(3.0, one));
  expect_expands(LKJCholesky(3, at({1.5})));
}

TEST_P(LargerDistributions, GradientsFlowBackFromAnExpandedOne) {
  const Tensor loc = at({0.5, 1.7}).requires_grad_();
  Normal(loc, 2.0).expand({3, 2}).log_prob(at({1, 1})).sum().backward();
  expect_close(loc.grad(), 3 * (at({1, 1}) - loc.detach()) / 4);
}

TEST_P(LargerDistributions, WhatDoesNotExpandIsRefused) {
  const Normal d(at({0.5, 1.7}), 1.0);
  for (const Sizes& sizes : {Sizes{3}, Sizes{}, Sizes{-1, 2}}) {
    EXPECT_NE(message_of([&] { d.expand(sizes); }).find("Normal: expand: batch_shape is ["),
              std::string::npos);
  }
  EXPECT_EQ(message_of([&] {
              d.expand({2, 3});
            }),
            "Normal: expand: batch_shape is [2, 3], expected sizes that [2] expands to");
  EXPECT_EQ(message_of([&] { Independent(d, 1).expand({-1}); }),
            "Independent: expand: batch_shape is [-1], expected sizes that [] expands to");
}

// icdf is the inverse of cdf, whose slope is the density. The values are those of PyTorch 2.15.
TEST_P(LargerDistributions, CumulativeDistributionsFit) {
  const Tensor a = at({0.5, 1.7}), b = at({1.2, 2.5});
  const auto expect = [&](const auto& d, const Values& values, const Values& wanted) {
    SCOPED_TRACE(d.name());
    const Tensor x = at(values).requires_grad_(), p = d.cdf(x);
    expect_close(p, at(wanted));
    p.sum().backward();
    expect_close(x.grad(), tn::exp(d.log_prob(at(values))));
    if constexpr (requires { d.icdf(p); }) {
      expect_close(d.icdf(p), x);
      tn::gradcheck([&](Tensor u) { return d.icdf(u); }, {at({0.2, 0.7}).requires_grad_()});
    }
  };
  const Values x = {0.3, 0.9}, y = {2, 3.1};
  expect(HalfNormal(b), x, {0.197412651365847, 0.281152866435983});
  expect(HalfCauchy(b), x, {0.155958260754739, 0.219987515050277});
  expect(LogNormal(a, b), x, {0.0778071395084922, 0.235102910959529});
  expect(Pareto(b, a), y, {0.225403330758517, 0.306281725452269});
  expect(Weibull(b, a), y, {0.725002823526071, 0.763429108215871});
  expect(Kumaraswamy(b, a), x, {0.125815194411952, 0.916833421506685});
  expect(GeneralizedPareto(0.0, b, a), x, {0.209876543209877, 0.244872013783408});
  expect(GeneralizedPareto(at({0}), 2.0, 0.0), x, {-std::expm1(-0.15), -std::expm1(-0.45)});
  expect(ContinuousBernoulli({.logits = at({-2})}), x, {0.521807303060615, 0.965346562194496});
  expect(ContinuousBernoulli({.logits = at({0.4})}), x, {0.259232308159462, 0.88106477092048});
  expect(Gamma(a, b), x, {0.603856090847926, 0.737527386693626});
  expect(Chi2(b), y, {0.802740472915041, 0.707491544728065});
  expect(InverseGamma(a, b), x, {0.00467773498104729, 0.172400974328819});
  expect(TransformedDistribution(Normal(a, b), TanhTransform(), AffineTransform(1.0, at({-2, 3}))),
         x, {0.544639915752735, 0.24404864428223});
  expect(TransformedDistribution(tn::distributions::Exponential(a), PowerTransform(-1.0)), x,
         {std::exp(-0.5 / 0.3), std::exp(-1.7 / 0.9)});
  expect(MixtureSameFamily(Categorical(at({0.3, 0.7})), Normal(a, b)), {0.2, 1, 2},
         {0.312365284720174, 0.471278790857735, 0.651735966114352});
}

// Exact at the series' limits, and within the dtype where exponentials overflow.
TEST_P(LargerDistributions, CumulativeOfContinuousBernoulliIsSmooth) {
  for (const double logit : {1e-9, 0.0199, 0.0201, -0.0199, -0.0201, 3.0}) {
    const double wanted = std::expm1(0.3 * logit) / std::expm1(logit);
    const ContinuousBernoulli d({.logits = at({logit})});
    EXPECT_NEAR(d.cdf(at({0.3})).item<double>(), wanted, 1e-10) << logit;
    EXPECT_NEAR(d.icdf(at({wanted})).item<double>(), 0.3, 2e-10) << logit;
  }
  const ContinuousBernoulli far({.logits = at({-200, 200}, tn::float32)});
  EXPECT_EQ(far.cdf(at({0.5, 0.5}, tn::float32)).to_vector<double>(), (Values{1, 0}));
}

TEST_P(LargerDistributions, CumulativeIsZeroBelowTheSupportAndOneAbove) {
  const Tensor one = at({1}), below = at({-3}), above = at({7});
  const auto expect = [&](const auto& d, const Tensor& value, double wanted) {
    EXPECT_EQ(d.cdf(value).template item<double>(), wanted) << d.name();
  };
  expect(HalfNormal(one), below, 0);
  expect(HalfCauchy(one), below, 0);
  expect(LogNormal(one, 1.0), below, 0);
  expect(Pareto(one, 2.0), below, 0);
  expect(Weibull(one, 2.0), below, 0);
  expect(Kumaraswamy(one, 2.0), below, 0);
  expect(Kumaraswamy(one, 2.0), above, 1);
  expect(ContinuousBernoulli(0.3 * one), below, 0);
  expect(ContinuousBernoulli(0.3 * one), above, 1);
  expect(Gamma(one, 2.0), below, 0);
  expect(InverseGamma(one, 2.0), below, 0);
  expect(GeneralizedPareto(one, 2.0, -0.5), below, 0);
  expect(GeneralizedPareto(one, 2.0, -0.5), above, 1);
}

// As PyTorch does, whose normalized logits and probabilities are NaN then.
TEST_P(LargerDistributions, LogitsWithoutAFiniteLargestOneAreRefused) {
  const double inf = INFINITY;
  const Tensor none = at({-inf, -inf}), sure = at({0, inf});
  const std::string at_0 = " at [0], expected a finite number";
  EXPECT_EQ(message_of([&] { Categorical({.logits = none}); }),
            "Categorical: the largest of the logits is -inf" + at_0);
  EXPECT_EQ(message_of([&] { OneHotCategorical({.logits = sure}); }),
            "OneHotCategorical: the largest of the logits is inf" + at_0);
  EXPECT_EQ(message_of([&] { Multinomial(2, {.logits = none}); }),
            "Multinomial: the largest of the logits is -inf" + at_0);
  EXPECT_EQ(message_of([&] { RelaxedOneHotCategorical(0.5, {.logits = none}); }),
            "RelaxedOneHotCategorical: the largest of the logits is -inf" + at_0);
  EXPECT_EQ(message_of([&] {
              Categorical({.logits = at({0, NAN})});
            }),
            "Categorical: logits is nan at [1], expected a number");
  EXPECT_EQ(message_of([&] {
              Categorical(at({1, inf}));
            }),
            "Categorical: the sum of probs is inf at [0], expected a finite number");
  EXPECT_EQ(Categorical({.logits = at({0, -inf})}).probs().to_vector<double>(), (Values{1, 0}));
}

struct VectorsWithCdf : Dirichlet {
  using Dirichlet::Dirichlet;
  Tensor cdf(const Tensor& value) const { return value; }
};

TEST_P(LargerDistributions, AMixtureOfVectorsHasNoCdf) {
  const MixtureSameFamily d(Categorical(at({1})), VectorsWithCdf(at({1, 1}).unsqueeze(0)));
  EXPECT_EQ(message_of([&] {
              d.cdf(at({0.5, 0.5}));
            }),
            "MixtureSameFamily: cdf: an event of Dirichlet is [2], expected single numbers");
}

TEST_P(LargerDistributions, NegativeSizesOfDrawsAreRefusedByName) {
  const Tensor a = at({0.5, 1.7});
  const std::string wrong = ": sample: sample_shape is [2, -1], expected sizes of at least 0";
  EXPECT_EQ(message_of([&] { Normal(a, 1.0).sample({2, -1}); }), "Normal" + wrong);
  EXPECT_EQ(message_of([&] { Gamma(a, 1.0).rsample({2, -1}); }), "Gamma" + wrong);
  EXPECT_EQ(message_of([&] { Categorical(a).sample({2, -1}); }), "Categorical" + wrong);
  EXPECT_EQ(message_of([&] { Multinomial(2, a).sample({2, -1}); }), "Multinomial" + wrong);
}

TEST_P(LargerDistributions, ADivergenceNamesBatchesThatDoNotFit) {
  const auto sizes = [](const std::string& p, const std::string& q) {
    return "kl_divergence: the batch of p, a " + p + ", is [2] and that of q, a " + q +
           ", is [3], expected sizes that broadcast";
  };
  const Tensor two = at({1, 1}), three = at({1, 1, 1});
  EXPECT_EQ(message_of([&] { kl_divergence(Normal(two, 1.0), Normal(three, 1.0)); }),
            sizes("Normal", "Normal"));
  EXPECT_EQ(message_of([&] { kl_divergence(Gamma(two, 1.0), Gumbel(three, 1.0)); }),
            sizes("Gamma", "Gumbel"));
  EXPECT_EQ(
      message_of([&] { kl_divergence(Dirichlet(two), Dirichlet(three)); }),
      "kl_divergence: the event of p, a Dirichlet, is [2] and that of q, a Dirichlet, is [3], "
      "expected the same");
}

}  // namespace
