// Distributions of one number whose draws are a function of uniform or normal ones.
#pragma once

#include <cmath>
#include <numbers>

#include "tenon/distributions/distribution.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {
inline const double kLogSqrtTwoPi = 0.5 * std::log(2 * std::numbers::pi);
}

// The bell around loc of the standard deviation scale.
class Normal : public Distribution {
 public:
  Normal(Operand loc, Operand scale) : Normal("Normal", loc, scale) {}
  const char* name() const override { return "Normal"; }
  Normal expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Normal::loc_, &Normal::scale_);
  }
  const Tensor& loc() const { return loc_; }
  const Tensor& scale() const { return scale_; }
  Tensor mean() const override { return loc_; }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override { return square(scale_); }
  Tensor stddev() const override { return scale_; }  // whose square may not be a float
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    return -0.5 * square((value - loc_) / scale_) - log(scale_) - detail::kLogSqrtTwoPi;
  }
  Tensor entropy() const override { return log(scale_) + (0.5 + detail::kLogSqrtTwoPi); }
  Tensor rsample(Ints sample_shape = {}) const override {
    return loc_ + randn(extended(sample_shape), loc_.dtype(), loc_.device()) * scale_;
  }
  // How likely a draw is at most `value`, and the value of which that is `p`.
  Tensor cdf(const Tensor& value) const { return ndtr((value - loc_) / scale_); }
  Tensor icdf(const Tensor& p) const { return loc_ + scale_ * ndtri(p); }

 private:
  friend class LogNormal;
  friend class LogisticNormal;
  Normal(const char* owner, Operand loc, Operand scale) {
    auto [a, b] = detail::broadcast_all(owner, {"loc", loc, detail::kReal},
                                        {"scale", scale, detail::kPositive});
    loc_ = a, scale_ = b;
    set_shapes(loc_.sizes());
  }
  Tensor loc_, scale_;
};

// Even from low to high. As in PyTorch log_prob takes values from low to high, both included, and
// has no density at high.
class Uniform : public Distribution {
 public:
  Uniform(Operand low, Operand high) {
    auto [a, b] = detail::broadcast_all("Uniform", {"low", low, detail::kReal},
                                        {"high", high, detail::kReal});
    low_ = a, high_ = b;
    if (low.is_tensor() || high.is_tensor()) {
      detail::expect_all("Uniform", "low", low_, low_ < high_, "less than high");
    } else if (detail::validate_args && !(detail::number_of(low) < detail::number_of(high))) {
      fail(detail::joined({"Uniform: low is ", detail::number_text(detail::number_of(low)),
                           ", expected less than high, which is ",
                           detail::number_text(detail::number_of(high))}));
    }
    set_shapes(low_.sizes());
  }
  const char* name() const override { return "Uniform"; }
  Uniform expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Uniform::low_, &Uniform::high_);
  }
  const Tensor& low() const { return low_; }
  const Tensor& high() const { return high_; }
  Tensor mean() const override { return (low_ + high_) * 0.5; }
  // All values are equally likely: NaN, as in PyTorch.
  Tensor mode() const override { return NAN * high_; }
  Tensor variance() const override { return square(high_ - low_) / 12; }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    detail::expect_all(owner().c_str(), "value", value, logical_and(value >= low_, value <= high_),
                       "low to high");
    // As in PyTorch the gradient of low and high is the same for all values.
    const Tensor inside = logical_and(value >= low_, value < high_);
    return where(inside, zeros_like(low_.detach()), -INFINITY) - log(high_ - low_);
  }
  Tensor entropy() const override { return log(high_ - low_); }
  Tensor rsample(Ints sample_shape = {}) const override {
    return low_ + rand(extended(sample_shape), low_.dtype(), low_.device()) * (high_ - low_);
  }
  Tensor cdf(const Tensor& value) const { return clamp((value - low_) / (high_ - low_), 0, 1); }
  Tensor icdf(const Tensor& p) const { return low_ + p * (high_ - low_); }

 private:
  Tensor low_, high_;
};

// The density rate * exp(-rate * x) for x from 0.
class Exponential : public Distribution {
 public:
  explicit Exponential(Operand rate)
      : rate_(detail::as_parameter("Exponential", {"rate", rate, detail::kPositive})) {
    set_shapes(rate_.sizes());
  }
  const char* name() const override { return "Exponential"; }
  Exponential expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Exponential::rate_);
  }
  const Tensor& rate() const { return rate_; }
  Tensor mean() const override { return reciprocal(rate_); }
  Tensor mode() const override { return zeros_like(rate_.detach()); }
  Tensor variance() const override { return reciprocal(square(rate_)); }
  Tensor stddev() const override { return reciprocal(rate_); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kNonnegative);
    return log(rate_) - rate_ * value;
  }
  Tensor entropy() const override { return 1 - log(rate_); }
  Tensor rsample(Ints sample_shape = {}) const override {
    // rand may be 0 and is never 1.
    return -log1p(-rand(extended(sample_shape), rate_.dtype(), rate_.device())) / rate_;
  }
  // At 0 the slope is the rate, where that of clamp_min would be 0.
  Tensor cdf(const Tensor& value) const { return -expm1(-rate_ * where(value < 0, 0, value)); }
  Tensor icdf(const Tensor& p) const { return -log1p(-p) / rate_; }

 private:
  Tensor rate_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
