// Distributions of one number that loc moves and scale widens: Laplace, Cauchy, Gumbel, StudentT, and
// the halves of Normal and Cauchy above 0.
#pragma once

#include <cmath>
#include <numbers>

#include "tenon/distributions/continuous.hpp"
#include "tenon/distributions/gamma.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// Draws of Exponential(1) of which none is 0: where rand gives 0, its next number takes the place.
inline Tensor draw_exponential(Ints sizes, Dtype dtype, Device device) {
  return clamp_min(-log1p(-rand(sizes, dtype, device)), 0.5 * epsilon(dtype));
}
inline Tensor draw_cauchy(Ints sizes, Dtype dtype, Device device) {
  return tan(std::numbers::pi * (rand(sizes, dtype, device) - 0.5));
}

}  // namespace detail

// Exponential on both sides of loc: the density exp(-|x - loc| / scale) / (2 scale).
class Laplace : public Distribution {
 public:
  Laplace(Operand loc, Operand scale) {
    auto [a, b] = detail::broadcast_all("Laplace", {"loc", loc, detail::kReal},
                                        {"scale", scale, detail::kPositive});
    loc_ = a, scale_ = b;
    set_shapes(loc_.sizes());
  }
  const char* name() const override { return "Laplace"; }
  Laplace expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Laplace::loc_, &Laplace::scale_);
  }
  const Tensor& loc() const { return loc_; }
  const Tensor& scale() const { return scale_; }
  Tensor mean() const override { return loc_; }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override { return 2 * square(scale_); }
  Tensor stddev() const override { return std::numbers::sqrt2 * scale_; }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    return -log(2 * scale_) - abs(value - loc_) / scale_;
  }
  Tensor entropy() const override { return 1 + log(2 * scale_); }
  Tensor rsample(Ints sample_shape = {}) const override {
    // From -1, which is left out, to 1.
    const Tensor u = clamp_min(2 * rand(extended(sample_shape), loc_.dtype(), loc_.device()) - 1,
                               detail::epsilon(loc_.dtype()) - 1);
    return loc_ - scale_ * (sign(u) * log1p(-abs(u)));
  }
  Tensor cdf(const Tensor& value) const {
    const Tensor off = value - loc_;
    return 0.5 - 0.5 * sign(off) * expm1(-abs(off) / scale_);
  }
  Tensor icdf(const Tensor& p) const {
    const Tensor u = 2 * p - 1;
    return loc_ - scale_ * sign(u) * log1p(-abs(u));
  }

 private:
  Tensor loc_, scale_;
};

// The density 1 / (pi scale (1 + ((x - loc) / scale)^2)). It has no mean, which is NaN, and an
// infinite variance, as in PyTorch.
class Cauchy : public Distribution {
 public:
  Cauchy(Operand loc, Operand scale) {
    auto [a, b] = detail::broadcast_all("Cauchy", {"loc", loc, detail::kReal},
                                        {"scale", scale, detail::kPositive});
    loc_ = a, scale_ = b;
    set_shapes(loc_.sizes());
  }
  const char* name() const override { return "Cauchy"; }
  Cauchy expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Cauchy::loc_, &Cauchy::scale_);
  }
  const Tensor& loc() const { return loc_; }
  const Tensor& scale() const { return scale_; }
  Tensor mean() const override { return full(batch_shape(), NAN, loc_.dtype(), loc_.device()); }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override {
    return full(batch_shape(), INFINITY, loc_.dtype(), loc_.device());
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    return -std::log(std::numbers::pi) - log(scale_) - log1p(square((value - loc_) / scale_));
  }
  Tensor entropy() const override { return log(scale_) + std::log(4 * std::numbers::pi); }
  Tensor rsample(Ints sample_shape = {}) const override {
    return loc_ + detail::draw_cauchy(extended(sample_shape), loc_.dtype(), loc_.device()) * scale_;
  }
  Tensor cdf(const Tensor& value) const {
    return 0.5 + atan((value - loc_) / scale_) / std::numbers::pi;
  }
  Tensor icdf(const Tensor& p) const { return loc_ + scale_ * tan(std::numbers::pi * (p - 0.5)); }

 private:
  Tensor loc_, scale_;
};

// What the largest of many numbers comes to: x is below y with the probability
// exp(-exp(-(y - loc) / scale)).
class Gumbel : public Distribution {
 public:
  Gumbel(Operand loc, Operand scale) {
    auto [a, b] = detail::broadcast_all("Gumbel", {"loc", loc, detail::kReal},
                                        {"scale", scale, detail::kPositive});
    loc_ = a, scale_ = b;
    set_shapes(loc_.sizes());
  }
  const char* name() const override { return "Gumbel"; }
  Gumbel expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Gumbel::loc_, &Gumbel::scale_);
  }
  const Tensor& loc() const { return loc_; }
  const Tensor& scale() const { return scale_; }
  Tensor mean() const override { return loc_ + std::numbers::egamma * scale_; }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override { return square(stddev()); }
  Tensor stddev() const override { return std::numbers::pi / std::sqrt(6.0) * scale_; }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    const Tensor y = (loc_ - value) / scale_;
    return y - exp(y) - log(scale_);
  }
  Tensor entropy() const override { return log(scale_) + (1 + std::numbers::egamma); }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor waited =
        detail::draw_exponential(extended(sample_shape), loc_.dtype(), loc_.device());
    return loc_ - scale_ * log(waited);
  }
  Tensor cdf(const Tensor& value) const { return exp(-exp((loc_ - value) / scale_)); }
  // At 1 the inner difference is 0, where -log(p) would be -0, whose logarithm falls.
  Tensor icdf(const Tensor& p) const { return loc_ - scale_ * log(0 - log(p)); }

 private:
  Tensor loc_, scale_;
};

// |x| of a normal x around 0 of the standard deviation scale.
class HalfNormal : public Distribution {
 public:
  explicit HalfNormal(Operand scale)
      : scale_(detail::as_parameter("HalfNormal", {"scale", scale, detail::kPositive})) {
    set_shapes(scale_.sizes());
  }
  const char* name() const override { return "HalfNormal"; }
  HalfNormal expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &HalfNormal::scale_);
  }
  const Tensor& scale() const { return scale_; }
  Tensor mean() const override { return std::sqrt(2 / std::numbers::pi) * scale_; }
  Tensor mode() const override { return zeros_like(scale_.detach()); }
  Tensor variance() const override { return (1 - 2 / std::numbers::pi) * square(scale_); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kNonnegative);
    const Tensor inside =
        -0.5 * square(value / scale_) - log(scale_) + (std::numbers::ln2 - detail::kLogSqrtTwoPi);
    return where(value >= 0, inside, -INFINITY);
  }
  Tensor entropy() const override {
    return log(scale_) + (0.5 + detail::kLogSqrtTwoPi - std::numbers::ln2);
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    return abs(randn(extended(sample_shape), scale_.dtype(), scale_.device())) * scale_;
  }
  Tensor cdf(const Tensor& value) const {
    return erf(clamp_min(value, 0) / (std::numbers::sqrt2 * scale_));
  }
  Tensor icdf(const Tensor& p) const { return std::numbers::sqrt2 * scale_ * erfinv(p); }

 private:
  Tensor scale_;
};

// |x| of a Cauchy x around 0. Its mean and its variance are infinite.
class HalfCauchy : public Distribution {
 public:
  explicit HalfCauchy(Operand scale)
      : scale_(detail::as_parameter("HalfCauchy", {"scale", scale, detail::kPositive})) {
    set_shapes(scale_.sizes());
  }
  const char* name() const override { return "HalfCauchy"; }
  HalfCauchy expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &HalfCauchy::scale_);
  }
  const Tensor& scale() const { return scale_; }
  Tensor mean() const override {
    return full(batch_shape(), INFINITY, scale_.dtype(), scale_.device());
  }
  Tensor mode() const override { return zeros_like(scale_.detach()); }
  Tensor variance() const override { return mean(); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kNonnegative);
    const Tensor inside =
        std::log(2 / std::numbers::pi) - log(scale_) - log1p(square(value / scale_));
    return where(value >= 0, inside, -INFINITY);
  }
  Tensor entropy() const override { return log(scale_) + std::log(2 * std::numbers::pi); }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor drawn =
        detail::draw_cauchy(extended(sample_shape), scale_.dtype(), scale_.device());
    return abs(drawn) * scale_;
  }
  Tensor cdf(const Tensor& value) const {
    return 2 / std::numbers::pi * atan(clamp_min(value, 0) / scale_);
  }
  Tensor icdf(const Tensor& p) const { return scale_ * tan(0.5 * std::numbers::pi * p); }

 private:
  Tensor scale_;
};

// Student's: a normal number over the root of a Chi2(df) / df. There is no mean up to df = 1, and
// it is NaN; the variance is NaN there too, and infinite up to df = 2.
class StudentT : public Distribution {
 public:
  explicit StudentT(Operand df, Operand loc = 0.0, Operand scale = 1.0) {
    auto [a, b, c] =
        detail::broadcast_all("StudentT", {"df", df, detail::kPositive},
                              {"loc", loc, detail::kReal}, {"scale", scale, detail::kPositive});
    df_ = a, loc_ = b, scale_ = c;
    set_shapes(df_.sizes());
  }
  const char* name() const override { return "StudentT"; }
  StudentT expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &StudentT::df_, &StudentT::loc_, &StudentT::scale_);
  }
  const Tensor& df() const { return df_; }
  const Tensor& loc() const { return loc_; }
  const Tensor& scale() const { return scale_; }
  Tensor mean() const override { return where(df_ > 1, loc_, NAN); }
  Tensor mode() const override { return loc_; }
  Tensor variance() const override {
    const Tensor above = df_ > 2;
    // The quotient is finite where it is not taken, and so is its gradient.
    const Tensor finite = square(scale_) * df_ / where(above, df_ - 2, 1);
    return where(above, finite, where(df_ > 1, INFINITY, full_like(df_, NAN)));
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    const Tensor y = (value - loc_) / scale_;
    return -0.5 * (df_ + 1) * log1p(square(y) / df_) - log(scale_) - 0.5 * log(df_) - log_factor();
  }
  Tensor entropy() const override {
    const Tensor half = 0.5 * df_, more = half + 0.5;
    return log(scale_) + more * (digamma(more) - digamma(half)) + 0.5 * log(df_) + log_factor();
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const detail::Sizes sizes = extended(sample_shape);
    const Tensor chi2 = 2 * detail::draw_standard_gamma(0.5 * df_, sizes);
    return loc_ + scale_ * (randn(sizes, loc_.dtype(), loc_.device()) * rsqrt(chi2 / df_));
  }

 private:
  // The logarithm of the beta function of df / 2 and 1 / 2.
  Tensor log_factor() const {
    return lgamma(0.5 * df_) - lgamma(0.5 * (df_ + 1)) + 0.5 * std::log(std::numbers::pi);
  }
  Tensor df_, loc_, scale_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
