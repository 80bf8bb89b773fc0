#include "images.h"

namespace cuda {
namespace {

// Dimension i of a channels-last image, counted from the outermost in memory.
int32_t channels_last_dim(int32_t i, int32_t ndim) { return i == 0 ? 0 : i + 1 < ndim ? i + 1 : 1; }

bool lies(const tn_tensor& t, const int64_t* strides) {
  for (int32_t d = 0; d < t.ndim; ++d) {
    if (t.sizes[d] != 1 && t.strides[d] != strides[d]) return false;
  }
  return true;
}

}  // namespace

void image_strides(const tn_tensor& t, bool channels_last, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t i = t.ndim - 1; i >= 0; --i) {
    const int32_t d = channels_last ? channels_last_dim(i, t.ndim) : i;
    strides[d] = stride;
    stride *= t.sizes[d];
  }
}

bool is_channels_last(const tn_tensor& t) {
  if (t.ndim < 3 || (t.flags & TN_TENSOR_CONTIGUOUS) || t.numel == 0) return false;
  int64_t strides[TN_MAX_RANK];
  image_strides(t, true, strides);
  return lies(t, strides);
}

bool lies_otherwise(const tn_tensor& t) {
  if ((t.flags & TN_TENSOR_CONTIGUOUS) || t.numel == 0 || is_channels_last(t)) return false;
  int64_t stride = 1;  // each dimension in turn begins where another one ends
  for (int32_t found = 0; found < t.ndim; ++found) {
    bool fits = false;
    for (int32_t d = 0; d < t.ndim && !fits; ++d) {
      fits = t.sizes[d] > 1 && t.strides[d] == stride;
      stride *= fits ? t.sizes[d] : 1;
    }
    if (!fits) break;
  }
  return stride == t.numel;
}

void image_order(void*, const tn_call* call, uint32_t, const tn_meta* meta, int32_t* order) {
  const tn_tensor& x = *call->args[0].as.tensor;
  if (x.ndim != meta->ndim || !is_channels_last(x)) return;
  for (int32_t i = 0; i < meta->ndim; ++i) order[i] = channels_last_dim(i, meta->ndim);
}

}  // namespace cuda
