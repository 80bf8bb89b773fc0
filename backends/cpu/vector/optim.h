// Steps of optimizers on n elements of a parameter, its gradient and its state, in float or double.
#pragma once

#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

TENON_INLINE float root_of(float x) { return __builtin_sqrtf(x); }
TENON_INLINE double root_of(double x) { return __builtin_sqrt(x); }

template <typename T>
void adam(T* p, const T* g, T* m, T* v, int64_t n, const AdamStep& step) {
  const T sign = static_cast<T>(step.sign), decay = static_cast<T>(step.decay),
          keep = static_cast<T>(step.keep), size = static_cast<T>(step.size),
          floor = static_cast<T>(step.floor);
  const T old_m = static_cast<T>(step.beta1), new_m = static_cast<T>(1 - step.beta1),
          old_v = static_cast<T>(step.beta2), new_v = static_cast<T>(1 - step.beta2);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T d = sign * g[i] + decay * p[i];
    const T mean = old_m * m[i] + new_m * d;
    const T square = old_v * v[i] + new_v * d * d;
    p[i] = keep * p[i] - size * mean / (root_of(square) + floor);
    m[i] = mean;
    v[i] = square;
  }
}

template <typename T>
void sgd(T* p, const T* g, T* buffer, int64_t n, const SgdStep& step) {
  const T sign = static_cast<T>(step.sign), decay = static_cast<T>(step.decay),
          lr = static_cast<T>(step.lr), old = static_cast<T>(step.old),
          fresh = static_cast<T>(step.fresh), ahead = static_cast<T>(step.ahead),
          own = static_cast<T>(step.own);
  if (!buffer) {
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      p[i] -= lr * (sign * g[i] + decay * p[i]);
    }
    return;
  }
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T d = sign * g[i] + decay * p[i];
    const T b = old * buffer[i] + fresh * d;
    p[i] -= lr * (own * d + ahead * b);
    buffer[i] = b;
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
