// Memory on any device: storages from the caching allocator, ordered between streams, with
// statistics and limits.
//
// Invariants
//  1. A block is given again on another stream only behind all work that used it (hazards.h).
//  2. Bytes taken from a device never pass its limit; before an allocation fails, the device's
//     cache was emptied (blobs of cache/1 too) and the request repeated, once.
//  3. Under sanitizers nothing is cached: every storage is its own allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/hot_thread_local.h"
#include "base/status.h"
#include "tensor/device.h"
#include "tensor/tensor.h"

namespace tenon {

// `stream` is NULL for cpu; meta storages have no memory. bytes may be 0. The memory is
// uninitialized.
[[nodiscard]] Status allocate_storage(tn_device device, Stream* stream, uint64_t bytes,
                                      tn_storage** storage);

// A row-major tensor on the device's current stream; sizes were checked. The hot path of every op.
[[nodiscard]] Status empty_tensor(std::span<const int64_t> sizes, tn_dtype dtype, tn_device device,
                                  Tensor** tensor);

// The same with other strides, which are dense (tensor/layout.h).
[[nodiscard]] Status empty_strided(std::span<const int64_t> sizes, const int64_t* strides,
                                   tn_dtype dtype, tn_device device, Tensor** tensor);

// As empty_tensor, with the sizes and device of `model`, which is row-major and not empty.
[[nodiscard]] Status empty_like(const Tensor* model, tn_dtype dtype, Tensor** tensor);

// The number of the newest recording of a compiled function that is open, on any thread; 0: none.
extern std::atomic<uint32_t> open_recording;
// Told of each storage that tensors of this thread get while one is; NULL: nobody listens.
using AllocationListener = void (*)(tn_storage*);
TN_HOT extern constinit thread_local AllocationListener allocation_listener;

// Host memory of somebody else as a storage; release (may be NULL) gets context at the end.
tn_storage* adopt_host_memory(void* memory, uint64_t bytes, void (*release)(void*), void* context);

// Call before work that reads or writes the storage is put on `stream` (not for cpu and meta): puts
// it behind the work on other streams that it conflicts with, and notes the use, so that the memory
// is not given away before it is done.
[[nodiscard]] Status use_storage(tn_storage* storage, Stream* stream, bool write);

[[nodiscard]] Status memory_stats(tn_device device, tn_memory_stats* stats);
[[nodiscard]] Status reset_peak_memory(tn_device device);
[[nodiscard]] Status set_memory_limit(tn_device device, uint64_t bytes);
[[nodiscard]] Status empty_cache(tn_device device);

}  // namespace tenon
