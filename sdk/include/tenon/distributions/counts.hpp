// Distributions of how many: events in a time, of a number of trials, trials before the first.
#pragma once

#include <cmath>
#include <cstdint>

#include "tenon/distributions/discrete.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// k log(1 - probs), which is 0 where k is: without the infinite slope of log(0) there.
inline Tensor failures_log_prob(const Tensor& k, const Tensor& probs) {
  return xlog1py(k, -where(logical_and(k == 0, probs == 1), 0, probs));
}

}  // namespace detail

// How many events come in a time in which there are `rate` on average: k has the probability
// rate^k exp(-rate) / k!. Draws have the dtype of the parameter. As in PyTorch it has no entropy.
class Poisson : public Distribution {
 public:
  explicit Poisson(Operand rate)
      : rate_(detail::as_parameter("Poisson", {"rate", rate, detail::kNonnegative})) {
    set_shapes(rate_.sizes());
  }
  const char* name() const override { return "Poisson"; }
  const Tensor& rate() const { return rate_; }
  Tensor mean() const override { return rate_; }
  Tensor variance() const override { return rate_; }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kWhole);
    const Tensor k = value.to(rate_.dtype());
    return xlogy(k, rate_) - rate_ - lgamma(k + 1);
  }
  Tensor entropy() const override {
    fail("Poisson: entropy has no closed form; average -log_prob of samples");
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    return poisson(rate_.expand(extended(sample_shape)));
  }
  bool has_rsample() const override { return false; }

 private:
  Tensor rate_;
};

// How many of total_count trials are an event, each with the probability probs: Binomial(10, probs),
// or Binomial(10, {.logits = logits}), where probs is sigmoid(logits). total_count is a number or a
// tensor of any dtype. Draws have the dtype of probs or logits.
class Binomial : public Distribution {
 public:
  Binomial(Operand total_count, Operand probs) {
    const Tensor count = count_of(total_count, probs);
    auto [a, b] = detail::broadcast_all(
        "Binomial", {"total_count", count.defined() ? Operand(count) : total_count, detail::kWhole},
        {"probs", probs, detail::kUnitInterval});
    total_count_ = a, probs_ = b;
    set_shapes(probs_.sizes());
    // Away from 0 and 1, whose logits are infinite.
    const double eps = detail::epsilon(probs_.dtype());
    const Tensor inside = clamp(probs_, eps, 1 - eps);
    logits_ = log(inside) - log1p(-inside);
  }
  Binomial(Operand total_count, const LogitsOptions& options) {
    const Tensor count = count_of(total_count, options.logits);
    auto [a, b] = detail::broadcast_all(
        "Binomial", {"total_count", count.defined() ? Operand(count) : total_count, detail::kWhole},
        {"logits", options.logits, detail::kReal});
    total_count_ = a, logits_ = b;
    probs_ = sigmoid(logits_);
    set_shapes(logits_.sizes());
  }
  const char* name() const override { return "Binomial"; }
  const Tensor& total_count() const { return total_count_; }
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  Tensor mean() const override { return total_count_ * probs_; }
  Tensor variance() const override { return mean() * (1 - probs_); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kWhole);
    detail::expect_all(owner().c_str(), "value", value, value <= total_count_,
                       "at most total_count");
    return log_mass(value.to(logits_.dtype()));
  }
  // The sum over all counts, of which there have to be as many in each of the batch; it waits for
  // the device to say how many.
  Tensor entropy() const override {
    const Tensor counts = total_count_.detach();
    if (counts.numel() == 0) return zeros(batch_shape(), probs_.dtype(), probs_.device());
    const double most = amax(counts).item<double>(), least = amin(counts).item<double>();
    if (most != least) {
      fail(detail::joined({"Binomial: entropy: total_count is ", detail::number_text(least), " to ",
                           detail::number_text(most), ", expected one number"}));
    }
    detail::Sizes sizes(batch_shape().size() + 1, 1);
    sizes[0] = int64_t(most) + 1;
    const Tensor k = arange(0, most + 1, 1, probs_.dtype(), probs_.device()).reshape(sizes);
    const Tensor each = log_mass(k);
    return -sum(exp(each) * each, {0});
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    const detail::Sizes sizes = extended(sample_shape);
    return binomial(total_count_.expand(sizes), probs_.expand(sizes));
  }
  bool has_rsample() const override { return false; }

 private:
  // A tensor as one of floats, of the dtype of the other parameter.
  static Tensor count_of(const Operand& total_count, const Operand& other) {
    const Tensor count = total_count.tensor();
    if (!count.defined() || count.dtype().is_float()) return count;
    return count.to(other.is_tensor() ? other.tensor().dtype() : float32);
  }
  // k log(p) + (n - k) log(1 - p) is k logits - n softplus(logits).
  Tensor log_mass(const Tensor& k) const {
    const Tensor ways = lgamma(total_count_ + 1) - lgamma(k + 1) - lgamma(total_count_ - k + 1);
    return ways + k * logits_ + total_count_ * log_sigmoid(-logits_);
  }
  Tensor total_count_, probs_, logits_;
};

// How many trials come before the first that is an event, each with the probability probs:
// Geometric(probs), or Geometric({.logits = logits}), where probs is sigmoid(logits). Draws have the
// dtype of the parameter, and are 0 or more, as in PyTorch; those of geometric_ count the event too.
class Geometric : public Distribution {
 public:
  explicit Geometric(Operand probs)
      : probs_(detail::as_parameter("Geometric", {"probs", probs, detail::kAboveZeroToOne})) {
    set_shapes(probs_.sizes());
    // Away from 1, whose logit is infinite.
    const double eps = detail::epsilon(probs_.dtype());
    const Tensor inside = clamp(probs_, eps, 1 - eps);
    logits_ = log(inside) - log1p(-inside);
  }
  explicit Geometric(const LogitsOptions& options) {
    logits_ = detail::as_parameter("Geometric", {"logits", options.logits, detail::kReal});
    probs_ = sigmoid(logits_);
    set_shapes(logits_.sizes());
  }
  const char* name() const override { return "Geometric"; }
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  Tensor mean() const override { return reciprocal(probs_) - 1; }
  Tensor variance() const override { return (reciprocal(probs_) - 1) / probs_; }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kWhole);
    const Tensor k = value.to(probs_.dtype());
    return detail::failures_log_prob(k, probs_) + log(probs_);
  }
  Tensor entropy() const override {
    return binary_cross_entropy_with_logits(logits_, probs_, {.reduction = "none"}) / probs_;
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    // The whole steps of a waiting time.
    const Tensor u = rand(extended(sample_shape), probs_.dtype(), probs_.device());
    return floor(log1p(-u) / log1p(-probs_));
  }
  bool has_rsample() const override { return false; }

 private:
  Tensor probs_, logits_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
