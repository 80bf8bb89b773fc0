// What the kernels of normalizations, pools and attention share: float32, row-major, pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "cpu.h"

namespace tenon::cpu_backend {

inline constexpr int64_t kPieceElements = 8192;

// Sums of columns are cut into so many runs of rows, whose sums are then added up: by the sizes
// alone, so that the result does not depend on the number of threads.
inline int64_t row_runs(int64_t rows, int64_t n) {
  constexpr int64_t kMostRuns = 16, kLeastRows = 16;
  return std::clamp<int64_t>(std::min(rows * n / kPieceElements, rows / kLeastRows), 1, kMostRuns);
}

inline const tn_tensor* tensor_of(const tn_value& v) {
  return v.kind == TN_KIND_TENSOR ? v.as.tensor : nullptr;
}
inline float* data(const tn_tensor* t) { return t ? static_cast<float*>(t->data) : nullptr; }
inline float* data(const tn_value& v) { return data(tensor_of(v)); }

inline float rstd_of(double var, double eps) {
  return static_cast<float>(1 / std::sqrt(var + eps));
}

// The gradient of (x - mean) rstd by x, of n values, is of_g g + of_x (x - mean) + shift; `sum` and
// `dot` are those of g and g (x - mean).
struct Slopes {
  float of_g, of_x, shift;
  Slopes(float rstd, double sum, double dot, double n)
      : of_g(rstd),
        of_x(static_cast<float>(-dot * rstd * rstd * rstd / n)),
        shift(static_cast<float>(-sum * rstd / n)) {}
};

// Zeros for all outputs that are wanted.
inline void clear_outputs(const tn_call* call) {
  for (uint32_t i = 0; i < call->n_outputs; ++i) {
    const tn_tensor* t = call->outputs[i];
    if (t && t->numel > 0) {
      std::memset(t->data, 0, static_cast<size_t>(t->numel * item_size(t->dtype)));
    }
  }
}

inline void describe(tn_meta* meta, const tn_tensor& like, int64_t n) {
  meta->ndim = 1;
  meta->dtype = TN_FLOAT32;
  meta->device = like.device;
  meta->sizes[0] = n;
}

// Of kernels of float32 tensors that are row-major.
inline constexpr KernelOptions rows_of_float32(uint32_t traits) {
  return {.dtypes = float32, .layout = Layout::contiguous, .traits = traits};
}

}  // namespace tenon::cpu_backend
