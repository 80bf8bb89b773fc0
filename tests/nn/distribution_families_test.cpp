// The distributions of location_scale.hpp, powers.hpp, counts.hpp and one-hot classes: whether draws
// have the distribution and the moments, by bounds that no fixed seed of a right sampler passes with
// a probability of more than 1e-11 a comparison; gradients of rsample; what is refused. Their values
// beside PyTorch's are in distributions_test.
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

class DistributionFamilies : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    tn::manual_seed(0);
    device = tn::Device(GetParam());
    // A draw of Poisson or Binomial takes some hundred calls of ops.
    if (!device.is_cpu()) counts = 1000;
  }
  Tensor at(const Values& values) const { return Tensor::from(values).to(device, tn::float32); }
  tn::Device device;
  int64_t counts = kDraws;
};
INSTANTIATE_TEST_SUITE_P(Devices, DistributionFamilies, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(DistributionFamilies, DrawsOfOneNumberHaveTheDistribution) {
  const auto expect = [&](const Distribution& d, const std::function<double(double)>& below) {
    SCOPED_TRACE(d.name());
    expect_distribution(d.sample({kDraws}).to_vector<double>(), below);
  };
  const Tensor one = at({1});
  expect(Laplace(one, 2.0), [](double x) {
    return x < 1 ? 0.5 * std::exp((x - 1) / 2) : 1 - 0.5 * std::exp((1 - x) / 2);
  });
  expect(Cauchy(one, 2.0), [](double x) { return 0.5 + std::atan((x - 1) / 2) / M_PI; });
  expect(Gumbel(one, 2.0), [](double x) { return std::exp(-std::exp(-(x - 1) / 2)); });
  expect(HalfNormal(2 * one), [](double x) { return std::erf(x / 2 / std::sqrt(2.0)); });
  expect(HalfCauchy(2 * one), [](double x) { return 2 * std::atan(x / 2) / M_PI; });
  // Of one degree of freedom it is Cauchy's.
  expect(StudentT(one, 1.0, 2.0), [](double x) { return 0.5 + std::atan((x - 1) / 2) / M_PI; });
  expect(StudentT(2 * one), [](double x) { return 0.5 + 0.5 * x / std::sqrt(2 + x * x); });
  expect(Chi2(one), [](double x) { return std::erf(std::sqrt(x / 2)); });
  expect(Chi2(2 * one), [](double x) { return -std::expm1(-x / 2); });
  expect(LogNormal(one, 2.0),
         [](double x) { return std::erfc((1 - std::log(x)) / 2 / std::sqrt(2.0)) / 2; });
  expect(Pareto(2 * one, 3.0), [](double x) { return 1 - std::pow(2 / x, 3); });
  expect(Weibull(2 * one, 0.7), [](double x) { return -std::expm1(-std::pow(x / 2, 0.7)); });
  expect(Kumaraswamy(2 * one, 0.5), [](double x) { return 1 - std::sqrt(1 - x * x); });
}

TEST_P(DistributionFamilies, DrawsHaveTheMoments) {
  const Tensor one = at({1}).select(0, 0);
  expect_moments(Laplace(one, 0.5), kDraws);
  expect_moments(Gumbel(one, 0.5), kDraws);
  expect_moments(HalfNormal(one), kDraws);
  expect_moments(StudentT(20 * one, 1.0, 0.5), kDraws);
  expect_moments(Chi2(3 * one), kDraws);
  expect_moments(LogNormal(one, 0.4), kDraws);
  expect_moments(Pareto(one, 20.0), kDraws);
  expect_moments(Weibull(one, 1.7), kDraws);
  expect_moments(Kumaraswamy(one, 0.6), kDraws);
  expect_moments(Poisson(3 * one), counts);
  expect_moments(Poisson(70 * one), counts);
  expect_moments(Binomial(12, 0.3 * one), counts);
  expect_moments(Binomial(500, 0.8 * one), counts);
  expect_moments(Geometric(0.3 * one), kDraws);
}

TEST_P(DistributionFamilies, DrawsOfPoissonHaveTheDistribution) {
  const Values rates = {0, 0.02, 1, 9.99, 10, 11.5, 40, 3000};
  const Tensor draws = Poisson(at(rates)).sample({counts});
  EXPECT_EQ(draws.dtype(), tn::float32);
  for (size_t i = 0; i < rates.size(); ++i) {
    SCOPED_TRACE(rates[i]);
    expect_counts(column(draws, int64_t(i)), [&](double k) {
      return k == 0 ? -rates[i] : k * std::log(rates[i]) - rates[i] - std::lgamma(k + 1);
    });
  }
}

TEST_P(DistributionFamilies, DrawsOfBinomialHaveTheDistribution) {
  const Values totals = {0, 1, 7, 20, 21, 40, 400, 400, 90000, 5, 5, 50000};
  const Values probs = {0.5, 0.3, 0.6, 0.5, 0.4999, 0.75, 0.02, 0.97, 0.6, 0, 1, 0.0001};
  const Tensor n = Tensor::from(totals).to(device, tn::int64);
  const Tensor draws = Binomial(n, at(probs)).sample({counts});
  EXPECT_EQ(draws.dtype(), tn::float32);
  for (size_t i = 0; i < totals.size(); ++i) {
    SCOPED_TRACE(i);
    const double total = totals[i], p = probs[i];
    const Values list = column(draws, int64_t(i));
    EXPECT_LE(*std::max_element(list.begin(), list.end()), total);
    expect_counts(list, [&](double k) {
      if (p == 0 || p == 1) return k == p * total ? 0.0 : -double(INFINITY);
      return std::lgamma(total + 1) - std::lgamma(k + 1) - std::lgamma(total - k + 1) +
             k * std::log(p) + (total - k) * std::log1p(-p);
    });
  }
}

TEST_P(DistributionFamilies, DrawsOfGeometricAndOneHotHaveTheProbabilities) {
  const Values probs = {0.01, 0.4, 1};
  const Tensor waits = Geometric(at(probs)).sample({kDraws});
  for (size_t i = 0; i < probs.size(); ++i) {
    expect_counts(column(waits, int64_t(i)), [&](double k) {
      return k == 0 ? std::log(probs[i]) : std::log(probs[i]) + k * std::log1p(-probs[i]);
    });
  }
  const OneHotCategorical classes(at({1, 3, 0, 4}));
  const Tensor draws = classes.sample({kDraws});
  EXPECT_EQ(draws.dtype(), tn::float32);
  EXPECT_EQ(draws.sum({-1}).min().item<float>(), 1);
  EXPECT_EQ(draws.max().item<float>(), 1);
  const Values rates = draws.mean({0}).to_vector<double>(), wanted = {0.125, 0.375, 0, 0.5};
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(rates[i], wanted[i], far_of(double(kDraws)));
}

// A draw of the same random numbers is a smooth function of the parameters.
TEST_P(DistributionFamilies, GradientsAreThoseOfTheDrawsFunction) {
  const auto numbers = [&](Values values) {
    return Tensor::from(values).to(device, tn::float64).requires_grad_();
  };
  const auto check = [&](auto draw) {
    tn::gradcheck(
        [draw](Tensor a, Tensor b) {
          tn::manual_seed(3);
          return draw(a, b).rsample({3});
        },
        {numbers({0.5, 1.2}), numbers({0.8, 2})});
  };
  check([](Tensor a, Tensor b) { return Laplace(a, b); });
  check([](Tensor a, Tensor b) { return Cauchy(a, b); });
  check([](Tensor a, Tensor b) { return Gumbel(a, b); });
  check([](Tensor a, Tensor b) { return HalfNormal(a * b); });
  check([](Tensor a, Tensor b) { return HalfCauchy(a * b); });
  check([](Tensor a, Tensor b) { return StudentT(3.0, a, b); });
  check([](Tensor a, Tensor b) { return LogNormal(a, b); });
  check([](Tensor a, Tensor b) { return Pareto(a, b); });
  check([](Tensor a, Tensor b) { return Weibull(a, b); });
  check([](Tensor a, Tensor b) { return Kumaraswamy(a, b); });
}

// The mean of the gradients is the gradient of the mean: 1 for a Chi2. Of log(1 + t^2 / df) the mean
// is digamma((df + 1) / 2) - digamma(df / 2), whose slope at 3 is 3 / 2 - pi^2 / 6.
TEST_P(DistributionFamilies, GradientsToTheDegreesOfFreedomAverageToThatOfTheMean) {
  const auto wide = [&] { return tn::full({kDraws / 4}, 3, tn::float32, device).requires_grad_(); };
  const Tensor df = wide(), other = wide();
  Chi2(df).rsample().sum().backward();
  expect_mean(df.grad().to_vector<double>(), 1);
  const Tensor t = StudentT(other).rsample();
  tn::log1p(t.square() / other).sum().backward();
  expect_mean(other.grad().to_vector<double>(), 1.5 - M_PI * M_PI / 6);
}

TEST_P(DistributionFamilies, StraightThroughHasTheGradientOfTheProbabilities) {
  const Tensor logits = at({0.2, -1, 0.7}).requires_grad_(), weight = at({1, 2, 4});
  const Tensor draw = OneHotCategoricalStraightThrough({.logits = logits}).rsample();
  EXPECT_NEAR(draw.sum().item<double>(), 1, 1e-6);
  EXPECT_NEAR(draw.max().item<double>(), 1, 1e-6);
  (draw * weight).sum().backward();
  const Tensor found = logits.grad() * 1;
  logits.zero_grad();
  (tn::softmax(logits, -1) * weight).sum().backward();
  EXPECT_TRUE(tn::allclose(found, logits.grad()));
}

TEST_P(DistributionFamilies, ShapesBroadcast) {
  const auto expect_sizes = [](tn::Ints found, std::vector<int64_t> wanted) {
    EXPECT_EQ(std::vector<int64_t>(found), wanted);
  };
  const auto ones = [&](tn::Ints sizes) { return tn::ones(sizes, tn::float64, device); };
  const StudentT t(ones({3, 1}), 0.5, ones({4}));
  expect_sizes(t.batch_shape(), {3, 4});
  expect_sizes(t.sample({2}).sizes(), {2, 3, 4});
  EXPECT_EQ(t.loc().dtype(), tn::float64);
  expect_sizes(t.variance().sizes(), {3, 4});
  const Binomial trials(Tensor::from(Values{3, 5}).to(device, tn::int32), ones({4, 1}) * 0.5);
  expect_sizes(trials.sample().sizes(), {4, 2});
  EXPECT_EQ(trials.sample().dtype(), tn::float64);
  EXPECT_EQ(Binomial(3, 0.5).total_count().item<float>(), 3);
  const OneHotCategorical classes(ones({3, 5}));
  expect_sizes(classes.batch_shape(), {3});
  expect_sizes(classes.event_shape(), {5});
  expect_sizes(classes.log_prob(classes.sample({7})).sizes(), {7, 3});
  expect_sizes(Independent(Poisson(ones({3, 5})), 1).log_prob(ones({5})).sizes(), {3});
  expect_sizes(Laplace(0.0, 1.0).sample().sizes(), {});
  for (const bool has : {Poisson(1.0).has_rsample(), trials.has_rsample(), classes.has_rsample(),
                         Geometric(0.5).has_rsample()})
    EXPECT_FALSE(has);
  EXPECT_TRUE(t.has_rsample());
  // Whole numbers of any dtype are values.
  EXPECT_NEAR(Poisson(2.0).log_prob(tn::tensor(3)).item<double>(), std::log(8.0 / 6) - 2, 1e-6);
}

// Events that are certain: 0 times the logarithm of 0 is 0.
TEST_P(DistributionFamilies, CertainThingsHaveNoEntropy) {
  const auto at64 = [&](Values v) { return Tensor::from(v).to(device, tn::float64); };
  EXPECT_NEAR(Poisson(at64({0})).log_prob(at64({0})).item<double>(), 0, 1e-13);
  EXPECT_EQ(kl_divergence(Poisson(at64({0})), Poisson(at64({2}))).item<double>(), 2);
  EXPECT_EQ(Geometric(at64({1})).log_prob(at64({0})).item<double>(), 0);
  EXPECT_NEAR(kl_divergence(Geometric(at64({1})), Geometric(at64({0.5}))).item<double>(),
              std::log(2), 1e-13);
  const Binomial never(3, at64({0})), half(3, at64({0.5}));
  EXPECT_NEAR(never.entropy().item<double>(), 0, 1e-12);
  EXPECT_NEAR(never.log_prob(at64({0})).item<double>(), 0, 1e-12);
  EXPECT_NEAR(kl_divergence(never, half).item<double>(), 3 * std::log(2), 1e-12);
  EXPECT_EQ(kl_divergence(half, never).item<double>(), INFINITY);
  EXPECT_EQ(kl_divergence(Binomial(4, 0.5), Binomial(3, 0.5)).item<double>(), INFINITY);
}

// Where one value or divergence is at an end, the others have their gradients: PyTorch's are these.
TEST_P(DistributionFamilies, GradientsAtTheEndsAreNumbers) {
  const Tensor probs = tn::tensor({1.0, 0.5}).to(tn::Device(GetParam())).requires_grad_();
  Geometric(probs).log_prob(tn::tensor({0.0, 0.0}).to(probs.device())).sum().backward();
  EXPECT_EQ(probs.grad().to_vector<float>(), (std::vector<float>{1, 2}));

  const Tensor scale = tn::tensor(1.0).to(probs.device()).requires_grad_();
  const Tensor rate = tn::tensor(2.0).to(probs.device()).requires_grad_();
  const Tensor alpha = tn::tensor({0.5, 3.0}).to(probs.device());
  const Tensor kl = kl_divergence(Pareto(scale, alpha), Exponential(rate));
  EXPECT_TRUE(tn::isinf(kl).to_vector<bool>()[0]);
  kl.sum().backward();
  EXPECT_NEAR(scale.grad().item<float>(), 2, 1e-5);
  EXPECT_NEAR(rate.grad().item<float>(), 1, 1e-5);

  const auto number = [&](double x) { return tn::full({}, x, tn::float64, probs.device()); };
  const Tensor narrow =
      kl_divergence(Uniform(number(1e-9), number(2e-9)), Beta(number(2), number(3)));
  EXPECT_NEAR(narrow.item<double>(), 38.5753, 1e-4);
}

TEST_P(DistributionFamilies, WhatIsWrongIsRefused) {
  EXPECT_EQ(message_of([&] { Laplace(0.0, -1.0); }), "Laplace: scale is -1, expected above 0");
  EXPECT_EQ(message_of([&] { Cauchy(at({NAN}), 1.0); }),
            "Cauchy: loc is nan at [0], expected a number");
  EXPECT_EQ(message_of([&] {
              LogNormal(0.0, at({1, 0}));
            }),
            "LogNormal: scale is 0 at [1], expected above 0");
  EXPECT_EQ(message_of([&] { Chi2(-2); }), "Chi2: df is -2, expected above 0");
  EXPECT_EQ(message_of([&] {
              StudentT(at({1, 2}), 0.0, at({1, 2, 3}));
            }),
            "StudentT: df is [2] and scale is [3], expected sizes that broadcast");
  if (!device.is_cpu()) {
    EXPECT_EQ(message_of([&] { StudentT(at({1}), 0.0, tn::ones({1})); }),
              "StudentT: df is on " + device.name() + " and scale on cpu, expected one device");
  }
  EXPECT_EQ(message_of([&] { Poisson(-0.5); }), "Poisson: rate is -0.5, expected at least 0");
  EXPECT_EQ(message_of([&] { Geometric(0); }),
            "Geometric: probs is 0, expected above 0 and at most 1");
  EXPECT_EQ(message_of([&] { Binomial(2.5, 0.5); }),
            "Binomial: total_count is 2.5, expected a whole number from 0");
  EXPECT_EQ(message_of([&] { Binomial(2, 1.5); }), "Binomial: probs is 1.5, expected 0 to 1");
  EXPECT_EQ(message_of([&] { Binomial(2, {.logits = Tensor()}); }),
            "Binomial: logits is None, expected a tensor");
  EXPECT_EQ(message_of([&] {
              OneHotCategorical(at({0, 0}));
            }),
            "OneHotCategorical: the sum of probs is 0 at [0], expected above 0");
}

TEST_P(DistributionFamilies, ValuesThatNeverComeAreRefused) {
  EXPECT_EQ(message_of([&] { HalfNormal(at({1})).log_prob(at({-1})); }),
            "HalfNormal: log_prob: value is -1 at [0], expected at least 0");
  EXPECT_EQ(message_of([&] { LogNormal(at({1}), 1.0).log_prob(at({0})); }),
            "LogNormal: log_prob: value is 0 at [0], expected above 0");
  EXPECT_EQ(message_of([&] {
              Pareto(at({1, 3}), 1.0).log_prob(at({2, 2}));
            }),
            "Pareto: log_prob: value is 2 at [1], expected at least scale");
  EXPECT_EQ(message_of([&] { Poisson(at({1})).log_prob(at({0.5})); }),
            "Poisson: log_prob: value is 0.5 at [0], expected a whole number from 0");
  EXPECT_EQ(message_of([&] { Binomial(3, at({0.5})).log_prob(at({4})); }),
            "Binomial: log_prob: value is 4 at [0], expected at most total_count");
  EXPECT_EQ(message_of([&] {
              OneHotCategorical(at({1, 1})).log_prob(at({1, 1}));
            }),
            "OneHotCategorical: log_prob: the sum of value is 2, expected 1");
  EXPECT_EQ(message_of([&] {
              OneHotCategorical(at({1, 1})).log_prob(at({1}));
            }),
            "OneHotCategorical: log_prob: value is [1], expected its last sizes to be [2]");
  EXPECT_EQ(message_of([&] { Poisson(1.0).entropy(); }),
            "Poisson: entropy has no closed form; average -log_prob of samples");
  EXPECT_EQ(message_of([&] { Poisson(1.0).rsample(); }),
            "Poisson: has no rsample, since its draws have no gradient; use sample");
  EXPECT_EQ(message_of([&] {
              Binomial(at({3, 5}), 0.5).entropy();
            }),
            "Binomial: entropy: total_count is 3 to 5, expected one number");
  EXPECT_EQ(message_of([&] { kl_divergence(Binomial(3, 0.5), Binomial(4, 0.5)); }),
            "kl_divergence: total_count of p is 3, expected at least that of q");
}

// Recorded and replayed: the same draws.
TEST_P(DistributionFamilies, CompiledFunctionsReplayThem) {
  const auto step = [&](Tensor x) {
    const Tensor rate = tn::exp(x);
    const Poisson events(rate);
    const Binomial trials(20, tn::sigmoid(x));
    return events.log_prob(events.sample({4})).sum() + trials.log_prob(trials.sample({4})).sum() +
           StudentT(rate, x).rsample({4}).sum() + Geometric(tn::sigmoid(x)).sample({4}).sum();
  };
  const auto run = [&](bool compiled) {
    auto f = tn::compile(step);
    tn::manual_seed(1);
    Values results;
    for (int i = 0; i < 5; ++i) {
      const Tensor x = at({0.1 * i, 1, 3});
      results.push_back((compiled ? f(x) : step(x)).item<double>());
    }
    if (compiled) {
      EXPECT_NE(f.describe().find("replays"), std::string::npos) << f.describe();
    }
    return results;
  };
  EXPECT_EQ(run(true), run(false));
}

}  // namespace
