// DLPack 1.x, the exchange of tensors between frameworks in one process: host memory, without a
// copy. The pointers are DLManagedTensorVersioned* of its header dlpack.h, which is not needed
// here.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/literal.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// A view of t for others, who call its deleter when they are done; t's memory lives so long. Of a
// cpu tensor that requires no gradient, else an Error. Not writable: marked READ_ONLY.
inline void* to_dlpack(const Tensor& t, bool writable = true) {
  void* managed = nullptr;
  check(detail::api.tensor->to_dlpack(t.get(), writable, &managed));
  return managed;
}
// Takes another's tensor and calls its deleter when its memory is needed no more; on an Error it
// stays the caller's. What is marked READ_ONLY is copied, since tensors can be written.
inline Tensor from_dlpack(void* managed) {
  tn_tensor* t = nullptr;
  check(detail::api.tensor->from_dlpack(managed, &t));
  return Tensor::take(t);
}

namespace detail {
// A DLManagedTensorVersioned, and what it points to.
struct Blob {
  uint32_t major = 1, minor = 0;
  void* context = nullptr;
  void (*deleter)(Blob*) = nullptr;
  uint64_t flags = 0;
  void* data = nullptr;
  int32_t device_type = 1, device_id = 0;  // the host
  int32_t ndim = 0;
  uint8_t code = 0, bits = 0;
  uint16_t lanes = 1;
  int64_t *sizes = nullptr, *strides = nullptr;  // NULL: row-major
  uint64_t byte_offset = 0;

  std::vector<int64_t> all_sizes, all_strides;
};
// One whose memory is given back by release(data).
template <typename F>
struct BlobOf : Blob {
  F release;
  explicit BlobOf(F f) : release(std::move(f)) {
    deleter = [](Blob* done) {
      const std::unique_ptr<BlobOf> owned(static_cast<BlobOf*>(done));
      owned->release(owned->data);
    };
  }
};
}  // namespace detail

// A tensor of memory of the program's on the host, row-major unless strides (in elements) are
// given, without a copy: frames of a camera, arrays of another library. `data` is aligned to its
// elements and lives until `release(data)` is called, when nothing uses the tensor any more; on an
// Error it is not called. Without `release` the program sees to it. It may stand behind the dtype,
// or as libtorch's in front of it.
template <typename F>
requires std::is_invocable_v<F&, void*> Tensor from_blob(void* data, Ints sizes, Ints strides,
                                                         F release, const TensorOptions& options) {
  enum : uint8_t { kIntCode = 0, kUintCode = 1, kFloatCode = 2, kBfloatCode = 4, kBoolCode = 6 };
  const Dtype dtype = options.dtype ? options.dtype : float32;
  if (reinterpret_cast<uintptr_t>(data) % uint64_t(dtype.itemsize()) != 0) {
    fail(detail::joined({"from_blob: data is not aligned to elements of ", dtype.name()}));
  }
  if (!strides.empty() && strides.size() != sizes.size()) {
    fail(detail::joined({"from_blob: ", std::to_string(strides.size()), " strides for ",
                         std::to_string(sizes.size()), " sizes, expected equally many"}));
  }
  if (!options.device.is_cpu()) {
    fail(detail::joined({"from_blob: the device is ", options.device.name(),
                         ", expected cpu, since data is memory of the host; copy it with .to"}));
  }
  if (options.requires_grad && !dtype.is_float()) {
    fail(detail::joined({"from_blob: requires_grad is set, and the dtype is ", dtype.name(),
                         ", expected a float dtype"}));
  }
  auto blob = std::make_unique<detail::BlobOf<F>>(std::move(release));
  blob->all_sizes.assign(sizes.begin(), sizes.end());
  blob->all_strides.assign(strides.begin(), strides.end());
  blob->data = data;
  blob->ndim = int32_t(sizes.size());
  blob->sizes = blob->all_sizes.data();
  if (!strides.empty()) blob->strides = blob->all_strides.data();
  blob->code = dtype == bool_      ? kBoolCode
               : dtype == bfloat16 ? kBfloatCode
               : dtype.is_float()  ? kFloatCode
               : dtype == uint8    ? kUintCode
                                   : kIntCode;
  blob->bits = uint8_t(8 * dtype.itemsize());
  Tensor t = from_dlpack(static_cast<detail::Blob*>(blob.get()));
  blob.release();
  if (options.requires_grad) t.requires_grad_();
  return t;
}
template <typename F>
requires std::is_invocable_v<F&, void*> Tensor from_blob(void* data, Ints sizes, Ints strides,
                                                         F release, Dtype dtype = float32) {
  return from_blob(data, sizes, strides, std::move(release), TensorOptions{.dtype = dtype});
}
template <typename F>
requires std::is_invocable_v<F&, void*> Tensor from_blob(void* data, Ints sizes, F release,
                                                         const TensorOptions& options) {
  return from_blob(data, sizes, Ints(), std::move(release), options);
}
template <typename F>
requires std::is_invocable_v<F&, void*> Tensor from_blob(void* data, Ints sizes, F release,
                                                         Dtype dtype = float32) {
  return from_blob(data, sizes, Ints(), std::move(release), TensorOptions{.dtype = dtype});
}
template <std::same_as<Dtype> D, typename F>
requires std::is_invocable_v<F&, void*> Tensor from_blob(void* data, Ints sizes, D dtype,
                                                         F release) {
  return from_blob(data, sizes, Ints(), std::move(release), TensorOptions{.dtype = dtype});
}
inline Tensor from_blob(void* data, Ints sizes, Ints strides, const TensorOptions& options) {
  return from_blob(
      data, sizes, strides, [](void*) {}, options);
}
inline Tensor from_blob(void* data, Ints sizes, Ints strides, Dtype dtype = float32) {
  return from_blob(
      data, sizes, strides, [](void*) {}, TensorOptions{.dtype = dtype});
}
inline Tensor from_blob(void* data, Ints sizes, const TensorOptions& options) {
  return from_blob(
      data, sizes, Ints(), [](void*) {}, options);
}
template <std::same_as<Dtype> D = Dtype>
Tensor from_blob(void* data, Ints sizes, D dtype = float32) {
  return from_blob(
      data, sizes, Ints(), [](void*) {}, TensorOptions{.dtype = dtype});
}

}  // namespace v0
}  // namespace tenon
