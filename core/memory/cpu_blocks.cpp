// The lists, the shared cache and the limit behind cpu_blocks.h; invariants are in cpu_memory.h.
#include "memory/cpu_blocks.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "base/hot_thread_local.h"
#include "base/thread_local.h"
#include "memory/cache.h"
#include "memory/cpu_memory.h"

namespace tenon {

TN_HOT constinit thread_local ThreadBlocks* thread_blocks_here = nullptr;
constinit CpuCounters cpu_counters;

namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kSharedKeep = uint64_t{64} << 20;
constexpr CpuCounters& g = cpu_counters;

struct Shared {
  std::mutex mutex;
  Free* lists[kClasses] = {};
  uint64_t list_bytes = 0;
  std::multimap<uint64_t, void*> large;  // by block bytes
  uint64_t large_bytes = 0;
  std::vector<ThreadBlocks*> threads;
};
// Both live as long as the process: storages are freed until its very end.
Shared& shared() {
  static Shared* const made = [] {
    auto* all = new Shared;
    // A thread that the child of a fork does not have may be within it.
    pthread_atfork([] { shared().mutex.lock(); }, [] { shared().mutex.unlock(); },
                   [] { shared().mutex.unlock(); });
    return all;
  }();
  return *made;
}

void note_peak(int64_t live) {
  int64_t peak = g.peak.load(std::memory_order_relaxed);
  while (live > peak && !g.peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

bool over_limit(uint64_t more) {
  const uint64_t limit = g.limit.load(std::memory_order_relaxed);
  return limit != 0 &&
         g.taken.load(std::memory_order_relaxed) + cached_blob_bytes(kCpu) + more > limit;
}

bool count_taken(uint64_t bytes) {
  uint64_t taken = g.taken.load(std::memory_order_relaxed);
  const uint64_t limit = g.limit.load(std::memory_order_relaxed);
  do {
    if (limit != 0 && taken + cached_blob_bytes(kCpu) + bytes > limit) return false;
  } while (!g.taken.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
  return true;
}

// No single request beyond this is tried: the system might promise it, and end the process when it
// is touched.
uint64_t physical_memory() {
  static const uint64_t bytes = [] {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page)
                                 : uint64_t{1} << 40;
  }();
  return bytes;
}

// Needs the mutex. Releases the largest of the cache until it holds no more than that.
void trim_large(Shared& s, uint64_t keep) {
  while (s.large_bytes > keep) {
    const auto last = std::prev(s.large.end());
    s.large_bytes -= last->first;
    release_block(last->second, last->first);
    s.large.erase(last);
  }
}

// Moves n blocks of a class to the shared lists, or to the system where these are full. Needs the
// mutex.
void give_shared(Shared& s, ThreadBlocks& t, uint32_t c, uint32_t n) {
  t.counts[c].set(t.counts[c].get() - n);
  for (; n > 0; --n) {
    Free* block = t.heads[c];
    t.heads[c] = block->next;
    if (s.list_bytes + block_bytes(c) > kSharedKeep) {
      release_block(block, block_bytes(c));
      continue;
    }
    block->next = s.lists[c];
    s.lists[c] = block;
    s.list_bytes += block_bytes(c);
  }
}

void give_all_shared(Shared& s, ThreadBlocks& t) {
  for (uint32_t c = 0; c < kClasses; ++c) give_shared(s, t, c, t.counts[c].get());
}

void* take_shared(Shared& s, uint32_t c) {
  Free* block = s.lists[c];
  if (block != nullptr) {
    s.lists[c] = block->next;
    s.list_bytes -= block_bytes(c);
  }
  return block;
}

// Needs the mutex. Brings the thread's lists up to date. False: it may keep none.
bool may_keep(Shared& s, ThreadBlocks& t) {
  const uint32_t epoch = g.epoch.load(std::memory_order_relaxed);
  if (t.epoch != epoch) {
    if (t.epoch != kNoLists) give_all_shared(s, t);
    t.epoch = epoch == kNoEpoch ? kNoLists : epoch;
  }
  return t.epoch != kNoLists;
}

}  // namespace

void flush_counts(ThreadBlocks& t) {
  const int64_t before = g.live.fetch_add(t.live.get(), std::memory_order_relaxed);
  note_peak(before + t.live_peak.get());
  t.live.set(0);
  t.live_peak.set(0);
}

ThreadBlocks::ThreadBlocks() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  s.threads.push_back(this);
}

ThreadBlocks::~ThreadBlocks() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  give_all_shared(s, *this);
  flush_counts(*this);
  g.n_allocations.fetch_add(n_allocations.get(), std::memory_order_relaxed);
  std::erase(s.threads, this);
  thread_blocks_here = nullptr;
}

ThreadBlocks* make_thread_blocks() noexcept {
  try {
    static auto& blocks = *new ThreadLocal<ThreadBlocks>;
    thread_blocks_here = &blocks.get();
  } catch (const std::bad_alloc&) {
  }
  return thread_blocks_here;
}

void* take_block(uint64_t bytes) {
  if (bytes > physical_memory() || !count_taken(bytes)) return nullptr;
  void* block = ::operator new(bytes, std::align_val_t(kAlignment), std::nothrow);
  if (block != nullptr) {
    g.n_taken.fetch_add(1, std::memory_order_relaxed);
  } else {
    g.taken.fetch_sub(bytes, std::memory_order_relaxed);
  }
  return block;
}

void release_block(void* block, uint64_t bytes) {
  ::operator delete(block, std::align_val_t(kAlignment));
  g.taken.fetch_sub(bytes, std::memory_order_relaxed);
}

void* take_class_block(ThreadBlocks& t, uint32_t c) {
  Shared& s = shared();
  {
    const std::lock_guard lock(s.mutex);
    const bool keep = may_keep(s, t);
    void* block = over_limit(0) ? nullptr : take_shared(s, c);
    for (uint32_t n = kClassTables.batch[c]; keep && block != nullptr && n > 1; --n) {
      void* more = take_shared(s, c);
      if (more == nullptr) break;
      t.push(c, more);
    }
    if (block != nullptr) return block;
  }
  return take_block(block_bytes(c));
}

void give_class_block(ThreadBlocks& t, uint32_t c, void* memory) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  const bool keep = may_keep(s, t);
  if (keep && t.counts[c].get() >= kClassTables.keep[c]) {
    give_shared(s, t, c, kClassTables.batch[c]);
  }
  t.push(c, memory);
  if (!keep) give_shared(s, t, c, 1);
}

void* take_large_block(uint64_t bytes, uint64_t* taken) {
  const uint64_t wanted = (kHeader + bytes + kPage - 1) / kPage * kPage;
  Shared& s = shared();
  {
    const std::lock_guard lock(s.mutex);
    const auto fit = s.large.lower_bound(wanted);
    if (fit != s.large.end() && fit->first - wanted <= wanted / 4 && !over_limit(0)) {
      void* block = fit->second;
      *taken = fit->first;
      s.large_bytes -= fit->first;
      s.large.erase(fit);
      return block;
    }
    const int64_t live = g.live.load(std::memory_order_relaxed) + static_cast<int64_t>(wanted);
    const auto most = static_cast<uint64_t>(std::max(live, g.peak.load(std::memory_order_relaxed)));
    const uint64_t bound = most / 4 * 5 + kSharedKeep;
    const uint64_t after = g.taken.load(std::memory_order_relaxed) + wanted;
    if (after > bound) trim_large(s, s.large_bytes - std::min(s.large_bytes, after - bound));
  }
  *taken = wanted;
  return take_block(wanted);
}

void give_large_block(void* block, uint64_t taken) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  try {
    s.large.emplace(taken, block);
    s.large_bytes += taken;
  } catch (const std::bad_alloc&) {
    release_block(block, taken);  // a free needs no memory
  }
}

uint64_t cached_block_bytes() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  uint64_t cached = s.list_bytes + s.large_bytes;
  for (const ThreadBlocks* t : s.threads) {
    for (uint32_t c = 0; c < kClasses; ++c) cached += t->counts[c].get() * block_bytes(c);
  }
  return cached;
}

void read_cpu_stats(tn_memory_stats* stats) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  const int64_t base = g.live.load(std::memory_order_relaxed);
  int64_t live = base;
  uint64_t n = g.n_allocations.load(std::memory_order_relaxed);
  int64_t peak = base;
  for (const ThreadBlocks* t : s.threads) {
    live += t->live.get();
    peak = std::max(peak, base + t->live_peak.get());
    n += t->n_allocations.get();
  }
  note_peak(std::max(peak, live));
  stats->allocated = static_cast<uint64_t>(std::max<int64_t>(live, 0));
  stats->reserved_bytes = g.taken.load(std::memory_order_relaxed);
  stats->peak_allocated = static_cast<uint64_t>(g.peak.load(std::memory_order_relaxed));
  stats->n_allocations = n;
  stats->n_device_allocations = g.n_taken.load(std::memory_order_relaxed);
  stats->cached = cached_blob_bytes(kCpu);
  stats->limit = g.limit.load(std::memory_order_relaxed);
}

void reset_cpu_peak() {
  ThreadBlocks* own = thread_blocks();
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (own != nullptr) flush_counts(*own);
  int64_t live = g.live.load(std::memory_order_relaxed);
  for (const ThreadBlocks* t : s.threads) live += t->live.get();
  g.peak.store(live, std::memory_order_relaxed);
}

void empty_cpu_cache() {
  ThreadBlocks* t = thread_blocks();
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  // Other threads give up their lists when they next pass by.
  const uint32_t epoch = g.epoch.load(std::memory_order_relaxed);
  if (epoch != kNoEpoch) g.epoch.store(epoch % (kNoEpoch - 1) + 1, std::memory_order_relaxed);
  if (t != nullptr) may_keep(s, *t);
  for (uint32_t c = 0; c < kClasses; ++c) {
    while (void* block = take_shared(s, c)) release_block(block, block_bytes(c));
  }
  trim_large(s, 0);
}

void set_cpu_limit(uint64_t bytes) {
  Shared& s = shared();
  {
    const std::lock_guard lock(s.mutex);
    static uint32_t epoch_before = 1;
    const uint32_t epoch = g.epoch.load(std::memory_order_relaxed);
    if (epoch != kNoEpoch) epoch_before = epoch;
    g.limit.store(bytes, std::memory_order_relaxed);
    g.epoch.store(bytes != 0 ? kNoEpoch : epoch_before % (kNoEpoch - 1) + 1,
                  std::memory_order_relaxed);
  }
  if (over_limit(0)) empty_cpu_cache();
}

bool cpu_has_room(uint64_t bytes) { return !over_limit(bytes); }

}  // namespace tenon
