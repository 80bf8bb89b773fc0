// x[{0, slice(1, 3), none, ellipsis, mask}]: PyTorch's indexing, for reading and for writing. Part
// of ops/methods.hpp. Ints, slices, none and ellipsis give a view; tensors of int64 or int32 and
// masks of bool or uint8 pick elements, as `index` does, and give a copy. A tensor of whole numbers
// without dimensions is the int that it holds. What is assigned takes x's dtype: a float is
// truncated where x holds integers.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/messages.hpp"
#include "tenon/ops/create.hpp"
#include "tenon/ops/elementwise.hpp"
#include "tenon/ops/index.hpp"
#include "tenon/ops/shape.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Python's start:end:step; a bound may be `none`, or negative: counted from the end.
struct Slice {
  int64_t start = 0, end = INT64_MAX, step = 1;
  Slice(std::optional<int64_t> from = {}, std::optional<int64_t> to = {}, int64_t by = 1)
      : start(from.value_or(0)), end(to.value_or(INT64_MAX)), step(by) {}
};
inline Slice slice() { return {}; }
inline Slice slice(int64_t start, int64_t end, int64_t step = 1) { return {start, end, step}; }
inline Slice slice(int64_t start, NoneType, int64_t step = 1) { return {start, none, step}; }
inline Slice slice(NoneType, int64_t end, int64_t step = 1) { return {none, end, step}; }
inline Slice slice(NoneType, NoneType, int64_t step = 1) { return {none, none, step}; }

// As many full slices as dimensions are left.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};

// One entry: an int, a slice, `none` (a new dimension of size 1), `ellipsis`, or a tensor.
class Index {
 public:
  template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Index(T at)
      : kind_(kInt), slice_{int64_t(at), 0, 1} {}
  // Picks these, as a tensor of them on the device of what is indexed.
  template <typename T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Index(const std::vector<T>& list)
      : kind_(kList), tensor_(Tensor::from(std::vector<int64_t>(list.begin(), list.end()))) {}
  // A mask: of one element for each of a dimension, or without dimensions, which is all of x or none of it.
  Index(const std::vector<bool>& mask)
      : kind_(kList),
        tensor_(Tensor::from(std::vector<uint8_t>(mask.begin(), mask.end())).to(bool_)) {}
  template <std::same_as<bool> B>
  Index(B mask) : kind_(kList), tensor_(full({}, mask, bool_)) {}
  // "..." is the ellipsis.
  Index(const char* text) : kind_(kEllipsis) {
    if (std::string_view(text) != "...") {
      fail(detail::joined({"index: '", messages::printable(text),
                           "' is no index, expected '...', a number, a slice or a tensor"}));
    }
  }
  Index(Slice slice) : kind_(kSlice), slice_(slice) {}
  Index(NoneType) : kind_(kNone) {}
  Index(Ellipsis) : kind_(kEllipsis) {}
  // An int without dimensions is read here, which waits for its device. One that is not there is a
  // whole slice, as it is to the op.
  Index(const Tensor& tensor) : kind_(tensor.defined() ? kTensor : kSlice), tensor_(tensor) {
    if (!tensor.defined() || tensor.dim() != 0) return;
    if (tensor.dtype().is_float() || tensor.dtype() == bool_ || tensor.dtype() == uint8) return;
    kind_ = kInt;
    slice_.start = tensor.item<int64_t>();
  }

 private:
  friend class Indexed;
  enum Kind { kInt, kSlice, kNone, kEllipsis, kTensor, kList };
  // How many of x's dimensions it takes.
  int64_t dims() const {
    if (kind_ == kTensor || kind_ == kList) {
      const bool is_mask = tensor_.dtype() == bool_ || tensor_.dtype() == uint8;
      return is_mask ? tensor_.dim() : 1;
    }
    return kind_ == kInt || kind_ == kSlice;
  }
  Kind kind_;
  Slice slice_{};
  Tensor tensor_;
};

// What x[..] gives: the tensor that was read. Assigning to it where it was made writes to x, as
// x[0] = y and x[{mask}] += 1 do; as a variable it is a handle as any Tensor.
class Indexed : public Tensor {
 public:
  Indexed(const Tensor& x, const Index* list, size_t n) { read(x, list, n); }
  Indexed(const Indexed&) = default;
  Indexed(Indexed&&) = default;

  const Tensor& operator=(const Tensor& values) && { return write(values); }
  const Tensor& operator=(const Indexed& values) && { return write(values); }
  template <typename T>
  requires std::is_arithmetic_v<T>
  const Tensor& operator=(T value) && {
    if (indices_.empty()) return tenon::fill_(base_, value), base_;
    return write(full({}, value, dtype(), device()));
  }
  Indexed& operator=(const Indexed&) & = default;
  Indexed& operator=(const Tensor& tensor) & {
    Tensor::operator=(tensor);
    base_ = {};
    indices_.clear();
    return *this;
  }
  const Tensor& operator+=(Operand y) && { return update(Tensor::operator+=(y)); }
  const Tensor& operator-=(Operand y) && { return update(Tensor::operator-=(y)); }
  const Tensor& operator*=(Operand y) && { return update(Tensor::operator*=(y)); }
  const Tensor& operator/=(Operand y) && { return update(Tensor::operator/=(y)); }
  const Tensor& operator%=(Operand y) && { return update(Tensor::operator%=(y)); }
  const Tensor& operator&=(Operand y) && { return update(Tensor::operator&=(y)); }
  const Tensor& operator|=(Operand y) && { return update(Tensor::operator|=(y)); }
  const Tensor& operator^=(Operand y) && { return update(Tensor::operator^=(y)); }
  const Tensor& operator<<=(Operand y) && { return update(Tensor::operator<<=(y)); }
  const Tensor& operator>>=(Operand y) && { return update(Tensor::operator>>=(y)); }
  // Of a variable: the tensor itself, as any Tensor.
  const Tensor& operator+=(Operand y) const& { return Tensor::operator+=(y); }
  const Tensor& operator-=(Operand y) const& { return Tensor::operator-=(y); }
  const Tensor& operator*=(Operand y) const& { return Tensor::operator*=(y); }
  const Tensor& operator/=(Operand y) const& { return Tensor::operator/=(y); }
  const Tensor& operator%=(Operand y) const& { return Tensor::operator%=(y); }
  const Tensor& operator&=(Operand y) const& { return Tensor::operator&=(y); }
  const Tensor& operator|=(Operand y) const& { return Tensor::operator|=(y); }
  const Tensor& operator^=(Operand y) const& { return Tensor::operator^=(y); }
  const Tensor& operator<<=(Operand y) const& { return Tensor::operator<<=(y); }
  const Tensor& operator>>=(Operand y) const& { return Tensor::operator>>=(y); }

 private:
  friend class Tensor;
  struct Unread {};
  Indexed(Unread, const Tensor& x, const Index* list, size_t n) { place(x, list, n); }

  void place(const Tensor& x, const Index* list, size_t n);
  void read(const Tensor& x, const Index* list, size_t n) {
    place(x, list, n);
    Tensor::operator=(indices_.empty() ? base_ : tenon::index(base_, indices_));
  }
  const Tensor& write(Tensor values) {
    // As in PyTorch: dimensions of size 1 in front of `values` are none.
    while (values.dim() > 0 && values.size(0) == 1) values = tenon::select(values, 0, 0);
    if (indices_.empty()) return base_.copy_(values);
    tenon::index_put_(base_, indices_, values.to(base_.device(), base_.dtype()));
    return *this;
  }
  // What was read has been changed: a view of x, or a copy.
  const Tensor& update(const Tensor& changed) {
    return indices_.empty() ? changed : write(changed);
  }

  Tensor base_;                  // x seen through the ints, slices and new dimensions
  std::vector<Tensor> indices_;  // the tensors, null where there is none
};

inline void Indexed::place(const Tensor& x, const Index* list, size_t n) {
  int64_t taken = 0, dim = 0, from = 0, covered = 0;
  int ellipses = 0;
  for (size_t i = 0; i < n; ++i) {
    taken += list[i].dims();
    ellipses += list[i].kind_ == Index::kEllipsis;
  }
  if (taken > x.dim()) {
    fail(detail::joined({"index: ", std::to_string(taken), " dimensions are indexed, x has ",
                         std::to_string(x.dim())}));
  }
  if (ellipses > 1) fail("index: more than one ellipsis");
  base_ = x;
  for (size_t i = 0; i < n; ++i) {
    const Index& at = list[i];
    switch (at.kind_) {
      case Index::kInt: {
        const int64_t size = x.size(from);
        if (at.slice_.start < -size || at.slice_.start >= size) {
          fail(detail::joined({"index: ", std::to_string(at.slice_.start),
                               " is out of range for dimension ", std::to_string(from), " of size ",
                               std::to_string(size)}));
        }
        base_ = tenon::select(base_, dim, at.slice_.start);
        break;
      }
      case Index::kSlice:
        base_ = tenon::slice(base_, dim++, at.slice_.start, at.slice_.end, at.slice_.step);
        break;
      case Index::kNone:
        base_ = tenon::unsqueeze(base_, dim++);
        break;
      case Index::kEllipsis:
        dim += x.dim() - taken;
        from += x.dim() - taken;
        break;
      case Index::kTensor:
      case Index::kList:
        indices_.resize(indices_.size() + size_t(dim - covered));
        indices_.push_back(at.kind_ == Index::kList ? at.tensor_.to(x.device()) : at.tensor_);
        dim += at.dims();
        covered = dim;
        break;
    }
    from += at.dims();
  }
}

// for (Tensor row : x): the tensors along the first dimension, views of x.
class Rows {
 public:
  Rows(const Tensor& x, int64_t at) : x_(x), at_(at) {}
  Tensor operator*() const { return tenon::select(x_, 0, at_); }
  Rows& operator++() {
    ++at_;
    return *this;
  }
  bool operator==(const Rows& other) const { return at_ == other.at_; }

 private:
  Tensor x_;
  int64_t at_;
};
inline Rows Tensor::begin() const {
  if (dim() == 0) fail("begin: a tensor of no dimensions has no rows");
  return Rows(*this, 0);
}
inline Rows Tensor::end() const { return Rows(*this, size(0)); }

inline Tensor Tensor::take(const Tensor& index) const { return tenon::take(*this, index); }
inline Indexed Tensor::operator[](const Index& index) const { return Indexed(*this, &index, 1); }
inline Indexed Tensor::operator[](std::initializer_list<Index> indices) const {
  return Indexed(*this, indices.begin(), indices.size());
}
inline Indexed Tensor::operator[](const std::vector<Index>& indices) const {
  return Indexed(*this, indices.data(), indices.size());
}
inline Indexed Tensor::index(std::initializer_list<Index> indices) const {
  return (*this)[indices];
}
inline Indexed Tensor::index(const std::vector<Index>& indices) const { return (*this)[indices]; }
inline const Tensor& Tensor::index_put_(std::initializer_list<Index> indices, Number value,
                                        Bool accumulate) const {
  return index_put_(std::vector<Index>(indices), value, accumulate);
}
inline const Tensor& Tensor::index_put_(std::initializer_list<Index> indices, const Tensor& values,
                                        Bool accumulate) const {
  return index_put_(std::vector<Index>(indices), values, accumulate);
}
inline const Tensor& Tensor::index_put_(const std::vector<Index>& indices, Number value,
                                        Bool accumulate) const {
  return index_put_(indices, full({}, value, dtype(), device()), accumulate);
}
inline const Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Tensor& values,
                                        Bool accumulate) const {
  Indexed place(Indexed::Unread(), *this, indices.data(), indices.size());
  if (!accumulate) {
    place.write(values);
  } else if (place.indices_.empty()) {
    place.base_ += values;
  } else {
    tenon::index_put_(place.base_, place.indices_, values.to(device(), dtype()), true);
  }
  return *this;
}

}  // namespace v0
}  // namespace tenon
