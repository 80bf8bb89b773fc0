// Sums of weighted elements of a plane at places that are listed: what sampling an image comes to.
#pragma once

#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// 0 outside, also where the plane's first element or the weight is infinite or NaN.
TENON_INLINE float element_at(const float* plane, int32_t at) {
  const float value = plane[at < 0 ? 0 : at];
  return at < 0 ? 0.f : value;
}

TENON_INLINE float weighted_at(const float* plane, int32_t at, float weight) {
  const float value = plane[at < 0 ? 0 : at] * weight;
  return at < 0 ? 0.f : value;
}

// y[i] = the sum of the plane's elements at the taps of place i, by their weights.
void sample(float* y, const float* plane, int64_t n, const SampleTaps& taps) {
  if (taps.n == 1) {
    const int32_t* const at = taps.at[0];
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      y[i] = element_at(plane, at[i]);
    }
    return;
  }
  const int32_t *const a = taps.at[0], *const b = taps.at[1], *const c = taps.at[2],
                       *const d = taps.at[3];
  const float *const right = taps.right, *const below = taps.below;
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const float left = 1 - right[i], above = 1 - below[i];
    y[i] = weighted_at(plane, a[i], left * above) + weighted_at(plane, b[i], right[i] * above) +
           weighted_at(plane, c[i], left * below[i]) +
           weighted_at(plane, d[i], right[i] * below[i]);
  }
}

// dright[i] += g[i] dy/dright, dbelow[i] += g[i] dy/dbelow, where y is sample()'s of four taps.
void sample_slopes(float* dright, float* dbelow, const float* g, const float* plane, int64_t n,
                   const SampleTaps& taps) {
  const int32_t *const a = taps.at[0], *const b = taps.at[1], *const c = taps.at[2],
                       *const d = taps.at[3];
  const float *const right = taps.right, *const below = taps.below;
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const float above_left = element_at(plane, a[i]), above_right = element_at(plane, b[i]);
    const float below_left = element_at(plane, c[i]), below_right = element_at(plane, d[i]);
    dright[i] += g[i] * ((above_right - above_left) * (1 - below[i]) +
                         (below_right - below_left) * below[i]);
    dbelow[i] += g[i] * ((below_left - above_left) * (1 - right[i]) +
                         (below_right - above_right) * right[i]);
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
