// Storages in host memory: the hot path of every op on cpu.
#include "memory/cpu_memory.h"

#include <new>

#include "memory/cache.h"
#include "memory/cpu_blocks.h"

namespace tenon {
namespace {

static_assert(sizeof(tn_storage) <= kHeader);

// The storage's context says what its block is: a class, or beyond that the block's bytes.
void* context_of(uint64_t class_or_bytes) { return reinterpret_cast<void*>(class_or_bytes); }
uint64_t class_or_bytes(const tn_storage* s) { return reinterpret_cast<uint64_t>(s->context); }

void destroy_cached(tn_storage* storage) {
  if (storage->blobs.load(std::memory_order_acquire) != nullptr) [[unlikely]] {
    drop_blobs(storage);
  }
  ThreadBlocks* t = thread_blocks();
  const uint64_t bytes = storage->bytes;
  const uint64_t kind = class_or_bytes(storage);
  storage->~tn_storage();
  if (t == nullptr) [[unlikely]] {
    count_free_alone(bytes);
    return release_block(storage,
                         kind < kClasses ? block_bytes(static_cast<uint32_t>(kind)) : kind);
  }
  if (kind < kClasses && t->epoch == cpu_counters.epoch.load(std::memory_order_relaxed) &&
      t->counts[kind].get() < kClassTables.keep[kind]) [[likely]] {
    count_free(*t, bytes);
    t->push(static_cast<uint32_t>(kind), storage);
    return;
  }
  count_free(*t, bytes);
  if (kind < kClasses) {
    give_class_block(*t, static_cast<uint32_t>(kind), storage);
  } else {
    give_large_block(storage, kind);
  }
}

void destroy_plain(tn_storage* storage) {
  drop_blobs(storage);
  if (ThreadBlocks* t = thread_blocks()) {
    count_free(*t, storage->bytes);
  } else {
    count_free_alone(storage->bytes);
  }
  if (storage->memory != nullptr) release_block(storage->memory, storage->bytes);
  delete storage;
}

tn_storage* make_storage(void* at, void* data, uint64_t bytes, uint64_t kind) {
  auto* s = new (at) tn_storage;
  s->memory = data;
  s->bytes = bytes;
  s->device = kCpu;
  s->destroy = destroy_cached;
  s->context = context_of(kind);
  return s;
}

MemorySummary summary(uint64_t wanted) {
  tn_memory_stats stats{};
  read_cpu_stats(&stats);
  return {wanted, true, stats.limit, stats.allocated, cached_block_bytes(), stats.cached};
}

// One try, without caching: an allocation of exactly the bytes, behind a header of its own.
tn_storage* try_plain(uint64_t bytes) {
  void* header = ::operator new(sizeof(tn_storage), std::nothrow);
  void* data = bytes == 0 || header == nullptr ? nullptr : take_block(bytes);
  if (header == nullptr || (bytes != 0 && data == nullptr)) {
    ::operator delete(header);
    return nullptr;
  }
  tn_storage* storage = make_storage(header, data, bytes, 0);
  storage->destroy = destroy_plain;
  return storage;
}

tn_storage* try_slow(ThreadBlocks& t, uint64_t bytes) {
  if (!kCaching) return try_plain(bytes);
  uint64_t kind = 0;
  void* block = nullptr;
  if (bytes <= kMaxClassBytes) {
    kind = class_of(bytes);
    block = take_class_block(t, static_cast<uint32_t>(kind));
  } else {
    block = take_large_block(bytes, &kind);
  }
  if (block == nullptr) return nullptr;
  return make_storage(block, static_cast<char*>(block) + kHeader, bytes, kind);
}

Status allocate_slow(ThreadBlocks& t, uint64_t bytes, tn_storage** storage) {
  if (bytes > kMaxRequest) return out_of_memory(kCpu, summary(bytes));
  tn_storage* made = try_slow(t, bytes);
  if (made == nullptr) {
    drop_all_blobs(kCpu);
    empty_cpu_cache();
    made = try_slow(t, bytes);
    if (made == nullptr) return out_of_memory(kCpu, summary(bytes));
  }
  count_allocation(t, bytes);
  *storage = made;
  return nullptr;
}

}  // namespace

Status allocate_cpu(uint64_t bytes, tn_storage** storage) {
  ThreadBlocks* here = thread_blocks();
  if (here == nullptr) [[unlikely]] {
    return out_of_memory(kCpu, summary(bytes));
  }
  ThreadBlocks& t = *here;
  if (kCaching && bytes <= kMaxClassBytes) [[likely]] {
    const uint32_t c = class_of(bytes);
    void* block = t.pop(c);
    if (block != nullptr) [[likely]] {
      count_allocation(t, bytes);
      *storage = make_storage(block, static_cast<char*>(block) + kHeader, bytes, c);
      return nullptr;
    }
  }
  return allocate_slow(t, bytes, storage);
}

}  // namespace tenon
