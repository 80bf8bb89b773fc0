#include "tensor/layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenon {

void dimension_order(const tn_tensor* t, int32_t* order) {
  std::iota(order, order + t->ndim, 0);
  for (int32_t i = 1; i < t->ndim; ++i) {
    int32_t at = i;
    for (int32_t before = i - 1; before >= 0; --before) {
      const int64_t outer = t->strides[order[before]], inner = t->strides[order[at]];
      if (outer == 0 || inner == 0) continue;
      if (outer >= inner) break;
      std::swap(order[before], order[at]);
      at = before;
    }
  }
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
