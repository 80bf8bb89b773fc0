// Gamma, Chi2, Beta and Dirichlet, whose draws are made of those of gamma distributions of rate 1.
//
// Draws are by Marsaglia & Tsang, "A Simple Method for Generating Gamma Variables" (ACM TOMS 26,
// 2000), and are kept as logarithms, since of a small concentration most are too small for a float.
// Their gradient is implicit (Figurnov, Mohamed & Mnih, "Implicit Reparameterization Gradients",
// arXiv:1805.08498): a draw x moves so that F(x; concentration) stays. Those of Beta and Dirichlet
// come through the gammas that they are made of, as there; PyTorch takes another unbiased gradient
// for these, of the same mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "tenon/custom_function.hpp"
#include "tenon/distributions/distribution.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/norm.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

namespace detail {

// The logarithms of draws, one for each element. Each round of Marsaglia and Tsang's rejects less
// than 5% of the draws. There are always eight, so that nothing waits for the device and a compiled
// function replays it; of 3e10 draws about one is then still missing and is the concentration less
// a third.
inline Tensor draw_log_gamma(const Tensor& given) {
  const bool wide = given.dtype() == float64;
  const Tensor concentration = given.to(wide ? float64 : float32);
  const Tensor below_one = concentration < 1;
  const Tensor d = where(below_one, concentration + 1, concentration) - 1.0 / 3;
  const Tensor c = rsqrt(9 * d);
  Tensor log_v = zeros_like(concentration), missing = ones_like(concentration) > 0;
  for (int round = 0; round < 8; ++round) {
    const Tensor x = randn_like(concentration), u = rand_like(concentration);
    const Tensor root = 1 + c * x, v = root * root * root;
    const Tensor log_of = log(v);
    const Tensor taken =
        logical_and(root > 0, log1p(-u) < 0.5 * square(x) + d - d * v + d * log_of);
    log_v = where(logical_and(missing, taken), log_of, log_v);
    missing = logical_and(missing, logical_not(taken));
  }
  // Of concentrations below 1: a draw for one more, times u to the power 1 / concentration.
  const Tensor boost = log1p(-rand_like(concentration)) / concentration;
  return (log(d) + log_v + where(below_one, boost, 0)).to(given.dtype());
}

// d log(x) / d concentration of a draw x with its quantile held: -(dF/da)(x) / (x p(x)), as the
// integral
//   of exp(a s - x (e^s - 1)) (log x + s - digamma(a)) over s = log(t / x)
// over the tail that x is at the end of: minus that below x where x <= a, else that above. The
// trapezoid rule goes over y = exp(t - exp(-t)) in units of the tail's width (Takahasi & Mori,
// "Double Exponential Formulas for Numerical Integration", 1974). In float64 the error is below
// 1e-5 of the value for concentrations from 0.1, and below 3e-3 for those from 0.003.
inline Tensor log_gamma_slope(const Tensor& concentration, const Tensor& log_x) {
  const Tensor a = concentration.to(float64), l = log_x.to(float64), x = exp(l);
  const Tensor lower = x <= a, off = l - digamma(a);
  const Tensor narrow = where(lower, a / (1 + sqrt(a)), sqrt(x) + 0.3);
  // Signed: s goes down from 0 below x.
  const Tensor width = where(lower, -1, 1) / (abs(x - a) + narrow);
  constexpr int kNodes = 40;
  constexpr double kFirst = -3.6, kLast = 3.9, kStep = (kLast - kFirst) / (kNodes - 1);
  Tensor total = zeros_like(a);
  for (int i = 0; i < kNodes; ++i) {
    const double t = kFirst + kStep * i, y = std::exp(t - std::exp(-t));
    const double weight = y * (1 + std::exp(-t)) * kStep;
    const Tensor s = width * y;
    total = total + exp(a * s - x * expm1(s)) * (off + s) * weight;
  }
  return (total * width).to(log_x.dtype());
}

// A draw from 0 to 1 that is rounded to an end is the nearest number in between, as in PyTorch, since
// a density may be infinite at the ends. Its gradient is that of the draw.
inline Tensor inside_unit(const Tensor& drawn) {
  const Tensor value = drawn.detach();
  const Dtype dtype = value.dtype();
  return drawn + (clamp(value, tiny(dtype), 1 - 0.5 * epsilon(dtype)) - value);
}

struct LogStandardGamma : Function<LogStandardGamma> {
  static Tensor forward(Context& context, Tensor concentration) {
    Tensor drawn = draw_log_gamma(concentration);
    context.save({concentration, drawn});
    return drawn;
  }
  static Tensor backward(Context& context, Tensor g) {
    return g * log_gamma_slope(context.saved(0), context.saved(1));
  }
};

// Of rate 1. At least the smallest number of the dtype that has all its digits, as in PyTorch.
inline Tensor draw_standard_gamma(const Tensor& concentration, Ints sizes) {
  const Tensor drawn = LogStandardGamma::apply(concentration.expand(sizes).contiguous());
  return clamp_min(exp(drawn), tiny(concentration.dtype()));
}

}  // namespace detail

// The density rate^concentration * x^(concentration - 1) * exp(-rate * x) / gamma(concentration)
// for x from 0.
class Gamma : public Distribution {
 public:
  Gamma(Operand concentration, Operand rate) {
    auto [a, b] =
        detail::broadcast_all("Gamma", {"concentration", concentration, detail::kPositive},
                              {"rate", rate, detail::kPositive});
    concentration_ = a, rate_ = b;
    set_shapes(rate_.sizes());
  }
  const char* name() const override { return "Gamma"; }
  Gamma expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Gamma::concentration_, &Gamma::rate_);
  }
  const Tensor& concentration() const { return concentration_; }
  const Tensor& rate() const { return rate_; }
  Tensor mean() const override { return concentration_ / rate_; }
  Tensor mode() const override { return clamp_min((concentration_ - 1) / rate_, 0); }
  Tensor variance() const override { return concentration_ / square(rate_); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kNonnegative);
    return xlogy(concentration_, rate_) + xlogy(concentration_ - 1, value) - rate_ * value -
           lgamma(concentration_);
  }
  Tensor entropy() const override {
    return concentration_ - log(rate_) + lgamma(concentration_) +
           (1 - concentration_) * digamma(concentration_);
  }
  // At least the smallest number of the dtype that has all its digits, as in PyTorch.
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor drawn =
        detail::LogStandardGamma::apply(concentration_.expand(extended(sample_shape)).contiguous());
    return clamp_min(exp(drawn) / rate_, detail::tiny(rate_.dtype()));
  }
  // As in PyTorch it has a gradient of the value and of the rate alone.
  Tensor cdf(const Tensor& value) const {
    return igamma(concentration_.detach(), rate_ * clamp_min(value, 0));
  }

 protected:
  Gamma() = default;
  Tensor concentration_, rate_;
};

// The sum of the squares of df normal numbers: Gamma(df / 2, 1 / 2).
class Chi2 : public Gamma {
 public:
  explicit Chi2(Operand df) : df_(detail::as_parameter("Chi2", {"df", df, detail::kPositive})) {
    concentration_ = 0.5 * df_;
    rate_ = full(df_.sizes(), 0.5, df_.dtype(), df_.device());
    set_shapes(df_.sizes());
  }
  const char* name() const override { return "Chi2"; }
  Chi2 expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Chi2::df_, &Chi2::concentration_, &Chi2::rate_);
  }
  const Tensor& df() const { return df_; }

 private:
  Tensor df_;
};

// Of a number from 0 to 1: x^(concentration1 - 1) * (1 - x)^(concentration0 - 1), up to a factor.
class Beta : public Distribution {
 public:
  Beta(Operand concentration1, Operand concentration0) {
    auto [a, b] =
        detail::broadcast_all("Beta", {"concentration1", concentration1, detail::kPositive},
                              {"concentration0", concentration0, detail::kPositive});
    concentration1_ = a, concentration0_ = b;
    set_shapes(concentration1_.sizes());
  }
  const char* name() const override { return "Beta"; }
  Beta expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Beta::concentration1_, &Beta::concentration0_);
  }
  const Tensor& concentration1() const { return concentration1_; }
  const Tensor& concentration0() const { return concentration0_; }
  Tensor mean() const override { return concentration1_ / total(); }
  // That of Dirichlet([concentration1, concentration0]).
  Tensor mode() const override {
    const Tensor a = clamp_min(concentration1_ - 1, 0), b = clamp_min(concentration0_ - 1, 0);
    const Tensor ends = logical_and(concentration1_ < 1, concentration0_ < 1);
    return where(ends, 1, a / where(ends, 1, a + b));
  }
  Tensor variance() const override {
    return concentration1_ * concentration0_ / (square(total()) * (total() + 1));
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kUnitInterval);
    return xlogy(concentration1_ - 1, value) + xlogy(concentration0_ - 1, 1 - value) - log_factor();
  }
  Tensor entropy() const override {
    return log_factor() - (concentration1_ - 1) * digamma(concentration1_) -
           (concentration0_ - 1) * digamma(concentration0_) + (total() - 2) * digamma(total());
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const detail::Sizes sizes = extended(sample_shape);
    const auto draw = [&](const Tensor& concentration) {
      return detail::LogStandardGamma::apply(concentration.expand(sizes).contiguous());
    };
    return detail::inside_unit(sigmoid(draw(concentration1_) - draw(concentration0_)));
  }
  // The logarithm of the beta function of the concentrations.
  Tensor log_factor() const {
    return lgamma(concentration1_) + lgamma(concentration0_) - lgamma(total());
  }

 private:
  Tensor total() const { return concentration1_ + concentration0_; }
  Tensor concentration1_, concentration0_;
};

// Of the last dimension's numbers from 0 to 1 whose sum is 1: the product of x^(concentration - 1),
// up to a factor.
class Dirichlet : public Distribution {
 public:
  explicit Dirichlet(const Tensor& concentration)
      : concentration_(detail::expect_floats("Dirichlet", "concentration", concentration)) {
    if (concentration.dim() < 1) {
      fail("Dirichlet: concentration has no dimensions, expected at least 1");
    }
    detail::expect_all("Dirichlet", "concentration", concentration, detail::kPositive);
    const Ints sizes = concentration_.sizes();
    set_shapes({sizes.data(), sizes.size() - 1}, concentration_.size(-1));
  }
  const char* name() const override { return "Dirichlet"; }
  Dirichlet expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Dirichlet::concentration_);
  }
  const Tensor& concentration() const { return concentration_; }
  Tensor mean() const override { return concentration_ / total(true); }
  // NaN where all concentrations are at most 1 and one is 1. Where all are below 1 the density is
  // infinite at each corner; as in PyTorch the mode is then the first of them, [1, 0, ..].
  Tensor mode() const override {
    const Tensor above = clamp_min(concentration_ - 1, 0);
    const Tensor corners = all(concentration_ < 1, {-1}, /*keepdim=*/true);
    const Tensor place = arange(0, concentration_.size(-1), 1, above.dtype(), above.device());
    const Tensor inside = above / where(corners, 1, sum(above, {-1}, /*keepdim=*/true));
    return where(corners, (place == 0).to(above.dtype()), inside);
  }
  Tensor variance() const override {
    const Tensor all = total(true);
    return concentration_ * (all - concentration_) / (square(all) * (all + 1));
  }
  // The sum of a value has to be 1, up to 1e-6, or what a half dtype has.
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kNonnegative);
    detail::expect_sums_of_one(owner().c_str(), value);
    return sum(xlogy(concentration_ - 1, value), {-1}) - log_factor();
  }
  Tensor entropy() const override {
    const Tensor all = total(false);
    return log_factor() + (all - double(concentration_.size(-1))) * digamma(all) -
           sum((concentration_ - 1) * digamma(concentration_), {-1});
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    return detail::inside_unit(softmax(
        detail::LogStandardGamma::apply(concentration_.expand(extended(sample_shape)).contiguous()),
        -1));
  }
  Tensor log_factor() const { return sum(lgamma(concentration_), {-1}) - lgamma(total(false)); }

 private:
  Tensor total(bool keepdim) const { return sum(concentration_, {-1}, keepdim); }
  Tensor concentration_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
