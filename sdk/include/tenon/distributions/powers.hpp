// Distributions of one positive number whose draws are powers of uniform ones.
#pragma once

#include <cmath>
#include <numbers>

#include "tenon/distributions/location_scale.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// The density alpha * scale^alpha / x^(alpha + 1) for x from scale. The mean is infinite up to
// alpha = 1, and the variance up to 2.
class Pareto : public Distribution {
 public:
  Pareto(Operand scale, Operand alpha) {
    auto [a, b] = detail::broadcast_all("Pareto", {"scale", scale, detail::kPositive},
                                        {"alpha", alpha, detail::kPositive});
    scale_ = a, alpha_ = b;
    set_shapes(scale_.sizes());
  }
  const char* name() const override { return "Pareto"; }
  const Tensor& scale() const { return scale_; }
  const Tensor& alpha() const { return alpha_; }
  Tensor mean() const override {
    const Tensor a = clamp_min(alpha_, 1);
    return a * scale_ / (a - 1);
  }
  Tensor variance() const override {
    const Tensor a = clamp_min(alpha_, 2);
    return square(scale_) * a / (square(a - 1) * (a - 2));
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    detail::expect_all(owner().c_str(), "value", value, value >= scale_, "at least scale");
    return log(alpha_) + alpha_ * log(scale_) - (alpha_ + 1) * log(value);
  }
  Tensor entropy() const override { return log(scale_ / alpha_) + 1 + reciprocal(alpha_); }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor waited =
        detail::draw_exponential(extended(sample_shape), scale_.dtype(), scale_.device());
    return scale_ * exp(waited / alpha_);
  }

 private:
  Tensor scale_, alpha_;
};

// x is above y with the probability exp(-(y / scale)^concentration).
class Weibull : public Distribution {
 public:
  Weibull(Operand scale, Operand concentration) {
    auto [a, b] = detail::broadcast_all("Weibull", {"scale", scale, detail::kPositive},
                                        {"concentration", concentration, detail::kPositive});
    scale_ = a, concentration_ = b;
    set_shapes(scale_.sizes());
  }
  const char* name() const override { return "Weibull"; }
  const Tensor& scale() const { return scale_; }
  const Tensor& concentration() const { return concentration_; }
  Tensor mean() const override { return scale_ * exp(lgamma(1 + reciprocal(concentration_))); }
  Tensor variance() const override {
    const Tensor r = reciprocal(concentration_);
    return square(scale_) * (exp(lgamma(1 + 2 * r)) - exp(2 * lgamma(1 + r)));
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kPositive);
    const Tensor log_ratio = log(value / scale_);
    return log(concentration_ / scale_) + (concentration_ - 1) * log_ratio -
           exp(concentration_ * log_ratio);
  }
  Tensor entropy() const override {
    const Tensor r = reciprocal(concentration_);
    return std::numbers::egamma * (1 - r) + log(scale_ * r) + 1;
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor waited =
        detail::draw_exponential(extended(sample_shape), scale_.dtype(), scale_.device());
    return scale_ * exp(log(waited) / concentration_);
  }

 private:
  Tensor scale_, concentration_;
};

// Of a number from 0 to 1: x is above y with the probability
// (1 - y^concentration1)^concentration0. Kumaraswamy, "A generalized probability density function
// for double-bounded random processes", 1980.
class Kumaraswamy : public Distribution {
 public:
  Kumaraswamy(Operand concentration1, Operand concentration0) {
    auto [a, b] =
        detail::broadcast_all("Kumaraswamy", {"concentration1", concentration1, detail::kPositive},
                              {"concentration0", concentration0, detail::kPositive});
    concentration1_ = a, concentration0_ = b;
    set_shapes(concentration1_.sizes());
  }
  const char* name() const override { return "Kumaraswamy"; }
  const Tensor& concentration1() const { return concentration1_; }
  const Tensor& concentration0() const { return concentration0_; }
  Tensor mean() const override { return moment(1); }
  Tensor variance() const override { return moment(2) - square(moment(1)); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kUnitInterval);
    return log(concentration1_) + log(concentration0_) + xlogy(concentration1_ - 1, value) +
           xlog1py(concentration0_ - 1, -pow(value, concentration1_));
  }
  Tensor entropy() const override {
    const Tensor mean_log_rest = digamma(concentration0_ + 1) + std::numbers::egamma;
    return 1 - reciprocal(concentration0_) + (1 - reciprocal(concentration1_)) * mean_log_rest -
           log(concentration1_) - log(concentration0_);
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor waited = detail::draw_exponential(extended(sample_shape), concentration1_.dtype(),
                                                   concentration1_.device());
    const Tensor power = -expm1(-waited / concentration0_);  // x^concentration1
    return detail::inside_unit(exp(log(power) / concentration1_));
  }

 private:
  // The mean of x^n.
  Tensor moment(double n) const {
    const Tensor more = 1 + n / concentration1_;
    return exp(log(concentration0_) + lgamma(more) + lgamma(concentration0_) -
               lgamma(more + concentration0_));
  }
  Tensor concentration1_, concentration0_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
