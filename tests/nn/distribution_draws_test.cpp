// Draws of distributions: whether they have the distribution, by bounds that no fixed seed of a
// right sampler passes with a probability of more than 1e-11 a comparison; gradients of rsample;
// compiled functions.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "draws.h"
#include "tenon/distributions.hpp"
#include "tenon/gradcheck.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
using namespace tn::distributions;
using tn::Tensor;

namespace {

const double kFar = far_of(double(kDraws));

double normal_below(double x, double loc, double scale) {
  return std::erfc((loc - x) / scale / std::sqrt(2.0)) / 2;
}

// The regularized incomplete gamma function by its series, all terms of which are positive.
double gamma_below(double a, double x) {
  if (x <= 0) return 0;
  double term = std::exp(a * std::log(x) - x - std::lgamma(a + 1)), total = 0;
  for (int n = 1; n < 5000 && (term > 1e-17 * total || double(n) < x); ++n) {
    total += term;
    term *= x / (a + n);
  }
  return total;
}

class DistributionDraws : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    tn::manual_seed(0);
    device = tn::Device(GetParam());
  }
  Tensor at(const Values& values) const { return Tensor::from(values).to(device, tn::float32); }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, DistributionDraws, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(DistributionDraws, OfOneNumberHaveTheDistribution) {
  const Tensor normal = Normal(at({1.5, -3}), at({0.5, 2})).sample({kDraws});
  expect_distribution(column(normal, 0), [](double x) { return normal_below(x, 1.5, 0.5); });
  expect_distribution(column(normal, 1), [](double x) { return normal_below(x, -3, 2); });
  const Tensor uniform = Uniform(at({-2}), at({3})).sample({kDraws});
  expect_distribution(column(uniform, 0),
                      [](double x) { return std::clamp((x + 2) / 5, 0.0, 1.0); });
  const Tensor exponential = Exponential(at({4})).sample({kDraws});
  expect_distribution(column(exponential, 0), [](double x) { return -std::expm1(-4 * x); });
}

TEST_P(DistributionDraws, OfGammaHaveTheDistribution) {
  const Values concentrations = {0.03, 0.4, 1, 2.5, 150};
  // Of 0.03 one draw in 14 is below what float32 has, and is its smallest number there.
  const Tensor draws = Gamma(at(concentrations).to(tn::float64), 2.0).sample({kDraws});
  for (size_t i = 0; i < concentrations.size(); ++i) {
    SCOPED_TRACE(concentrations[i]);
    const Values list = column(draws, int64_t(i));
    EXPECT_GT(*std::min_element(list.begin(), list.end()), 0);
    expect_distribution(list, [&](double x) { return gamma_below(concentrations[i], 2 * x); });
  }
}

// A Beta(2, 1) is below x with the probability x^2, a Beta(1, 3) with 1 - (1 - x)^3, and a
// Beta(1/2, 1/2) with 2 / pi * asin(sqrt(x)).
TEST_P(DistributionDraws, OfBetaAndDirichletHaveTheDistribution) {
  const Tensor beta = Beta(at({2, 1, 0.5}), at({1, 3, 0.5})).sample({kDraws});
  expect_distribution(column(beta, 0), [](double x) { return x * x; });
  expect_distribution(column(beta, 1), [](double x) { return 1 - std::pow(1 - x, 3); });
  expect_distribution(column(beta, 2), [](double x) { return 2 / M_PI * std::asin(std::sqrt(x)); });
  // Each number of a Dirichlet is a Beta(its concentration, the rest).
  const Tensor simplex = Dirichlet(at({2, 0.4, 0.6})).sample({kDraws});
  expect_distribution(column(simplex, 0), [](double x) { return x * x; });
  const Tensor apart = (simplex.sum({1}) - 1).abs();
  EXPECT_LT(apart.max().item<double>(), 1e-5);
  const Tensor second = simplex.select(1, 1);
  EXPECT_NEAR(second.mean().item<double>(), 0.4 / 3, kFar);
  EXPECT_NEAR(second.square().mean().item<double>(), 0.4 * 1.4 / 12, kFar);
}

// Of small concentrations most draws round to 0 or 1, where the density is infinite.
TEST_P(DistributionDraws, OfBetaAndDirichletAreWithinTheirEnds) {
  for (const double a : {0.01, 0.1}) {
    const Tensor c = tn::full({4}, a).to(GetParam()).requires_grad_();
    const Beta beta(c, c);
    const Dirichlet dirichlet(c);
    const Tensor x = beta.rsample({500}), y = dirichlet.rsample({500});
    for (const Tensor& draws : {x, y}) {
      EXPECT_GT(draws.min().item<double>(), 0) << a;
      EXPECT_LT(draws.max().item<double>(), 1) << a;
    }
    EXPECT_TRUE(tn::isfinite(beta.log_prob(x.detach())).all().item<bool>()) << a;
    EXPECT_TRUE(tn::isfinite(dirichlet.log_prob(y.detach())).all().item<bool>()) << a;
    (x.sum() + (y * tn::arange(0, 4).to(c.device())).sum()).backward();
    EXPECT_TRUE(tn::isfinite(c.grad()).all().item<bool>()) << a;
  }
}

TEST_P(DistributionDraws, OfClassesHaveTheProbabilities) {
  const Tensor events = Bernoulli(at({0, 0.2, 0.7, 1})).sample({kDraws}).mean({0});
  const Values rates = events.to_vector<double>(), wanted = {0, 0.2, 0.7, 1};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(rates[i], wanted[i], kFar);
  EXPECT_EQ(rates[0], 0);
  EXPECT_EQ(rates[3], 1);
  const Tensor probs = tn::tensor({{1.0, 3.0, 4.0}, {0.0, 1.0, 1.0}}, device);
  const Tensor classes = Categorical(probs).sample({kDraws});
  for (int64_t row = 0; row < 2; ++row) {
    for (int64_t c = 0; c < 3; ++c) {
      const double rate = (classes.select(1, row) == c).to(tn::float32).mean().item<double>();
      const double p = probs[{row, c}].item<double>() / (row == 0 ? 8 : 2);
      EXPECT_NEAR(rate, p, kFar) << row << ", " << c;
    }
  }
}

// A projection of a normal vector is normal.
TEST_P(DistributionDraws, OfVectorsHaveTheCovariance) {
  const Tensor loc = at({1, -2}), covariance = tn::tensor({{2.0, -0.9}, {-0.9, 0.5}}, device);
  const Tensor draws = MultivariateNormal(loc, covariance).sample({kDraws});
  expect_distribution(column(draws, 0),
                      [](double x) { return normal_below(x, 1, std::sqrt(2.0)); });
  expect_distribution(column(draws, 1),
                      [](double x) { return normal_below(x, -2, std::sqrt(0.5)); });
  const Tensor both = draws.select(1, 0) + 2 * draws.select(1, 1);
  expect_distribution(both.to_vector<double>(),
                      [](double x) { return normal_below(x, -3, std::sqrt(2 - 3.6 + 2)); });
  const Tensor vectors =
      MixtureSameFamily(Categorical(at({0.25, 0.75})),
                        Independent(Normal(tn::tensor({{0.0, 5.0}, {9.0, 1.0}}, device), 1.0), 1))
          .sample({kDraws});
  EXPECT_EQ(std::vector<int64_t>(vectors.sizes()), std::vector<int64_t>({kDraws, 2}));
  // Both numbers come from the same component.
  const Tensor first = vectors.select(1, 0) < 4.5;
  expect_distribution(vectors.select(1, 1).to_vector<double>(), [](double x) {
    return 0.25 * normal_below(x, 5, 1) + 0.75 * normal_below(x, 1, 1);
  });
  EXPECT_NEAR(first.to(tn::float32).mean().item<double>(), 0.25, kFar);
  EXPECT_GT((first == (vectors.select(1, 1) > 3)).to(tn::float32).mean().item<double>(), 0.95);
}

TEST_P(DistributionDraws, OfMixturesHaveTheDistribution) {
  // One mixture for two batches: each has draws of its own.
  const Tensor loc = tn::tensor({{-4.0, 0.0, 4.0}, {-1.0, 0.0, 1.0}}, device);
  const MixtureSameFamily mixture(Categorical(at({0.2, 0.5, 0.3})), Normal(loc, 0.5));
  const Tensor draws = mixture.sample({kDraws});
  EXPECT_EQ(std::vector<int64_t>(draws.sizes()), std::vector<int64_t>({kDraws, 2}));
  for (int64_t i = 0; i < 2; ++i) {
    const double d = i == 0 ? 4 : 1;
    expect_distribution(column(draws, i), [&](double x) {
      return 0.2 * normal_below(x, -d, 0.5) + 0.5 * normal_below(x, 0, 0.5) +
             0.3 * normal_below(x, d, 0.5);
    });
  }
  const Tensor left = (draws < 0).to(tn::float32);
  const double together = (left.select(1, 0) * left.select(1, 1)).mean().item<double>();
  EXPECT_NEAR(together,
              left.select(1, 0).mean().item<double>() * left.select(1, 1).mean().item<double>(),
              3 * kFar);
}

TEST_P(DistributionDraws, GoByTheSeed) {
  const Gamma gamma(at({0.5, 7}), 1.0);
  tn::manual_seed(5);
  const Values first = gamma.sample({3}).to_vector<double>();
  const Values second = gamma.sample({3}).to_vector<double>();
  tn::manual_seed(5);
  EXPECT_EQ(gamma.sample({3}).to_vector<double>(), first);
  EXPECT_NE(second, first);
  EXPECT_FALSE(gamma.sample().requires_grad());
}

// A draw of the same random numbers is a smooth function of the parameters.
TEST_P(DistributionDraws, GradientsAreThoseOfTheDrawsFunction) {
  const auto numbers = [&](Values values) {
    return Tensor::from(values).to(device, tn::float64).requires_grad_();
  };
  const auto same = [](auto draw) {
    return [draw](Tensor a, Tensor b) {
      tn::manual_seed(3);
      return draw(a, b).rsample({4});
    };
  };
  tn::gradcheck(same([](Tensor a, Tensor b) { return Normal(a, b); }),
                {numbers({0.5, -1}), numbers({0.3, 2})});
  tn::gradcheck(same([](Tensor a, Tensor b) { return Uniform(a, b); }),
                {numbers({0.5, -1}), numbers({0.8, 2})});
  tn::gradcheck(same([](Tensor a, Tensor b) { return Exponential(a * b); }),
                {numbers({0.5, 3}), numbers({0.8, 2})});
  const Tensor lower = Tensor::from(Values{1.5, 0, 0.4, 0.8}, {2, 2}).to(device, tn::float64);
  tn::gradcheck(same([&](Tensor a, Tensor b) {
                  const Tensor l = lower * b.unsqueeze(-1);
                  return MultivariateNormal(a, matmul(l, l.mT()));
                }),
                {numbers({0.5, 3}), numbers({0.8, 2})});
}

// Data of mpmath: how a draw's logarithm moves with the concentration where its quantile stays.
TEST_P(DistributionDraws, OfGammaMoveWithTheConcentration) {
  const auto all = nlohmann::json::parse(std::ifstream(
      std::string(std::getenv("TENON_SOURCE_DIR")) + "/tests/data/torch_distributions.json"));
  for (const auto& row : all.at("gamma_slopes")) {
    const auto [a, x, slope] = row.get<std::array<double, 3>>();
    const auto number = [&](double v) { return tn::full({}, v, tn::float64, device); };
    EXPECT_NEAR(detail::log_gamma_slope(number(a), number(std::log(x))).item<double>(), slope,
                1e-5 * std::abs(slope))
        << a << ", " << x;
    const Tensor narrow =
        detail::log_gamma_slope(number(a).to(tn::float32), number(std::log(x)).to(tn::float32));
    EXPECT_NEAR(narrow.item<double>(), slope, (1e-4 + 1e-6 * std::sqrt(a)) * std::abs(slope) + 1e-4)
        << a << ", " << x;
  }
}

// The mean of the gradients is the gradient of the mean: 1 / rate and -a / rate^2 of Gamma,
// b / (a + b)^2 of Beta, (total - a) / total^2 of Dirichlet. Seven standard errors.
TEST_P(DistributionDraws, GradientsOfGammasAverageToThatOfTheMean) {
  const auto expect_mean = [](const Tensor& each, double wanted) {
    const double error = each.std().item<double>() / std::sqrt(double(each.numel()));
    EXPECT_NEAR(each.mean().item<double>(), wanted, 7 * error);
    EXPECT_LT(error, 0.1 * std::abs(wanted));
  };
  const auto wide = [&](double value) {
    return tn::full({kDraws / 4}, value, tn::float32, device).requires_grad_();
  };
  for (const double a : {0.3, 1.0, 6.0}) {
    const Tensor concentration = wide(a), rate = wide(2);
    Gamma(concentration, rate).rsample().sum().backward();
    expect_mean(concentration.grad(), 0.5);
    expect_mean(rate.grad(), -a / 4);
    const Tensor one = wide(a), zero = wide(2.5);
    Beta(one, zero).rsample().sum().backward();
    expect_mean(one.grad(), 2.5 / std::pow(a + 2.5, 2));
    expect_mean(zero.grad(), -a / std::pow(a + 2.5, 2));
    const Tensor first = wide(a), second = wide(0.5), third = wide(4);
    Dirichlet(tn::stack({first, second, third}, -1)).rsample().select(-1, 0).sum().backward();
    const double total = a + 4.5;
    expect_mean(first.grad(), (total - a) / (total * total));
    expect_mean(second.grad(), -a / (total * total));
  }
}

// A step of a variational autoencoder's kind, recorded and replayed: the same draws and gradients.
TEST_P(DistributionDraws, CompiledFunctionsReplayThem) {
  const Tensor weight = at({0.4, 1.5, 3}).requires_grad_();
  const auto step = [&](Tensor x) {
    weight.zero_grad();
    const Normal code(x, tn::exp(-weight));
    const Gamma rates(weight, 1.0);
    const Tensor z = code.rsample({8}), r = rates.rsample({8});
    const Categorical classes({.logits = weight * x});
    Tensor loss = (z.square() * r).mean() + kl_divergence(code, Normal(0.0, 1.0)).sum() -
                  classes.log_prob(classes.sample({8})).mean() - Beta(weight, 1.0).rsample().sum();
    loss.backward();
    return std::pair{loss.detach() * 1, weight.grad() * 1};
  };
  const auto run = [&](bool compiled) {
    auto f = tn::compile(step);
    tn::manual_seed(1);
    std::vector<Values> results;
    for (int i = 0; i < 5; ++i) {
      const Tensor x = at({0.1 * i, 1, -1});
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

}  // namespace
