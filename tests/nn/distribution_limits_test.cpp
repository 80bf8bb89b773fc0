// The distributions of distribution_more_test at their limits: sizes, what is certain, gradients at
// the ends, halves, compiled functions, and what is refused.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "second_device.h"
#include "tenon/distributions.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using namespace tn::distributions;
using tn::Tensor;

namespace {

using Values = std::vector<double>;

class DistributionLimits : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    tn::manual_seed(0);
    device = tn::Device(GetParam());
  }
  Tensor at(const Values& values, tn::Dtype dtype = tn::float32) const {
    return Tensor::from(values).to(device, dtype);
  }
  Tensor ones(tn::Ints sizes, tn::Dtype dtype = tn::float32) const {
    return tn::ones(sizes, dtype, device);
  }
  Tensor matrix(const Values& values, tn::Dtype dtype = tn::float32) const {
    return Tensor::from(values, {2, 2}).to(device, dtype);
  }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, DistributionLimits, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

// The message of f, which begins with `owner`.
void refused(const char* owner, const std::string& why, const std::function<void()>& f) {
  EXPECT_EQ(message_of(f), owner + (": " + why));
}

TEST_P(DistributionLimits, ShapesBroadcast) {
  const auto expect_sizes = [](tn::Ints found, std::vector<int64_t> wanted) {
    EXPECT_EQ(std::vector<int64_t>(found), wanted);
  };
  const NegativeBinomial trials(Tensor::from(Values{3, 5}).to(device, tn::int32),
                                ones({4, 1}, tn::float64) * 0.5);
  expect_sizes(trials.sample({3}).sizes(), {3, 4, 2});
  EXPECT_EQ(trials.sample().dtype(), tn::float64);
  const Multinomial counts(6, ones({3, 5}));
  expect_sizes(counts.batch_shape(), {3});
  expect_sizes(counts.event_shape(), {5});
  expect_sizes(counts.sample({2, 7}).sizes(), {2, 7, 3, 5});
  expect_sizes(counts.log_prob(counts.sample({7})).sizes(), {7, 3});
  expect_sizes(counts.entropy().sizes(), {3});
  const RelaxedBernoulli events(ones({3, 1}), {.logits = ones({4})});
  expect_sizes(events.log_prob(events.rsample({2})).sizes(), {2, 3, 4});
  const RelaxedOneHotCategorical classes(ones({2}), {.logits = ones({3, 2, 5})});
  expect_sizes(classes.temperature().sizes(), {2});
  expect_sizes(classes.batch_shape(), {3, 2});
  expect_sizes(classes.log_prob(classes.rsample({7})).sizes(), {7, 3, 2});
  const LowRankMultivariateNormal vectors(ones({3, 1, 4}), ones({2, 4, 1}), ones({4}));
  expect_sizes(vectors.batch_shape(), {3, 2});
  expect_sizes(vectors.log_prob(vectors.rsample({7})).sizes(), {7, 3, 2});
  expect_sizes(vectors.variance().sizes(), {3, 2, 4});
  expect_sizes(vectors.entropy().sizes(), {3, 2});
  const Wishart matrices(4 * ones({3}), {.scale_tril = matrix({1, 0, 0.5, 2})});
  expect_sizes(matrices.batch_shape(), {3});
  expect_sizes(matrices.event_shape(), {2, 2});
  expect_sizes(matrices.log_prob(matrices.rsample({7})).sizes(), {7, 3});
  expect_sizes(matrices.variance().sizes(), {3, 2, 2});
  const LKJCholesky correlations(4, ones({3}));
  expect_sizes(correlations.log_prob(correlations.sample({7})).sizes(), {7, 3});
  const LogisticNormal simplex(0.0, ones({3, 4}));
  expect_sizes(simplex.batch_shape(), {3});
  expect_sizes(simplex.event_shape(), {5});
  expect_sizes(simplex.log_prob(simplex.rsample({7})).sizes(), {7, 3});
  expect_sizes(LogisticNormal(0.0, 1.0).sample().sizes(), {2});
  for (const bool has : {trials.has_rsample(), counts.has_rsample(), correlations.has_rsample(),
                         VonMises(0.0, 1.0).has_rsample()})
    EXPECT_FALSE(has);
  EXPECT_TRUE(events.has_rsample() && matrices.has_rsample() && simplex.has_rsample());
}

// Events that are certain, and classes that never come.
TEST_P(DistributionLimits, CertainThingsHaveNoEntropy) {
  const auto at64 = [&](const Values& v) { return at(v, tn::float64); };
  const Tensor count = at64({0, 2}).requires_grad_();
  const Tensor none = NegativeBinomial(count, 0.3).log_prob(at64({0, 0}));
  EXPECT_NEAR(none.select(0, 0).item<double>(), 0, 1e-13);
  none.sum().backward();
  EXPECT_TRUE(tn::isfinite(count.grad()).all().item<bool>());
  EXPECT_EQ(NegativeBinomial(at64({0}), 0.3).log_prob(at64({1})).item<double>(), -INFINITY);
  const Tensor logits = at64({0, 0, -INFINITY}).requires_grad_();
  const Multinomial d(4, {.logits = logits});
  const Tensor log_prob = d.log_prob(at64({1, 3, 0}));
  EXPECT_NEAR(log_prob.item<double>(), std::log(0.25), 1e-12);
  EXPECT_EQ(d.log_prob(at64({1, 2, 1})).item<double>(), -INFINITY);
  EXPECT_NEAR(Multinomial(5, at64({0, 1})).entropy().item<double>(), 0, 1e-12);
  EXPECT_EQ(Multinomial(0, at64({1, 1})).sample({3}).sum().item<double>(), 0);
  EXPECT_NEAR(Multinomial(0, at64({1, 1})).entropy().item<double>(), 0, 1e-12);
  // Of one draw it is that of the classes.
  EXPECT_NEAR(Multinomial(1, at64({1, 3})).entropy().item<double>(),
              Categorical(at64({1, 3})).entropy().item<double>(), 1e-12);
}

// Where a moment is infinite or not there, the others have their gradients.
TEST_P(DistributionLimits, GradientsAtTheEndsAreNumbers) {
  const auto expect = [&](auto f, const Values& x) {
    const Tensor leaf = at(x, tn::float64).requires_grad_();
    f(leaf).select(0, 1).sum().backward();
    EXPECT_TRUE(tn::isfinite(leaf.grad()).all().item<bool>());
  };
  expect([](Tensor x) { return InverseGamma(x, 1.0).mean(); }, {1, 3});
  expect([](Tensor x) { return InverseGamma(x, 1.0).variance(); }, {2, 3});
  expect([](Tensor x) { return FisherSnedecor(2.0, x).variance(); }, {4, 7});
  expect([](Tensor x) { return GeneralizedPareto(0.0, 1.0, x).variance(); }, {0.5, 0.2});
  expect([](Tensor x) { return GeneralizedPareto(0.0, 1.0, x).log_prob(0.5 * x); }, {0, 0.2});
  expect([](Tensor x) { return ContinuousBernoulli({.logits = x}).entropy(); }, {0, 0.2});
  expect([](Tensor x) { return ContinuousBernoulli({.logits = x}).rsample(); }, {0, 0.2});
}

// Of small concentrations most draws of gammas are too small for a float.
TEST_P(DistributionLimits, QuotientsOfGammasAreNumbers) {
  const Tensor small = at({0.01, 0.1}).requires_grad_();
  const auto expect = [&](const Tensor& draws) {
    EXPECT_TRUE(tn::isfinite(draws).all().item<bool>());
    EXPECT_GT(draws.min().item<double>(), 0);
    tn::log(draws).sum().backward();
    EXPECT_TRUE(tn::isfinite(small.grad()).all().item<bool>());
  };
  expect(InverseGamma(small, 1.0).rsample({500}));
  expect(FisherSnedecor(small, small).rsample({500}));
}

// On both sides of the place where series begin, and far away from it.
TEST_P(DistributionLimits, ContinuousBernoulliHasNoSteps) {
  for (const double x : {0.25, 0.02}) {
    const ContinuousBernoulli d({.logits = at({x * (1 - 1e-12), x}, tn::float64)});
    const auto expect_even = [](const Tensor& v) {
      const Values both = v.to_vector<double>();
      EXPECT_NEAR(both[0], both[1], 2e-11);
    };
    expect_even(d.mean());
    expect_even(d.variance());
    expect_even(d.log_factor());
  }
  const ContinuousBernoulli far({.logits = at({-500, 500})});
  EXPECT_NEAR(far.mean().select(0, 0).item<double>(), 1.0 / 500, 1e-6);
  EXPECT_NEAR(far.variance().select(0, 1).item<double>(), 1.0 / 250000, 1e-8);
  EXPECT_NEAR(far.log_factor().select(0, 0).item<double>(), std::log(500), 1e-5);
  EXPECT_TRUE(tn::isfinite(far.rsample({100})).all().item<bool>());
}

TEST_P(DistributionLimits, HalvesComeNear) {
  for (const tn::Dtype dtype : {tn::float16, tn::bfloat16}) {
    const auto expect = [&](auto make) {
      const Tensor a = at({0.5, 1.25}, dtype), b = at({1.5, 2}, dtype);
      const auto d = make(a, b);
      const auto wide = make(a.to(tn::float32), b.to(tn::float32));
      SCOPED_TRACE(std::string(d.name()) + ", " + dtype.name());
      const Tensor x = d.sample({5});
      EXPECT_EQ(x.dtype(), dtype);
      EXPECT_TRUE(tn::isfinite(x).all().item<bool>());
      const Tensor found = d.log_prob(x);
      EXPECT_EQ(found.dtype(), dtype);
      set_default_validate_args(false);  // a sum is 1 as far as a half goes
      const Tensor wanted = wide.log_prob(x.to(tn::float32));
      set_default_validate_args(true);
      EXPECT_TRUE(tn::allclose(found.to(tn::float32), wanted, 0.1, 0.1));
    };
    expect([](Tensor a, Tensor b) { return NegativeBinomial(b, a / 2); });
    expect([](Tensor a, Tensor) { return Multinomial(5, a); });
    expect([](Tensor a, Tensor b) { return RelaxedBernoulli(b, {.logits = a}); });
    expect([](Tensor a, Tensor) { return ExpRelaxedCategorical(1.5, a); });
    expect([](Tensor a, Tensor b) { return InverseGamma(a + 1, b); });
    expect([](Tensor a, Tensor b) { return FisherSnedecor(a, b); });
    expect([](Tensor a, Tensor b) { return VonMises(a, b); });
    expect([](Tensor a, Tensor) { return ContinuousBernoulli({.logits = a - 1}); });
    expect([](Tensor a, Tensor b) { return GeneralizedPareto(a, b, 0.1); });
    expect([](Tensor a, Tensor b) { return LowRankMultivariateNormal(a, a.unsqueeze(-1), b); });
    expect([](Tensor a, Tensor) { return LKJCholesky(2, a + 1); });
    expect([](Tensor a, Tensor) { return RelaxedOneHotCategorical(1.5, a); });
    // The inverse of its transform has too few digits in bfloat16.
    if (dtype == tn::float16) expect([](Tensor a, Tensor b) { return LogisticNormal(a, b); });
    expect([](Tensor a, Tensor b) { return Wishart(b + 2, tn::diag_embed(a).unsqueeze(0)); });
  }
}

// Recorded and replayed: the same draws and gradients.
TEST_P(DistributionLimits, CompiledFunctionsReplayThem) {
  const Tensor weight = at({0.4, 1.5}).requires_grad_();
  const auto step = [&](Tensor x) {
    weight.zero_grad();
    const NegativeBinomial trials(4, tn::sigmoid(x));
    const Multinomial counts(6, {.logits = x});
    const VonMises angles(x, weight);
    const RelaxedOneHotCategorical classes(0.5, {.logits = weight * x});
    const LowRankMultivariateNormal vectors(x, weight.unsqueeze(-1), tn::exp(x));
    const auto [simplex, of_simplex] = LogisticNormal(x, weight).rsample_with_log_prob();
    Tensor loss =
        trials.log_prob(trials.sample({4})).sum() + counts.log_prob(counts.sample({4})).sum() +
        angles.log_prob(angles.sample({4})).sum() + classes.rsample().square().sum() +
        vectors.log_prob(vectors.rsample({4})).sum() + of_simplex +
        InverseGamma(weight + 3, 1.0).rsample().sum() +
        ContinuousBernoulli({.logits = weight}).rsample().sum() +
        kl_divergence(vectors, LowRankMultivariateNormal(x * 0, x.unsqueeze(-1) * 0, tn::exp(x)));
    loss.backward();
    return std::pair{loss.detach() * 1, weight.grad() * 1};
  };
  const auto run = [&](bool compiled) {
    auto f = tn::compile(step);
    tn::manual_seed(1);
    std::vector<Values> results;
    for (int i = 0; i < 5; ++i) {
      const Tensor x = at({0.1 * i, 1});
      const auto [loss, gradient] = compiled ? f(x) : step(x);
      results.push_back(loss.to_vector<double>());
      results.push_back(gradient.to_vector<double>());
    }
    if (compiled) {
      EXPECT_NE(f.describe().find("replays"), std::string::npos) << f.describe();
    }
    return results;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_P(DistributionLimits, ParametersThatAreWrongAreRefused) {
  const char* owner = "NegativeBinomial";
  refused(owner, "total_count is -1, expected at least 0", [&] { NegativeBinomial(-1, 0.5); });
  refused(owner, "probs is 1, expected at least 0 and below 1", [&] { NegativeBinomial(2, 1); });
  refused(owner, "logits is nan at [0], expected a number",
          [&] { NegativeBinomial(2, {.logits = at({NAN})}); });
  refused("Multinomial", "total_count is -2, expected at least 0",
          [&] { Multinomial(-2, ones({3})); });
  refused("Multinomial", "probs is -1 at [0], expected at least 0", [&] {
    Multinomial(2, at({-1, 1}));
  });
  refused("LogitRelaxedBernoulli", "temperature is 0, expected above 0",
          [&] { LogitRelaxedBernoulli(0, 0.5); });
  refused("RelaxedBernoulli", "probs is 1.5, expected 0 to 1", [&] { RelaxedBernoulli(1, 1.5); });
  refused("RelaxedBernoulli", "logits is None, expected a tensor",
          [&] { RelaxedBernoulli(1, {.logits = Tensor()}); });
  refused("ExpRelaxedCategorical", "temperature is -1, expected above 0",
          [&] { ExpRelaxedCategorical(-1, ones({3})); });
  owner = "RelaxedOneHotCategorical";
  refused(owner, "the sum of probs is 0 at [0], expected above 0", [&] {
    RelaxedOneHotCategorical(1, at({0, 0}));
  });
  refused(owner, "temperature is [2] and the batch is [3], expected sizes that broadcast", [&] {
    RelaxedOneHotCategorical(ones({2}), ones({3, 4}));
  });
  refused(
      owner,
      "temperature is [3] and the batch [], expected sizes that broadcast to those of the batch",
      [&] { RelaxedOneHotCategorical(ones({3}), ones({4})); });
  if (!device.is_cpu()) {
    refused(owner,
            "temperature is on cpu and the classes on " + device.name() + ", expected one device",
            [&] { RelaxedOneHotCategorical(tn::ones({1}), ones({4})); });
  }
  refused("InverseGamma", "rate is 0, expected above 0", [&] { InverseGamma(1.0, 0.0); });
  refused("FisherSnedecor", "df1 is -1, expected above 0", [&] { FisherSnedecor(-1.0, 1.0); });
  refused("VonMises", "concentration is 0, expected above 0", [&] { VonMises(0.0, 0.0); });
  refused("ContinuousBernoulli", "probs is -1, expected 0 to 1",
          [&] { ContinuousBernoulli(-1.0); });
  refused("GeneralizedPareto", "scale is 0, expected above 0",
          [&] { GeneralizedPareto(0.0, 0.0, 0.0); });
  refused("LogisticNormal", "scale is -1, expected above 0", [&] { LogisticNormal(0.0, -1.0); });
  owner = "LowRankMultivariateNormal";
  refused(owner,
          "loc is [3], cov_factor [2, 1] and cov_diag [3], expected [.., n], [.., n, rank] and "
          "[.., n]",
          [&] {
            LowRankMultivariateNormal(ones({3}), ones({2, 1}), ones({3}));
          });
  refused(owner, "cov_diag is -1 at [1], expected above 0", [&] {
    LowRankMultivariateNormal(ones({2}), ones({2, 1}), at({1, -1}));
  });
  refused(owner,
          "the batch of loc is [3] and that of cov_factor is [4], expected sizes that broadcast",
          [&] {
            LowRankMultivariateNormal(ones({3, 2}), ones({4, 2, 1}), ones({2}));
          });
  refused(owner,
          "the batch of loc and cov_factor is [3] and that of cov_diag is [4], expected sizes that "
          "broadcast",
          [&] {
            LowRankMultivariateNormal(ones({3, 2}), ones({2, 1}), ones({4, 2}));
          });
  owner = "Wishart";
  refused(owner, "df is 1, expected above 1, the rows less 1", [&] {
    Wishart(1.0, matrix({1, 0, 0, 1}));
  });
  refused(owner, "covariance_matrix is [2, 3], expected [.., n, n]", [&] {
    Wishart(3.0, ones({2, 3}));
  });
  refused(owner, "expected one of covariance_matrix, precision_matrix and scale_tril",
          [&] { Wishart(3.0, MultivariateNormalOptions{}); });
  refused(owner, "scale_tril is 0.5 at [0, 1], expected 0 above the diagonal", [&] {
    Wishart(3.0, {.scale_tril = matrix({1, 0.5, 0, 1})});
  });
  refused(owner,
          "df is [3] and the batch of covariance_matrix is [2], expected sizes that broadcast",
          [&] {
            Wishart(3 * ones({3}), matrix({1, 0, 0, 1}).expand({2, 2, 2}));
          });
  refused("LKJCholesky", "dim is 1, expected at least 2", [&] { LKJCholesky(1); });
  refused("LKJCholesky", "concentration is 0, expected above 0", [&] { LKJCholesky(2, 0.0); });
  const auto vectors = [&](int64_t n) {
    return LowRankMultivariateNormal(ones({n}), ones({n, 1}), ones({n}));
  };
  refused("kl_divergence", "p has 2 dimensions and q 3, expected the same",
          [&] { kl_divergence(vectors(2), vectors(3)); });
  const auto matrices = [&](int64_t n) { return Wishart(4, tn::eye(n, n, tn::float32, device)); };
  refused("kl_divergence", "p has 2 rows and q 3, expected the same",
          [&] { kl_divergence(matrices(2), matrices(3)); });
}

TEST_P(DistributionLimits, ValuesThatNeverComeAreRefused) {
  refused("NegativeBinomial: log_prob", "value is 0.5 at [0], expected a whole number from 0",
          [&] { NegativeBinomial(2, 0.5).log_prob(at({0.5})); });
  refused("Multinomial: log_prob", "the sum of value is 4, expected at most 3", [&] {
    Multinomial(3, ones({2})).log_prob(at({1, 3}));
  });
  refused("Multinomial: log_prob", "value is [3], expected its last sizes to be [2]",
          [&] { Multinomial(3, ones({2})).log_prob(ones({3})); });
  refused("RelaxedBernoulli: log_prob", "value is 1.5 at [0], expected 0 to 1",
          [&] { RelaxedBernoulli(1, 0.5).log_prob(at({1.5})); });
  const RelaxedOneHotCategorical classes(1.0, ones({2}));
  refused("RelaxedOneHotCategorical: log_prob", "value is 0 at [0], expected above 0", [&] {
    classes.log_prob(at({0, 1}));
  });
  refused("RelaxedOneHotCategorical: log_prob", "the sum of value is 0.75, expected 1", [&] {
    classes.log_prob(at({0.5, 0.25}));
  });
  refused("InverseGamma: log_prob", "value is 0 at [0], expected above 0",
          [&] { InverseGamma(1.0, 1.0).log_prob(at({0})); });
  refused("FisherSnedecor: log_prob", "value is -1 at [0], expected above 0",
          [&] { FisherSnedecor(1.0, 1.0).log_prob(at({-1})); });
  refused("ContinuousBernoulli: log_prob", "value is 2 at [0], expected 0 to 1",
          [&] { ContinuousBernoulli(0.5).log_prob(at({2})); });
  refused("GeneralizedPareto: log_prob",
          "value is 3 at [1], expected in the support, loc to loc - scale / concentration", [&] {
            GeneralizedPareto(0.0, 1.0, -0.5).log_prob(at({2, 3}));
          });
  refused("LogisticNormal: log_prob", "the sum of value is 0.75, expected 1", [&] {
    LogisticNormal(0.0, 1.0).log_prob(at({0.5, 0.25}));
  });
  const Wishart matrices(3.0, matrix({1, 0, 0, 1}));
  refused("Wishart: log_prob", "value is 0.5 at [0, 1], expected symmetric", [&] {
    matrices.log_prob(matrix({1, 0.5, 0, 1}));
  });
  refused("Wishart: log_prob",
          "pivot 1 of value is -3, expected above 0, as of positive definite matrices", [&] {
            matrices.log_prob(matrix({1, 2, 2, 1}));
          });
  const LKJCholesky correlations(2);
  refused("LKJCholesky: log_prob", "value is 0.5 at [0, 1], expected 0 above the diagonal", [&] {
    correlations.log_prob(matrix({1, 0.5, 0, 1}));
  });
  refused("LKJCholesky: log_prob", "the diagonal of value is -1 at [1], expected above 0", [&] {
    correlations.log_prob(matrix({1, 0, 0, -1}));
  });
  refused("LKJCholesky: log_prob", "the sum of squares of a row of value is 2 at [1], expected 1",
          [&] {
            correlations.log_prob(matrix({1, 0, 1, 1}));
          });
}

TEST_P(DistributionLimits, WhatHasNoClosedFormIsRefused) {
  const auto no_moments = [](const Distribution& d) {
    const std::string name = d.name();
    EXPECT_EQ(message_of([&] { d.mean(); }),
              name + ": mean is not there, as in PyTorch; average samples");
    EXPECT_EQ(message_of([&] { d.variance(); }),
              name + ": variance is not there, as in PyTorch; that of samples comes near");
    EXPECT_EQ(message_of([&] { d.entropy(); }),
              name + ": entropy is not there, as in PyTorch; average -log_prob of samples");
  };
  no_moments(LogitRelaxedBernoulli(1.0, 0.5));
  no_moments(ExpRelaxedCategorical(1.0, ones({2})));
  no_moments(LKJCholesky(2));
  refused("NegativeBinomial", "entropy has no closed form; average -log_prob of samples",
          [&] { NegativeBinomial(2, 0.5).entropy(); });
  for (const Distribution* d :
       std::initializer_list<const Distribution*>{new VonMises(0.0, 1.0), new LKJCholesky(2)}) {
    refused(d->name(), "has no rsample, since its draws have no gradient; use sample",
            [&] { d->rsample(); });
    delete d;
  }
}

}  // namespace
