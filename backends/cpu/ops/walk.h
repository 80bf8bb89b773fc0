// Walks through dimensions in row-major order, by counting on from one place to the next: a division
// for each dimension and place takes longer than to move a short row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tenon/abi.h"

namespace tenon::cpu_backend {

// f(offsets, index) for the flat indices from begin to end over n_dims dimensions: where each of the
// tensors whose strides are given has its element, and the index along each dimension.
template <size_t N, typename F>
void walk(int32_t n_dims, const int64_t* sizes, const std::array<const int64_t*, N>& strides,
          int64_t begin, int64_t end, const F& f) {
  int64_t index[TN_MAX_RANK] = {};
  std::array<int64_t, N> offsets{};
  const auto move = [&](int32_t d, int64_t by) {
    index[d] += by;
    for (size_t k = 0; k < N; ++k) offsets[k] += by * strides[k][d];
  };
  int64_t flat = begin;
  for (int32_t d = n_dims - 1; d >= 0; --d) {
    if (sizes[d] == 0) return;
    move(d, flat % sizes[d]);
    flat /= sizes[d];
  }
  for (int64_t i = begin; i < end; ++i) {
    f(static_cast<const std::array<int64_t, N>&>(offsets), static_cast<const int64_t*>(index));
    for (int32_t d = n_dims - 1; d >= 0; --d) {
      move(d, 1);
      if (index[d] < sizes[d]) break;
      move(d, -index[d]);
    }
  }
}

}  // namespace tenon::cpu_backend
