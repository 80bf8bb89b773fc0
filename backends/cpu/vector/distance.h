// Distances of one row and many, and what they leave to its gradient. The many lie in columns, so that
// rows of any length fill vectors: y[k * stride + j] is element k of row j.
#pragma once

#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// Terms that are added in T before they go to a double.
constexpr int64_t kDistanceTerms = 32;

template <typename T>
TENON_INLINE Vec<T> magnitude(Vec<T> v) {
  return v < 0 ? -v : v;
}
template <typename T>
TENON_INLINE Vec<T> sign_of(Vec<T> v) {
  const Vec<T> zero = {}, one = broadcast(T(1));
  return v > 0 ? one : v < 0 ? -one : zero;  // of NaN 0, as TN_I_SIGN
}

// Of `width` vectors of columns; what is behind `count` is not written.
template <typename T, bool kSquares, int width>
TENON_INLINE void distance_tile(T* out, const T* x, const T* y, int64_t stride, int64_t size,
                                int64_t count) {
  double sums[width * kLanes<T>] = {};
  for (int64_t k = 0; k < size;) {
    const int64_t end = smaller(size, k + kDistanceTerms);
    Vec<T> part[width] = {};
    for (; k < end; ++k) {
      const Vec<T> own = broadcast(x[k]);
      const T* const there = y + k * stride;
#pragma GCC unroll 4
      for (int v = 0; v < width; ++v) {
        const Vec<T> apart = own - load(there + v * kLanes<T>);
        part[v] += kSquares ? apart * apart : magnitude<T>(apart);
      }
    }
    for (int v = 0; v < width; ++v) {
      for (int i = 0; i < kLanes<T>; ++i) {
        sums[v * kLanes<T> + i] += part[v][i];
      }
    }
  }
  for (int64_t j = 0; j < count; ++j) {
    out[j] = static_cast<T>(kSquares ? __builtin_sqrt(sums[j]) : sums[j]);
  }
}

// out[j] = |x - y_j| for j < count, the sum of magnitudes or the root of that of squares. A vector's
// lanes behind the last column are read.
template <typename T, bool kSquares>
void distances(T* out, const T* x, const T* y, int64_t stride, int64_t size, int64_t count) {
  constexpr int64_t wide = 4 * kLanes<T>;
  int64_t j = 0;
  for (; j + wide <= count; j += wide) {
    distance_tile<T, kSquares, 4>(out + j, x, y + j, stride, size, wide);
  }
  for (; j < count; j += kLanes<T>) {
    distance_tile<T, kSquares, 1>(out + j, x, y + j, stride, size, smaller(kLanes<T>, count - j));
  }
}

// dx[k] += the sum of factor[j] (x[k] - y_j[k]), or of its sign, over j < count. A vector's lanes
// behind the last column and factor are read.
template <typename T, bool kSquares>
void distance_slopes(T* dx, const T* x, const T* y, int64_t stride, int64_t size, int64_t count,
                     const T* factor) {
  Vec<T> lane;
  for (int i = 0; i < kLanes<T>; ++i) {
    lane[i] = static_cast<T>(i);
  }
  for (int64_t k = 0; k < size; ++k) {
    const Vec<T> own = broadcast(x[k]), zero = {};
    const T* const there = y + k * stride;
    const auto term = [&](int64_t j) __attribute__((always_inline)) {
      const Vec<T> apart = own - load(there + j);
      return (kSquares ? apart : sign_of<T>(apart)) * load(factor + j);
    };
    double sum = 0;
    int64_t j = 0;
    while (j + kLanes<T> <= count) {
      const int64_t end = smaller(count, j + kDistanceTerms * 2 * kLanes<T>);
      Vec<T> a = {}, b = {};
      for (; j + 2 * kLanes<T> <= end; j += 2 * kLanes<T>) {
        a += term(j);
        b += term(j + kLanes<T>);
      }
      if (j + kLanes<T> <= end) {
        a += term(j);
        j += kLanes<T>;
      }
      a += b;
      for (int i = 0; i < kLanes<T>; ++i) {
        sum += a[i];
      }
    }
    if (j < count) {
      const Vec<T> rest = lane < broadcast(static_cast<T>(count - j)) ? term(j) : zero;
      for (int i = 0; i < kLanes<T>; ++i) {
        sum += rest[i];
      }
    }
    dx[k] += static_cast<T>(sum);
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
