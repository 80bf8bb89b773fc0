// The maximum over windows of one plane, with the place of each.
#pragma once

#include <utility>

#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

template <typename T, int N>
struct Several {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
  typedef T there __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
};

// N elements at once, where rows may be shorter than a vector.
template <int N>
struct Larger {
  using Values = typename Several<float, N>::type;
  using Places = typename Several<int32_t, N>::type;
  using ValuesThere = typename Several<float, N>::there;
  using PlacesThere = typename Several<int32_t, N>::there;

  static TENON_INLINE Values load(const float* p) {
    return *reinterpret_cast<const ValuesThere*>(p);
  }
  // Every second of p[0] to p[2 N - 2], which is the last that is read.
  static TENON_INLINE Values load_even(const float* p) {
    return shuffle_even(load(p), load(p + N - 1), std::make_integer_sequence<int, N>());
  }
  template <int... I>
  static TENON_INLINE Values shuffle_even(Values low, Values high,
                                          std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(low, high, (I < N / 2 ? 2 * I : 2 * I + 1)...);
  }
  // best = the larger of both, the first of equal ones, and the last NaN; place goes with it.
  static TENON_INLINE int64_t take(float* best, int32_t* place, const float* x, int64_t i,
                                   int64_t n, int64_t stride, int32_t first) {
    Places places;
    for (int k = 0; k < N; ++k) {
      places[k] = first + k * static_cast<int32_t>(stride);
    }
    for (; i + N <= n; i += N) {
      const Values v = stride == 1 ? load(x + i) : load_even(x + 2 * i), b = load(best + i);
      auto* const there = reinterpret_cast<PlacesThere*>(place + i);
      const Places takes = (v > b) | (v != v);
      *reinterpret_cast<ValuesThere*>(best + i) = takes ? v : b;
      *there = takes ? places + static_cast<int32_t>(i * stride) : *there;
    }
    return i;
  }
};

void max_row(float* best, int32_t* place, const float* x, int64_t n, int64_t stride,
             int32_t first) {
  int64_t i = 0;
  if (stride <= 2) {
    i = Larger<kLanes<float>>::take(best, place, x, i, n, stride, first);
    i = Larger<4>::take(best, place, x, i, n, stride, first);
  }
  for (; i < n; ++i) {
    const float v = x[i * stride], b = best[i];
    if (v > b || v != v) {
      best[i] = v;
      place[i] = first + static_cast<int32_t>(i * stride);
    }
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
        if (n > 0) {
          max_row(best + first, place + first, x + at, n, w.stride, at);
        }
      }
    }
  }
}

// best = the larger of best and x, as above, where all of x is at the place `at`.
void max_columns(float* best, int32_t* places, const float* x, int64_t n, int32_t at) {
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i], b = best[i];
    const bool takes = v > b || v != v;
    best[i] = takes ? v : b;
    places[i] = takes ? at : places[i];
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
