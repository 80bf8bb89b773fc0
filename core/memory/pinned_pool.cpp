// The pool of pinned memory: blocks by powers of two, in flight behind events.
#include "memory/pinned_pool.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "base/log.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

std::atomic<PinnedPool*> g_pools[kMaxDeviceTypes][kMaxDevices];

}  // namespace

Status PinnedPool::take(uint64_t bytes, Block* block) {
  const uint64_t units = (std::max<uint64_t>(bytes, 1) - 1) >> kSmallestShift;
  *block = {nullptr, static_cast<uint32_t>(std::bit_width(units))};
  const uint64_t size = bytes_of(block->size_class);
  {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& list = free_[block->size_class];
    if (list.empty()) land();
    if (!list.empty()) {
      block->memory = list.back();
      list.pop_back();
      return nullptr;
    }
    if (taken_ + size > kMost) return nullptr;
    taken_ += size;
  }
  Status failed = slots::allocate_host(device_, size, &block->memory);
  if (failed == nullptr && block->memory != nullptr) return nullptr;
  block->memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    taken_ -= size;
  }
  if (failed == nullptr || failed->code == TN_DEVICE_LOST) return failed;
  free_status(failed);  // the upload can do without
  return nullptr;
}

void PinnedPool::land() {
  for (auto& [stream, flights] : in_flight_) {
    while (!flights.empty()) {
      bool passed = false;
      log_failure(flights.front().passed.query(&passed));
      if (!passed) break;
      free_[flights.front().block.size_class].push_back(flights.front().block.memory);
      flights.pop_front();
    }
  }
  std::erase_if(in_flight_, [](const auto& entry) { return entry.second.empty(); });
}

void PinnedPool::give_back_behind(Stream* stream, Block block) {
  Event event;
  // A block whose work can be neither marked nor waited for is not given out again.
  if (!log_failure(event.record(stream)) && !log_failure(synchronize_stream(stream)) &&
      !is_lost(device_))
    return;
  if (event.is_empty()) return give_back(block);
  try {
    const std::lock_guard lock(mutex_);
    auto& flights = in_flight_[stream];
    flights.push_back({Event(), block});
    flights.back().passed = std::move(event);
  } catch (const std::bad_alloc&) {
    if (log_failure(synchronize_stream(stream)) || is_lost(device_)) give_back(block);
  }
}

// Needs no memory: where there is none to note it, the block goes back to the device.
void PinnedPool::give_back(Block block) {
  try {
    const std::lock_guard lock(mutex_);
    free_[block.size_class].push_back(block.memory);
  } catch (const std::bad_alloc&) {
    slots::free_host(device_, block.memory, bytes_of(block.size_class));
    const std::lock_guard lock(mutex_);
    taken_ -= bytes_of(block.size_class);
  }
}

void PinnedPool::release() {
  std::vector<Block> blocks;
  {
    const std::lock_guard lock(mutex_);
    land();
    for (uint32_t c = 0; c < kClasses; ++c) {
      for (void* memory : free_[c]) blocks.push_back({memory, c});
      taken_ -= free_[c].size() * bytes_of(c);
      free_[c].clear();
    }
  }
  for (const Block& block : blocks)
    slots::free_host(device_, block.memory, bytes_of(block.size_class));
}

PinnedPool& pinned_pool_of(tn_device device) {
  std::atomic<PinnedPool*>& place = g_pools[device.type][device.index];
  PinnedPool* found = place.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto fresh = std::make_unique<PinnedPool>(device);
    if (place.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return *found;
}

}  // namespace tenon
