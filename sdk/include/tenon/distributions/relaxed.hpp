// Relaxations of Bernoulli and OneHotCategorical: numbers between 0 and 1 whose draws have
// gradients, and which come near events as the temperature goes to 0. Maddison, Mnih & Teh, "The
// Concrete Distribution", arXiv:1611.00712; Jang, Gu & Poole, "Categorical Reparameterization with
// Gumbel-Softmax", arXiv:1611.01144.
#pragma once

#include <cmath>
#include <utility>

#include "tenon/distributions/discrete.hpp"
#include "tenon/distributions/location_scale.hpp"
#include "tenon/distributions/transformed.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// The logits of RelaxedBernoulli's draws: (logits + u) / temperature, where u is logistic.
// LogitRelaxedBernoulli(temperature, probs), or LogitRelaxedBernoulli(temperature, {.logits =
// logits}). As in PyTorch it has no moments and no entropy.
class LogitRelaxedBernoulli : public Distribution {
 public:
  LogitRelaxedBernoulli(Operand temperature, Operand probs)
      : LogitRelaxedBernoulli("LogitRelaxedBernoulli", temperature, probs) {}
  LogitRelaxedBernoulli(Operand temperature, const ProbsOptions& options)
      : LogitRelaxedBernoulli(temperature, Operand(options.probs)) {}
  LogitRelaxedBernoulli(Operand temperature, const LogitsOptions& options)
      : LogitRelaxedBernoulli("LogitRelaxedBernoulli", temperature, options) {}
  const char* name() const override { return "LogitRelaxedBernoulli"; }
  LogitRelaxedBernoulli expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &LogitRelaxedBernoulli::temperature_,
                    &LogitRelaxedBernoulli::probs_, &LogitRelaxedBernoulli::logits_);
  }
  const Tensor& temperature() const { return temperature_; }
  const Tensor& probs() const { return probs_; }
  const Tensor& logits() const { return logits_; }
  Tensor mean() const override {
    fail("LogitRelaxedBernoulli: mean is not there, as in PyTorch; average samples");
  }
  Tensor variance() const override {
    fail("LogitRelaxedBernoulli: variance is not there, as in PyTorch; that of samples comes near");
  }
  Tensor entropy() const override {
    fail(
        "LogitRelaxedBernoulli: entropy is not there, as in PyTorch; average -log_prob of samples");
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    const Tensor off = logits_ - value * temperature_;
    return log(temperature_) + log_sigmoid(off) + log_sigmoid(-off);
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const double eps = detail::epsilon(logits_.dtype());
    const Tensor u = rand(extended(sample_shape), logits_.dtype(), logits_.device());
    const Tensor inside = clamp(u, eps, 1 - eps);
    return (log(inside) - log1p(-inside) + logits_) / temperature_;
  }

 private:
  friend class RelaxedBernoulli;
  LogitRelaxedBernoulli(const char* owner, Operand temperature, Operand probs) {
    auto [a, b] = detail::broadcast_all(owner, {"temperature", temperature, detail::kPositive},
                                        {"probs", probs, detail::kUnitInterval});
    temperature_ = a, probs_ = b;
    logits_ = detail::logits_of(probs_);
    set_shapes(probs_.sizes());
  }
  LogitRelaxedBernoulli(const char* owner, Operand temperature, const LogitsOptions& options) {
    auto [a, b] = detail::broadcast_all(owner, {"temperature", temperature, detail::kPositive},
                                        {"logits", options.logits, detail::kReal});
    temperature_ = a, logits_ = b;
    probs_ = sigmoid(logits_);
    set_shapes(logits_.sizes());
  }
  Tensor temperature_, probs_, logits_;
};

// A number between 0 and 1 that is near 1 about as often as probs says:
// RelaxedBernoulli(temperature, probs), or RelaxedBernoulli(temperature, {.logits = logits}).
class RelaxedBernoulli : public TransformedDistribution<LogitRelaxedBernoulli, SigmoidTransform> {
 public:
  RelaxedBernoulli(Operand temperature, Operand probs)
      : TransformedDistribution(LogitRelaxedBernoulli("RelaxedBernoulli", temperature, probs),
                                SigmoidTransform()) {}
  RelaxedBernoulli(Operand temperature, const ProbsOptions& options)
      : RelaxedBernoulli(temperature, Operand(options.probs)) {}
  RelaxedBernoulli(Operand temperature, const LogitsOptions& options)
      : TransformedDistribution(LogitRelaxedBernoulli("RelaxedBernoulli", temperature, options),
                                SigmoidTransform()) {}
  const char* name() const override { return "RelaxedBernoulli"; }
  RelaxedBernoulli expand(Ints batch_shape) const { return base_expanded(*this, batch_shape); }
  const Tensor& temperature() const { return base().temperature(); }
  const Tensor& probs() const { return base().probs(); }
  const Tensor& logits() const { return base().logits(); }
};

// The logarithms of RelaxedOneHotCategorical's draws: log_softmax((logits + g) / temperature),
// where g is of Gumbel(0, 1). The temperature is a number, or a tensor that broadcasts to the
// batch; ExpRelaxedCategorical(temperature, probs), or ExpRelaxedCategorical(temperature, {.logits
// = logits}). As in PyTorch it has no moments and no entropy.
class ExpRelaxedCategorical : public Distribution {
 public:
  ExpRelaxedCategorical(Operand temperature, const Tensor& probs)
      : ExpRelaxedCategorical("ExpRelaxedCategorical", temperature,
                              Categorical("ExpRelaxedCategorical", probs)) {}
  ExpRelaxedCategorical(Operand temperature, const ProbsOptions& options)
      : ExpRelaxedCategorical(temperature, detail::tensor_of(options.probs)) {}
  ExpRelaxedCategorical(Operand temperature, const LogitsOptions& options)
      : ExpRelaxedCategorical("ExpRelaxedCategorical", temperature,
                              Categorical("ExpRelaxedCategorical", options)) {}
  const char* name() const override { return "ExpRelaxedCategorical"; }
  ExpRelaxedCategorical expand(Ints batch_shape) const {
    return expanded(*this, batch_shape, &ExpRelaxedCategorical::classes_);
  }
  const Tensor& temperature() const { return temperature_; }
  // Of each class: their sum is 1, and the logarithms of these.
  const Tensor& probs() const { return classes_.probs(); }
  const Tensor& logits() const { return classes_.logits(); }
  Tensor mean() const override {
    fail("ExpRelaxedCategorical: mean is not there, as in PyTorch; average samples");
  }
  Tensor variance() const override {
    fail("ExpRelaxedCategorical: variance is not there, as in PyTorch; that of samples comes near");
  }
  Tensor entropy() const override {
    fail(
        "ExpRelaxedCategorical: entropy is not there, as in PyTorch; average -log_prob of samples");
  }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kReal);
    const double classes = double(probs().size(-1));
    const Tensor scores = log_softmax(logits() - value * of_classes(), -1);
    return sum(scores, {-1}) + std::lgamma(classes) + (classes - 1) * log(temperature_);
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    const Tensor waited =
        detail::draw_exponential(extended(sample_shape), logits().dtype(), logits().device());
    return log_softmax((logits() - log(waited)) / of_classes(), -1);
  }

 private:
  friend class RelaxedOneHotCategorical;
  ExpRelaxedCategorical(const char* owner, Operand temperature, const Tensor& probs)
      : ExpRelaxedCategorical(owner, temperature, Categorical(owner, probs)) {}
  ExpRelaxedCategorical(const char* owner, Operand temperature, const LogitsOptions& options)
      : ExpRelaxedCategorical(owner, temperature, Categorical(owner, options)) {}
  ExpRelaxedCategorical(const char* owner, Operand temperature, Categorical classes)
      : classes_(std::move(classes)) {
    detail::check_parameter(owner, {"temperature", temperature, detail::kPositive});
    const Ints batch = classes_.batch_shape();
    set_shapes(batch, probs().size(-1));
    const Dtype dtype = probs().dtype();
    const Tensor given = temperature.tensor();
    if (!given.defined()) {
      temperature_ = full({}, detail::number_of(temperature), dtype, probs().device());
    } else if (given.device().name() != probs().device().name()) {
      fail(detail::joined({owner, ": temperature is on ", given.device().name(),
                           " and the classes on ", probs().device().name(),
                           ", expected one device"}));
    } else if (given.numel() == 1) {  // as PyTorch's examples have it
      temperature_ = given.to(dtype).reshape({});
    } else if (detail::broadcast_sizes(owner, "temperature", given.sizes(), "the batch", batch) ==
               detail::Sizes(batch)) {
      temperature_ = given.to(dtype);
    } else {
      fail(detail::joined({owner, ": temperature is ", detail::sizes_text(given.sizes()),
                           " and the batch ", detail::sizes_text(batch),
                           ", expected sizes that broadcast to those of the batch"}));
    }
  }
  // The temperature beside a value.
  Tensor of_classes() const {
    return temperature_.dim() == 0 ? temperature_ : temperature_.unsqueeze(-1);
  }
  Categorical classes_;
  Tensor temperature_;
};

// Vectors of numbers above 0 whose sum is 1, of which one is near 1 at a low temperature:
// RelaxedOneHotCategorical(temperature, probs), or RelaxedOneHotCategorical(temperature, {.logits =
// logits}). As in PyTorch log_prob is the density of the logarithms less the sum of all of them.
class RelaxedOneHotCategorical
    : public TransformedDistribution<ExpRelaxedCategorical, ExpTransform> {
 public:
  RelaxedOneHotCategorical(Operand temperature, const Tensor& probs)
      : TransformedDistribution(
            ExpRelaxedCategorical("RelaxedOneHotCategorical", temperature, probs), ExpTransform()) {
  }
  RelaxedOneHotCategorical(Operand temperature, const ProbsOptions& options)
      : RelaxedOneHotCategorical(temperature, detail::tensor_of(options.probs)) {}
  RelaxedOneHotCategorical(Operand temperature, const LogitsOptions& options)
      : TransformedDistribution(
            ExpRelaxedCategorical("RelaxedOneHotCategorical", temperature, options),
            ExpTransform()) {}
  const char* name() const override { return "RelaxedOneHotCategorical"; }
  RelaxedOneHotCategorical expand(Ints batch_shape) const {
    return base_expanded(*this, batch_shape);
  }
  const Tensor& temperature() const { return base().temperature(); }
  const Tensor& probs() const { return base().probs(); }
  const Tensor& logits() const { return base().logits(); }
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, detail::kPositive);
    detail::expect_sums_of_one(owner().c_str(), value);
    return TransformedDistribution::log_prob(value);
  }
  // A number that rounds to 0 or 1 is the nearest one between them, since the density is infinite
  // there.
  Tensor rsample(Ints sample_shape = {}) const override {
    return detail::inside_unit(TransformedDistribution::rsample(sample_shape));
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    return rsample(sample_shape);
  }
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
