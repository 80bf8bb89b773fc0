// The distribution of numbers from 0 to 1 that a binary cross entropy of such numbers is of.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>

#include "tenon/distributions/discrete.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// Of a number x from 0 to 1: probs^x * (1 - probs)^(1 - x), up to a factor.
// ContinuousBernoulli(probs), or ContinuousBernoulli({.logits = logits}), where probs is
// sigmoid(logits). probs is not the mean. Loaiza-Ganem & Cunningham, arXiv:1907.06845. Near probs =
// 1/2, where differences cancel, series take their place, which are exact to 1e-11; so there is no
// `lims` as in PyTorch.
class ContinuousBernoulli : public Distribution {
 public:
  explicit ContinuousBernoulli(Operand probs) {
    probs_ = detail::as_parameter("ContinuousBernoulli", {"probs", probs, detail::kUnitInterval});
    // As in PyTorch away from 0 and 1.
    const double eps = detail::epsilon(probs_.dtype());
    probs_ = clamp(probs_, eps, 1 - eps);
    logits_ = detail::logits_of(probs_);
    set_shapes(probs_.sizes());
  }
  explicit ContinuousBernoulli(const ProbsOptions& options)
      : ContinuousBernoulli(Operand(options.probs)) {}
  explicit ContinuousBernoulli(const LogitsOptions& options) {
    logits_ =
        detail::as_parameter("ContinuousBernoulli", {"logits", options.logits, detail::kReal});
    probs_ = sigmoid(logits_);
    set_shapes(logits_.sizes());
  }
  const char* name() const override { return "ContinuousBernoulli"; }
  ContinuousBernoulli expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &ContinuousBernoulli::probs_,
                    &ContinuousBernoulli::logits_);
  }
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  // 1 / (2 tanh(x / 2)) + 1 / 2 - 1 / x of the logits x.
  Tensor mean() const override {
    const auto [near, x] = apart_from_zero(0.25);
    const Tensor far = 0.5 / tanh(0.5 * x) - reciprocal(x);
    const Tensor s = square(logits_);
    const Tensor series = logits_ * (1.0 / 12 - s * (1.0 / 720 - s * (1.0 / 30240 - s / 1209600)));
    return 0.5 + where(near, series, far);
  }
  // The slope of the mean.
  Tensor variance() const override {
    const auto [near, x] = apart_from_zero(0.25);
    // 1 / sinh(x / 2)^2 by exponentials that do not overflow.
    const Tensor e = exp(-abs(x));
    const Tensor far = reciprocal(square(x)) - e / square(1 - e);
    const Tensor s = square(logits_);
    const Tensor series = 1.0 / 12 - s * (1.0 / 240 - s * (1.0 / 6048 - s / 172800));
    return where(near, series, far);
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kUnitInterval);
    return value * logits_ + log_sigmoid(-logits_) + log_factor();
  }
  Tensor entropy() const override {
    return -mean() * logits_ - log_sigmoid(-logits_) - log_factor();
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    return icdf(rand(extended(sample_shape), logits_.dtype(), logits_.device()));
  }
  // (exp(x v) - 1) / (exp(x) - 1) of the logits x at v.
  Tensor cdf(const Tensor& value) const {
    const auto [near, away] = apart_from_zero(0.02);
    const Tensor v = clamp(value, 0, 1), x = -abs(away);
    // Of negative x; of positive ones 1 less that of -x at 1 - v.
    const Tensor positive = away > 0;
    const Tensor below = expm1(x * where(positive, 1 - v, v)) / expm1(x);
    const Tensor far = where(positive, 1 - below, below);
    const Tensor w = v * (1 - v), s = logits_;
    const Tensor series = v + w * s * (-0.5 + s * ((1 - 2 * v) / 12 + s * w / 24));
    return where(near, series, far);
  }
  Tensor icdf(const Tensor& p) const {
    // log(1 + u (exp(x) - 1)) / x of negative x; 1 less that of -x for positive ones.
    const auto [near, away] = apart_from_zero(0.02);
    const Tensor x = -abs(away);
    const Tensor u = where(away > 0, 1 - p, p);
    const Tensor below = log1p(u * expm1(x)) / x;
    const Tensor far = where(away > 0, 1 - below, below);
    const Tensor v = p * (1 - p), s = logits_;
    const Tensor series = p + v * s * (0.5 + s * ((1 - 2 * p) / 6 + s * (1 - 6 * v) / 24));
    return clamp(where(near, series, far), 0, 1);
  }
  // The logarithm of the factor, x / tanh(x / 2) of the logits x.
  Tensor log_factor() const {
    const auto [near, x] = apart_from_zero(0.25);
    const Tensor far = log(x / tanh(0.5 * x));
    const Tensor s = 0.25 * square(logits_);
    const Tensor series = s * (1.0 / 3 - s * (7.0 / 90 - s * (62.0 / 2835 - s * 127.0 / 18900)));
    return where(near, std::numbers::ln2 + series, far);
  }

 private:
  // Where the logits are nearer to 0 than this; the logits, with 1 there: what is not taken there
  // has finite gradients.
  std::pair<Tensor, Tensor> apart_from_zero(double distance) const {
    const Tensor near = abs(logits_) < distance;
    return {near, where(near, 1, logits_)};
  }
  Tensor probs_, logits_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
