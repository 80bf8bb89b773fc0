// The maximum over windows of one plane, with the place of each.
#pragma once

#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu {
namespace {

// `stride` is a constant where it is 1 or 2: the loop becomes vectors then. The first of equal ones
// is kept, and a NaN.
TENON_INLINE void max_row_of(float* best, int32_t* place, const float* x, int64_t n, int64_t stride,
                             int32_t first) {
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i * stride], b = best[i];
    const bool takes = (v > b) | ((v != v) & (b == b));
    best[i] = takes ? v : b;
    place[i] = takes ? first + static_cast<int32_t>(i * stride) : place[i];
  }
}

// A window of nothing but -inf finds its first, which may be in the padding: -1.
void max_plane(const PoolAxis& h, const PoolAxis& w, const float* x, float* y, int32_t* places) {
  for (int64_t i = 0; i < h.out; ++i) {
    float* const best = y + i * w.out;
    int32_t* const place = places + i * w.out;
    const int64_t top = i * h.stride - h.padding;
    for (int64_t j = 0; j < w.out; ++j) {
      const int64_t left = j * w.stride - w.padding;
      best[j] = -__builtin_inff();
      place[j] = top < 0 || left < 0 ? -1 : static_cast<int32_t>(top * w.size + left);
    }
    for (int64_t a = 0; a < h.kernel; ++a) {
      const int64_t row = top + a * h.dilation;
      if (row < 0 || row >= h.size) {
        continue;
      }
      for (int64_t b = 0; b < w.kernel; ++b) {
        // The outputs whose element b lies within the row.
        const int64_t shift = b * w.dilation - w.padding, room = w.size - 1 - shift;
        const int64_t first = shift >= 0 ? 0 : (w.stride - 1 - shift) / w.stride;
        const int64_t end = room < 0 ? 0 : room / w.stride + 1;
        const int64_t n = (end < w.out ? end : w.out) - first;
        const int32_t at = static_cast<int32_t>(row * w.size + first * w.stride + shift);
        if (n <= 0) {
          continue;
        }
        if (w.stride == 1) {
          max_row_of(best + first, place + first, x + at, n, 1, at);
        } else if (w.stride == 2) {
          max_row_of(best + first, place + first, x + at, n, 2, at);
        } else {
          max_row_of(best + first, place + first, x + at, n, w.stride, at);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon::cpu
