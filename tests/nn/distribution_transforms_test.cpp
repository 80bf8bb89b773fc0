// TransformedDistribution and its transforms: slopes beside PyTorch's, draws, the policy of SAC, and
// what is refused. Its log_prob and divergences beside PyTorch's are in distributions_test.
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

// A transform of the program's own.
struct Cube {
  Tensor operator()(const Tensor& x) const { return x * x * x; }
  Tensor inv(const Tensor& y) const { return tn::sign(y) * tn::pow(tn::abs(y), 1.0 / 3); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
    return tn::log(3 * tn::square(x));
  }
};

class DistributionTransforms : public DistributionsOnADevice {
 protected:
  // Of `transform` at x; `to` and `slopes` are PyTorch's.
  void expect_transform(const auto& transform, const Values& to, const Values& slopes) const {
    const Tensor x = at({-30, -1, 0, 0.5, 10, 50}), y = transform(x);
    const Values found = y.to_vector<double>(),
                 steep = transform.log_abs_det_jacobian(x, y).template to_vector<double>();
    for (size_t i = 0; i < to.size(); ++i) {
      EXPECT_NEAR(found[i], to[i], 1e-14 * std::max(1.0, std::abs(to[i]))) << i;
      EXPECT_NEAR(steep[i], slopes[i], 1e-13 * std::max(1.0, std::abs(slopes[i]))) << i;
    }
    const Tensor some = at({-1.5, 0.25, 2});
    EXPECT_TRUE(tn::allclose(transform.inv(transform(some)), some, 1e-12, 1e-12));
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, DistributionTransforms, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

// torch.distributions.transforms, in float64.
TEST_P(DistributionTransforms, SlopesAreThoseOfTorch) {
  expect_transform(TanhTransform(),
                   {-1, -0.761594155955765, 0, 0.46211715726001, 0.999999995877693, 1},
                   {-58.6137056388801, -0.867561660966055, 0, -0.240229013916555, -18.6137056430024,
                    -98.6137056388801});
  expect_transform(
      SigmoidTransform(),
      {9.3576229688393e-14, 0.268941421369995, 0.5, 0.622459331201855, 0.999954602131298, 1},
      {-30.0000000000001, -1.62652337503645, -1.38629436111989, -1.44815396836021,
       -10.0000907977984, -50});
  expect_transform(ExpTransform(),
                   {9.35762296884017e-14, 0.367879441171442, 1, 1.64872127070013, 22026.4657948067,
                    5.18470552858707e+21},
                   {-30, -1, 0, 0.5, 10, 50});
  const double log3 = 1.09861228866811;
  expect_transform(AffineTransform(2, -3.0), {92, 5, 2, 0.5, -28, -148},
                   {log3, log3, log3, log3, log3, log3});
  expect_transform(AffineTransform(at({2}), at({-3})), {92, 5, 2, 0.5, -28, -148},
                   {log3, log3, log3, log3, log3, log3});
}

// Away from its ends, as PyTorch's in float32.
TEST_P(DistributionTransforms, ValuesBroadcast) {
  const tn::Device device = tn::Device(GetParam());
  const TransformedDistribution x(Normal(tn::zeros({3}).to(device), 1.0),
                                  AffineTransform(tn::tensor({1.0, 2.0, 3.0}).to(device), 2.0));
  const auto values = x.log_prob(tn::tensor(1.0).to(device)).to_vector<float>();
  ASSERT_EQ(values.size(), 3u);
  EXPECT_NEAR(values[0], -1.6120857, 1e-6);
  EXPECT_NEAR(values[1], -1.7370857, 1e-6);
  EXPECT_NEAR(values[2], -2.1120857, 1e-6);
}

TEST_P(DistributionTransforms, SigmoidIsAwayFromItsEnds) {
  const SigmoidTransform sigmoid;
  const Values to = sigmoid(at({-200, 40}, tn::float32)).to_vector<double>();
  EXPECT_FLOAT_EQ(float(to[0]), 1.17549435e-38f);
  EXPECT_FLOAT_EQ(float(to[1]), 0.999999881f);
  const Values from = sigmoid.inv(at({0, 0.25, 1}, tn::float32)).to_vector<double>();
  const Values wanted = {-87.3365479, -1.09861231, 15.9423847};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(from[i], wanted[i], 1e-5) << i;
}

// A number in the place of the draw: torch gives it with TanhTransform(cache_size=1).
TEST_P(DistributionTransforms, PolicyOfSacIsExactWhereTanhIsOne) {
  const Tensor loc = at({0.3, -12, 25}), scale = at({0.5, 1, 2});
  const Independent normal(Normal(loc, scale), 1);
  const Tensor x = at({0.7, -11.5, 28});
  const TanhTransform tanh;
  const Tensor log_prob = normal.log_prob(x) - tanh.log_abs_det_jacobian(x, tanh(x)).sum();
  EXPECT_NEAR(log_prob.item<double>(), 72.3551361368632, 1e-11);
  // The same numbers are drawn with the same seed. 1 - tanh^2 is 1 / cosh^2, and softplus from 20 on
  // leaves out 2e-9.
  const TransformedDistribution policy(normal, TanhTransform());
  tn::manual_seed(5);
  const auto [action, found] = policy.rsample_with_log_prob({4});
  tn::manual_seed(5);
  const Tensor before = normal.rsample({4});
  EXPECT_TRUE(tn::allclose(action, tn::tanh(before), 0, 0));
  const Tensor wanted = normal.log_prob(before) + 2 * tn::log(tn::cosh(before)).sum({-1});
  EXPECT_TRUE(tn::allclose(found, wanted, 0, 1e-8));
  tn::manual_seed(5);
  EXPECT_TRUE(tn::allclose(policy.sample({4}), action, 0, 0));
}

// Where nothing is flat the inverse gives the same.
TEST_P(DistributionTransforms, LogProbOfADrawIsThatOfItsValue) {
  const Normal normal(at({0.3, -0.5}), at({0.5, 0.2}));
  const TransformedDistribution tanh(normal, TanhTransform());
  const auto [y, log_prob] = tanh.rsample_with_log_prob({3});
  EXPECT_TRUE(tn::allclose(tanh.log_prob(y), log_prob, 1e-9, 1e-9));
  const TransformedDistribution both(Independent(normal, 1), AffineTransform(at({2, -3}), 0.5),
                                     SigmoidTransform(), Cube());
  EXPECT_EQ(std::vector<int64_t>(both.event_shape()), std::vector<int64_t>({2}));
  const auto [z, of_both] = both.rsample_with_log_prob({3});
  EXPECT_EQ(std::vector<int64_t>(of_both.sizes()), std::vector<int64_t>({3}));
  EXPECT_TRUE(tn::allclose(both.log_prob(z), of_both, 1e-9, 1e-9));
  const LogNormal log_normal(at({0.3}), 0.5);
  const auto [w, of_normal] = log_normal.rsample_with_log_prob({3});
  EXPECT_TRUE(tn::allclose(log_normal.log_prob(w), of_normal, 1e-9, 1e-9));
  const TransformedDistribution sigmoid(Normal(at({0}), 1.0), SigmoidTransform());
  const double density = std::exp(sigmoid.log_prob(at({0.5})).item<double>());
  EXPECT_NEAR(density, 4 / std::sqrt(2 * M_PI), 1e-12);
}

TEST_P(DistributionTransforms, GradientsGoThroughDrawsAndTheirLogProb) {
  const Tensor mean = at({0.5, 12}).requires_grad_(), log_std = at({-1, 0.3}).requires_grad_();
  tn::gradcheck(
      [](Tensor a, Tensor b) {
        tn::manual_seed(3);
        const TransformedDistribution policy(Independent(Normal(a, tn::exp(b)), 1),
                                             TanhTransform());
        const auto [action, log_prob] = policy.rsample_with_log_prob({3});
        return log_prob + action.sum({-1});
      },
      {mean, log_std});
  tn::gradcheck(
      [](Tensor a, Tensor b) {
        tn::manual_seed(3);
        return TransformedDistribution(Normal(a, 0.5), AffineTransform(b, a), SigmoidTransform())
            .rsample({3});
      },
      {at({0.5, 1}).requires_grad_(), log_std});
}

// A step of SAC's actor in float32 from a policy that is at its ends: all gradients are finite.
TEST_P(DistributionTransforms, PolicyAtItsEndsHasFiniteGradients) {
  const Tensor mean = at({-60, 9.5, 60}, tn::float32).requires_grad_(),
               log_std = at({0, 1, -20}, tn::float32).requires_grad_();
  const TransformedDistribution policy(Independent(Normal(mean, tn::exp(log_std)), 1),
                                       TanhTransform());
  const auto [action, log_prob] = policy.rsample_with_log_prob({64});
  EXPECT_LE(action.abs().max().item<float>(), 1);
  (0.2 * log_prob.mean() - action.sum()).backward();
  for (const Tensor& g : {log_prob, mean.grad(), log_std.grad()})
    EXPECT_TRUE(tn::isfinite(g).all().item<bool>());
}

TEST_P(DistributionTransforms, WhatIsWrongIsRefused) {
  const TransformedDistribution policy(Normal(at({0}), 1.0), TanhTransform());
  EXPECT_EQ(message_of([&] { policy.mean(); }),
            "TransformedDistribution: mean has no closed form; average samples");
  EXPECT_EQ(message_of([&] { policy.entropy(); }),
            "TransformedDistribution: entropy has no closed form; average -log_prob of samples");
  EXPECT_EQ(message_of([&] { policy.log_prob(at({1.5})); }),
            "TransformedDistribution: log_prob: value is 1.5 at [0], expected -1 to 1");
  EXPECT_EQ(message_of([&] { AffineTransform(0.0, 0.0); }),
            "AffineTransform: scale is 0, expected not 0");
  EXPECT_EQ(message_of([&] {
              AffineTransform(0.0, at({1, 0}));
            }),
            "AffineTransform: scale is 0 at [1], expected not 0");
  EXPECT_EQ(message_of([&] { AffineTransform(NAN, 1.0); }),
            "AffineTransform: loc is nan, expected a number");
  const TransformedDistribution wide(Normal(0.0, 1.0), AffineTransform(at({1, 2}), 1.0));
  EXPECT_EQ(message_of([&] { wide.rsample(); }),
            "AffineTransform: loc is [2] and the value [], expected sizes that broadcast to those "
            "of the value");
  const TransformedDistribution events(Bernoulli(at({0.5})), AffineTransform(1.0, 2.0));
  EXPECT_FALSE(events.has_rsample());
  EXPECT_NE(message_of([&] { events.rsample(); }), "no error");
  EXPECT_GE(events.sample().item<double>(), 1);
}

TEST_P(DistributionTransforms, DivergenceIsThatOfTheBases) {
  const Normal p(at({0.5}), 1.0), q(at({0}), 2.0);
  const auto moved = [&](const Normal& normal, tn::Operand loc) {
    return TransformedDistribution(normal, AffineTransform(loc, 2.0));
  };
  const double wanted = kl_divergence(p, q).item<double>();
  EXPECT_EQ(kl_divergence(moved(p, 1.0), moved(q, 1.0)).item<double>(), wanted);
  EXPECT_EQ(kl_divergence(moved(p, at({1})), moved(q, at({1}))).item<double>(), wanted);
  const std::string differ =
      "kl_divergence: the transforms of p and of q differ, expected the same";
  EXPECT_EQ(message_of([&] { kl_divergence(moved(p, 1.0), moved(q, 2.0)); }), differ);
  EXPECT_EQ(message_of([&] { kl_divergence(moved(p, at({1})), moved(q, at({2}))); }), differ);
}

}  // namespace
