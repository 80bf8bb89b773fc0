#include "tensor/tensor.h"

#include <algorithm>

#include "base/text.h"

namespace tenon {
namespace {

bool row_major(std::span<const int64_t> sizes, const int64_t* strides) {
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 0) return true;
    if (sizes[d] != 1) {
      if (strides[d] != expected) {  // which says nothing where there are no elements
        const auto first = sizes.first(d);
        return std::find(first.begin(), first.end(), 0) != first.end();
      }
      expected *= sizes[d];
    }
  }
  return true;
}

// Sizes and strides of a tensor that is being made, where they are too many for the header.
int64_t* take_long_dims(Tensor* t, int32_t ndim) {
  try {
    return new int64_t[2 * ndim];
  } catch (...) {
    t->storage->release();
    TensorPool::free(t);
    throw;
  }
}

}  // namespace

Tensor* make_tensor(tn_storage* storage, std::span<const int64_t> sizes, const int64_t* strides,
                    int64_t offset, tn_dtype dtype) {
  Tensor* t = begin_tensor(storage, dtype);
  const auto ndim = static_cast<int32_t>(sizes.size());
  int64_t* own_sizes = ndim <= kInlineRank ? t->inline_dims : take_long_dims(t, ndim);
  int64_t* own_strides = own_sizes + ndim;
  int64_t numel = 1;
  for (int32_t d = ndim; d-- > 0;) {
    own_sizes[d] = sizes[d];
    own_strides[d] = strides != nullptr ? strides[d] : numel;
    // Strides of row-major tensors with an empty dimension count it as one, as PyTorch's do.
    numel *= strides == nullptr && sizes[d] == 0 ? 1 : sizes[d];
  }
  if (strides == nullptr) {
    for (int32_t d = 0; d < ndim; ++d) numel = sizes[d] == 0 ? 0 : numel;
  }
  t->sizes = own_sizes;
  t->strides = own_strides;
  t->numel = numel;
  t->ndim = ndim;
  t->flags =
      TN_TENSOR_LEAF |
      (strides == nullptr || row_major(sizes, strides) ? uint32_t{TN_TENSOR_CONTIGUOUS} : 0u);
  t->byte_offset = static_cast<uint64_t>(offset) * kItemSize[dtype];
  const bool addressed =
      storage->memory != nullptr && numel > 0 &&
      (storage->device.type == TN_DEVICE_CPU ||
       (device_type(storage->device.type)->def.flags & TN_DEVICE_NO_ADDRESS) == 0);
  t->data = addressed ? static_cast<char*>(storage->memory) + t->byte_offset : nullptr;
  return t;
}

void Tensor::destroy() {
  if (grad_fn != nullptr) grad_fn->release();
  if (meta != nullptr) meta->release();
  if (base != nullptr) base->release();
  storage->release();
  if (ndim > kInlineRank) delete[] sizes;
  TensorPool::free(this);
}

std::atomic<uint64_t> watched_changes{0};

Status count_elements(const char* what, std::span<const int64_t> sizes, tn_dtype dtype,
                      int64_t* numel) {
  const auto ndim = static_cast<int32_t>(sizes.size());
  if (sizes.size() > TN_MAX_RANK) {  // of a negative number of them, too
    return invalid("{}: {} dimensions, expected at most {}", what, ndim, TN_MAX_RANK);
  }
  if (!is_known_dtype(dtype)) return invalid("{}: dtype {} is reserved or unknown", what, dtype);
  int64_t n = 1;
  int64_t bytes = kItemSize[dtype];
  bool empty = false;
  for (const int64_t size : sizes) {
    if (size < 0) {
      return invalid("{}: negative size in {}", what, shape_text(sizes.data(), ndim));
    }
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(n, size, &n) || __builtin_mul_overflow(bytes, size, &bytes)) {
      return invalid("{}: the shape {} ({}) overflows: more bytes than 63 bits hold", what,
                     shape_text(sizes.data(), ndim), dtype_name(dtype));
    }
  }
  *numel = empty ? 0 : n;
  return nullptr;
}

std::string sizes_text(const tn_tensor* t) { return shape_text(t->sizes, t->ndim); }

std::string tensor_text(const tn_tensor* t) {
  return fmt::format("{} {} on {}{}", sizes_text(t), dtype_name(t->dtype), device_text(t->device),
                     (t->flags & TN_TENSOR_ROWS) != 0 ? " (row-sparse)" : "");
}

}  // namespace tenon
