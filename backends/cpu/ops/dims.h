// Dimensions of an operation on one or two strided tensors: those of size one dropped, the others
// ordered by the first tensor's strides, the largest first, and merged where both tensors allow.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/walk.h"
#include "tenon/abi.h"

namespace tenon::cpu_backend {

struct Dims {
  int32_t n = 0;  // at least 1 after merge(); sizes are 1 then if there was none
  int64_t sizes[TN_MAX_RANK];
  int64_t first[TN_MAX_RANK], second[TN_MAX_RANK];  // strides

  Dims(const tn_tensor& a, const tn_tensor& b) {
    for (int32_t d = 0; d < a.ndim; ++d) {
      if (a.sizes[d] != 1) {
        insert(a.sizes[d], a.strides[d], b.strides[d]);
      }
    }
    merge();
  }

  // Offsets of a flat index over the dimensions [0, count).
  void offsets(int32_t count, int64_t flat, int64_t* a, int64_t* b) const {
    *a = 0;
    *b = 0;
    for (int32_t d = count - 1; d >= 0; --d) {
      const int64_t i = flat % sizes[d];
      flat /= sizes[d];
      *a += i * first[d];
      *b += i * second[d];
    }
  }

  // f(a, b) with the offsets of the flat indices from begin to end over the dimensions [0, count).
  template <typename F>
  void each(int32_t count, int64_t begin, int64_t end, const F& f) const {
    walk<2>(count, sizes, {first, second}, begin, end,
            [&](const std::array<int64_t, 2>& at, const int64_t*) { f(at[0], at[1]); });
  }

  void move_before_last(int32_t from) {
    for (int32_t d = from; d + 2 < n; ++d) {
      std::swap(sizes[d], sizes[d + 1]);
      std::swap(first[d], first[d + 1]);
      std::swap(second[d], second[d + 1]);
    }
  }

 private:
  void insert(int64_t size, int64_t a, int64_t b) {
    int32_t at = n++;
    for (; at > 0 && first[at - 1] < a; --at) {
      sizes[at] = sizes[at - 1];
      first[at] = first[at - 1];
      second[at] = second[at - 1];
    }
    sizes[at] = size;
    first[at] = a;
    second[at] = b;
  }
  void merge() {
    int32_t kept = 0;
    for (int32_t d = 0; d < n; ++d) {
      const bool joins = kept > 0 && first[kept - 1] == first[d] * sizes[d] &&
                         second[kept - 1] == second[d] * sizes[d];
      if (joins) {
        --kept;
        sizes[kept] *= sizes[d];
      } else {
        sizes[kept] = sizes[d];
      }
      first[kept] = first[d];
      second[kept] = second[d];
      ++kept;
    }
    if (kept == 0) {
      sizes[0] = first[0] = second[0] = 1;
      kept = 1;
    }
    n = kept;
  }
};

}  // namespace tenon::cpu_backend
