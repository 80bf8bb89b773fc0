#include "host/dlpack.h"

#include <memory>
#include <vector>

#include "primitive/convert.h"
#include "memory/adopt.h"
#include "memory/memory.h"

namespace tenon {
namespace {

// The layout that DLPack fixes; names follow its header.
struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor dl_tensor;
};
constexpr int32_t kDLCpu = 1;
constexpr uint64_t kReadOnly = 1;
DLDataType type_of(tn_dtype dtype) {
  const dtype_table::Row& row = dtype_table::kRows[dtype];
  return {row.dlpack_code, static_cast<uint8_t>(8 * row.bytes), 1};
}

struct Exported {
  DLManagedTensorVersioned managed;
  TensorRef tensor;
  std::vector<int64_t> shape, strides;
};

void delete_exported(DLManagedTensorVersioned* managed) {
  delete static_cast<Exported*>(managed->manager_ctx);
}

void release_imported(void* managed) {
  auto* m = static_cast<DLManagedTensorVersioned*>(managed);
  if (m->deleter != nullptr) m->deleter(m);
}

}  // namespace

Status export_dlpack(Tensor* t, bool writable, void** managed) {
  if (t->device.type != TN_DEVICE_CPU) {
    return error(TN_UNSUPPORTED, "dlpack: {} is not on cpu; move it there first", tensor_text(t));
  }
  if (t->requires_grad()) {
    return error(TN_FAILED_PRECONDITION,
                 "dlpack: {} requires a gradient, which would be lost; detach it first",
                 tensor_text(t));
  }
  auto exported = std::make_unique<Exported>();
  exported->tensor = TensorRef::retaining(t);
  exported->shape.assign(t->sizes, t->sizes + t->ndim);
  exported->strides.assign(t->strides, t->strides + t->ndim);
  exported->managed = {{1, 0},
                       exported.get(),
                       delete_exported,
                       writable ? 0 : kReadOnly,
                       {t->data,
                        {kDLCpu, 0},
                        t->ndim,
                        type_of(t->dtype),
                        exported->shape.data(),
                        exported->strides.data(),
                        0}};
  if (writable) t->storage->no_cache = true;  // what is written there cannot be counted
  *managed = &exported.release()->managed;
  return nullptr;
}

Status import_dlpack(void* managed, Tensor** tensor) {
  auto* m = static_cast<DLManagedTensorVersioned*>(managed);
  if (m == nullptr) return invalid("dlpack: the managed tensor is NULL");
  if (m->version.major != 1)
    return invalid("dlpack: version {}.{}, expected 1.x", m->version.major, m->version.minor);
  const DLTensor& d = m->dl_tensor;
  if (d.device.device_type != kDLCpu) {
    return error(TN_UNSUPPORTED, "dlpack: device type {}, only host memory (1) is taken",
                 d.device.device_type);
  }
  tn_dtype dtype = TN_DTYPE_NONE;
  for (tn_dtype i = 0; i < TN_N_DTYPES; ++i) {
    const DLDataType type = type_of(i);
    if (type.code == d.dtype.code && type.bits == d.dtype.bits && d.dtype.lanes == 1) dtype = i;
  }
  if (dtype == TN_DTYPE_NONE) {
    return error(TN_UNSUPPORTED, "dlpack: dtype code {}, {} bits, {} lanes has no counterpart",
                 d.dtype.code, d.dtype.bits, d.dtype.lanes);
  }
  if (d.ndim < 0 || d.ndim > TN_MAX_RANK)
    return invalid("dlpack: {} dimensions, expected 0 to {}", d.ndim, TN_MAX_RANK);
  if (d.shape == nullptr && d.ndim > 0)
    return invalid("dlpack: shape is NULL for {} dimensions", d.ndim);
  const std::span<const int64_t> sizes(d.shape, static_cast<size_t>(d.ndim));
  int64_t numel;
  TN_TRY(count_elements("dlpack", sizes, dtype, &numel));
  if (d.data == nullptr && numel > 0) return invalid("dlpack: data is NULL for {} elements", numel);
  int64_t extent = numel > 0 ? 1 : 0;
  for (int32_t i = 0; i < d.ndim && d.strides != nullptr && numel > 0; ++i) {
    if (d.strides[i] < 0)
      return error(TN_UNSUPPORTED, "dlpack: stride {} of dimension {} is negative", d.strides[i],
                   i);
    int64_t reach;
    if (__builtin_mul_overflow(d.shape[i] - 1, d.strides[i], &reach) ||
        __builtin_add_overflow(extent, reach, &extent) || extent > INT64_MAX / 8) {
      return invalid("dlpack: stride {} of dimension {} is too large", d.strides[i], i);
    }
  }
  if (d.strides == nullptr) extent = numel;
  const bool read_only = (m->flags & kReadOnly) != 0;
  Tensor* shared = adopt_host_tensor(
      static_cast<char*>(d.data) + d.byte_offset, static_cast<uint64_t>(extent) * item_size(dtype),
      read_only ? [](void*) {} : release_imported, managed, sizes, d.strides, dtype);
  shared->storage->no_cache = true;
  if (!read_only) {
    *tensor = shared;
    return nullptr;
  }
  // Nothing here keeps a tensor from being written: what must not be is copied. The owner is told
  // once the copy is made.
  const TensorRef original(shared);
  Tensor* copied;
  TN_TRY(empty_tensor(sizes, dtype, shared->device, &copied));
  TensorRef copy(copied);
  TN_TRY(copy_into(copied, shared));
  release_imported(managed);
  *tensor = copy.take();
  return nullptr;
}

}  // namespace tenon
