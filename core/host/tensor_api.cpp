// tensor/1.
#include "autograd/grad.h"
#include "autograd/inplace.h"
#include "autograd/prim.h"
#include "primitive/convert.h"
#include "primitive/device_dtypes.h"
#include "host/dlpack.h"
#include "host/tables.h"
#include "memory/adopt.h"
#include "memory/memory.h"
#include "memory/pinned_pool.h"
#include "memory/transfer.h"
#include "registry/recording.h"
#include "registry/thread_state.h"
#include "tensor/rows.h"
#include "tensor/view.h"

namespace tenon {
namespace {

tn_status* empty(int32_t ndim, const int64_t* sizes, tn_dtype dtype, tn_device device,
                 tn_tensor** result) {
  return guarded([&]() -> Status {
    if (sizes == nullptr && ndim > 0) [[unlikely]]
      return invalid("empty: sizes is NULL, with {} dimensions", ndim);
    if (result == nullptr) [[unlikely]]
      return expect_place("empty", result);
    const std::span<const int64_t> shape(sizes, static_cast<size_t>(ndim));
    int64_t numel;
    TN_TRY(count_elements("empty", shape, dtype, &numel));
    if (device.type != TN_DEVICE_CPU || device.index != 0) {
      TN_TRY(check_device(device));
      if (Status failed = check_has_dtype(device, dtype))
        return wrap(failed, [] { return "empty"; });
    }
    Tensor* t;
    TN_TRY(empty_tensor(shape, dtype, device, &t));
    if ((thread_state.modes & kModeInference) != 0) t->flags |= TN_TENSOR_INFERENCE;
    *result = t;
    return nullptr;
  });
}

tn_status* from_memory(void* data, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                       tn_dtype dtype, void (*release)(void*), void* context, tn_tensor** result) {
  return guarded([&]() -> Status {
    if (sizes == nullptr && ndim > 0)
      return invalid("from_memory: sizes is NULL, with {} dimensions", ndim);
    TN_TRY(expect_place("from_memory", result));
    const std::span<const int64_t> shape(sizes, static_cast<size_t>(ndim));
    int64_t numel;
    TN_TRY(count_elements("from_memory", shape, dtype, &numel));
    if (data == nullptr && numel > 0)
      return invalid("from_memory: data is NULL for {} elements", numel);
    int64_t extent = numel;
    if (strides != nullptr && numel > 0) {
      extent = 1;
      for (int32_t d = 0; d < ndim; ++d) {
        int64_t reach;
        if (strides[d] < 0 || __builtin_mul_overflow(sizes[d] - 1, strides[d], &reach) ||
            __builtin_add_overflow(extent, reach, &extent)) {
          return invalid("from_memory: stride {} of dimension {} is negative or too large",
                         strides[d], d);
        }
      }
    }
    int64_t bytes;
    if (__builtin_mul_overflow(extent, static_cast<int64_t>(item_size(dtype)), &bytes)) {
      return invalid("from_memory: the strides reach more bytes than 63 bits hold");
    }
    *result = adopt_host_tensor(data, static_cast<uint64_t>(bytes), release, context, shape,
                                strides, dtype);
    return nullptr;
  });
}

tn_status* to(tn_tensor* t, tn_device device, tn_dtype dtype, tn_tensor** result) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given_tensor("to", t));
    TN_TRY(expect_place("to", result));
    if (!(device == kCpu)) TN_TRY(check_device(device));
    if (dtype != TN_DTYPE_NONE && !is_known_dtype(dtype))
      return invalid("to: dtype {}, which is none", dtype);
    *result = prim::convert(as_tensor(t), device, dtype == TN_DTYPE_NONE ? t->dtype : dtype).take();
    return nullptr;
  });
}

tn_status* copy_(tn_tensor* dst, tn_tensor* src) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("copy_", dst));
    TN_TRY(expect_tensor("copy_: src", src));
    return copy_recorded(as_tensor(dst), as_tensor(src));
  });
}

tn_status* read(tn_tensor* t, void* memory, uint64_t bytes) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("read", t));
    if (memory == nullptr && bytes > 0)
      return invalid("read: the memory is NULL, for {} bytes", bytes);
    return read_values(as_tensor(t), memory, bytes);
  });
}

tn_status* write(tn_tensor* t, const void* memory, uint64_t bytes) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("write", t));
    if (memory == nullptr && bytes > 0)
      return invalid("write: the memory is NULL, for {} bytes", bytes);
    return write_values(as_tensor(t), memory, bytes);
  });
}

// Whoever has the address reads and writes behind the back of a recording.
void refuse_recording(const char* what, const tn_tensor* t) {
  if ((thread_state.modes & kModeRecord) != 0) {
    thread_state.recording->refuse(
        fmt::format("{}: the host looks at the memory of {}", what, tensor_text(t)));
  }
}

tn_status* data(const tn_tensor* t, const void** data) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("data", t));
    TN_TRY(expect_place("data", data));
    refuse_recording("data", t);
    *data = t->data;
    return nullptr;
  });
}

tn_status* mutable_data(tn_tensor* t, void** data) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("mutable_data", t));
    TN_TRY(expect_place("mutable_data", data));
    if (t->device.type != TN_DEVICE_CPU) {
      return invalid("mutable_data: {} is not host memory; use write", tensor_text(t));
    }
    refuse_recording("mutable_data", t);
    as_tensor(t)->bump_version();
    *data = t->data;
    return nullptr;
  });
}

tn_status* detach_tensor(tn_tensor* t, tn_tensor** result) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given_tensor("detach", t));
    TN_TRY(expect_place("detach", result));
    // A row-sparse tensor has no history, and never changes.
    *result =
        is_rows(as_tensor(t)) ? TensorRef::retaining(as_tensor(t)).take() : detach(as_tensor(t));
    return nullptr;
  });
}

tn_status* view_as_dtype(tn_tensor* t, tn_dtype dtype, tn_tensor** result) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("view", t));
    TN_TRY(expect_place("view", result));
    refuse_recording("view of another dtype", t);
    Tensor* view = nullptr;
    TN_TRY(view_dtype(as_tensor(t), dtype, &view));
    *result = view;
    return nullptr;
  });
}

uint64_t version(const tn_tensor* t) { return t != nullptr ? as_tensor(t)->version() : 0; }
int32_t same_storage(const tn_tensor* a, const tn_tensor* b) {
  return a != nullptr && b != nullptr && same_memory(a->storage, b->storage) ? 1 : 0;
}
void* storage_memory(const tn_storage* storage) {
  return storage != nullptr ? storage->memory : nullptr;
}
int32_t is_retained_once(const tn_tensor* t) {
  return t != nullptr && as_tensor(t)->retained_once() ? 1 : 0;
}
tn_dtype dtype_by_name(const char* name) {
  return name != nullptr ? dtype_from_name(name) : tn_dtype{TN_DTYPE_NONE};
}
tn_dtype promote(tn_dtype a, tn_dtype b) {
  return is_known_dtype(a) && is_known_dtype(b) ? dtype_table::promote(a, b)
                                                : tn_dtype{TN_DTYPE_NONE};
}

tn_status* to_dlpack(tn_tensor* t, int32_t writable, void** managed) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("to_dlpack", t));
    TN_TRY(expect_place("to_dlpack", managed));
    refuse_recording("to_dlpack", t);
    return export_dlpack(as_tensor(t), writable != 0, managed);
  });
}

tn_status* from_dlpack(void* managed, tn_tensor** result) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("from_dlpack: the tensor", managed));
    TN_TRY(expect_place("from_dlpack", result));
    Tensor* t;
    TN_TRY(import_dlpack(managed, &t));
    *result = t;
    return nullptr;
  });
}

tn_status* pin(tn_tensor* t, tn_device device, tn_tensor** result) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("pin_memory", t));
    TN_TRY(expect_place("pin_memory", result));
    TN_TRY(check_device(device));
    Tensor* x = as_tensor(t);
    if (!(x->device == kCpu)) {
      return invalid("pin_memory: the tensor is on {}, expected cpu: pinned memory is of the host",
                     device_text(x->device));
    }
    if (!has_pinned_memory(device) || x->storage->pinned_for == device.type) {
      x->retain();
      *result = x;
      return nullptr;
    }
    Tensor* made;
    if (Status failed = empty_pinned(x->size_span(), x->dtype, device, &made))
      return wrap(failed, [] { return "pin_memory"; });
    TensorRef hold(made);
    TN_TRY(copy_into(made, x));
    *result = hold.take();
    return nullptr;
  });
}

int32_t is_pinned(const tn_tensor* t) {
  const tn_storage* storage = t == nullptr ? nullptr : as_tensor(t)->storage;
  return storage != nullptr && storage->pinned_for != TN_DEVICE_CPU;
}

int32_t set_non_blocking(int32_t on) { return std::exchange(non_blocking_copies, on != 0); }

}  // namespace

const tn_tensor_api* tensor_api() {
  static const tn_tensor_api table = {sizeof(tn_tensor_api),
                                      empty,
                                      from_memory,
                                      to,
                                      copy_,
                                      read,
                                      write,
                                      mutable_data,
                                      detach_tensor,
                                      version,
                                      same_storage,
                                      storage_memory,
                                      is_retained_once,
                                      item_size,
                                      dtype_name,
                                      dtype_by_name,
                                      promote,
                                      to_dlpack,
                                      from_dlpack,
                                      data,
                                      pin,
                                      is_pinned,
                                      set_non_blocking,
                                      view_as_dtype};
  return &table;
}

}  // namespace tenon
