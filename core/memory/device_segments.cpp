// Segments: what the block cache of a plugin's device takes from the backend, and gives back.
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/cache.h"
#include "memory/deferred.h"
#include "memory/device_memory.h"
#include "memory/pinned_pool.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kPage = 2 * kMiB;  // GPUs map whole ones
constexpr uint64_t kSmallSegment = kPage;
constexpr uint64_t kMiddleSegment = 10 * kPage;

}  // namespace

// What to take for a request of so many bytes: small ones share a segment, and so do middling ones, each of
// which would waste up to a page.
uint64_t DeviceMemory::segment_for(uint64_t bytes) {
  if (!kCaching || !may_split_) return bytes;
  uint64_t segment = (bytes + kPage - 1) / kPage * kPage;
  if (bytes <= kSmallRequest) {
    if (granularity_ > 4096) return bytes;
    segment = kSmallSegment;
  } else if (bytes <= kMiddleSegment / 2) {
    segment = kMiddleSegment;
  }
  return has_room(16 * segment) ? segment : bytes;
}

// Takes a segment from the backend, after making room if need be. NULL: there is none.
Status DeviceMemory::grow(Stream* stream, uint64_t requested, Block** block,
                          StatusHolder* refusal) {
  const uint64_t bytes = rounded(requested);
  uint64_t segment = segment_for(bytes);
  std::unique_ptr<Block> first = new_block(), second = new_block();
  Stream* heir = nullptr;  // of the blocks of a stream that dies
  TN_TRY(default_stream(device_, &heir));
  {
    const std::lock_guard lock(mutex_);
    pool_of(stream);
    pool_of(heir);
    if (Block* idle = take_idle(segment)) {
      *block = begin_segment(idle, stream, requested, std::move(second));
      return nullptr;
    }
  }
  if (!has_room(0)) {
    TN_TRY(release_cached());
    *block = take_left(stream, requested, Waste::kLittle);
    if (*block != nullptr) return nullptr;
  }
  void* memory = nullptr;
  TN_TRY(take_segment(segment, &memory, refusal));
  if (memory == nullptr) {
    drop_all_blobs(device_);
    TN_TRY(empty_cache());
    *block = take(stream, requested);  // of another thread, freed meanwhile
    if (*block != nullptr) return nullptr;
    segment = bytes;
    TN_TRY(take_segment(segment, &memory, refusal));
    if (memory == nullptr) {
      *block = take_left(stream, requested, Waste::kAny);
      return nullptr;
    }
  }
  Block* made = first.release();
  made->owner = this;
  made->memory = memory;
  made->bytes = segment;
  const std::lock_guard lock(mutex_);
  ++n_segments_;
  *block = begin_segment(made, stream, requested, std::move(second));
  return nullptr;
}

// Gives a request its part of a segment that is nobody's, and the stream the rest. Needs the mutex.
DeviceMemory::Block* DeviceMemory::begin_segment(Block* segment, Stream* stream, uint64_t requested,
                                                 std::unique_ptr<Block> rest) {
  const uint64_t bytes = rounded(requested);
  segment->stream = stream;
  segment->small = segment->bytes != bytes && bytes <= kSmallRequest;
  const bool cut = segment->small || segment->bytes - bytes > kSmallRequest;
  if (cut) insert(split(segment, bytes, std::move(rest)));
  count(segment, requested);
  return segment;
}

// NULL with success: over the limit, or the device has no more.
Status DeviceMemory::take_segment(uint64_t bytes, void** memory, StatusHolder* refusal) {
  *memory = nullptr;
  refusal->set(nullptr);
  {
    const std::lock_guard lock(mutex_);
    if (over_limit(bytes)) return nullptr;
    taken_ += bytes;
  }
  Status failed = slots::allocate(device_, bytes, memory);
  if (failed == nullptr && *memory != nullptr) return nullptr;
  *memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    taken_ -= bytes;
  }
  if (failed != nullptr && failed->code == TN_OUT_OF_MEMORY) {
    refusal->set(failed);
    return nullptr;
  }
  return failed;
}

void DeviceMemory::release_segment(Block* block) {
  slots::free(device_, block->memory, block->bytes);
  const std::lock_guard lock(mutex_);
  taken_ -= block->bytes;
  if (!block->free) in_use_ -= block->bytes;
  delete block;
}

// Of a lost device, on which no stream will use a block again: all to one, so that segments come
// together. Needs the mutex.
void DeviceMemory::join_pools() {
  std::vector<Block*> all;
  size_t n = 0;
  for (const auto& [stream, pool] : pools_) n += pool.free[0].size() + pool.free[1].size();
  all.reserve(n);
  for (auto& [stream, pool] : pools_) {
    for (FreeBlocks& blocks : pool.free) {
      while (!blocks.empty()) {
        all.push_back(*blocks.begin());
        take_out(&blocks, all.back());
      }
    }
  }
  Stream* one = all.empty() ? nullptr : all.front()->stream;
  for (Block* block : all) block->free = false;
  for (Block* block : all) {
    block->stream = one;
    insert(block);
  }
}

Status DeviceMemory::release_cached() {
  std::vector<Block*> segments;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [stream, pool] : pools_) flush_recent(pool);
    if (is_lost(device_)) join_pools();
    size_t n = idle_.size();
    for (const auto& [stream, pool] : pools_) n += pool.free[0].size() + pool.free[1].size();
    segments.reserve(n);
    const auto release_all = [&](FreeBlocks& blocks) {
      for (auto it = blocks.begin(); it != blocks.end();) {
        Block* block = *it++;
        if (!block->is_segment()) continue;
        segments.push_back(block);
        take_out(&blocks, block);
      }
    };
    for (auto& [stream, pool] : pools_) {
      for (FreeBlocks& blocks : pool.free) release_all(blocks);
    }
    release_all(idle_);
  }
  Stream* done = nullptr;  // blocks come stream by stream
  for (size_t i = 0; i < segments.size(); ++i) {
    Stream* stream = segments[i]->stream;
    Status failed = stream != done && !is_lost(device_) ? synchronize_stream(stream) : nullptr;
    if (failed != nullptr && is_lost(device_)) {  // now
      free_status(failed);
    } else if (failed != nullptr) {
      const std::lock_guard lock(mutex_);
      for (; i < segments.size(); ++i) insert(segments[i]);
      return failed;
    }
    done = stream;
    release_segment(segments[i]);
  }
  return nullptr;
}

// Of a lost device too: what it holds goes back.
Status DeviceMemory::empty_cache() {
  if (!is_lost(device_)) TN_TRY(synchronize_device(device_));
  deferred_.drain();
  if (type_.def.free_host != nullptr) {
    pinned_pool_of(device_).release();
    pinned_tensors_of(device_).release();
  }
  return release_cached();
}

Status DeviceMemory::set_limit(uint64_t bytes) {
  bool over = false;
  {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
    over = over_limit(0);
  }
  return over ? empty_cache() : nullptr;
}

bool DeviceMemory::has_room(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return !over_limit(bytes);
}

}  // namespace tenon
