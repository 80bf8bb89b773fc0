// Distributions of whole numbers: an event or none, one of several classes.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "tenon/distributions/distribution.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/ops/loss.hpp"
#include "tenon/ops/norm.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// Logarithms in the place of probabilities, as a tensor or a number: of the odds, or of classes up to a
// constant.
struct LogitsOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  KeptOperand logits = none;
};

// Probabilities by their name: Categorical({.probs = p}), Bernoulli({.probs = 0.3}).
struct ProbsOptions {
  [[no_unique_address]] tenon::detail::ByName by_name = tenon::detail::ByName();
  KeptOperand probs = none;
};

namespace detail {
// Of probabilities that are kept away from 0 and 1, whose logits are infinite.
inline Tensor logits_of(const Tensor& probs) {
  const double eps = epsilon(probs.dtype());
  const Tensor inside = clamp(probs, eps, 1 - eps);
  return log(inside) - log1p(-inside);
}
}  // namespace detail

// 1 with the probability probs, else 0: Bernoulli(probs), or Bernoulli({.logits = logits}), where
// probs is sigmoid(logits). Draws have the dtype of the parameter.
class Bernoulli : public Distribution {
 public:
  explicit Bernoulli(Operand probs)
      : probs_(detail::as_parameter("Bernoulli", {"probs", probs, detail::kUnitInterval})) {
    set_shapes(probs_.sizes());
    logits_ = detail::logits_of(probs_);
  }
  explicit Bernoulli(const ProbsOptions& options) : Bernoulli(Operand(options.probs)) {}
  explicit Bernoulli(const LogitsOptions& options) {
    logits_ = detail::as_parameter("Bernoulli", {"logits", options.logits, detail::kReal});
    probs_ = sigmoid(logits_);
    set_shapes(logits_.sizes());
  }
  const char* name() const override { return "Bernoulli"; }
  Bernoulli expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Bernoulli::probs_, &Bernoulli::logits_);
  }
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  Tensor mean() const override { return probs_; }
  // NaN where 0 and 1 are equally likely.
  Tensor mode() const override {
    const Tensor more = (probs_ >= 0.5).to(probs_.dtype());
    return where(probs_ == 0.5, NAN, more);
  }
  Tensor variance() const override { return probs_ * (1 - probs_); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kBoolean);
    const detail::Sizes sizes =
        detail::broadcast_sizes("Bernoulli", "value", value.sizes(), "probs", probs_.sizes());
    const Dtype dtype = promote(value.dtype(), logits_.dtype());
    return -binary_cross_entropy_with_logits(logits_.to(dtype).expand(sizes),
                                             value.to(dtype).expand(sizes), {.reduction = "none"});
  }
  Tensor entropy() const override {
    return binary_cross_entropy_with_logits(logits_, probs_, {.reduction = "none"});
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    return bernoulli(probs_.expand(extended(sample_shape)));
  }
  Tensor enumerate_support(bool expand = true) const override {
    return beside_batch(arange(0, 2, 1, probs_.dtype(), probs_.device()), expand);
  }
  bool has_rsample() const override { return false; }

 private:
  Tensor probs_, logits_;
};

// One of the classes 0 to n - 1, by the last dimension of probs, which need not sum to 1, or of
// logits: Categorical(probs), or Categorical({.logits = logits}). Draws are int64. mean and
// variance are NaN, as in PyTorch: classes have none.
class Categorical : public Distribution {
 public:
  explicit Categorical(const Tensor& probs) : Categorical("Categorical", probs) {}
  explicit Categorical(const ProbsOptions& options)
      : Categorical(detail::tensor_of(options.probs)) {}
  explicit Categorical(const LogitsOptions& options) : Categorical("Categorical", options) {}
  const char* name() const override { return "Categorical"; }
  Categorical expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &Categorical::probs_, &Categorical::logits_);
  }
  // Of each class: their sum is 1, and the logarithms of these.
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  Tensor mean() const override { return full(batch_shape(), NAN, probs_.dtype(), probs_.device()); }
  // The first of the most likely classes, int64.
  Tensor mode() const override { return argmax(probs_.detach(), {-1}); }
  Tensor variance() const override { return mean(); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    const int64_t classes = probs_.size(-1);
    detail::expect_all(owner().c_str(), "value", value,
                       logical_and(value == floor(value), logical_and(value >= 0, value < classes)),
                       detail::joined({"a class from 0 to ", std::to_string(classes - 1)}));
    const detail::Sizes sizes = detail::broadcast_sizes("Categorical", "value", value.sizes(),
                                                        "the distribution", batch_shape());
    return log_of(value.to(int64).expand(sizes));
  }
  Tensor entropy() const override {
    // A class that never comes counts for nothing: 0 times a logarithm that is finite.
    const Tensor finite = clamp_min(logits_, probs_.dtype() == float16 ? -65504.0 : -3e38);
    return -sum(finite * probs_, {-1});
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    const detail::Sizes sizes = extended(sample_shape);
    int64_t draws = 1;
    for (const int64_t size : sample_shape) draws *= size;
    if (draws == 0) return zeros(sizes, int64, probs_.device());
    const Tensor rows = probs_.detach().reshape({-1, probs_.size(-1)});
    return multinomial(rows, draws, /*replacement=*/true).t().reshape(sizes);
  }
  Tensor enumerate_support(bool expand = true) const override {
    return beside_batch(arange(0, probs_.size(-1), 1, int64, probs_.device()), expand);
  }
  bool has_rsample() const override { return false; }

 private:
  friend class ExpRelaxedCategorical;
  friend class Multinomial;
  friend class OneHotCategorical;
  Categorical(const char* owner, const Tensor& probs) {
    expect_classes(owner, "probs", probs);
    detail::expect_all(owner, "probs", probs, detail::kNonnegative);
    const Tensor sums = sum(probs, {-1}, /*keepdim=*/true);
    expect_sums(owner, sums);
    probs_ = probs / sums;
    const double eps = detail::epsilon(probs_.dtype());
    logits_ = log(clamp(probs_, eps, 1 - eps));
  }
  Categorical(const char* owner, const LogitsOptions& options) {
    const Tensor logits = detail::tensor_of(options.logits);
    expect_classes(owner, "logits", logits);
    logits_ = log_softmax(logits, -1);
    expect_normalized(owner, logits);
    probs_ = exp(logits_);
  }
  static void expect_sums(const char* owner, const Tensor& sums) {
    if (!detail::looks_at_tensors()) return;
    const NoGrad guard;
    const Tensor finite = sums < INFINITY;
    if (all(logical_and(sums > 0, finite)).item<bool>()) return;
    detail::expect_all(owner, "the sum of probs", sums, detail::kPositive);
    detail::expect_all(owner, "the sum of probs", sums, finite, "a finite number");
  }
  // Logits that are NaN, all of them -infinity, or one of them infinity, are no probabilities.
  void expect_normalized(const char* owner, const Tensor& logits) const {
    if (!detail::looks_at_tensors()) return;
    const NoGrad guard;
    if (all(logits_ == logits_).item<bool>()) return;
    detail::expect_all(owner, "logits", logits, detail::kReal);
    const Tensor most = amax(logits, {-1}, /*keepdim=*/true);
    detail::expect_all(owner, "the largest of the logits", most,
                       logical_and(most > -INFINITY, most < INFINITY), "a finite number");
  }
  void expect_classes(const char* owner, const char* parameter, const Tensor& x) {
    detail::expect_floats(owner, parameter, x);
    if (x.dim() < 1 || x.size(-1) < 1) {
      fail(detail::joined({owner, ": ", parameter, " is ", detail::sizes_text(x.sizes()),
                           ", expected at least one class in its last dimension"}));
    }
    const Ints sizes = x.sizes();
    set_shapes({sizes.data(), sizes.size() - 1});
  }
  // The logits of these classes, int64 [.., batch_shape..].
  Tensor log_of(const Tensor& classes) const {
    const detail::Sizes sizes = detail::concatenated(classes.sizes(), probs_.size(-1));
    return gather(logits_.expand(sizes), -1, classes.unsqueeze(-1)).squeeze({-1});
  }
  Tensor probs_, logits_;
};

// A Categorical whose draws are vectors with a 1 at the class and else 0, of the dtype of the
// parameter: OneHotCategorical(probs), or OneHotCategorical({.logits = logits}).
class OneHotCategorical : public Distribution {
 public:
  explicit OneHotCategorical(const Tensor& probs) : classes_("OneHotCategorical", probs) {
    set_shapes(classes_.batch_shape(), classes_.probs().size(-1));
  }
  explicit OneHotCategorical(const ProbsOptions& options)
      : OneHotCategorical(detail::tensor_of(options.probs)) {}
  explicit OneHotCategorical(const LogitsOptions& options)
      : classes_("OneHotCategorical", options) {
    set_shapes(classes_.batch_shape(), classes_.probs().size(-1));
  }
  const char* name() const override { return "OneHotCategorical"; }
  OneHotCategorical expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &OneHotCategorical::classes_);
  }
  const Tensor& probs() const { return classes_.probs(); }
  const Tensor& logits() const { return classes_.logits(); }
  // Of the class, which is the place of the 1.
  const Categorical& categorical() const { return classes_; }
  Tensor mean() const override { return probs(); }
  Tensor mode() const override {
    return one_hot(classes_.mode(), probs().size(-1)).to(probs().dtype());
  }
  Tensor variance() const override { return probs() * (1 - probs()); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kBoolean);
    const Tensor ones = sum(value.detach(), {-1});
    detail::expect_all(owner().c_str(), "the sum of value", ones, ones == 1, "1");
    const Tensor index = argmax(value.detach(), {-1});
    return classes_.log_of(index.expand(detail::broadcast_sizes(
        name(), "value", index.sizes(), "the distribution", batch_shape())));
  }
  Tensor entropy() const override { return classes_.entropy(); }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    return one_hot(classes_.sample(sample_shape), probs().size(-1)).to(probs().dtype());
  }
  Tensor enumerate_support(bool expand = true) const override {
    const int64_t n = probs().size(-1);
    return beside_batch(eye(n, n, probs().dtype(), probs().device()), expand);
  }
  bool has_rsample() const override { return false; }

 private:
  Categorical classes_;
};

// The draws of OneHotCategorical with the gradient of its probabilities: Bengio, Leonard &
// Courville, "Estimating or Propagating Gradients Through Stochastic Neurons", arXiv:1308.3432.
class OneHotCategoricalStraightThrough : public OneHotCategorical {
 public:
  using OneHotCategorical::OneHotCategorical;
  const char* name() const override { return "OneHotCategoricalStraightThrough"; }
  OneHotCategoricalStraightThrough expand(Ints batch_shape) const {
    OneHotCategoricalStraightThrough made = *this;
    static_cast<OneHotCategorical&>(made) = OneHotCategorical::expand(batch_shape);
    return made;
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    return sample(sample_shape) + (probs() - probs().detach());
  }
  bool has_rsample() const override { return true; }
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
