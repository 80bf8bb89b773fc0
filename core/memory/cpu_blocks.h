// Blocks of host memory: from the system, cached in lists of each thread and in shared ones,
// counted. cpu_memory.cpp makes storages of them; its header has the invariants.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <new>

#include "base/hot_thread_local.h"
#include "memory/size_class.h"
#include "memory/summary.h"

namespace tenon {

struct Free {
  Free* next;
};

// A number that only its thread writes: no locked instructions.
template <typename T>
struct OwnNumber {
  std::atomic<T> value{0};
  T get() const { return value.load(std::memory_order_relaxed); }
  void set(T to) { value.store(to, std::memory_order_relaxed); }
};

inline constexpr uint32_t kNoLists =
    0;  // epoch of a thread without lists: not begun, ended, or under a limit

struct ThreadBlocks {
  ThreadBlocks();   // registers the thread, so that its counts are seen
  ~ThreadBlocks();  // gives all to the shared lists

  Free* heads[kClasses] = {};
  OwnNumber<uint32_t> counts[kClasses];
  uint32_t epoch = kNoLists;     // kNoLists: all lists are empty
  OwnNumber<int64_t> live;       // bytes since the last flush
  OwnNumber<int64_t> live_peak;  // the most that `live` was since then
  OwnNumber<uint64_t> n_allocations;

  void push(uint32_t c, void* block) {
    heads[c] = new (block) Free{heads[c]};
    counts[c].set(counts[c].get() + 1);
  }
  void* pop(uint32_t c) {
    Free* block = heads[c];
    if (block != nullptr) [[likely]] {
      heads[c] = block->next;
      counts[c].set(counts[c].get() - 1);
    }
    return block;
  }
};
// This thread's. Made at its first allocation or free, deleted when it ends; what is freed still
// later makes it anew.
TN_HOT extern constinit thread_local ThreadBlocks* thread_blocks_here;
ThreadBlocks* make_thread_blocks() noexcept;
// NULL: there is no memory to make it.
inline ThreadBlocks* thread_blocks() {
  return thread_blocks_here != nullptr ? thread_blocks_here : make_thread_blocks();
}

struct CpuCounters {
  std::atomic<uint32_t> epoch{1};  // kNoEpoch: no thread may have lists
  std::atomic<uint64_t> limit{0};
  std::atomic<uint64_t> taken{0};
  std::atomic<int64_t> live{0};
  std::atomic<int64_t> peak{0};
  std::atomic<uint64_t> n_allocations{0};  // of threads that ended
  std::atomic<uint64_t> n_taken{0};
};
inline constexpr uint32_t kNoEpoch = std::numeric_limits<uint32_t>::max();
extern constinit CpuCounters cpu_counters;

// ---- Counting

inline constexpr int64_t kFlush = int64_t{256}
                                  << 10;  // a thread's count goes to the process' beyond it
void flush_counts(ThreadBlocks& t);
// A free by a thread that has no lists.
inline void count_free_alone(uint64_t bytes) {
  cpu_counters.live.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}

inline void count_allocation(ThreadBlocks& t, uint64_t bytes) {
  const int64_t live = t.live.get() + static_cast<int64_t>(bytes);
  t.live.set(live);
  t.n_allocations.set(t.n_allocations.get() + 1);
  if (live > t.live_peak.get()) {
    t.live_peak.set(live);
    if (live > kFlush) [[unlikely]]
      flush_counts(t);
  }
}

inline void count_free(ThreadBlocks& t, uint64_t bytes) {
  const int64_t live = t.live.get() - static_cast<int64_t>(bytes);
  t.live.set(live);
  if (live < -kFlush) [[unlikely]]
    flush_counts(t);
}

// ---- Blocks, when the thread's list does not do. NULL: over the limit, or the system has no more.

// From the system and back to it.
void* take_block(uint64_t bytes);
void release_block(void* block, uint64_t bytes);
void* take_class_block(ThreadBlocks& t, uint32_t c);
void give_class_block(ThreadBlocks& t, uint32_t c, void* block);
// `taken`: the bytes of the block, which giving it back needs.
void* take_large_block(uint64_t bytes, uint64_t* taken);
void give_large_block(void* block, uint64_t taken);

uint64_t cached_block_bytes();  // of all threads

}  // namespace tenon
