// The block cache of a plugin's device: best fit, split, merge, stream-ordered frees, limit.
#include "memory/device_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/log.h"
#include "base/pool.h"
#include "memory/cache.h"
#include "memory/deferred.h"
#include "memory/hazards.h"
#include "memory/pinned_pool.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

constexpr uint64_t kGranularity = 512;
constexpr uint8_t kPoison = 0xFF;  // NaN in every float dtype, -1 in the integers

using StoragePool = Pool<sizeof(tn_storage), 64>;

std::atomic<DeviceMemory*> g_memories[kMaxDeviceTypes][kMaxDevices];

bool is_poisoning() {
  static const bool poisoning = [] {
    const char* text = std::getenv("TENON_POISON");
    return text != nullptr && std::strcmp(text, "1") == 0;
  }();
  return poisoning;
}

// The stream that a block returns to: another one where its own is dead, because all of its work is
// done.
Stream* living(Stream* stream) {
  if (stream == nullptr) return nullptr;
  const StreamUse use(stream);
  if (use) return stream;
  Stream* other = nullptr;
  const StatusHolder none(default_stream(stream->device, &other));
  return none ? stream : other;
}

}  // namespace

DeviceMemory::DeviceMemory(tn_device device)
    : device_(device),
      type_(*device_type(device.type)),
      granularity_(std::max<uint64_t>(kGranularity, static_cast<uint64_t>(type_.def.alignment))),
      // Poisoning looks for touches of memory that is not one's own: backends see these at the ends
      // of segments only.
      may_split_((type_.def.flags & TN_DEVICE_NO_ADDRESS) == 0 && !is_poisoning()),
      keeps_recent_(kCaching && !is_poisoning()),
      deferred_(deferred_queue(device)) {}

uint64_t DeviceMemory::rounded(uint64_t bytes) const {
  const uint64_t wanted = std::max<uint64_t>(bytes, 1);
  // Poisoning also looks for touches behind the last byte.
  const bool is_exact = !kCaching || is_poisoning();
  return is_exact ? wanted : (wanted + granularity_ - 1) & ~(granularity_ - 1);
}

Status DeviceMemory::allocate(Stream* stream, uint64_t bytes, tn_storage** storage) {
  if (stream == nullptr) TN_TRY(current_stream(device_, &stream));
  if (stream->stands_for != nullptr) [[unlikely]]
    stream = stream->stands_for;
  if (!(stream->device == device_)) {
    return invalid("memory on {} cannot belong to a stream of {}", device_text(device_),
                   device_text(stream->device));
  }
  if (bytes > kMaxRequest) return out_of_memory(device_, summary(bytes));
  deferred_.poll();
  void* header = StoragePool::allocate();
  Block* block = nullptr;
  const Status failed = guarded([&]() -> Status {
    block = take(stream, bytes);
    if (block != nullptr) [[likely]]
      return nullptr;
    StatusHolder refusal;
    TN_TRY(grow(stream, bytes, &block, &refusal));
    return block == nullptr ? out_of_memory(device_, summary(bytes), refusal.take()) : nullptr;
  });
  if (failed != nullptr) [[unlikely]] {
    StoragePool::free(header);
    return failed;
  }
  auto* made = new (header) tn_storage;
  made->memory = block->memory;
  made->bytes = bytes;
  made->device = device_;
  made->destroy = destroy_storage;
  made->context = block;
  made->stream = stream;
  *storage = made;
  return nullptr;
}

void DeviceMemory::destroy_storage(tn_storage* storage) {
  drop_blobs(storage);
  auto* block = static_cast<Block*>(storage->context);
  DeviceMemory* memory = block->owner;
  const bool waits = storage->hazards.load(std::memory_order_acquire) != nullptr;
  std::vector<Stream*> streams;
  if (waits) streams = end_hazards(storage);
  storage->~tn_storage();
  StoragePool::close_at_thread_exit();
  StoragePool::free(storage);
  {
    const std::lock_guard lock(memory->mutex_);
    memory->live_ -= block->requested;
    // A stream that died has left its pool to another one, which give_back looks for.
    auto* pool = static_cast<StreamPool*>(block->stream->memory.load(std::memory_order_relaxed));
    if (!waits && memory->keeps_recent_ && pool != nullptr)
      return memory->keep_recent(*pool, block);
  }
  if (!kCaching) {  // goes to the backend, which knows no stream
    try {
      streams.push_back(block->stream);
    } catch (const std::bad_alloc&) {
      if (!log_failure(synchronize_stream(block->stream)) && !is_lost(block->stream->device))
        return;
    }
  }
  memory->deferred_.push_behind(streams, give_back, block);
}

// Behind the work of all streams but the block's own.
void DeviceMemory::give_back(void* context) {
  auto* block = static_cast<Block*>(context);
  DeviceMemory* memory = block->owner;
  if (!kCaching) return memory->release_segment(block);
  block->stream = living(block->stream);
  const StreamUse use(block->stream);  // so that it does not die before the block is in its pool
  if (use && is_poisoning() && memory->type_.def.fill_bytes != nullptr) {
    const StatusHolder ignored(
        slots::fill_bytes(block->stream, block->memory, 0, kPoison, block->bytes));
  }
  const std::lock_guard lock(memory->mutex_);
  memory->in_use_ -= block->bytes;
  memory->insert(block);
}

// Needs the mutex, as do all up to `take`.
DeviceMemory::StreamPool& DeviceMemory::pool_of(Stream* stream) {
  StreamPool& pool = pools_[stream];
  stream->memory.store(&pool, std::memory_order_relaxed);
  return pool;
}

void DeviceMemory::insert(Block* block) {
  block->free = true;
  const auto joins = [&](const Block* other) {
    return other != nullptr && other->free && other->stream == block->stream;
  };
  FreeBlocks& blocks = pool_of(block->stream).free[block->small];
  if (joins(block->before)) {
    take_out(&blocks, block->before);
    block = merge(block->before, block);
  }
  if (joins(block->after)) {
    take_out(&blocks, block->after);
    block = merge(block, block->after);
  }
  blocks.insert(std::move(block->node));
}

void DeviceMemory::take_out(FreeBlocks* blocks, Block* block) {
  block->node = blocks->extract(block);
}

bool DeviceMemory::BySize::operator()(const Block* a, const Block* b) const {
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->memory < b->memory;
}

// With its node, which holds it.
std::unique_ptr<DeviceMemory::Block> DeviceMemory::new_block() {
  auto block = std::make_unique<Block>();
  FreeBlocks alone;
  block->node = alone.extract(alone.insert(block.get()).first);
  return block;
}

// Of requests of so many bytes, which are rounded.
uint32_t DeviceMemory::list_of(uint64_t bytes) const {
  const uint64_t steps = bytes / kGranularity;
  if (steps < kSmallLists) return static_cast<uint32_t>(steps);
  return kSmallLists + static_cast<uint32_t>(steps * 0x9E3779B97F4A7C15u >> 58);
}

void DeviceMemory::keep_recent(StreamPool& pool, Block* block) {
  const uint64_t bytes = rounded(block->requested);
  const uint32_t list = list_of(bytes);
  Block*& head = pool.recent[list];
  if (head != nullptr && list >= kSmallLists && rounded(head->requested) != bytes)
    flush_list(pool, list);
  in_use_ -= block->bytes;
  block->next = head;
  head = block;
  ++pool.n_recent;
}

void DeviceMemory::flush_list(StreamPool& pool, uint32_t list) {
  while (Block* block = pool.recent[list]) {
    pool.recent[list] = block->next;
    --pool.n_recent;
    insert(block);
  }
}

// False: there was nothing.
bool DeviceMemory::flush_recent(StreamPool& pool) {
  if (pool.n_recent == 0) return false;
  for (uint32_t list = 0; list < kSmallLists + kLargeLists; ++list) flush_list(pool, list);
  return true;
}

void DeviceMemory::count(Block* block, uint64_t bytes) {
  block->requested = bytes;
  in_use_ += block->bytes;
  ++n_allocations_;
  live_ += bytes;
  peak_ = std::max(peak_, live_);
}

DeviceMemory::Block* DeviceMemory::merge(Block* left, Block* right) {
  left->bytes += right->bytes;
  left->after = right->after;
  if (left->after != nullptr) left->after->before = left;
  delete right;
  return left;
}

// Gives the part behind the first `bytes`, as `made`, a new block.
DeviceMemory::Block* DeviceMemory::split(Block* block, uint64_t bytes,
                                         std::unique_ptr<Block> made) {
  Block* rest = made.release();
  rest->owner = block->owner;
  rest->stream = block->stream;
  rest->after = block->after;
  rest->small = block->small;
  rest->memory = static_cast<char*>(block->memory) + bytes;
  rest->bytes = block->bytes - bytes;
  rest->before = block;
  if (rest->after != nullptr) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  return rest;
}

bool DeviceMemory::over_limit(uint64_t more) const {
  return limit_ != 0 && taken_ + cached_blob_bytes(device_) + more > limit_;
}

// May the cache serve such a request? Beyond a limit only where live storages stay below it.
bool DeviceMemory::may_serve(uint64_t bytes) const {
  return !over_limit(0) || live_ + cached_blob_bytes(device_) + bytes <= limit_;
}

DeviceMemory::Block* DeviceMemory::take_recent(StreamPool& pool, uint64_t bytes) {
  Block*& head = pool.recent[list_of(bytes)];
  Block* block = head;
  if (block == nullptr || rounded(block->requested) != bytes) return nullptr;
  head = block->next;
  --pool.n_recent;
  return block;
}

// The smallest free block of the sets that fits without much waste, or with any; NULL: none.
DeviceMemory::Block* DeviceMemory::take_fitting(StreamPool& pool, uint64_t bytes, Waste waste) {
  Block wanted;
  wanted.bytes = bytes;
  const bool any = waste == Waste::kAny && !is_poisoning();
  for (const bool small : {true, false}) {
    if (small && bytes > kSmallRequest && !any) continue;
    FreeBlocks& blocks = pool.free[small];
    const auto found = blocks.lower_bound(&wanted);
    if (found == blocks.end()) continue;
    Block* block = *found;
    const bool wasteful = block->bytes - bytes > (is_poisoning() ? 0 : bytes / 4);
    // Small requests leave large blocks whole: those would never come together again.
    const bool cut = wasteful && may_split_ && (any || small || bytes > kSmallRequest);
    if (wasteful && !cut && !any) continue;
    std::unique_ptr<Block> rest = cut ? new_block() : nullptr;
    take_out(&blocks, block);
    block->free = false;
    if (cut) insert(split(block, bytes, std::move(rest)));
    return block;
  }
  return nullptr;
}

// From the cache; NULL: there is none.
DeviceMemory::Block* DeviceMemory::take(Stream* stream, uint64_t bytes) {
  if (!kCaching) return nullptr;
  const uint64_t wanted = rounded(bytes);
  const std::lock_guard lock(mutex_);
  auto* pool = static_cast<StreamPool*>(stream->memory.load(std::memory_order_relaxed));
  if (pool == nullptr || over_limit(0)) return nullptr;
  Block* block = take_recent(*pool, wanted);
  if (block == nullptr) [[unlikely]] {
    block = take_fitting(*pool, wanted, Waste::kLittle);
    if (block == nullptr && flush_recent(*pool))
      block = take_fitting(*pool, wanted, Waste::kLittle);
    if (block == nullptr) return nullptr;
  }
  count(block, bytes);
  return block;
}

// From what is left in segments that cannot go back; NULL: there is none.
DeviceMemory::Block* DeviceMemory::take_left(Stream* stream, uint64_t bytes, Waste waste) {
  if (!kCaching) return nullptr;
  const std::lock_guard lock(mutex_);
  StreamPool& pool = pool_of(stream);
  flush_recent(pool);
  Block* block = may_serve(bytes) ? take_fitting(pool, rounded(bytes), waste) : nullptr;
  if (block != nullptr) count(block, bytes);
  return block;
}

// The smallest idle segment for such a request; NULL: there is none. Needs the mutex.
DeviceMemory::Block* DeviceMemory::take_idle(uint64_t bytes) {
  Block wanted;
  wanted.bytes = bytes;
  const auto found = idle_.lower_bound(&wanted);
  if (found == idle_.end() || over_limit(0)) return nullptr;
  Block* block = *found;
  if (block->bytes > (may_split_ ? bytes + bytes / 4 : bytes)) return nullptr;
  take_out(&idle_, block);
  block->free = false;
  return block;
}

// Its blocks are for the default stream from now on, and whole segments for any.
void DeviceMemory::stream_died(Stream* stream) {
  Stream* heir = living(stream);
  const std::lock_guard lock(mutex_);
  const auto pool = pools_.find(stream);
  if (pool == pools_.end() || heir == stream) return;
  flush_recent(pool->second);
  stream->memory.store(nullptr, std::memory_order_relaxed);
  auto orphans = pools_.extract(pool);
  for (FreeBlocks& blocks : orphans.mapped().free) {
    while (!blocks.empty()) {
      Block* block = *blocks.begin();
      take_out(&blocks, block);
      block->stream = heir;
      if (block->is_segment()) {
        idle_.insert(std::move(block->node));
      } else {
        insert(block);
      }
    }
  }
}

MemorySummary DeviceMemory::summary(uint64_t wanted) {
  const std::lock_guard lock(mutex_);
  const bool limited = wanted > kMaxRequest || over_limit(rounded(wanted));
  return {wanted, limited, limit_, live_, taken_ - in_use_, cached_blob_bytes(device_)};
}

void DeviceMemory::read_stats(tn_memory_stats* stats) {
  deferred_.poll();
  const std::lock_guard lock(mutex_);
  stats->allocated = live_;
  stats->reserved_bytes = taken_;
  stats->peak_allocated = peak_;
  stats->n_allocations = n_allocations_;
  stats->n_device_allocations = n_segments_;
  stats->cached = cached_blob_bytes(device_);
  stats->limit = limit_;
}

void DeviceMemory::reset_peak() {
  deferred_.poll();
  const std::lock_guard lock(mutex_);
  peak_ = live_;
}

DeviceMemory& device_memory(tn_device device) {
  std::atomic<DeviceMemory*>& place = g_memories[device.type][device.index];
  DeviceMemory* found = place.load(std::memory_order_acquire);
  if (found == nullptr) {
    static const StreamHooks hooks{
        .synchronized = [](tn_device synchronized) { deferred_queue(synchronized).poll(); },
        .destroyed = [](Stream* stream) { device_memory(stream->device).stream_died(stream); }};
    set_stream_hooks(&hooks);
    auto fresh = std::make_unique<DeviceMemory>(device);
    if (place.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return *found;
}

}  // namespace tenon
