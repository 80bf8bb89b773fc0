// Distributions of how many: events in a time, of a number of trials, trials before the first or
// before the n-th, and how often each of several classes comes.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "tenon/distributions/discrete.hpp"
#include "tenon/distributions/gamma.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// The value and a parameter in the dtype that both promote to, so that neither is rounded.
inline std::pair<Tensor, Tensor> promoted(const Tensor& value, const Tensor& parameter) {
  const Dtype dtype = promote(value.dtype(), parameter.dtype());
  return {value.to(dtype), parameter.to(dtype)};
}

// k log(1 - probs), which is 0 where k is: without the infinite slope of log(0) there.
inline Tensor failures_log_prob(const Tensor& k, const Tensor& probs) {
  return xlog1py(k, -where(logical_and(k == 0, probs == 1), 0, probs));
}

// A tensor of a count as one of floats, of the dtype of the other parameter.
inline Tensor count_of(const Operand& total_count, const Operand& other) {
  const Tensor count = total_count.tensor();
  if (!count.defined() || count.dtype().is_float()) return count;
  return count.to(other.is_tensor() ? other.tensor().dtype() : float32);
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
  Poisson expand(Ints batch_shape) const { return expanded(*this, batch_shape, &Poisson::rate_); }
  const Tensor& rate() const { return rate_; }
  Tensor mean() const override { return rate_; }
  Tensor mode() const override { return floor(rate_); }
  Tensor variance() const override { return rate_; }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kWhole);
    const auto [k, rate] = detail::promoted(value, rate_);
    return xlogy(k, rate) - rate - lgamma(k + 1);
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
    const Tensor count = detail::count_of(total_count, probs);
    auto [a, b] = detail::broadcast_all(
        "Binomial", {"total_count", count.defined() ? Operand(count) : total_count, detail::kWhole},
        {"probs", probs, detail::kUnitInterval});
    total_count_ = a, probs_ = b;
    set_shapes(probs_.sizes());
    logits_ = detail::logits_of(probs_);
  }
  Binomial(Operand total_count, const ProbsOptions& options)
      : Binomial(total_count, Operand(options.probs)) {}
  Binomial(Operand total_count, const LogitsOptions& options) {
    const Tensor count = detail::count_of(total_count, options.logits);
    auto [a, b] = detail::broadcast_all(
        "Binomial", {"total_count", count.defined() ? Operand(count) : total_count, detail::kWhole},
        {"logits", options.logits, detail::kReal});
    total_count_ = a, logits_ = b;
    probs_ = sigmoid(logits_);
    set_shapes(logits_.sizes());
  }
  const char* name() const override { return "Binomial"; }
  Binomial expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Binomial::total_count_, &Binomial::probs_,
                    &Binomial::logits_);
  }
  const Tensor& total_count() const { return total_count_; }
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  Tensor mean() const override { return total_count_ * probs_; }
  Tensor mode() const override {
    return clamp_max(floor((total_count_ + 1) * probs_), total_count_);
  }
  Tensor variance() const override { return mean() * (1 - probs_); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kWhole);
    detail::expect_all(owner().c_str(), "value", value, value <= total_count_,
                       "at most total_count");
    return log_mass(detail::promoted(value, logits_).first);
  }
  // The sum over all counts, of which there have to be as many in each of the batch; it waits for
  // the device to say how many.
  Tensor entropy() const override {
    if (total_count_.numel() == 0) return zeros(batch_shape(), probs_.dtype(), probs_.device());
    const Tensor each = log_mass(beside_batch(counts("entropy"), false));
    return -sum(exp(each) * each, {0});
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    const detail::Sizes sizes = extended(sample_shape);
    return binomial(total_count_.expand(sizes), probs_.expand(sizes));
  }
  // The counts have to be as many in each of the batch, as for entropy.
  Tensor enumerate_support(bool expand = true) const override {
    return beside_batch(counts("enumerate_support"), expand);
  }
  bool has_rsample() const override { return false; }

 private:
  friend class Multinomial;
  // 0 to the total_count that all of the batch have, for `function`.
  Tensor counts(const char* function) const {
    const Tensor all = total_count_.detach();
    const double most = amax(all).item<double>(), least = amin(all).item<double>();
    if (most != least) {
      fail(detail::joined({"Binomial: ", function, ": total_count is ", detail::number_text(least),
                           " to ", detail::number_text(most), ", expected one number"}));
    }
    return arange(0, most + 1, 1, probs_.dtype(), probs_.device());
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
    logits_ = detail::logits_of(probs_);
  }
  explicit Geometric(const ProbsOptions& options) : Geometric(Operand(options.probs)) {}
  explicit Geometric(const LogitsOptions& options) {
    logits_ = detail::as_parameter("Geometric", {"logits", options.logits, detail::kReal});
    probs_ = sigmoid(logits_);
    set_shapes(logits_.sizes());
  }
  const char* name() const override { return "Geometric"; }
  Geometric expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Geometric::probs_, &Geometric::logits_);
  }
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  Tensor mean() const override { return reciprocal(probs_) - 1; }
  Tensor mode() const override { return zeros_like(probs_.detach()); }
  Tensor variance() const override { return (reciprocal(probs_) - 1) / probs_; }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kWhole);
    const auto [k, probs] = detail::promoted(value, probs_);
    return detail::failures_log_prob(k, probs) + log(probs);
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

// How many trials are an event, each with the probability probs, before total_count of them are
// none: NegativeBinomial(5, probs), or NegativeBinomial(5, {.logits = logits}), where probs is
// sigmoid(logits). total_count may be any number from 0: k then has the probability gamma(n + k) /
// (gamma(n) k!) * (1 - probs)^n * probs^k. Draws have the dtype of the parameters. As in PyTorch it
// has no entropy.
class NegativeBinomial : public Distribution {
 public:
  NegativeBinomial(Operand total_count, Operand probs) {
    const Tensor count = detail::count_of(total_count, probs);
    auto [a, b] = detail::broadcast_all(
        "NegativeBinomial",
        {"total_count", count.defined() ? Operand(count) : total_count, detail::kNonnegative},
        {"probs", probs, detail::kFromZeroBelowOne});
    total_count_ = a, probs_ = b;
    set_shapes(probs_.sizes());
    logits_ = detail::logits_of(probs_);
  }
  NegativeBinomial(Operand total_count, const ProbsOptions& options)
      : NegativeBinomial(total_count, Operand(options.probs)) {}
  NegativeBinomial(Operand total_count, const LogitsOptions& options) {
    const Tensor count = detail::count_of(total_count, options.logits);
    auto [a, b] = detail::broadcast_all(
        "NegativeBinomial",
        {"total_count", count.defined() ? Operand(count) : total_count, detail::kNonnegative},
        {"logits", options.logits, detail::kReal});
    total_count_ = a, logits_ = b;
    probs_ = sigmoid(logits_);
    set_shapes(logits_.sizes());
  }
  const char* name() const override { return "NegativeBinomial"; }
  NegativeBinomial expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &NegativeBinomial::total_count_, &NegativeBinomial::probs_,
                    &NegativeBinomial::logits_);
  }
  const Tensor& total_count() const { return total_count_; }
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  Tensor mean() const override { return total_count_ * exp(logits_); }
  Tensor mode() const override { return clamp_min(floor((total_count_ - 1) * exp(logits_)), 0); }
  Tensor variance() const override { return mean() / sigmoid(-logits_); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kWhole);
    const Tensor k = detail::promoted(value, logits_).first;
    // Of no trials that are none, no event is certain: its logarithms of gamma(0) are left out.
    const Tensor certain = total_count_ + k == 0, n = where(certain, 1, total_count_);
    return total_count_ * log_sigmoid(-logits_) + k * log_sigmoid(logits_) + lgamma(n + k) -
           lgamma(n) - lgamma(k + 1);
  }
  Tensor entropy() const override {
    fail("NegativeBinomial: entropy has no closed form; average -log_prob of samples");
  }
  // Those of Poisson of rates that are draws of Gamma(total_count, exp(-logits)).
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    const detail::Sizes sizes = extended(sample_shape);
    const Dtype dtype = logits_.dtype() == float64 ? float64 : float32;  // rates may be no half
    const Tensor n = total_count_.to(dtype).expand(sizes).contiguous(), none = n == 0;
    const Tensor rate = exp(detail::draw_log_gamma(where(none, 1, n)) + logits_.to(dtype));
    return poisson(where(none, 0, rate)).to(logits_.dtype());
  }
  bool has_rsample() const override { return false; }

 private:
  Tensor total_count_, probs_, logits_;
};

// How often each class comes in total_count draws of Categorical: Multinomial(10, probs), or
// Multinomial(10, {.logits = logits}), by the last dimension of probs or logits. Draws have the
// dtype of the parameter. As in PyTorch log_prob also takes values of fewer draws, and sample makes
// all draws of classes: it takes memory for total_count of them.
class Multinomial : public Distribution {
 public:
  Multinomial(Int total_count, const Tensor& probs)
      : classes_("Multinomial", probs), total_count_(total_count) {
    expect_count();
  }
  Multinomial(Int total_count, const ProbsOptions& options)
      : Multinomial(total_count, detail::tensor_of(options.probs)) {}
  Multinomial(Int total_count, const LogitsOptions& options)
      : classes_("Multinomial", options), total_count_(total_count) {
    expect_count();
  }
  const char* name() const override { return "Multinomial"; }
  Multinomial expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Multinomial::classes_);
  }
  int64_t total_count() const { return total_count_; }
  // Of each class: their sum is 1, and the logarithms of these.
  const Tensor& probs() const { return classes_.probs(); }
  const Tensor& logits() const { return classes_.logits(); }
  Tensor mean() const override { return double(total_count_) * probs(); }
  Tensor variance() const override { return mean() * (1 - probs()); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kWhole);
    const auto [k, log_probs] = detail::promoted(value, logits());
    const Tensor total = sum(k, {-1});
    detail::expect_all(owner().c_str(), "the sum of value", total, total <= double(total_count_),
                       "at most " + std::to_string(total_count_));
    // A class that can not come counts for nothing where it does not come.
    const Tensor nothing = logical_and(k == 0, log_probs == -INFINITY);
    const Tensor powers = k * where(nothing, 0, log_probs);
    return lgamma(total + 1) + sum(powers - lgamma(k + 1), {-1});
  }
  // n times that of a draw, less log(n!), and the means of log(k!) of each class.
  Tensor entropy() const override {
    const double n = double(total_count_);
    detail::Sizes sizes(probs().sizes().size() + 1, 1);
    sizes[0] = total_count_ + 1;
    const Tensor k =
        arange(0, total_count_ + 1, 1, probs().dtype(), probs().device()).reshape(sizes);
    const Tensor means = exp(Binomial(n, probs()).log_mass(k)) * lgamma(k + 1);
    return n * classes_.entropy() - std::lgamma(n + 1) + sum(means, {0, -1});
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    const Tensor counts = zeros(extended(sample_shape), probs().dtype(), probs().device());
    if (total_count_ == 0) return counts;
    const Tensor drawn =
        classes_.sample(detail::concatenated(total_count_, sample_shape)).movedim(0, -1);
    return scatter_add(counts, -1, drawn, ones_like(drawn, counts.dtype()));
  }
  bool has_rsample() const override { return false; }

 private:
  void expect_count() {
    if (total_count_ < 0) {
      fail(detail::joined(
          {"Multinomial: total_count is ", std::to_string(total_count_), ", expected at least 0"}));
    }
    set_shapes(classes_.batch_shape(), probs().size(-1));
  }
  Categorical classes_;
  int64_t total_count_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
