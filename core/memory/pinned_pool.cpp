// The pool of pinned memory: blocks by powers of two, in flight behind events.
#include "memory/pinned_pool.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "base/log.h"
#include "memory/adopt.h"
#include "tensor/dtype.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

using Pools = std::atomic<PinnedPool*>[kMaxDeviceTypes][kMaxDevices];
Pools g_uploads, g_tensors;

PinnedPool& pool_of(Pools& pools, tn_device device, uint64_t most) {
  std::atomic<PinnedPool*>& place = pools[device.type][device.index];
  PinnedPool* found = place.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto fresh = std::make_unique<PinnedPool>(device, most);
    if (place.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return *found;
}

struct PinnedBlock {
  tn_device device;
  PinnedPool::Block block;
};

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
    if (taken_ + size > most_) return nullptr;
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
    land();  // an error of earlier work may come out of the first look at an event, once
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
  return pool_of(g_uploads, device, PinnedPool::kMost);
}
PinnedPool& pinned_tensors_of(tn_device device) { return pool_of(g_tensors, device, UINT64_MAX); }

bool has_pinned_memory(tn_device device) {
  if (device.type == TN_DEVICE_CPU || device.type == TN_DEVICE_META) return false;
  const DeviceType& type = *device_type(device.type);
  return type.has_streams() && type.def.allocate_host != nullptr;
}

// Copies that are under way keep the storage, so no stream uses the memory when it is released.
Status empty_pinned(std::span<const int64_t> sizes, tn_dtype dtype, tn_device device,
                    Tensor** tensor) {
  uint64_t bytes = kItemSize[dtype];
  for (const int64_t size : sizes) bytes *= static_cast<uint64_t>(size);
  auto pinned = std::make_unique<PinnedBlock>();
  pinned->device = device;
  TN_TRY(pinned_tensors_of(device).take(bytes, &pinned->block));
  if (pinned->block.memory == nullptr) {
    return error(TN_OUT_OF_MEMORY, "there is no pinned memory of {} for {} bytes",
                 device_text(device), bytes);
  }
  const auto release = [](void* context) {
    const std::unique_ptr<PinnedBlock> mine(static_cast<PinnedBlock*>(context));
    pinned_tensors_of(mine->device).give_back(mine->block);
  };
  Status failed = guarded([&]() -> Status {
    *tensor = adopt_host_tensor(pinned->block.memory, bytes, release, pinned.get(), sizes, nullptr,
                                dtype);
    return nullptr;
  });
  if (failed != nullptr) {
    release(pinned.release());
    return failed;
  }
  (*tensor)->storage->pinned_for = device.type;
  pinned.release();  // the storage's
  return nullptr;
}

}  // namespace tenon
