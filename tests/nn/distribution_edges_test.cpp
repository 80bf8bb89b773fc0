// Distributions at the edges of their support, in the dtype of a value, their modes, perplexities
// and enumerated supports. The numbers are PyTorch 2.15's, where a comment does not say otherwise.
#include <algorithm>
#include <cmath>
#include <functional>
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

class DistributionEdges : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    device = tn::Device(GetParam());
  }
  Tensor at(const Values& values, tn::Dtype dtype = tn::float64) const {
    return Tensor::from(values).to(device, dtype);
  }
  Tensor matrix(const Values& values, std::vector<int64_t> sizes) const {
    return Tensor::from(values, sizes).to(device, tn::float64);
  }
  Tensor number(double value, tn::Dtype dtype) const { return tn::full({}, value, dtype, device); }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, DistributionEdges, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

void expect_values(const Tensor& found, const Values& wanted, double near = 1e-12) {
  const Values values = found.to_vector<double>();
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
    } else if (std::isinf(wanted[i])) {
      EXPECT_EQ(values[i], wanted[i]) << "element " << i;
    } else {
      EXPECT_NEAR(values[i], wanted[i], near * std::max(1.0, std::abs(wanted[i])))
          << "element " << i;
    }
  }
}

void expect_sizes(const Tensor& found, std::vector<int64_t> wanted) {
  EXPECT_EQ(std::vector<int64_t>(found.sizes()), wanted);
}

// The slope at 0 is the rate, and below 0 it is 0, as is cdf.
TEST_P(DistributionEdges, CdfOfExponentialHasASlopeAtZero) {
  const Tensor value = at({0, 1, -1}).requires_grad_();
  const Tensor rate = at({2.5}).requires_grad_();
  const Tensor below = Exponential(rate).cdf(value);
  expect_values(below, {0, 0.91791500137610116, 0});
  below.sum().backward();
  expect_values(value.grad(), {2.5, 0.20521249655974699, 0});
  expect_values(rate.grad(), {0.082084998623898800});
}

// PyTorch's is 36 at 1, since it moves 1 to the next number below it.
TEST_P(DistributionEdges, IcdfOfGumbelRisesToInfinity) {
  const Tensor p = at({0.5, 1}).requires_grad_();
  const Tensor value = Gumbel(at({0}), 2.0).icdf(p);
  expect_values(value, {0.73302584116332888, INFINITY});
  value.sum().backward();
  expect_values(p.grad(), {5.7707801635558535, INFINITY});
}

// At high the density is 0, and the gradient is that of all values.
TEST_P(DistributionEdges, UniformHasTheSameGradientAtBothEnds) {
  const Tensor low = at({-1}).requires_grad_(), high = at({2}).requires_grad_();
  const Tensor log_prob = Uniform(low, high).log_prob(at({-1, 2}));
  expect_values(log_prob, {-1.0986122886681098, -INFINITY});
  log_prob.sum().backward();
  expect_values(low.grad(), {2.0 / 3});
  expect_values(high.grad(), {-2.0 / 3});
}

// A class that does not come has a slope for the value, unless it can not come.
TEST_P(DistributionEdges, MultinomialHasASlopeWhereTheCountIsZero) {
  const auto gradient = [&](const Values& logits, const Values& counts) {
    const Tensor value = at(counts).requires_grad_();
    Multinomial(3, {.logits = at(logits)}).log_prob(value).backward();
    return value.grad();
  };
  expect_values(gradient({0.5, 0.5}, {0, 3}), {1.1401861527733876, -0.6931471805599454}, 1e-9);
  expect_values(gradient({1, 3}, {0, 3}), {-0.29359467770963965, -0.1269280110429727}, 1e-9);
  expect_values(gradient({0, -INFINITY}, {3, 0}), {0, 1.8333333333333333}, 1e-9);
}

// 2^24 + 1 is no float32: values keep their digits beside parameters of float32.
TEST_P(DistributionEdges, ValuesAreNotRoundedToTheParameters) {
  const auto expect = [&](const Distribution& d, double wanted, double of_whole, double near) {
    SCOPED_TRACE(d.name());
    const Tensor wide = d.log_prob(number(16777217, tn::float64));
    EXPECT_EQ(wide.dtype(), tn::float64);
    EXPECT_NEAR(wide.item<double>(), wanted, near);
    const Tensor whole = d.log_prob(number(16777216, tn::int64));
    EXPECT_EQ(whole.dtype(), tn::float32);
    EXPECT_NEAR(whole.item<double>(), of_whole, 64);
  };
  const auto of = [&](double x) { return number(x, tn::float32); };
  expect(Poisson(of(16777216)), -9.236704796552658, 16, 1e-7);
  // PyTorch takes logarithms of parameters in float32 here; one of 20000000! is 3e8.
  expect(Geometric(of(0.25)), -4826506.173976451, -4826506, 0.5);
  expect(NegativeBinomial(of(5), of(0.25)), -23258099.46062833, -23258086, 0.5);
  expect(Binomial(of(20000000), of(0.25)), -15354218.746680796, -15354208, 40);
  // A value without dimensions beside parameters that have some.
  const Tensor value = number(16777217, tn::float64);
  const Tensor counts = Poisson(at({16777216, 2}, tn::float32)).log_prob(value);
  EXPECT_EQ(counts.dtype(), tn::float64);
  expect_values(counts, {-9.236704796552658, -250691650.4441296}, 1e-8);
  EXPECT_EQ(Binomial(20000000, at({0.25}, tn::float32)).log_prob(value).dtype(), tn::float32);
  EXPECT_EQ(NegativeBinomial(5, at({0.25}, tn::float32)).log_prob(value).dtype(), tn::float32);
  const Tensor event = Bernoulli(of(0.1)).log_prob(number(1, tn::float64));
  EXPECT_EQ(event.dtype(), tn::float64);
  EXPECT_NEAR(event.item<double>(), -2.3025851249694824, 1e-7);
  EXPECT_EQ(Bernoulli(of(0.1)).log_prob(number(1, tn::float32)).dtype(), tn::float32);
  EXPECT_EQ(Bernoulli(of(0.1)).log_prob(number(1, tn::int64)).dtype(), tn::float32);
  const Multinomial classes(3, at({0.1, 0.2, 0.7}, tn::float32));
  for (const tn::Dtype dtype : {tn::float64, tn::float32, tn::int64}) {
    const Tensor found = classes.log_prob(at({1, 2, 0}, dtype));
    EXPECT_EQ(found.dtype(), dtype == tn::float64 ? tn::float64 : tn::float32);
    EXPECT_NEAR(found.item<double>(), -4.422848721311139, 1e-5);
  }
}

TEST_P(DistributionEdges, ModesAreThoseOfTorch) {
  const Tensor loc = at({-1, 2});
  for (const Tensor& mode :
       {Normal(loc, 2.0).mode(), Laplace(loc, 2.0).mode(), Cauchy(loc, 2.0).mode(),
        Gumbel(loc, 2.0).mode(), StudentT(3.0, loc, 2.0).mode(), VonMises(loc, 2.0).mode(),
        GeneralizedPareto(loc, 2.0, 0.5).mode(), Independent(Normal(loc, 2.0), 1).mode(),
        MultivariateNormal(loc, matrix({2, 0, 0, 1}, {2, 2})).mode(),
        LowRankMultivariateNormal(loc, matrix({1, 1}, {2, 1}), at({1, 1})).mode()})
    expect_values(mode, {-1, 2});
  const Tensor two = at({2, 2});
  for (const Tensor& mode : {Exponential(two).mode(), HalfNormal(two).mode(),
                             HalfCauchy(two).mode(), Geometric(two / 4).mode()})
    expect_values(mode, {0, 0});
  expect_values(Uniform(at({0}), 1.0).mode(), {NAN});
  expect_values(Pareto(two, 3.0).mode(), {2, 2});
  expect_values(LogNormal(at({0, 1}), 0.5).mode(), {0.7788007830714049, 2.117000016612675});
  expect_values(Gamma(at({0.5, 1, 4}), 2.0).mode(), {0, 0, 1.5});
  expect_values(Chi2(at({1, 2, 5})).mode(), {0, 0, 3});
  expect_values(InverseGamma(at({0.5, 1, 4}), 2.0).mode(), {4.0 / 3, 1, 0.4});
  expect_values(FisherSnedecor(at({1, 2, 4}), 3.0).mode(), {NAN, NAN, 0.3});
  expect_values(Weibull(2.0, at({0.5, 1, 2})).mode(), {2, 0, 1.4142135623730951});
  expect_values(Beta(at({0.5, 1, 2, 0.5, 3}), at({0.5, 1, 0.5, 2, 2})).mode(),
                {1, NAN, 1, 0, 2.0 / 3});
  expect_values(Dirichlet(matrix({0.5, 0.3, 0.2, 1, 1, 1, 0.5, 1, 0.2, 2, 0.5, 4}, {4, 3})).mode(),
                {1, 0, 0, NAN, NAN, NAN, NAN, NAN, NAN, 0.25, 0, 0.75});
  const Wishart matrices(at({4, 3, 5}), matrix({2, -0.9, -0.9, 0.5}, {2, 2}));
  expect_sizes(matrices.mode(), {3, 2, 2});
  expect_values(matrices.mode(), {2, -0.9, -0.9, 0.5, NAN, NAN, NAN, NAN, 4, -1.8, -1.8, 1});
}

TEST_P(DistributionEdges, ModesOfWholeNumbersAreThoseOfTorch) {
  expect_values(Bernoulli(at({0, 0.3, 0.5, 0.7, 1})).mode(), {0, 0, NAN, 1, 1});
  expect_values(Binomial(at({0, 3, 3, 4}), at({0.5, 0, 1, 0.55})).mode(), {0, 0, 3, 2});
  expect_values(NegativeBinomial(at({0.5, 1, 4}), at({0.5, 0.3, 0.5})).mode(), {0, 0, 3});
  expect_values(Poisson(at({0, 2.5, 3})).mode(), {0, 2, 3});
  const Tensor probs = matrix({1, 3, 3, 2, 1, 1}, {2, 3});
  EXPECT_EQ(Categorical(probs).mode().dtype(), tn::int64);
  expect_values(Categorical(probs).mode(), {1, 0});
  EXPECT_EQ(OneHotCategorical(probs).mode().dtype(), tn::float64);
  expect_values(OneHotCategorical(probs).mode(), {0, 1, 0, 1, 0, 0});
  expect_values(OneHotCategoricalStraightThrough(probs).mode(), {0, 1, 0, 1, 0, 0});
}

// PyTorch's is NaN everywhere. The density is greatest there: its slope is 0.
TEST_P(DistributionEdges, ModeOfKumaraswamyIsWhereTheDensityIsGreatest) {
  const Tensor a = at({2, 5, 1.5}), b = at({3, 1.5, 2});
  const Kumaraswamy d(a, b);
  const Tensor mode = d.mode().requires_grad_();
  d.log_prob(mode).sum().backward();
  expect_values(mode.grad(), {0, 0, 0}, 1e-9);
  expect_values(Kumaraswamy(at({1, 2, 1, 0.5, 2}), at({2, 1, 1, 2, 0.5})).mode(),
                {0, 1, NAN, NAN, NAN});
}

TEST_P(DistributionEdges, GradientsOfModesAreThoseOfTorch) {
  const auto expect = [&](auto mode, const Values& given, const Values& wanted) {
    const Tensor leaf = at(given).requires_grad_();
    mode(leaf).sum().backward();
    expect_values(leaf.grad(), wanted);
  };
  expect([](Tensor x) { return Gamma(x, 2.0).mode(); }, {0.5, 4}, {0, 0.5});
  expect([](Tensor x) { return LogNormal(x, 0.5).mode(); }, {0}, {0.7788007830714049});
  expect([](Tensor x) { return FisherSnedecor(x, 3.0).mode(); }, {1, 4}, {0, 0.075});
  expect([](Tensor x) { return Beta(x, 2.0).mode(); }, {3}, {1.0 / 9});
  expect([](Tensor x) { return Kumaraswamy(x, 2.0).mode(); }, {0.5, 1}, {0, 1});  // none in PyTorch
}

TEST_P(DistributionEdges, SupportsAreEnumerated) {
  const auto expect = [](const Distribution& d, std::vector<int64_t> sizes, const Values& whole,
                         std::vector<int64_t> thin, const Values& values) {
    SCOPED_TRACE(d.name());
    expect_sizes(d.enumerate_support(), sizes);
    expect_values(d.enumerate_support(), whole);
    expect_sizes(d.enumerate_support(false), thin);
    expect_values(d.enumerate_support(/*expand=*/false), values);
  };
  const Tensor classes = tn::ones({2, 3}, tn::float64, device);
  expect(Bernoulli(at({0.1, 0.2})), {2, 2}, {0, 0, 1, 1}, {2, 1}, {0, 1});
  expect(Independent(Bernoulli(at({0.1, 0.2})), 0), {2, 2}, {0, 0, 1, 1}, {2, 1}, {0, 1});
  expect(Categorical(classes), {3, 2}, {0, 0, 1, 1, 2, 2}, {3, 1}, {0, 1, 2});
  EXPECT_EQ(Categorical(classes).enumerate_support().dtype(), tn::int64);
  expect(OneHotCategorical(classes), {3, 2, 3},
         {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1}, {3, 1, 3},
         {1, 0, 0, 0, 1, 0, 0, 0, 1});
  expect(Binomial(2, matrix({0.5, 0.4}, {2, 1})), {3, 2, 1}, {0, 0, 1, 1, 2, 2}, {3, 1, 1},
         {0, 1, 2});
  expect(Bernoulli(0.5), {2}, {0, 1}, {2}, {0, 1});
  EXPECT_EQ(Bernoulli(at({0.5})).enumerate_support().dtype(), tn::float64);
  // The probabilities of all values sum to 1.
  const Binomial d(4, at({0.3, 1}));
  expect_values(tn::exp(d.log_prob(d.enumerate_support())).sum({0}), {1, 1}, 1e-9);
}

TEST_P(DistributionEdges, PerplexitiesAreThoseOfTorch) {
  expect_values(Categorical(at({1, 1, 2})).perplexity(), {2.82842712474619});
  expect_values(Normal(at({0}), 2.0).perplexity(), {8.265462708244986});
}

TEST_P(DistributionEdges, WhatAFamilyHasNotIsRefused) {
  const Tensor probs = at({1, 2});
  const auto no_mode = [](const Distribution& d) {
    EXPECT_EQ(message_of([&] { d.mode(); }),
              std::string(d.name()) + ": has no mode, as in PyTorch");
  };
  no_mode(ContinuousBernoulli(0.3));
  no_mode(Multinomial(3, probs));
  no_mode(LogitRelaxedBernoulli(1.0, 0.5));
  no_mode(RelaxedBernoulli(1.0, 0.5));
  no_mode(ExpRelaxedCategorical(1.0, probs));
  no_mode(RelaxedOneHotCategorical(1.0, probs));
  no_mode(LKJCholesky(2));
  no_mode(LogisticNormal(0.0, 1.0));
  no_mode(MixtureSameFamily(Categorical(probs), Normal(probs, 1.0)));
  no_mode(TransformedDistribution(Normal(0.0, 1.0), ExpTransform()));
  EXPECT_EQ(message_of([&] {
              Independent(Multinomial(3, probs.expand({2, 2})), 1).mode();
            }),
            "Multinomial: has no mode, as in PyTorch");
  EXPECT_EQ(message_of([] { Normal(0.0, 1.0).enumerate_support(); }),
            "Normal: has no enumerate_support, as in PyTorch");
  EXPECT_EQ(message_of([&] { Independent(Bernoulli(probs / 2), 1).enumerate_support(); }),
            "Independent: enumerate_support: reinterpreted_batch_ndims is 1, expected 0");
  EXPECT_EQ(message_of([&] {
              Binomial(at({1, 2}), 0.5).enumerate_support();
            }),
            "Binomial: enumerate_support: total_count is 1 to 2, expected one number");
  EXPECT_EQ(message_of([&] {
              Binomial(at({1, 2}), 0.5).entropy();
            }),
            "Binomial: entropy: total_count is 1 to 2, expected one number");
}

// A number is that of a tensor, whose dtype it takes.
TEST_P(DistributionEdges, ProbsAndLogitsAreNumbersOrTensors) {
  const Tensor one = at({1}), probs = at({0.25}), logits = at({-std::log(3)}), count = at({3}),
               temperature = at({0.5});
  const double p = 0.25, x = -std::log(3);
  const auto expect = [&](const Distribution& d, const Distribution& of_number, double near) {
    SCOPED_TRACE(d.name());
    const Tensor wanted = d.log_prob(one), found = of_number.log_prob(one);
    EXPECT_EQ(wanted.dtype(), tn::float64);
    expect_values(found, wanted.to_vector<double>(), near);
  };
  if (device.is_cpu()) {  // without a tensor a number is float32 on cpu
    for (const Bernoulli& d : {Bernoulli({.probs = p}), Bernoulli({.logits = x})})
      expect(Bernoulli({.probs = probs}), d, 1e-6);
    for (const Geometric& d : {Geometric({.probs = p}), Geometric({.logits = x})})
      expect(Geometric({.logits = logits}), d, 1e-6);
    for (const auto& d : {ContinuousBernoulli({.probs = p}), ContinuousBernoulli({.logits = x})})
      expect(ContinuousBernoulli({.probs = probs}), d, 1e-6);
  }
  for (const Binomial& d : {Binomial(count, {.probs = p}), Binomial(count, {.logits = x})})
    expect(Binomial(3, {.probs = probs}), d, 1e-12);
  for (const auto& d :
       {NegativeBinomial(count, {.probs = p}), NegativeBinomial(count, {.logits = x})})
    expect(NegativeBinomial(3, {.logits = logits}), d, 1e-12);
  for (const auto& d : {LogitRelaxedBernoulli(temperature, {.probs = p}),
                        LogitRelaxedBernoulli(temperature, {.logits = x})})
    expect(LogitRelaxedBernoulli(0.5, {.probs = probs}), d, 1e-12);
  const Tensor half = at({0.5});
  expect_values(RelaxedBernoulli(temperature, {.logits = x}).log_prob(half),
                RelaxedBernoulli(0.5, {.probs = probs}).log_prob(half).to_vector<double>());
}

TEST_P(DistributionEdges, ProbsAndLogitsThatAreWrongAreRefused) {
  const auto refused = [](const std::string& why, const std::function<void()>& f) {
    EXPECT_EQ(message_of(f), why);
  };
  refused("Bernoulli: probs is 1.5, expected 0 to 1", [] { Bernoulli({.probs = 1.5}); });
  refused("Bernoulli: probs is None, expected a tensor", [] { Bernoulli({.probs = tn::none}); });
  refused("Bernoulli: probs is None, expected a tensor", [] { Bernoulli(ProbsOptions{}); });
  refused("Bernoulli: logits is nan, expected a number", [] { Bernoulli({.logits = NAN}); });
  refused("Geometric: probs is 0, expected above 0 and at most 1", [] { Geometric({.probs = 0}); });
  refused("Binomial: probs is -1, expected 0 to 1", [] { Binomial(3, {.probs = -1}); });
  refused("NegativeBinomial: probs is 1 at [0], expected at least 0 and below 1",
          [&] { NegativeBinomial(3, {.probs = at({1})}); });
  refused("ContinuousBernoulli: logits is int64, expected a dtype of floats",
          [&] { ContinuousBernoulli({.logits = at({1}, tn::int64)}); });
  refused("RelaxedBernoulli: probs is 2, expected 0 to 1",
          [] { RelaxedBernoulli(0.5, {.probs = 2}); });
  const std::string classes = " is [], expected at least one class in its last dimension";
  refused("Categorical: probs" + classes, [] { Categorical({.probs = 0.5}); });
  refused("OneHotCategorical: logits" + classes, [] { OneHotCategorical({.logits = 0.5}); });
  refused("Multinomial: probs" + classes, [] { Multinomial(3, {.probs = 0.5}); });
  refused("ExpRelaxedCategorical: logits" + classes,
          [] { ExpRelaxedCategorical(0.5, {.logits = 0.5}); });
  refused("RelaxedOneHotCategorical: probs" + classes,
          [] { RelaxedOneHotCategorical(0.5, {.probs = 0.5}); });
  refused("Categorical: logits is None, expected a tensor",
          [] { Categorical({.logits = tn::none}); });
}

}  // namespace
