#include "tensor/layout.h"

#include <algorithm>
#include <numeric>

namespace tenon {

void dimension_order(const tn_tensor* t, int32_t* order) {
  std::iota(order, order + t->ndim, 0);
  std::stable_sort(order, order + t->ndim,
                   [&](int32_t a, int32_t b) { return t->strides[a] > t->strides[b]; });
}

void strides_in_order(std::span<const int64_t> sizes, const int32_t* order, int64_t* strides) {
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(sizes[order[i]], 1);
  }
}

bool is_dense(const tn_tensor* t) {
  if ((t->flags & TN_TENSOR_CONTIGUOUS) != 0 || t->numel == 0) return true;
  int32_t order[TN_MAX_RANK];
  dimension_order(t, order);
  int64_t stride = 1;
  for (int32_t i = t->ndim; i-- > 0;) {
    const int32_t d = order[i];
    if (t->sizes[d] == 1) continue;
    if (t->strides[d] != stride) return false;
    stride *= t->sizes[d];
  }
  return true;
}

}  // namespace tenon
