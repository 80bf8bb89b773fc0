// Transforms that are made of others, that reshape, and that a distribution gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/distributions/transform_shapes.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace distributions {

// The transforms one after the other, the first one first. ComposeTransform<>() changes nothing.
template <typename... Transforms>
class ComposeTransform {
 public:
  explicit ComposeTransform(Transforms... parts)
      : parts_(std::move(parts)...), dims_(detail::event_dims_of(parts_)) {}
  static constexpr detail::Constraint codomain = [] {
    if constexpr (sizeof...(Transforms) > 0) {
      using Last = std::tuple_element_t<sizeof...(Transforms) - 1, std::tuple<Transforms...>>;
      return detail::codomain_of<Last>();
    } else {
      return detail::kReal;
    }
  }();
  const std::tuple<Transforms...>& parts() const { return parts_; }
  int64_t domain_event_dim() const { return dims_.domain; }
  int64_t codomain_event_dim() const { return dims_.codomain; }
  void expect_codomain(const char* owner, const Tensor& value) const {
    if constexpr (sizeof...(Transforms) > 0)
      detail::expect_codomain_of(std::get<sizeof...(Transforms) - 1>(parts_), owner, value);
  }
  detail::Sizes forward_shape(Ints sizes) const { return detail::forward_shape_of(parts_, sizes); }
  detail::Sizes inverse_shape(Ints sizes) const {
    return backward_shape<sizeof...(Transforms)>(detail::Sizes(sizes));
  }
  Tensor operator()(Tensor x) const {
    std::apply([&](const auto&... each) { ((x = each(x)), ...); }, parts_);
    return x;
  }
  Tensor inv(const Tensor& y) const { return backward<sizeof...(Transforms)>(y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
    Tensor now = x, total = detail::sum_last(zeros_like(x.detach()), dims_.domain);
    int64_t dims = dims_.domain;
    const auto step = [&](const auto& part) {
      const Tensor before = now;
      now = part(before);
      const auto [from, to] = detail::event_dims_of(part);
      total = total + detail::sum_last(part.log_abs_det_jacobian(before, now), dims - from);
      dims += to - from;
    };
    std::apply([&](const auto&... each) { (step(each), ...); }, parts_);
    return total;
  }
  Tensor sign() const {
    Tensor product = ones({});
    std::apply([&](const auto&... each) { ((product = product * detail::sign_of(each)), ...); },
               parts_);
    return product;
  }
  bool operator==(const ComposeTransform& other) const { return parts_ == other.parts_; }

 private:
  template <size_t count>
  Tensor backward(const Tensor& y) const {
    if constexpr (count == 0) {
      return y;
    } else {
      return backward<count - 1>(std::get<count - 1>(parts_).inv(y));
    }
  }
  template <size_t count>
  detail::Sizes backward_shape(const detail::Sizes& sizes) const {
    if constexpr (count == 0) {
      return sizes;
    } else {
      return backward_shape<count - 1>(
          detail::inverse_shape_of(std::get<count - 1>(parts_), sizes));
    }
  }
  std::tuple<Transforms...> parts_;
  detail::EventDims dims_;
};

// x and y of a transform in each other's place: PyTorch's `transform.inv`.
template <typename Transform>
class InverseTransform {
 public:
  explicit InverseTransform(Transform transform) : transform_(std::move(transform)) {}
  int64_t domain_event_dim() const { return detail::event_dims_of(transform_).codomain; }
  int64_t codomain_event_dim() const { return detail::event_dims_of(transform_).domain; }
  detail::Sizes forward_shape(Ints sizes) const {
    return detail::inverse_shape_of(transform_, sizes);
  }
  detail::Sizes inverse_shape(Ints sizes) const {
    return detail::forward_shape_of(transform_, sizes);
  }
  Tensor operator()(const Tensor& x) const { return transform_.inv(x); }
  Tensor inv(const Tensor& y) const { return transform_(y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const {
    return -transform_.log_abs_det_jacobian(y, x);
  }
  auto sign() const { return detail::sign_of(transform_); }
  bool operator==(const InverseTransform&) const = default;

 private:
  Transform transform_;
};

// The transform, of which the last reinterpreted_batch_ndims dimensions more are one event: its
// log_abs_det_jacobian is summed over them.
template <typename Transform>
class IndependentTransform {
 public:
  IndependentTransform(Transform base_transform, Int reinterpreted_batch_ndims)
      : base_(std::move(base_transform)), dims_(reinterpreted_batch_ndims) {
    if (dims_ < 0) {
      fail(detail::joined({"IndependentTransform: reinterpreted_batch_ndims is ",
                           std::to_string(dims_), ", expected at least 0"}));
    }
  }
  static constexpr detail::Constraint codomain = detail::codomain_of<Transform>();
  int64_t domain_event_dim() const { return detail::event_dims_of(base_).domain + dims_; }
  int64_t codomain_event_dim() const { return detail::event_dims_of(base_).codomain + dims_; }
  void expect_codomain(const char* owner, const Tensor& value) const {
    detail::expect_codomain_of(base_, owner, value);
  }
  detail::Sizes forward_shape(Ints sizes) const { return detail::forward_shape_of(base_, sizes); }
  detail::Sizes inverse_shape(Ints sizes) const { return detail::inverse_shape_of(base_, sizes); }
  Tensor operator()(const Tensor& x) const {
    detail::expect_dims("IndependentTransform", x.sizes(), size_t(domain_event_dim()));
    return base_(x);
  }
  Tensor inv(const Tensor& y) const {
    detail::expect_dims("IndependentTransform", y.sizes(), size_t(codomain_event_dim()));
    return base_.inv(y);
  }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const {
    return detail::sum_last(base_.log_abs_det_jacobian(x, y), dims_);
  }
  auto sign() const { return detail::sign_of(base_); }
  bool operator==(const IndependentTransform&) const = default;

 private:
  Transform base_;
  int64_t dims_;
};

// The same numbers with the last sizes out_shape instead of in_shape.
class ReshapeTransform {
 public:
  ReshapeTransform(Ints in_shape, Ints out_shape) : in_(in_shape), out_(out_shape) {
    int64_t elements = 1, wanted = 1;
    for (const int64_t size : in_) wanted *= size;
    for (const int64_t size : out_) elements *= size;
    if (elements != wanted) {
      fail(detail::joined({"ReshapeTransform: in_shape is ", detail::sizes_text(in_),
                           " and out_shape is ", detail::sizes_text(out_),
                           ", expected equal numbers of elements"}));
    }
  }
  int64_t domain_event_dim() const { return int64_t(in_.size()); }
  int64_t codomain_event_dim() const { return int64_t(out_.size()); }
  detail::Sizes forward_shape(Ints sizes) const {
    return detail::concatenated(detail::sizes_before("ReshapeTransform", sizes, in_), out_);
  }
  detail::Sizes inverse_shape(Ints sizes) const {
    return detail::concatenated(detail::sizes_before("ReshapeTransform", sizes, out_), in_);
  }
  Tensor operator()(const Tensor& x) const { return x.reshape(forward_shape(x.sizes())); }
  Tensor inv(const Tensor& y) const { return y.reshape(inverse_shape(y.sizes())); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const {
    return zeros(detail::sizes_before("ReshapeTransform", x.sizes(), in_), x.dtype(), x.device());
  }
  bool operator==(const ReshapeTransform&) const = default;

 private:
  detail::Sizes in_, out_;
};

namespace detail {

// What CatTransform and StackTransform share. They take transforms that go element by element, and
// a dimension that is counted from the end, since draws have more in front. Self has `part(x, i)`, the
// i-th transform's part of x, and `joined(parts)`.
template <typename Self, typename... Transforms>
class PartTransforms {
 public:
  Tensor operator()(const Tensor& x) const {
    return each([&](const auto& transform, size_t i) { return transform(self().part(x, i)); });
  }
  Tensor inv(const Tensor& y) const {
    return each([&](const auto& transform, size_t i) { return transform.inv(self().part(y, i)); });
  }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const {
    return each([&](const auto& transform, size_t i) {
      return transform.log_abs_det_jacobian(self().part(x, i), self().part(y, i));
    });
  }
  bool operator==(const PartTransforms&) const = default;

 protected:
  PartTransforms(const char* owner, std::tuple<Transforms...> transforms, int64_t dim)
      : dim_(dim), transforms_(std::move(transforms)) {
    if (dim_ >= 0) {
      fail(joined({owner, ": dim is ", std::to_string(dim_),
                   ", expected one from the end, as -1, since draws have dimensions in front"}));
    }
    const EventDims dims = event_dims_of(transforms_);
    if (dims.domain > 0 || dims.codomain > 0)
      fail(joined({owner, ": expected transforms that go element by element"}));
  }
  void expect_size(const char* owner, const Tensor& x, int64_t size) const {
    if (x.dim() >= -dim_ && x.size(dim_) == size) return;
    fail(joined({owner, ": the value is ", sizes_text(x.sizes()), ", expected ",
                 std::to_string(size), " in dimension ", std::to_string(dim_)}));
  }
  int64_t dim_;

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
  // f of each transform and its index, joined.
  template <typename F>
  Tensor each(F f) const {
    std::vector<Tensor> made;
    const auto step = [&](const auto& transform) { made.push_back(f(transform, made.size())); };
    std::apply([&](const auto&... all) { (step(all), ...); }, transforms_);
    return self().joined(made);
  }
  std::tuple<Transforms...> transforms_;
};

}  // namespace detail

// Along dim, the first lengths[0] elements by the first transform, the next lengths[1] by the
// second, ..: CatTransform(std::tuple{ExpTransform(), ComposeTransform<>()}, -1, {2, 3}).
template <typename... Transforms>
class CatTransform : public detail::PartTransforms<CatTransform<Transforms...>, Transforms...> {
  using Parts = detail::PartTransforms<CatTransform<Transforms...>, Transforms...>;

 public:
  CatTransform(std::tuple<Transforms...> transforms, Int dim, Ints lengths)
      : Parts("CatTransform", std::move(transforms), dim), lengths_(lengths) {
    if (lengths_.size() != sizeof...(Transforms)) {
      fail(detail::joined({"CatTransform: lengths is ", detail::sizes_text(lengths_), ", expected ",
                           std::to_string(sizeof...(Transforms)), ", one for each transform"}));
    }
    for (const int64_t length : lengths_) starts_.push_back(total_), total_ += length;
  }
  bool operator==(const CatTransform&) const = default;

 private:
  friend Parts;
  Tensor joined(const std::vector<Tensor>& parts) const { return cat(parts, this->dim_); }
  Tensor part(const Tensor& x, size_t i) const {
    this->expect_size("CatTransform", x, total_);
    return x.narrow(this->dim_, starts_[i], lengths_[i]);
  }
  detail::Sizes lengths_, starts_;
  int64_t total_ = 0;
};

// Element i along dim by transform i: StackTransform(std::tuple{ExpTransform(), TanhTransform()},
// -1).
template <typename... Transforms>
class StackTransform : public detail::PartTransforms<StackTransform<Transforms...>, Transforms...> {
  using Parts = detail::PartTransforms<StackTransform<Transforms...>, Transforms...>;

 public:
  StackTransform(std::tuple<Transforms...> transforms, Int dim)
      : Parts("StackTransform", std::move(transforms), dim) {}
  bool operator==(const StackTransform&) const = default;

 private:
  friend Parts;
  Tensor joined(const std::vector<Tensor>& parts) const { return stack(parts, this->dim_); }
  Tensor part(const Tensor& x, size_t i) const {
    this->expect_size("StackTransform", x, int64_t(sizeof...(Transforms)));
    return x.select(this->dim_, int64_t(i));
  }
};

// y = the probability that a draw of the distribution is at most x, which is from 0 to 1. The
// distribution is one that has `cdf` and `icdf`, as Normal. As in PyTorch it is equal to itself: in
// C++ to its copies.
template <typename D>
requires requires(const D& d, const Tensor& x) { d.cdf(x), d.icdf(x); }
class CumulativeDistributionTransform {
 public:
  static constexpr detail::Constraint codomain = detail::kUnitInterval;
  explicit CumulativeDistributionTransform(D distribution)
      : d_(std::make_shared<const D>(std::move(distribution))) {}
  const D& distribution() const { return *d_; }
  Tensor operator()(const Tensor& x) const { return d_->cdf(x); }
  Tensor inv(const Tensor& y) const { return d_->icdf(y); }
  Tensor log_abs_det_jacobian(const Tensor& x, const Tensor&) const { return d_->log_prob(x); }
  bool operator==(const CumulativeDistributionTransform&) const = default;

 private:
  std::shared_ptr<const D> d_;
};

}  // namespace distributions
}  // namespace v0
}  // namespace tenon
