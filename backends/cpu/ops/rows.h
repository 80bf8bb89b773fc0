// Rows along one dimension of tensors of the same sizes: what SCAN and SORT walk.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tenon/abi.h"

namespace tenon::cpu_backend {

struct RowsAlong {
  const tn_tensor& t;  // not empty
  int32_t dim;
  // A negative dimension counts from the end.
  RowsAlong(const tn_tensor& tensor, int64_t along)
      : t(tensor), dim(static_cast<int32_t>(along < 0 ? along + tensor.ndim : along)) {}
  int64_t length() const { return t.sizes[dim]; }
  int64_t count() const { return t.numel / t.sizes[dim]; }
  int64_t stride(const tn_tensor& other) const { return other.strides[dim]; }
  // The dimension in which neighbouring rows differ, the last that is not theirs; -1: there is one row.
  int32_t across() const { return dim == t.ndim - 1 ? t.ndim - 2 : t.ndim - 1; }
  // How far apart neighbouring rows of a tensor of these sizes are, in elements.
  int64_t apart(const tn_tensor& other) const { return across() < 0 ? 0 : other.strides[across()]; }
  // How many rows from `row` on are neighbours of each other: before `end`, and `most`.
  int64_t together(int64_t row, int64_t end, int64_t most) const {
    if (across() < 0) return 1;
    const int64_t line = t.sizes[across()];
    return std::min({most, end - row, line - row % line});
  }
  // The offset of row `row` in a tensor of these sizes, in elements. Of two dimensions, as most are, it takes
  // no division.
  int64_t offset(const tn_tensor& other, int64_t row) const {
    const int32_t outermost = dim == 0 ? 1 : 0;
    int64_t at = 0;
    for (int32_t d = t.ndim - 1; d > outermost; --d) {
      if (d != dim) {
        at += row % t.sizes[d] * other.strides[d];
        row /= t.sizes[d];
      }
    }
    return outermost < t.ndim ? at + row * other.strides[outermost] : at;
  }
};

}  // namespace tenon::cpu_backend
