// Sums of a plane's shifted elements, each shift with a weight of its own: a depthwise convolution whose rows
// lie behind each other, and the gradient of its weights.
#pragma once

#include "vector/lanes.h"

namespace tenon::cpu_backend {
namespace {

// N vectors of y from one place on.
template <int N>
TENON_INLINE void sum_taps(float* y, const float* x, const float* weights, const int64_t* shifts,
                           int64_t n_taps, float bias) {
  Vec<float> sums[N];
  for (int k = 0; k < N; ++k) sums[k] = broadcast(bias);
  for (int64_t t = 0; t < n_taps; ++t) {
    const Vec<float> weight = broadcast(weights[t]);
    const float* const from = x + shifts[t];
    for (int k = 0; k < N; ++k) sums[k] += weight * load(from + k * kLanes<float>);
  }
  for (int k = 0; k < N; ++k) store(y + k * kLanes<float>, sums[k]);
}

void depthwise_taps(float* y, const float* x, int64_t n, const float* weights,
                    const int64_t* shifts, int64_t n_taps, float bias) {
  constexpr int kMany = 6, kL = kLanes<float>;
  int64_t i = 0;
  for (; i + kMany * kL <= n; i += kMany * kL)
    sum_taps<kMany>(y + i, x + i, weights, shifts, n_taps, bias);
  for (; i + 2 * kL <= n; i += 2 * kL) sum_taps<2>(y + i, x + i, weights, shifts, n_taps, bias);
  for (; i + kL <= n; i += kL) sum_taps<1>(y + i, x + i, weights, shifts, n_taps, bias);
  if (i == n) return;
  Vec<float> sum = broadcast(bias);
  for (int64_t t = 0; t < n_taps; ++t)
    sum += broadcast(weights[t]) * load_part(x + i + shifts[t], n - i, 0);
  store_part(y + i, n - i, sum);
}

TENON_INLINE double sum_of_lanes(Vec<float> v) {
  double sum = 0;
  for (int i = 0; i < kLanes<float>; ++i) sum += static_cast<double>(v[i]);
  return sum;
}

// The products of N taps, U vectors at once.
template <int N, int U>
TENON_INLINE void add_dots(double* sums, const float* g, const float* x, int64_t n,
                           const int64_t* shifts) {
  constexpr int kL = kLanes<float>;
  Vec<float> dots[N][U] = {};
  int64_t i = 0;
  for (; i + U * kL <= n; i += U * kL) {
    for (int u = 0; u < U; ++u) {
      const Vec<float> of_g = load(g + i + u * kL);
      for (int k = 0; k < N; ++k) dots[k][u] += of_g * load(x + i + u * kL + shifts[k]);
    }
  }
  for (; i < n; i += kL) {
    const int64_t rest = smaller(n - i, kL);
    const Vec<float> of_g = load_part(g + i, rest, 0);
    for (int k = 0; k < N; ++k) dots[k][0] += of_g * load_part(x + i + shifts[k], rest, 0);
  }
  for (int k = 0; k < N; ++k) {
    for (int u = 1; u < U; ++u) dots[k][0] += dots[k][u];
    sums[k] += sum_of_lanes(dots[k][0]);
  }
}

void depthwise_dots(double* sums, const float* g, const float* x, int64_t n, const int64_t* shifts,
                    int64_t n_taps) {
  int64_t t = 0;
  for (; t + 4 <= n_taps; t += 4) add_dots<4, 2>(sums + t, g, x, n, shifts + t);
  for (; t + 2 <= n_taps; t += 2) add_dots<2, 4>(sums + t, g, x, n, shifts + t);
  if (t < n_taps) add_dots<1, 4>(sums + t, g, x, n, shifts + t);
}

}  // namespace
}  // namespace tenon::cpu_backend
