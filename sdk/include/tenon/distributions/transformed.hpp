// Distributions of a function of another's draws.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "tenon/distributions/continuous.hpp"
#include "tenon/distributions/vector_transforms.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// The draws of `base` after the transforms (transforms.hpp), the first one first:
//   TransformedDistribution policy(Independent(Normal(mean, std), 1), TanhTransform());
//   auto [action, log_prob] = policy.rsample_with_log_prob();
// Where transforms take vectors or matrices, dimensions of the batch become one event. There is no
// closed form of the mean, the variance and the entropy.
template <typename Base, typename... Transforms>
class TransformedDistribution : public Distribution {
 public:
  explicit TransformedDistribution(Base base, Transforms... transforms)
      : base_(std::move(base)), transforms_(std::move(transforms)...) {
    const auto [domain, codomain] = detail::event_dims_of(transforms_);
    const detail::Sizes all = detail::concatenated(base_.batch_shape(), base_.event_shape());
    detail::expect_dims("TransformedDistribution", all, size_t(domain), "the base");
    const auto of_base = int64_t(base_.event_shape().size());
    more_ = std::max<int64_t>(domain - of_base, 0);
    const detail::Sizes made = detail::forward_shape_of(transforms_, all);
    const size_t batch = made.size() - size_t(of_base + more_ + codomain - domain);
    set_shapes({made.data(), batch}, {made.data() + batch, made.size() - batch});
  }
  const char* name() const override { return "TransformedDistribution"; }
  TransformedDistribution expand(Ints batch_shape) const {
    return base_expanded(*this, batch_shape);
  }
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
    if constexpr (sizeof...(Transforms) > 0) {
      const auto& last = std::get<sizeof...(Transforms) - 1>(transforms_);
      detail::expect_codomain_of(last, owner().c_str(), value);
    }
    const detail::Sizes sizes =
        detail::broadcast_sizes(name(), "value", value.sizes(), "", extended({}));
    const bool is_whole = std::ranges::equal(value.sizes(), sizes);
    return backward<sizeof...(Transforms)>(is_whole ? value : value.expand(sizes),
                                           int64_t(event_shape().size()));
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
    Tensor y = x, total = summed(base_.log_prob(x));
    int64_t dims = int64_t(base_.event_shape().size()) + more_;
    const auto step = [&](const auto& transform) {
      const Tensor before = y;
      y = transform(before);
      const auto [from, to] = detail::event_dims_of(transform);
      total = total - detail::sum_last(transform.log_abs_det_jacobian(before, y), dims - from);
      dims += to - from;
    };
    std::apply([&](const auto&... each) { (step(each), ...); }, transforms_);
    return {y, total};
  }
  // How likely a draw is at most `value`, and the value of which that is `p`: of a base that has them
  // and of transforms that rise or fall everywhere, of single numbers.
  Tensor cdf(const Tensor& value) const requires requires(const Base& b) { b.cdf(value); }
  { return turned(base_.cdf(inverse<kCount>(value))); }
  Tensor icdf(const Tensor& p) const requires requires(const Base& b) { b.icdf(p); }
  { return transformed(base_.icdf(turned(p))); }
  // The sum over the dimensions of the base's batch that are one event here.
  Tensor summed(const Tensor& x) const { return detail::sum_last(x, more_); }

 protected:
  // A distribution of this class or derived from it whose base has a larger batch.
  template <typename D>
  static D base_expanded(D d, Ints batch_shape) {
    TransformedDistribution& made = d;
    detail::expect_expands(d.name(), made.batch_shape(), batch_shape);
    const Ints of_base = made.base_.batch_shape();
    const auto more = size_t(made.more_);
    const detail::Sizes event(made.event_shape());
    made.base_ = made.base_.expand(
        detail::concatenated(batch_shape, {of_base.data() + of_base.size() - more, more}));
    made.set_shapes(batch_shape, event);
    return d;
  }

 private:
  static constexpr size_t kCount = sizeof...(Transforms);
  // 1 - p where the transforms fall.
  Tensor turned(const Tensor& p) const {
    Tensor sign = ones_like(p.detach());
    std::apply([&](const auto&... each) { ((sign = sign * detail::sign_of(each)), ...); },
               transforms_);
    return sign * (p - 0.5) + 0.5;
  }
  template <size_t count>
  Tensor inverse(const Tensor& y) const {
    if constexpr (count == 0) {
      return y;
    } else {
      return inverse<count - 1>(std::get<count - 1>(transforms_).inv(y));
    }
  }
  // What the last transform gives.
  static constexpr detail::Constraint support() {
    if constexpr (sizeof...(Transforms) > 0) {
      return detail::codomain_of<
          std::tuple_element_t<sizeof...(Transforms) - 1, std::tuple<Transforms...>>>();
    } else {
      return detail::kReal;
    }
  }
  Tensor transformed(Tensor x) const {
    std::apply([&](const auto&... each) { ((x = each(x)), ...); }, transforms_);
    return x;
  }
  // log_prob at y, the value after `count` of the transforms, whose last `dims` are one event.
  template <size_t count>
  Tensor backward(const Tensor& y, int64_t dims) const {
    if constexpr (count == 0) {
      return summed(base_.log_prob(y));
    } else {
      const auto& transform = std::get<count - 1>(transforms_);
      const auto [from, to] = detail::event_dims_of(transform);
      const Tensor x = transform.inv(y);
      const Tensor slope = detail::sum_last(transform.log_abs_det_jacobian(x, y), dims - to);
      return backward<count - 1>(x, dims + from - to) - slope;
    }
  }
  Base base_;
  std::tuple<Transforms...> transforms_;
  int64_t more_ = 0;
};

// exp of a normal number around loc of the standard deviation scale.
class LogNormal : public TransformedDistribution<Normal, ExpTransform> {
 public:
  LogNormal(Operand loc, Operand scale)
      : TransformedDistribution(Normal("LogNormal", loc, scale), ExpTransform()) {}
  const char* name() const override { return "LogNormal"; }
  LogNormal expand(Ints batch_shape) const { return base_expanded(*this, batch_shape); }
  Tensor cdf(const Tensor& value) const { return base().cdf(log(clamp_min(value, 0))); }
  Tensor icdf(const Tensor& p) const { return exp(base().icdf(p)); }
  const Tensor& loc() const { return base().loc(); }
  const Tensor& scale() const { return base().scale(); }
  Tensor mean() const override { return exp(loc() + 0.5 * square(scale())); }
  Tensor mode() const override { return exp(loc() - square(scale())); }
  Tensor variance() const override {
    const Tensor v = square(scale());
    return expm1(v) * exp(2 * loc() + v);
  }
  Tensor entropy() const override { return base().entropy() + loc(); }
};

// n + 1 numbers above 0 whose sum is 1, of a normal vector [n] with independent numbers around loc
// of the standard deviation scale, by StickBreakingTransform. Numbers for loc and scale are [1].
class LogisticNormal : public TransformedDistribution<Normal, StickBreakingTransform> {
 public:
  LogisticNormal(Operand loc, Operand scale)
      : TransformedDistribution(vector_of(Normal("LogisticNormal", loc, scale)),
                                StickBreakingTransform()) {}
  const char* name() const override { return "LogisticNormal"; }
  const Tensor& loc() const { return base().loc(); }
  const Tensor& scale() const { return base().scale(); }
  LogisticNormal expand(Ints batch_shape) const { return base_expanded(*this, batch_shape); }

 private:
  static Normal vector_of(const Normal& normal) {
    if (!normal.batch_shape().empty()) return normal;
    return Normal("LogisticNormal", normal.loc().expand({1}), normal.scale().expand({1}));
  }
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
