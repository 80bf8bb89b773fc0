// Distributions beside PyTorch's (tests/data/torch_distributions.py): log_prob, entropy, mean,
// variance and divergences with their gradients, in float64 and float32, on every backend of the
// build; what is refused. Draws are in distribution_draws_test.
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distribution_cases.h"
#include "message_of.h"
#include "second_device.h"
#include "tenon/distributions.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using namespace tn::distributions;
using nlohmann::json;
using tn::Tensor;

namespace {

using TanhPolicy = TransformedDistribution<Independent<Normal>, TanhTransform>;
using SigmoidOfAffine = TransformedDistribution<Normal, AffineTransform, SigmoidTransform>;
using Any =
    std::variant<Normal, Uniform, Exponential, Bernoulli, Categorical, Gamma, Beta, Dirichlet,
                 MultivariateNormal, Independent<Normal>, MixtureSameFamily<Normal>,
                 MixtureSameFamily<MultivariateNormal>, Laplace, Cauchy, Gumbel, HalfNormal,
                 HalfCauchy, StudentT, Chi2, LogNormal, Pareto, Weibull, Kumaraswamy, Poisson,
                 Binomial, Geometric, OneHotCategorical, TanhPolicy, SigmoidOfAffine>;

Any made_later(const std::string& kind, const Named& p) {
  if (kind == "Laplace") return Laplace(p.at("loc"), p.at("scale"));
  if (kind == "Cauchy") return Cauchy(p.at("loc"), p.at("scale"));
  if (kind == "Gumbel") return Gumbel(p.at("loc"), p.at("scale"));
  if (kind == "HalfNormal") return HalfNormal(p.at("scale"));
  if (kind == "HalfCauchy") return HalfCauchy(p.at("scale"));
  if (kind == "StudentT") return StudentT(p.at("df"), p.at("loc"), p.at("scale"));
  if (kind == "Chi2") return Chi2(p.at("df"));
  if (kind == "LogNormal") return LogNormal(p.at("loc"), p.at("scale"));
  if (kind == "Pareto") return Pareto(p.at("scale"), p.at("alpha"));
  if (kind == "Weibull") return Weibull(p.at("scale"), p.at("concentration"));
  if (kind == "Kumaraswamy") return Kumaraswamy(p.at("concentration1"), p.at("concentration0"));
  if (kind == "Poisson") return Poisson(p.at("rate"));
  if (kind == "Binomial") {
    if (p.count("probs")) return Binomial(p.at("total_count"), p.at("probs"));
    return Binomial(p.at("total_count"), {.logits = p.at("logits")});
  }
  if (kind == "Geometric")
    return p.count("probs") ? Geometric(p.at("probs")) : Geometric({.logits = p.at("logits")});
  if (kind == "OneHotCategorical") {
    if (p.count("probs")) return OneHotCategorical(p.at("probs"));
    return OneHotCategorical({.logits = p.at("logits")});
  }
  const Normal normal(p.at("loc"), p.at("scale"));
  if (kind == "TanhPolicy") return TransformedDistribution(Independent(normal, 1), TanhTransform());
  return TransformedDistribution(normal, AffineTransform(p.at("shift"), p.at("factor")),
                                 SigmoidTransform());
}

Any made(const std::string& kind, const Named& p) {
  if (kind == "Normal") return Normal(p.at("loc"), p.at("scale"));
  if (kind == "Uniform") return Uniform(p.at("low"), p.at("high"));
  if (kind == "Exponential") return Exponential(p.at("rate"));
  if (kind == "Bernoulli")
    return p.count("probs") ? Bernoulli(p.at("probs")) : Bernoulli({.logits = p.at("logits")});
  if (kind == "Categorical")
    return p.count("probs") ? Categorical(p.at("probs")) : Categorical({.logits = p.at("logits")});
  if (kind == "Gamma") return Gamma(p.at("concentration"), p.at("rate"));
  if (kind == "Beta") return Beta(p.at("concentration1"), p.at("concentration0"));
  if (kind == "Dirichlet") return Dirichlet(p.at("concentration"));
  if (kind == "Independent") return Independent(Normal(p.at("loc"), p.at("scale")), 1);
  if (kind == "MixtureOfNormals")
    return MixtureSameFamily(Categorical(p.at("probs")), Normal(p.at("loc"), p.at("scale")));
  if (kind == "MixtureOfVectors") {
    return MixtureSameFamily(Categorical({.logits = p.at("logits")}),
                             MultivariateNormal(p.at("loc"), {.scale_tril = p.at("scale_tril")}));
  }
  if (kind != "MultivariateNormal") return made_later(kind, p);
  if (p.count("covariance_matrix"))
    return MultivariateNormal(p.at("loc"), p.at("covariance_matrix"));
  if (p.count("precision_matrix"))
    return MultivariateNormal(p.at("loc"), {.precision_matrix = p.at("precision_matrix")});
  return MultivariateNormal(p.at("loc"), {.scale_tril = p.at("scale_tril")});
}

void expect_sizes(tn::Ints found, std::vector<int64_t> wanted) {
  EXPECT_EQ(std::vector<int64_t>(found), wanted);
}

class DistributionsBesideTorch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    device = tn::Device(GetParam());
  }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, DistributionsBesideTorch, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(DistributionsBesideTorch, ValuesAndGradientsAreItsOwn) {
  for (const json& c : data().at("distributions"))
    expect_case(c, made, tn::float64, device, 1e-10, 1e-9);
}

TEST_P(DistributionsBesideTorch, Float32ComesNear) {
  for (const json& c : data().at("distributions")) {
    // 400 * log(400) - lgamma(400) is a difference of numbers of 2000, and lgamma(300) is 1400.
    const std::string kind = c.at("kind");
    const bool is_gamma = kind == "Gamma", is_count = kind == "Poisson" || kind == "Binomial";
    expect_case(c, made, tn::float32, device,
                is_gamma   ? 2e-3
                : is_count ? 1e-4
                           : 1e-5,
                is_gamma ? 2e-2 : 1e-4);
  }
}

TEST_P(DistributionsBesideTorch, DivergencesAreItsOwn) {
  for (const json& c : data().at("divergences")) expect_divergence(c, made, device);
}

template <typename P, typename Q>
concept HaveDivergence = requires(const P& p, const Q& q) {
  kl_divergence(p, q);
};

// E.g. of a Normal beside a Categorical: PyTorch raises NotImplementedError, here it does not
// compile.
TEST(Distributions, PairsThatTorchHasNotAreNone) {
  static_assert(HaveDivergence<Normal, Gamma>);
  static_assert(!HaveDivergence<Normal, Categorical>);
  static_assert(!HaveDivergence<Normal, MixtureSameFamily<Normal>>);
  static_assert(!HaveDivergence<Independent<Bernoulli>, Independent<Normal>>);
  static_assert(!HaveDivergence<Beta, Dirichlet>);
  static_assert(HaveDivergence<LogNormal, LogNormal>);
  static_assert(!HaveDivergence<LogNormal, TanhPolicy>);
  static_assert(!HaveDivergence<Binomial, Poisson>);
  static_assert(!HaveDivergence<Weibull, Weibull>);
  static_assert(HaveDivergence<Wishart, Wishart>);
  static_assert(HaveDivergence<LogisticNormal, LogisticNormal>);
  static_assert(HaveDivergence<MultivariateNormal, LowRankMultivariateNormal>);
  static_assert(!HaveDivergence<ContinuousBernoulli, Gamma>);
  static_assert(!HaveDivergence<NegativeBinomial, NegativeBinomial>);
  static_assert(!HaveDivergence<Multinomial, Multinomial>);
  static_assert(!HaveDivergence<RelaxedBernoulli, RelaxedBernoulli>);
  static_assert(!HaveDivergence<VonMises, VonMises>);
}

TEST_P(DistributionsBesideTorch, ShapesBroadcast) {
  const Tensor loc = tn::zeros({3, 1}, tn::float32, device);
  const Normal normal(loc, tn::ones({4}, tn::float32, device));
  expect_sizes(normal.batch_shape(), {3, 4});
  expect_sizes(normal.sample({2}).sizes(), {2, 3, 4});
  expect_sizes(normal.log_prob(tn::zeros({5, 1, 1}, tn::float32, device)).sizes(), {5, 3, 4});
  EXPECT_FALSE(normal.rsample().requires_grad());
  const Normal number(0.5, 2);
  expect_sizes(number.sample().sizes(), {});
  EXPECT_EQ(number.mean().dtype(), tn::float32);
  // Of a variance that is no float.
  EXPECT_EQ(Normal(0, 1e-30).stddev().item<float>(), 1e-30f);
  EXPECT_EQ(
      tn::distributions::Independent(Normal(tn::zeros({2}), 1e-30), 1).stddev().sum().item<float>(),
      2e-30f);
  EXPECT_EQ(tn::distributions::Exponential(1e30).stddev().item<float>(), 1e-30f);
  EXPECT_EQ(Normal(tn::zeros({2}, tn::float64, device), 1).scale().dtype(), tn::float64);
  const Independent<Normal> vectors(normal, 1);
  expect_sizes(vectors.batch_shape(), {3});
  expect_sizes(vectors.event_shape(), {4});
  expect_sizes(vectors.log_prob(vectors.sample({2})).sizes(), {2, 3});
  const Categorical classes(tn::ones({3, 5}, tn::float32, device));
  expect_sizes(classes.sample({2, 4}).sizes(), {2, 4, 3});
  EXPECT_EQ(classes.sample({2}).dtype(), tn::int64);
  expect_sizes(classes.log_prob(classes.sample({7})).sizes(), {7, 3});
  EXPECT_TRUE(std::isnan(classes.mean().sum().item<double>()));
  const Dirichlet simplex(tn::ones({3, 5}, tn::float32, device));
  expect_sizes(simplex.sample({2}).sizes(), {2, 3, 5});
  expect_sizes(simplex.log_prob(simplex.sample({2})).sizes(), {2, 3});
  EXPECT_FALSE(classes.has_rsample());
  EXPECT_TRUE(simplex.has_rsample());
}

// Classes that never come, and probabilities of 0 and 1, in entropies and divergences.
TEST_P(DistributionsBesideTorch, CertainThingsHaveNoEntropy) {
  const auto at = [&](Values values) { return Tensor::from(values).to(device, tn::float64); };
  const Categorical sure(at({0, 1, 0})), even(at({1, 1, 2}));
  EXPECT_NEAR(sure.entropy().item<double>(), 0, 1e-13);
  EXPECT_NEAR(kl_divergence(sure, even).item<double>(), std::log(4), 1e-13);
  EXPECT_EQ(kl_divergence(even, sure).item<double>(), INFINITY);
  const Bernoulli never(at({0})), half(at({0.5}));
  EXPECT_NEAR(never.entropy().item<double>(), 0, 1e-13);
  EXPECT_NEAR(kl_divergence(never, half).item<double>(), std::log(2), 1e-13);
  EXPECT_EQ(kl_divergence(half, never).item<double>(), INFINITY);
}

TEST_P(DistributionsBesideTorch, ParametersThatAreWrongAreRefused) {
  const auto at = [&](Values values) { return Tensor::from(values).to(device, tn::float32); };
  EXPECT_EQ(message_of([&] { Normal(0.0, -1.0); }), "Normal: scale is -1, expected above 0");
  EXPECT_EQ(message_of([&] {
              Normal(at({0, 0, 0}), at({1, 2, -3}));
            }),
            "Normal: scale is -3 at [2], expected above 0");
  EXPECT_EQ(message_of([&] {
              Normal(at({0, NAN}), 1.0);
            }),
            "Normal: loc is nan at [1], expected a number");
  EXPECT_EQ(message_of([&] {
              Normal(at({0, 0}), at({1, 2, 3}));
            }),
            "Normal: loc is [2] and scale is [3], expected sizes that broadcast");
  EXPECT_EQ(message_of([&] { Normal(tn::zeros({2}, tn::int64, device), 1.0); }),
            "Normal: loc is int64, expected a dtype of floats");
  EXPECT_EQ(message_of([&] { Normal(Tensor(), 1.0); }), "Normal: loc is None, expected a tensor");
  EXPECT_EQ(message_of([&] {
              Uniform(at({0, 2}), 1.0);
            }),
            "Uniform: low is 2 at [1], expected less than high");
  EXPECT_EQ(message_of([&] { Uniform(2, 1.5); }),
            "Uniform: low is 2, expected less than high, which is 1.5");
  if (!device.is_cpu()) {
    EXPECT_EQ(message_of([&] { Normal(at({0}), tn::ones({1})); }),
              "Normal: loc is on " + device.name() + " and scale on cpu, expected one device");
  }
  EXPECT_EQ(message_of([&] { Exponential(0); }), "Exponential: rate is 0, expected above 0");
  EXPECT_EQ(message_of([&] { Bernoulli(1.5); }), "Bernoulli: probs is 1.5, expected 0 to 1");
  EXPECT_EQ(message_of([&] { Bernoulli({.logits = at({NAN})}); }),
            "Bernoulli: logits is nan at [0], expected a number");
  EXPECT_EQ(message_of([&] {
              Categorical(at({0.5, -0.25}));
            }),
            "Categorical: probs is -0.25 at [1], expected at least 0");
  EXPECT_EQ(message_of([&] {
              Categorical(at({0, 0}));
            }),
            "Categorical: the sum of probs is 0 at [0], expected above 0");
  EXPECT_EQ(message_of([&] { Categorical(tn::zeros({}, tn::float32, device)); }),
            "Categorical: probs is [], expected at least one class in its last dimension");
  EXPECT_EQ(message_of([&] { Gamma(at({1}), at({-2})); }),
            "Gamma: rate is -2 at [0], expected above 0");
  EXPECT_EQ(message_of([&] { Beta(0, 1); }), "Beta: concentration1 is 0, expected above 0");
  EXPECT_EQ(message_of([&] { Dirichlet(tn::ones({}, tn::float32, device)); }),
            "Dirichlet: concentration has no dimensions, expected at least 1");
  EXPECT_EQ(message_of([&] {
              Dirichlet(at({1, 0}));
            }),
            "Dirichlet: concentration is 0 at [1], expected above 0");
}

TEST_P(DistributionsBesideTorch, MatricesThatAreWrongAreRefused) {
  const Tensor loc = tn::zeros({2}, tn::float32, device);
  const auto matrix = [&](Values values) {
    return Tensor::from(values, {2, 2}).to(device, tn::float32);
  };
  const auto refused = [&](const MultivariateNormalOptions& options, const std::string& why) {
    EXPECT_EQ(message_of([&] { MultivariateNormal(loc, options); }), "MultivariateNormal: " + why);
  };
  refused({}, "expected one of covariance_matrix, precision_matrix and scale_tril");
  refused({.covariance_matrix = matrix({1, 0, 0, 1}), .scale_tril = matrix({1, 0, 0, 1})},
          "expected one of covariance_matrix, precision_matrix and scale_tril");
  refused({.covariance_matrix = matrix({1, 2, 2, 1})},
          "pivot 1 of covariance_matrix is -3, expected above 0, as of positive definite matrices");
  refused({.precision_matrix = matrix({-1, 0, 0, 1})},
          "pivot 1 of precision_matrix is -1, expected above 0, as of positive definite matrices");
  refused({.covariance_matrix = matrix({1, 0.5, 0, 1})},
          "covariance_matrix is 0.5 at [0, 1], expected symmetric");
  refused({.scale_tril = matrix({1, 0.5, 0, 1})},
          "scale_tril is 0.5 at [0, 1], expected 0 above the diagonal");
  refused({.scale_tril = matrix({1, 0, 2, -1})},
          "the diagonal of scale_tril is -1 at [1], expected above 0");
  refused({.scale_tril = tn::ones({2, 2}, tn::int64, device)},
          "scale_tril is int64, expected a dtype of floats");
  EXPECT_EQ(message_of([&] {
              MultivariateNormal(loc.select(0, 0), matrix({1, 0, 0, 1}));
            }),
            "MultivariateNormal: loc has no dimensions, expected at least 1");
  EXPECT_EQ(message_of([&] {
              MultivariateNormal(loc.expand({3, 2}), matrix({1, 0, 0, 1}).expand({4, 2, 2}));
            }),
            "MultivariateNormal: the batch of loc is [3] and that of covariance_matrix is [4], "
            "expected sizes that broadcast");
  refused({.scale_tril = tn::ones({3, 3}, tn::float32, device)},
          "scale_tril is [3, 3] and loc [2], expected [.., n, n] and [.., n]");
}

TEST_P(DistributionsBesideTorch, ValuesThatNeverComeAreRefused) {
  const auto at = [&](Values values) { return Tensor::from(values).to(device, tn::float32); };
  EXPECT_EQ(message_of([&] { Exponential(1.0).log_prob(tn::tensor(-1.0)); }),
            "Exponential: log_prob: value is -1, expected at least 0");
  EXPECT_EQ(message_of([&] {
              Uniform(at({0, 0}), 1.0).log_prob(at({0.5, 2}));
            }),
            "Uniform: log_prob: value is 2 at [1], expected low to high");
  EXPECT_EQ(message_of([&] { Bernoulli(at({0.5})).log_prob(at({0.5})); }),
            "Bernoulli: log_prob: value is 0.5 at [0], expected 0 or 1");
  EXPECT_EQ(message_of([&] {
              Categorical(at({1, 2, 3})).log_prob(at({3}));
            }),
            "Categorical: log_prob: value is 3 at [0], expected a class from 0 to 2");
  EXPECT_EQ(message_of([&] { Beta(at({1}), 1.0).log_prob(at({-0.5})); }),
            "Beta: log_prob: value is -0.5 at [0], expected 0 to 1");
  EXPECT_EQ(message_of([&] {
              Dirichlet(at({1, 2})).log_prob(at({0.5, 0.25}));
            }),
            "Dirichlet: log_prob: the sum of value is 0.75, expected 1");
  EXPECT_EQ(message_of([&] {
              Dirichlet(at({1, 2})).log_prob(at({1}));
            }),
            "Dirichlet: log_prob: value is [1], expected its last sizes to be [2]");
  EXPECT_EQ(message_of([&] {
              Normal(at({0, 0}), 1).log_prob(at({0, 0, 0}));
            }),
            "Normal: log_prob: value is [3] and the distribution is [2], expected sizes that "
            "broadcast");
  EXPECT_EQ(message_of([&] { Normal(0, 1).log_prob(Tensor()); }),
            "Normal: log_prob: value is None, expected a tensor");
}

TEST_P(DistributionsBesideTorch, CompositionsThatDoNotFitAreRefused) {
  const auto ones = [&](tn::Ints sizes) { return tn::ones(sizes, tn::float32, device); };
  const Normal normal(ones({3, 2}), 1.0);
  EXPECT_EQ(message_of([&] { Independent(normal, 3); }),
            "Independent: reinterpreted_batch_ndims is 3, expected 0 to 2, the dimensions of the "
            "batch of Normal");
  EXPECT_EQ(message_of([&] { MixtureSameFamily(Categorical(ones({4})), normal); }),
            "MixtureSameFamily: the mixture has 4 components and the batch of Normal is [3, 2], "
            "expected them as its last dimension");
  EXPECT_EQ(message_of([&] {
              MixtureSameFamily(Categorical(ones({4, 2})), normal);
            }),
            "MixtureSameFamily: the batch of the mixture is [4] and that of the components is [3], "
            "expected sizes that broadcast");
  const MixtureSameFamily mixture(Categorical(ones({2})), normal);
  EXPECT_EQ(message_of([&] { mixture.entropy(); }),
            "MixtureSameFamily: entropy has no closed form; average -log_prob of samples");
  EXPECT_EQ(message_of([&] { mixture.rsample(); }),
            "MixtureSameFamily: has no rsample, since its draws have no gradient; use sample");
  EXPECT_EQ(message_of([&] { Bernoulli(0.5).rsample(); }),
            "Bernoulli: has no rsample, since its draws have no gradient; use sample");
  EXPECT_EQ(message_of([&] { kl_divergence(Independent(normal, 1), Independent(normal, 2)); }),
            "kl_divergence: reinterpreted_batch_ndims of p is 1 and of q 2, expected the same");
}

// As in PyTorch it is one switch of the program.
TEST_P(DistributionsBesideTorch, ValidationIsTurnedOff) {
  const Tensor wrong = tn::full({2}, -1, tn::float32, device);
  set_default_validate_args(false);
  EXPECT_EQ(message_of([&] { Normal(0.0, wrong).log_prob(wrong); }), "no error");
  EXPECT_EQ(message_of([&] { Normal(0.0, -1.0); }), "no error");
  set_default_validate_args(true);
  EXPECT_NE(message_of([&] { Normal(0.0, wrong); }), "no error");
}

}  // namespace
