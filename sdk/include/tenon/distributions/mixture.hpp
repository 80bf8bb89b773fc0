// Distributions made of others: dimensions of a batch that become one event, and mixtures.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tenon/distributions/discrete.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// The last reinterpreted_batch_ndims dimensions of the batch are one event, whose numbers are
// independent: Independent(Normal(loc, scale), 1) is a vector of normal numbers.
template <typename Base>
class Independent : public Distribution {
 public:
  Independent(Base base, Int reinterpreted_batch_ndims)
      : base_(std::move(base)), dims_(reinterpreted_batch_ndims) {
    const detail::Sizes all = detail::concatenated(base_.batch_shape(), base_.event_shape());
    const auto of_batch = int64_t(base_.batch_shape().size());
    if (dims_ < 0 || dims_ > of_batch) {
      fail(detail::joined({"Independent: reinterpreted_batch_ndims is ", std::to_string(dims_),
                           ", expected 0 to ", std::to_string(of_batch),
                           ", the dimensions of the batch of ", base_.name()}));
    }
    const size_t kept = size_t(of_batch - dims_);
    set_shapes({all.data(), kept}, {all.data() + kept, all.size() - kept});
  }
  const char* name() const override { return "Independent"; }
  Independent expand(Ints batch_shape) const {
    detail::expect_expands(name(), this->batch_shape(), batch_shape);
    const Ints event = event_shape();
    return Independent(
        base_.expand(detail::concatenated(batch_shape, {event.data(), size_t(dims_)})), dims_);
  }
  const Base& base() const { return base_; }
  int64_t reinterpreted_batch_ndims() const { return dims_; }
  Tensor mean() const override { return base_.mean(); }
  Tensor mode() const override { return base_.mode(); }
  Tensor variance() const override { return base_.variance(); }
  Tensor stddev() const override { return base_.stddev(); }
  Tensor log_prob(const Tensor& value) const override { return summed(base_.log_prob(value)); }
  Tensor entropy() const override { return summed(base_.entropy()); }
  Tensor sample(Ints sample_shape = {}) const override { return base_.sample(sample_shape); }
  Tensor rsample(Ints sample_shape = {}) const override { return base_.rsample(sample_shape); }
  bool has_rsample() const override { return base_.has_rsample(); }
  // Of one number alone: of several the values are all their combinations, as in PyTorch an error.
  Tensor enumerate_support(bool expand = true) const override {
    if (dims_ == 0) return base_.enumerate_support(expand);
    fail(detail::joined({"Independent: enumerate_support: reinterpreted_batch_ndims is ",
                         std::to_string(dims_), ", expected 0"}));
  }
  // The sum over the dimensions that are one event.
  Tensor summed(const Tensor& x) const { return detail::sum_last(x, dims_); }

 private:
  Base base_;
  int64_t dims_;
};

// One of the components, which are the last dimension of the batch of `components`, by the
// mixture's probabilities. It has no rsample, and its entropy no closed form.
template <typename Components>
class MixtureSameFamily : public Distribution {
 public:
  MixtureSameFamily(Categorical mixture, Components components)
      : mixture_(std::move(mixture)), components_(std::move(components)) {
    const Ints batch = components_.batch_shape(), event = components_.event_shape();
    const int64_t mixed = mixture_.probs().size(-1);
    if (batch.size() == 0 || batch[batch.size() - 1] != mixed) {
      fail(detail::joined({"MixtureSameFamily: the mixture has ", std::to_string(mixed),
                           " components and the batch of ", components_.name(), " is ",
                           detail::sizes_text(batch), ", expected them as its last dimension"}));
    }
    const Ints of_batch = {batch.data(), batch.size() - 1};
    detail::broadcast_sizes("MixtureSameFamily", "the batch of the mixture", mixture_.batch_shape(),
                            "that of the components", of_batch);
    set_shapes(of_batch, event);
  }
  const char* name() const override { return "MixtureSameFamily"; }
  MixtureSameFamily expand(Ints batch_shape) const {
    detail::expect_expands(name(), this->batch_shape(), batch_shape);
    const detail::Sizes of_components =
        detail::concatenated(batch_shape, mixture_.probs().size(-1));
    return MixtureSameFamily(mixture_.expand(batch_shape), components_.expand(of_components));
  }
  // How likely a draw is at most `value`: of components of single numbers that have a cdf.
  Tensor cdf(const Tensor& value) const {
    if (!event_shape().empty())
      fail(detail::joined({"MixtureSameFamily: cdf: an event of ", components_.name(), " is ",
                           detail::sizes_text(event_shape()), ", expected single numbers"}));
    return mixed(components_.cdf(value.unsqueeze(-1)));
  }
  const Categorical& mixture_distribution() const { return mixture_; }
  const Components& component_distribution() const { return components_; }
  Tensor mean() const override { return mixed(components_.mean()); }
  // The mean of the variances and the variance of the means.
  Tensor variance() const override {
    const Tensor off = components_.mean() - mean().unsqueeze(component_dim());
    return mixed(components_.variance() + square(off));
  }
  Tensor log_prob(const Tensor& value) const override {
    if (!value.defined() || value.dim() < int64_t(event_shape().size()))
      expect_value(value, detail::kReal);
    const Tensor each = components_.log_prob(value.unsqueeze(component_dim()));
    return logsumexp(each + mixture_.logits(), {-1});
  }
  Tensor entropy() const override {
    fail("MixtureSameFamily: entropy has no closed form; average -log_prob of samples");
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    const Tensor all = components_.sample(sample_shape);
    detail::Sizes sizes = detail::concatenated(sample_shape, batch_shape());
    Tensor index = mixture_.sample(sample_shape);
    // A mixture with fewer dimensions than the components has draws of its own for each of these.
    if (mixture_.batch_shape() != batch_shape()) {
      const Tensor probs = mixture_.probs().detach().expand(
          detail::concatenated(batch_shape(), mixture_.probs().size(-1)));
      index = Categorical(probs).sample(sample_shape);
    }
    for (size_t i = 0; i <= event_shape().size(); ++i) index = index.unsqueeze(-1);
    sizes.push_back(1);
    index = index.expand(detail::concatenated(sizes, event_shape()));
    return gather(all, component_dim(), index).squeeze({component_dim()});
  }
  bool has_rsample() const override { return false; }

 private:
  int64_t component_dim() const { return -1 - int64_t(event_shape().size()); }
  Tensor mixed(const Tensor& each) const {
    Tensor probs = mixture_.probs();
    for (size_t i = 0; i < event_shape().size(); ++i) probs = probs.unsqueeze(-1);
    return sum(probs * each, {component_dim()});
  }
  Categorical mixture_;
  Components components_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
