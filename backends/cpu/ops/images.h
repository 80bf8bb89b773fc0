// Images [n, channels, ..] lie row-major, or channels-last: the channels innermost. Kernels that
// take both give what they got, so a network stays in the layout of its input.
#pragma once

#include <cstdint>

#include "ops/copy.h"
#include "ops/norm.h"

namespace tenon::cpu_backend {

// Is it channels-last, and not row-major as well?
inline bool is_channels_last(const tn_tensor& t) {
  if (t.ndim < 3 || (t.flags & TN_TENSOR_CONTIGUOUS) || t.numel == 0) {
    return false;
  }
  int64_t stride = 1;
  const auto lies_here = [&](int32_t d) {
    const bool fits = t.sizes[d] == 1 || t.strides[d] == stride;
    stride *= t.sizes[d];
    return fits;
  };
  bool fits = lies_here(1);
  for (int32_t d = t.ndim - 1; d >= 2; --d) {
    fits = fits && lies_here(d);
  }
  return fits && lies_here(0);
}

// Dense in a third order. Its gradient would lie so too, which the kernels do not write.
inline bool lies_otherwise(const tn_tensor& t) {
  if ((t.flags & TN_TENSOR_CONTIGUOUS) || t.numel == 0 || is_channels_last(t)) {
    return false;
  }
  int64_t stride = 1;  // each dimension in turn begins where another one ends
  for (int32_t found = 0; found < t.ndim; ++found) {
    bool fits = false;
    for (int32_t d = 0; d < t.ndim && !fits; ++d) {
      fits = t.sizes[d] > 1 && t.strides[d] == stride;
      stride *= fits ? t.sizes[d] : 1;
    }
    if (!fits) {
      break;
    }
  }
  return stride == t.numel;
}
inline constexpr char kOtherOrder[] = "x is neither row-major nor channels-last";

// A tn_order_fn: channels-last outputs for a channels-last first argument.
inline void image_order(void*, const tn_call* call, uint32_t, const tn_meta* meta, int32_t* order) {
  const tn_tensor& x = *call->args[0].as.tensor;
  if (x.ndim != meta->ndim || !is_channels_last(x)) {
    return;
  }
  for (int32_t d = 2; d < meta->ndim; ++d) {
    order[d - 1] = d;
  }
  order[meta->ndim - 1] = 1;
}

// The elements of t, row-major or channels-last as asked; copied where t lies otherwise.
inline void as_image(const tn_call* call, const tn_tensor& t, bool channels_last,
                     const float** elements) {
  *elements = data(&t);
  const bool is_row_major = (t.flags & TN_TENSOR_CONTIGUOUS) != 0;
  if (t.numel == 0 || (channels_last ? is_channels_last(t) : is_row_major)) {
    return;
  }
  int32_t order[TN_MAX_RANK];
  for (int32_t d = 0; d < t.ndim; ++d) {
    order[d] = channels_last && d > 0 ? (d + 1 < t.ndim ? d + 1 : 1) : d;
  }
  int64_t strides[TN_MAX_RANK], stride = 1;
  for (int32_t i = t.ndim - 1; i >= 0; --i) {
    strides[order[i]] = stride;
    stride *= t.sizes[order[i]];
  }
  void* const memory = Call(call).workspace(static_cast<uint64_t>(t.numel) * sizeof(float));
  tn_tensor copy = t;
  copy.data = memory;
  copy.strides = strides;
  *elements = static_cast<float*>(memory);
  return run_copy(call->host, copy, t);
}

// Of kernels of float32 images: the host copies what has gaps or repetitions.
inline constexpr KernelOptions images_of_float32(uint32_t traits) {
  return {.dtypes = float32, .layout = Layout::dense, .traits = traits};
}

}  // namespace tenon::cpu_backend
