// Distributions of one number whose draws are powers of uniform ones.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>

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
  Pareto expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Pareto::scale_, &Pareto::alpha_);
  }
  const Tensor& scale() const { return scale_; }
  const Tensor& alpha() const { return alpha_; }
  Tensor mean() const override {
    const Tensor a = clamp_min(alpha_, 1);
    return a * scale_ / (a - 1);
  }
  Tensor mode() const override { return scale_; }
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
  Tensor cdf(const Tensor& value) const {
    return -expm1(alpha_ * log(scale_ / where(value < scale_, scale_, value)));
  }
  Tensor icdf(const Tensor& p) const { return scale_ * exp(-log1p(-p) / alpha_); }

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
  Weibull expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Weibull::scale_, &Weibull::concentration_);
  }
  const Tensor& scale() const { return scale_; }
  const Tensor& concentration() const { return concentration_; }
  Tensor mean() const override { return scale_ * exp(lgamma(1 + reciprocal(concentration_))); }
  // As in PyTorch NaN below a concentration of 1, where the density is infinite at 0.
  Tensor mode() const override {
    return scale_ * pow((concentration_ - 1) / concentration_, reciprocal(concentration_));
  }
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
  Tensor cdf(const Tensor& value) const {
    return -expm1(-pow(clamp_min(value, 0) / scale_, concentration_));
  }
  Tensor icdf(const Tensor& p) const {
    return scale_ * pow(0 - log1p(-p), reciprocal(concentration_));
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
  Kumaraswamy expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Kumaraswamy::concentration1_,
                    &Kumaraswamy::concentration0_);
  }
  const Tensor& concentration1() const { return concentration1_; }
  const Tensor& concentration0() const { return concentration0_; }
  Tensor mean() const override { return moment(1); }
  // NaN where a concentration is below 1 or both are 1. PyTorch's is NaN everywhere, since it takes
  // log1p(-concentration0).
  Tensor mode() const override {
    const Tensor is_there = logical_and(concentration1_ >= 1, concentration0_ >= 1);
    const Tensor a = where(is_there, concentration1_, 2), b = where(is_there, concentration0_, 2);
    return where(is_there, pow((a - 1) / (a * b - 1), reciprocal(a)), NAN);
  }
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
  Tensor cdf(const Tensor& value) const {
    return -expm1(concentration0_ * log1p(-pow(clamp(value, 0, 1), concentration1_)));
  }
  Tensor icdf(const Tensor& p) const {
    return pow(0 - expm1(log1p(-p) / concentration0_), reciprocal(concentration1_));
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

// What is above a high threshold: x is above y with the probability
// (1 + concentration * (y - loc) / scale)^(-1 / concentration), from loc on, and up to
// loc - scale / concentration where the concentration is below 0. At 0 it is exponential. As in
// PyTorch the mean is NaN from a concentration of 1, and the variance from 1 / 2. Pickands,
// "Statistical Inference Using Extreme Order Statistics", 1975.
class GeneralizedPareto : public Distribution {
 public:
  GeneralizedPareto(Operand loc, Operand scale, Operand concentration) {
    auto [a, b, c] = detail::broadcast_all("GeneralizedPareto", {"loc", loc, detail::kReal},
                                           {"scale", scale, detail::kPositive},
                                           {"concentration", concentration, detail::kReal});
    loc_ = a, scale_ = b, concentration_ = c;
    set_shapes(loc_.sizes());
  }
  const char* name() const override { return "GeneralizedPareto"; }
  GeneralizedPareto expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &GeneralizedPareto::loc_, &GeneralizedPareto::scale_,
                    &GeneralizedPareto::concentration_);
  }
  const Tensor& loc() const { return loc_; }
  const Tensor& scale() const { return scale_; }
  const Tensor& concentration() const { return concentration_; }
  // Quotients are finite where they are not taken, and so are their gradients.
  Tensor mean() const override {
    const Tensor is_there = concentration_ < 1, c = where(is_there, concentration_, 0.5);
    return where(is_there, loc_ + scale_ / (1 - c), NAN);
  }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override {
    const Tensor is_there = concentration_ < 0.5, c = where(is_there, concentration_, 0.25);
    return where(is_there, square(scale_ / (1 - c)) / (1 - 2 * c), NAN);
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    const Tensor z = (value - loc_) / scale_, rest = 1 + concentration_ * z;
    detail::expect_all(owner().c_str(), "value", value, logical_and(z >= 0, rest >= 0),
                       "in the support, loc to loc - scale / concentration");
    const auto [exponential, c] = apart_from_zero();
    // At the end of the support a uniform distribution, of c = -1, has its density too.
    const Tensor power = xlog1py(1 + reciprocal(c), c * z);
    return -log(scale_) - where(exponential, z, power);
  }
  Tensor entropy() const override { return log(scale_) + concentration_ + 1; }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor waited =
        detail::draw_exponential(extended(sample_shape), loc_.dtype(), loc_.device());
    const auto [exponential, c] = apart_from_zero();
    return loc_ + scale_ * where(exponential, waited, expm1(c * waited) / c);
  }
  Tensor cdf(const Tensor& value) const {
    const auto [exponential, c] = apart_from_zero();
    const Tensor z = clamp_min((value - loc_) / scale_, 0);
    // Above the end of the support the product is -1 or less.
    return -expm1(-where(exponential, z, log1p(clamp_min(c * z, -1)) / c));
  }
  Tensor icdf(const Tensor& p) const {
    const auto [exponential, c] = apart_from_zero();
    const Tensor waited = 0 - log1p(-p);
    return loc_ + scale_ * where(exponential, waited, expm1(c * waited) / c);
  }

 private:
  // Where the concentration counts as 0, as in PyTorch; the concentration, with 1 there.
  std::pair<Tensor, Tensor> apart_from_zero() const {
    const Tensor zero = abs(concentration_) <= 1e-8;
    return {zero, where(zero, 1, concentration_)};
  }
  Tensor loc_, scale_, concentration_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
