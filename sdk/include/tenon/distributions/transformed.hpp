// Distributions of a function of another's draws.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "tenon/distributions/continuous.hpp"
#include "tenon/distributions/transforms.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// The draws of `base` after the transforms (transforms.hpp), the first one first:
//   TransformedDistribution policy(Independent(Normal(mean, std), 1), TanhTransform());
//   auto [action, log_prob] = policy.rsample_with_log_prob();
// There is no closed form of the mean, the variance and the entropy.
template <typename Base, typename... Transforms>
class TransformedDistribution : public Distribution {
 public:
  explicit TransformedDistribution(Base base, Transforms... transforms)
      : base_(std::move(base)), transforms_(std::move(transforms)...) {
    set_shapes(base_.batch_shape(), base_.event_shape());
  }
  const char* name() const override { return "TransformedDistribution"; }
  const Base& base() const { return base_; }
  const std::tuple<Transforms...>& transforms() const { return transforms_; }
  Tensor mean() const override {
    fail(detail::joined({name(), ": mean has no closed form; average samples"}));
  }
  Tensor variance() const override {
    fail(detail::joined({name(), ": variance has no closed form; that of samples comes near"}));
  }
  Tensor entropy() const override {
    fail(detail::joined({name(), ": entropy has no closed form; average -log_prob of samples"}));
  }
  // That of `base` at the inverse, less the logarithms of the slopes there.
  Tensor log_prob(const Tensor& value) const override {
    expect_value(value, support());
    const detail::Sizes sizes =
        detail::broadcast_sizes(name(), "value", value.sizes(), "", extended({}));
    const bool is_whole = std::ranges::equal(value.sizes(), sizes);
    return backward<sizeof...(Transforms)>(is_whole ? value : value.expand(sizes));
  }
  Tensor sample(Ints sample_shape = {}) const override {
    const NoGrad guard;
    return transformed(base_.sample(sample_shape));
  }
  Tensor rsample(Ints sample_shape = {}) const override {
    return transformed(base_.rsample(sample_shape));
  }
  bool has_rsample() const override { return base_.has_rsample(); }
  // A draw and its log_prob without an inverse, which is inexact where a transform is flat: tanh of
  // numbers from 9.02 is 1 in float32. PyTorch has cache_size for it.
  std::pair<Tensor, Tensor> rsample_with_log_prob(Ints sample_shape = {}) const {
    const Tensor x = base_.rsample(sample_shape);
    Tensor y = x, total = base_.log_prob(x);
    const auto step = [&](const auto& transform) {
      const Tensor before = y;
      y = transform(before);
      total = total - summed(transform.log_abs_det_jacobian(before, y));
    };
    std::apply([&](const auto&... each) { (step(each), ...); }, transforms_);
    return {y, total};
  }

 private:
  // What the last transform gives.
  static constexpr detail::Constraint support() {
    if constexpr (sizeof...(Transforms) > 0) {
      using Last = std::tuple_element_t<sizeof...(Transforms) - 1, std::tuple<Transforms...>>;
      if constexpr (requires { Last::codomain; }) return Last::codomain;
    }
    return detail::kReal;
  }
  Tensor transformed(Tensor x) const {
    std::apply([&](const auto&... each) { ((x = each(x)), ...); }, transforms_);
    return x;
  }
  // log_prob at y, the value after `count` of the transforms.
  template <size_t count>
  Tensor backward(const Tensor& y) const {
    if constexpr (count == 0) {
      return base_.log_prob(y);
    } else {
      const auto& transform = std::get<count - 1>(transforms_);
      const Tensor x = transform.inv(y);
      return backward<count - 1>(x) - summed(transform.log_abs_det_jacobian(x, y));
    }
  }
  // The sum over the dimensions of an event.
  Tensor summed(const Tensor& x) const {
    detail::Sizes dims;
    for (int64_t d = -int64_t(event_shape().size()); d < 0; ++d) dims.push_back(d);
    return dims.empty() ? x : sum(x, dims);
  }
  Base base_;
  std::tuple<Transforms...> transforms_;
};

// exp of a normal number around loc of the standard deviation scale.
class LogNormal : public TransformedDistribution<Normal, ExpTransform> {
 public:
  LogNormal(Operand loc, Operand scale)
      : TransformedDistribution(Normal("LogNormal", loc, scale), ExpTransform()) {}
  const char* name() const override { return "LogNormal"; }
  const Tensor& loc() const { return base().loc(); }
  const Tensor& scale() const { return base().scale(); }
  Tensor mean() const override { return exp(loc() + 0.5 * square(scale())); }
  Tensor variance() const override {
    const Tensor v = square(scale());
    return expm1(v) * exp(2 * loc() + v);
  }
  Tensor entropy() const override { return base().entropy() + loc(); }
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
