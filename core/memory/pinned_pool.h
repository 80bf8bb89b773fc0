// Pinned host memory: of small uploads, whose bytes are copied there at once, so that the caller
// neither waits for the stream nor has to keep its own memory; and of tensors that the user pins.
//
// Invariants
//  1. A block is in one place: with who took it, in flight (behind an event of its stream), or
//     free.
//  2. Blocks in flight on a stream come back in order; looking for them costs one question for each
//     that came back.
//  3. What is taken from the backend stays below `most`; beyond it uploads wait.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "tensor/stream.h"
#include "tensor/tensor.h"

namespace tenon {

class PinnedPool {
 public:
  static constexpr uint64_t kLargest = uint64_t{1} << 20;  // of an upload that does not wait
  static constexpr uint64_t kMost = uint64_t{32} << 20;    // of uploads together

  struct Block {
    void* memory;
    uint32_t size_class;
  };

  PinnedPool(tn_device device, uint64_t most) : device_(device), most_(most) {}
  // A block without memory: there is none, and the upload is to wait.
  [[nodiscard]] Status take(uint64_t bytes, Block* block);
  // Behind all work that is now on the stream.
  void give_back_behind(Stream* stream, Block block);
  void give_back(Block block);
  // To the backend; what is in flight stays until its stream has passed.
  void release();

 private:
  static constexpr uint32_t kSmallestShift = 12, kClasses = 40;  // 4 KiB to 2 PiB
  static uint64_t bytes_of(uint32_t size_class) {
    return uint64_t{1} << (kSmallestShift + size_class);
  }
  struct Flight {
    Event passed;
    Block block;
  };

  void land();  // needs the mutex

  const tn_device device_;
  const uint64_t most_;
  std::mutex mutex_;
  // All of these need the mutex.
  std::vector<void*> free_[kClasses];
  std::unordered_map<Stream*, std::list<Flight>> in_flight_;
  uint64_t taken_ = 0;
};

// Of a plugin's device that exists; both live as long as the process.
PinnedPool& pinned_pool_of(tn_device device);
PinnedPool& pinned_tensors_of(tn_device device);

// Whether the device has pinned memory, and streams behind which copies may go on.
bool has_pinned_memory(tn_device device);
// A row-major tensor on the cpu in pinned memory of the device, which has some.
[[nodiscard]] Status empty_pinned(std::span<const int64_t> sizes, tn_dtype dtype, tn_device device,
                                  Tensor** tensor);

}  // namespace tenon
