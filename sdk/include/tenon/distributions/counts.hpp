// Distributions of how many: events in a time, of a number of trials, trials before the first.
//
// Draws of Poisson and Binomial are by inversion where the mean is below 10, and else by Stadlober,
// "The ratio of uniforms approach for generating discrete random variates" (Journal of
// Computational and Applied Mathematics 31, 1990). They are computed in float64.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "tenon/distributions/discrete.hpp"
#include "tenon/ops/create.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

inline constexpr double kSmallMean = 10;

// Inversion: how many of the first 48 sums of probabilities a uniform number reaches. `first` is the
// probability of 0, and ratio(k) that of k + 1 over that of k. Of a mean below 10 the 49th and later
// ones sum to less than 1e-18.
template <typename Ratio>
Tensor draw_few(const Tensor& first, const Ratio& ratio) {
  const Tensor u = rand_like(first);
  Tensor mass = first, below = first, count = zeros_like(first);
  for (int k = 0; k < 48; ++k) {
    count = count + (u >= below).to(float64);
    mass = mass * ratio(k);
    below = below + mass;
  }
  return count;
}

// Stadlober's: floor(mean + 0.5 + h (u - 0.5) / v) is taken if v^2 is below its probability over
// the largest one, which `log_ratio` gives the logarithm of. Less than 43% of the draws are
// rejected where the mean is 10 or more. There are always 24 rounds, so that nothing waits for the
// device and a compiled function replays it; of 1e9 draws at most about one is then still missing
// and is the mode.
template <typename LogRatio>
Tensor draw_many(const Tensor& mean, const Tensor& variance, const Tensor& mode,
                 const LogRatio& log_ratio) {
  const Tensor h =
      std::sqrt(8 / std::numbers::e) * sqrt(variance + 0.5) + (3 - std::sqrt(12 / std::numbers::e));
  Tensor count = mode, missing = mean == mean;
  for (int round = 0; round < 24; ++round) {
    const Tensor u = rand_like(mean), v = rand_like(mean);
    const Tensor proposed = floor(mean + 0.5 + h * (u - 0.5) / v);
    const Tensor taken = logical_and(proposed >= 0, 2 * log(v) < log_ratio(proposed));
    count = where(logical_and(missing, taken), proposed, count);
    missing = logical_and(missing, logical_not(taken));
  }
  return count;
}

inline Tensor draw_poisson(const Tensor& given) {
  const Tensor rate = given.to(float64);
  const Tensor few = draw_few(exp(-rate), [&](int k) { return rate / (k + 1); });
  const Tensor mode = floor(rate), log_rate = log(rate);
  const Tensor most = mode * log_rate - lgamma(mode + 1);
  const Tensor many = draw_many(
      rate, rate, mode, [&](const Tensor& k) { return k * log_rate - lgamma(k + 1) - most; });
  return where(rate < kSmallMean, few, many).to(given.dtype());
}

// Where events are more probable than not, what has none is drawn.
inline Tensor draw_binomial(const Tensor& total_count, const Tensor& probs) {
  const Tensor n = total_count.to(float64), given = probs.to(float64);
  const Tensor swapped = given > 0.5, p = where(swapped, 1 - given, given);
  const Tensor odds = p / (1 - p), mean = n * p;
  const Tensor few = draw_few(exp(n * log1p(-p)), [&](int k) { return (n - k) / (k + 1) * odds; });
  const Tensor mode = floor((n + 1) * p), log_odds = log(odds);
  const auto log_mass = [&](const Tensor& k) {
    return k * log_odds - lgamma(k + 1) - lgamma(n - k + 1);
  };
  const Tensor most = log_mass(mode);
  const Tensor many = draw_many(mean, mean * (1 - p), mode, [&](const Tensor& k) {
    return where(k <= n, log_mass(k) - most, -INFINITY);
  });
  const Tensor count = minimum(where(mean < kSmallMean, few, many), n);
  return where(swapped, n - count, count).to(probs.dtype());
}

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
    return detail::draw_poisson(rate_.expand(extended(sample_shape)));
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
    return detail::draw_binomial(total_count_.expand(sizes), probs_.expand(sizes));
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
