// Distributions of one positive number that is a quotient of gammas: InverseGamma and
// FisherSnedecor.
#pragma once

#include <cmath>

#include "tenon/distributions/gamma.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// 1 / x of an x of Gamma(concentration, rate). The mean is infinite up to a concentration of 1, and
// the variance up to 2.
class InverseGamma : public Distribution {
 public:
  InverseGamma(Operand concentration, Operand rate) {
    auto [a, b] =
        detail::broadcast_all("InverseGamma", {"concentration", concentration, detail::kPositive},
                              {"rate", rate, detail::kPositive});
    concentration_ = a, rate_ = b;
    set_shapes(rate_.sizes());
  }
  const char* name() const override { return "InverseGamma"; }
  InverseGamma expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &InverseGamma::concentration_, &InverseGamma::rate_);
  }
  const Tensor& concentration() const { return concentration_; }
  const Tensor& rate() const { return rate_; }
  // Quotients are finite where they are not taken, and so are their gradients.
  Tensor mean() const override {
    const Tensor finite = concentration_ > 1;
    return where(finite, rate_ / where(finite, concentration_ - 1, 1), INFINITY);
  }
  Tensor mode() const override { return rate_ / (concentration_ + 1); }
  Tensor variance() const override {
    const Tensor finite = concentration_ > 2, a = where(finite, concentration_, 3);
    return where(finite, square(rate_ / (a - 1)) / (a - 2), INFINITY);
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kPositive);
    return concentration_ * log(rate_) - lgamma(concentration_) -
           (concentration_ + 1) * log(value) - rate_ / value;
  }
  Tensor entropy() const override {
    return concentration_ + log(rate_) + lgamma(concentration_) -
           (1 + concentration_) * digamma(concentration_);
  }
  // Of an x that is at least the smallest number of the dtype with all its digits, as in PyTorch.
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor drawn =
        detail::LogStandardGamma::apply(concentration_.expand(extended(sample_shape)).contiguous());
    return reciprocal(clamp_min(exp(drawn) / rate_, detail::tiny(rate_.dtype())));
  }
  // As that of Gamma it has no gradient of the concentration.
  Tensor cdf(const Tensor& value) const {
    return igammac(concentration_.detach(), rate_ / clamp_min(value, 0));
  }

 private:
  Tensor concentration_, rate_;
};

// Fisher's and Snedecor's F: the quotient of a Chi2(df1) / df1 and a Chi2(df2) / df2. As in PyTorch
// the mean is NaN up to df2 = 2, and the variance up to 4.
class FisherSnedecor : public Distribution {
 public:
  FisherSnedecor(Operand df1, Operand df2) {
    auto [a, b] = detail::broadcast_all("FisherSnedecor", {"df1", df1, detail::kPositive},
                                        {"df2", df2, detail::kPositive});
    df1_ = a, df2_ = b;
    set_shapes(df1_.sizes());
  }
  const char* name() const override { return "FisherSnedecor"; }
  FisherSnedecor expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &FisherSnedecor::df1_, &FisherSnedecor::df2_);
  }
  const Tensor& df1() const { return df1_; }
  const Tensor& df2() const { return df2_; }
  Tensor mean() const override {
    const Tensor is_there = df2_ > 2, b = where(is_there, df2_, 3);
    return where(is_there, b / (b - 2), NAN);
  }
  Tensor mode() const override {
    return where(df1_ > 2, (df1_ - 2) / df1_ * df2_ / (df2_ + 2), NAN);
  }
  Tensor variance() const override {
    const Tensor is_there = df2_ > 4, b = where(is_there, df2_, 5);
    return where(is_there, 2 * square(b / (b - 2)) * (df1_ + b - 2) / (df1_ * (b - 4)), NAN);
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kPositive);
    const Tensor a = 0.5 * df1_, b = 0.5 * df2_, ratio = df1_ / df2_;
    return a * log(ratio) + (a - 1) * log(value) - (a + b) * log1p(ratio * value) - log_factor();
  }
  // By the means of log(r) and log(1 + r) of the quotient r of the gammas; PyTorch has none.
  Tensor entropy() const override {
    const Tensor a = 0.5 * df1_, b = 0.5 * df2_;
    return log(df2_ / df1_) + log_factor() + (1 - a) * digamma(a) - (1 + b) * digamma(b) +
           (a + b) * digamma(a + b);
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const detail::Sizes sizes = extended(sample_shape);
    const auto draw = [&](const Tensor& df) {
      return detail::LogStandardGamma::apply((0.5 * df).expand(sizes).contiguous());
    };
    // The quotient of the gammas is a number of the dtype with all its digits.
    const double most = -std::log(detail::tiny(df1_.dtype()));
    const Tensor quotient = exp(clamp(draw(df1_) - draw(df2_), -most, most));
    return clamp_min(quotient * (df2_ / df1_), detail::tiny(df1_.dtype()));
  }

 private:
  // The logarithm of the beta function of df1 / 2 and df2 / 2.
  Tensor log_factor() const {
    const Tensor a = 0.5 * df1_, b = 0.5 * df2_;
    return lgamma(a) + lgamma(b) - lgamma(a + b);
  }
  Tensor df1_, df2_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
