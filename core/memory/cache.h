// cache/1: blobs that a backend attached to a storage (packed weights). They go with the storage,
// with its version, or when memory is wanted, behind the work of the streams that used them.
//
// Invariants
//  1. `destroy` is called once per blob: after it was dropped, after every call that found or
//     attached it (CallBlobs), and behind the work of their streams. It is called outside of all
//     locks.
//  2. A blob is counted from attach_blob until destroy.
//  3. What the attaching call puts on its stream makes the blob. Until that call has returned,
//     finds on other streams give NULL; later ones are put behind an event of that moment, once per
//     stream.
//  4. All lists of a device are guarded by one mutex; storage->blobs is read without it only to see
//     that there is no list.
#pragma once

#include <cstdint>

#include "base/hot_thread_local.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace tenon {

// NULL: none, its version is over (then it is destroyed), or another stream's call is still making
// it. Keyed by storage, the tensor's view of it (offset, sizes, strides, dtype) and the backend's
// key.
void* find_blob(const Tensor* tensor, Stream* stream, uint64_t key);
// Takes the blob; where caching is not possible it is destroyed behind the stream's work and that
// is a success too.
[[nodiscard]] Status attach_blob(const Tensor* tensor, Stream* stream, uint64_t key, void* blob,
                                 uint64_t bytes, void (*destroy)(void*));
void drop_blobs(tn_storage* storage);
// Drops the blobs of every storage of the device; gives the bytes they counted.
uint64_t drop_all_blobs(tn_device device);

uint64_t cached_blob_bytes(tn_device device);

struct HeldBlobs {
  uint32_t count;  // blobs that open calls of this thread hold
  uint32_t depth;  // calls open
};
TN_HOT extern constinit thread_local HeldBlobs held_blobs;

// Around each launch of a kernel, on its thread: keeps what find_blob and attach_blob gave to the
// kernel until it has returned (on cpu: is done), while other threads may drop it. Without one, a
// find is safe only from drops on the same thread.
class CallBlobs {
 public:
  CallBlobs() : mark_(held_blobs.count) { ++held_blobs.depth; }
  CallBlobs(const CallBlobs&) = delete;
  CallBlobs& operator=(const CallBlobs&) = delete;
  ~CallBlobs() {
    if (held_blobs.count != mark_) [[unlikely]] {
      release();
    }
    --held_blobs.depth;
  }

 private:
  void release();
  const uint32_t mark_;
};

}  // namespace tenon
