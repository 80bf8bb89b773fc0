// The host's tensor: the public prefix, its count, and the fields that autograd fills. Creation with
// memory is in memory/memory.h; views are in view.h. Everything here is shape and bookkeeping.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/counted.h"
#include "base/pool.h"
#include "base/status.h"
#include "tensor/dtype.h"
#include "tensor/storage.h"

namespace tenon {

inline constexpr int32_t kInlineRank = 5;

struct Tensor : tn_tensor {
  std::atomic<uint32_t> refs;
  uint32_t output_number;  // which output of grad_fn
  Counted* grad_fn;        // autograd's Node that made this; owned; NULL for leaves
  Counted* meta;           // autograd's leaf or hooks; owned; mostly NULL
  // of a view: the tensor whose storage it shows, never itself a view; owned
  Tensor* base;
  uint32_t grad_fn_version;  // of a view: the version at which grad_fn was right
  uint16_t view_flags;       // kViewNoGrad, kViewOfCustom
  // a recorded call may hold this tensor or a view of it (SavedTensor)
  std::atomic<uint16_t> is_saved;
  int64_t inline_dims[2 * kInlineRank];  // sizes, then strides; longer ones are on the heap

  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs.load(std::memory_order_acquire) == 1 ||
        refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy();
    }
  }
  bool retained_once() const { return refs.load(std::memory_order_acquire) == 1; }

  bool requires_grad() const { return (flags & TN_TENSOR_REQUIRES_GRAD) != 0; }
  bool is_leaf() const { return (flags & TN_TENSOR_LEAF) != 0; }
  bool is_contiguous() const { return (flags & TN_TENSOR_CONTIGUOUS) != 0; }
  std::span<const int64_t> size_span() const { return {sizes, static_cast<size_t>(ndim)}; }
  std::span<const int64_t> stride_span() const { return {strides, static_cast<size_t>(ndim)}; }
  uint32_t version() const { return version_of(storage).load(std::memory_order_relaxed); }
  // No locked addition: bumps that race are writes that race, and one step of the count shows both.
  void bump_version() { version_of(storage).store(version() + 1, std::memory_order_relaxed); }

 private:
  void destroy();
};

// A view made while gradients were off: it does not follow its base into a graph.
inline constexpr uint16_t kViewNoGrad = 1;
// What a custom function gave of memory that others hold, its input's mostly, or a view of that. Its
// history is the function's, which a write in place would not go through.
inline constexpr uint16_t kViewOfCustom = 2;

using TensorRef = Ref<Tensor>;
using TensorPool = Pool<sizeof(Tensor), 64>;

inline Tensor* as_tensor(tn_tensor* t) { return static_cast<Tensor*>(t); }
inline const Tensor* as_tensor(const tn_tensor* t) { return static_cast<const Tensor*>(t); }

// A tensor over a storage (its reference is taken, also by the exception of exhausted memory).
// Checks nothing. strides NULL: row-major. `offset` in elements.
Tensor* make_tensor(tn_storage* storage, std::span<const int64_t> sizes, const int64_t* strides,
                    int64_t offset, tn_dtype dtype);

// A header's memory; the reference to the storage goes back where there is none.
inline void* take_header(tn_storage* storage) {
  try {
    return TensorPool::allocate();
  } catch (...) {
    storage->release();
    throw;
  }
}

// A header over a storage (its reference is taken), without geometry: sizes, strides, numel, ndim,
// flags, data and byte_offset are the caller's to set.
inline Tensor* begin_tensor(tn_storage* storage, tn_dtype dtype) {
  auto* t = static_cast<Tensor*>(take_header(storage));
  t->dtype = dtype;
  t->device = storage->device;
  t->reserved = 0;
  t->storage = storage;
  t->refs.store(1, std::memory_order_relaxed);
  t->output_number = 0;
  t->grad_fn = nullptr;
  t->meta = nullptr;
  t->base = nullptr;
  t->grad_fn_version = 0;
  t->view_flags = 0;
  t->is_saved.store(0, std::memory_order_relaxed);
  return t;
}

// Row-major, with the sizes of `model`, which is row-major too: its header copied, instead of
// computed.
inline Tensor* make_tensor_like(tn_storage* storage, const Tensor* model, tn_dtype dtype) {
  if (model->ndim > kInlineRank || storage->device.type != TN_DEVICE_CPU) [[unlikely]] {
    return make_tensor(storage, model->size_span(), nullptr, 0, dtype);
  }
  Tensor* t = begin_tensor(storage, dtype);
  t->data = storage->memory;
  t->sizes = t->inline_dims;
  t->strides = t->inline_dims + model->ndim;
  t->numel = model->numel;
  t->ndim = model->ndim;
  t->flags = TN_TENSOR_LEAF | TN_TENSOR_CONTIGUOUS;
  t->byte_offset = 0;
  // of a fixed size: no loop
  std::memcpy(t->inline_dims, model->inline_dims, sizeof(t->inline_dims));
  return t;
}

// The number of elements; an error for negative sizes, more than TN_MAX_RANK dimensions, or more
// bytes than int64 holds.
[[nodiscard]] Status count_elements(const char* what, std::span<const int64_t> sizes,
                                    tn_dtype dtype, int64_t* numel);

// How often tensors on which compiled functions lean changed in what is no value: requires_grad,
// hooks, or the storage that they show. With kNothingFits none of these functions is replayed again.
extern std::atomic<uint64_t> watched_changes;
inline constexpr uint64_t kNothingFits = uint64_t{1} << 63;
inline void note_watched_change(const Tensor* t) {
  if (t->storage->watched.load(std::memory_order_relaxed) == 0) return;
  t->storage->watched.fetch_add(1, std::memory_order_relaxed);
  watched_changes.fetch_add(1, std::memory_order_relaxed);
}
// That requires_grad becomes `on`. Each tensor adds a number of its own and takes it away again, so
// that one which is frozen for a while has changed nothing. The numbers are addresses that are mixed
// (the finalizer of SplitMix64), since addresses of tensors that were made in a row have equal sums.
inline void note_watched_requires_grad(const Tensor* t, bool on) {
  if (t->storage->watched.load(std::memory_order_relaxed) == 0) return;
  uint64_t own = reinterpret_cast<uintptr_t>(t);
  own = (own ^ own >> 30) * 0xbf58476d1ce4e5b9u;
  own = (own ^ own >> 27) * 0x94d049bb133111ebu;
  own = (own ^ own >> 31) | 1u;
  t->storage->watched.fetch_add(on ? own : uint64_t{0} - own, std::memory_order_relaxed);
  watched_changes.fetch_add(1, std::memory_order_relaxed);
}

// "[64, 100] float32 on acme:0"
std::string tensor_text(const tn_tensor* t);
std::string sizes_text(const tn_tensor* t);

}  // namespace tenon
