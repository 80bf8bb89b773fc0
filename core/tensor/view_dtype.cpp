// A tensor's bytes as another dtype.
#include "base/small_vector.h"
#include "base/text.h"
#include "tensor/view.h"

namespace tenon {

Status view_dtype(Tensor* of, tn_dtype dtype, Tensor** view) {
  if (dtype < 0 || dtype >= TN_N_DTYPES) return invalid("view: {} is no dtype", dtype);
  const auto refuse = [&](const std::string& expected) {
    return invalid("view: {} cannot be read as {}; expected {}", tensor_text(of), dtype_name(dtype),
                   expected);
  };
  if (dtype == TN_BOOL && of->dtype != TN_BOOL)
    return refuse("another dtype: a bool is 0 or 1, which x != 0 gives");
  const auto before = static_cast<int64_t>(kItemSize[of->dtype]),
             after = static_cast<int64_t>(kItemSize[dtype]);
  SmallVector<int64_t, 6> sizes(of->sizes, of->sizes + of->ndim),
      strides(of->strides, of->strides + of->ndim);
  if (before != after) {
    if (of->ndim == 0) return refuse("a dtype of as many bytes where there are no dimensions");
    const auto last = static_cast<size_t>(of->ndim - 1);
    if (strides[last] != 1 && sizes[last] != 1)
      return refuse("elements of the last dimension side by side: contiguous() first");
    if (sizes[last] * before % after != 0) {
      return refuse(fmt::format("a last dimension of {} bytes times any number, and it has {}",
                                after, sizes[last] * before));
    }
    for (size_t d = 0; d < last; ++d) {
      if (strides[d] * before % after != 0)
        return refuse(fmt::format("rows that lie {} bytes times any number apart", after));
      strides[d] = strides[d] * before / after;
    }
    sizes[last] = sizes[last] * before / after;
    strides[last] = 1;
  }
  const auto place = reinterpret_cast<uintptr_t>(of->data);
  if (static_cast<int64_t>(of->byte_offset) % after != 0 ||
      (of->device.type == TN_DEVICE_CPU && place % static_cast<uintptr_t>(after) != 0))
    return refuse(fmt::format("a first element at a multiple of {} bytes of memory", after));
  of->storage->retain();
  *view = make_tensor(of->storage, sizes, strides.data(),
                      static_cast<int64_t>(of->byte_offset) / after, dtype);
  (*view)->flags |= of->flags & TN_TENSOR_INFERENCE;
  return nullptr;
}

}  // namespace tenon
