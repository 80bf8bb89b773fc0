// Storages by device: host memory, plugin's devices, meta, and memory of others.
#include "memory/memory.h"

#include <algorithm>
#include <cstring>

#include "base/pool.h"
#include "memory/adopt.h"
#include "memory/cache.h"
#include "memory/cpu_memory.h"
#include "memory/device_memory.h"
#include "memory/hazards.h"

namespace tenon {
namespace {

using StoragePool = Pool<sizeof(tn_storage), 64>;

struct Adopted : tn_storage {
  void (*release_memory)(void*);
};

tn_storage* make_meta_storage(uint64_t bytes) {
  auto* storage = new (StoragePool::allocate()) tn_storage;
  storage->bytes = bytes;
  storage->device = kMeta;
  storage->destroy = [](tn_storage* s) {
    drop_blobs(s);
    s->~tn_storage();
    StoragePool::close_at_thread_exit();
    StoragePool::free(s);
  };
  return storage;
}

}  // namespace

TN_HOT constinit thread_local AllocationListener allocation_listener = nullptr;

std::atomic<uint32_t> open_recording{0};

static inline void tell(tn_storage* storage) {
  const uint32_t number = open_recording.load(std::memory_order_relaxed);
  if (number == 0) [[likely]]
    return;
  storage->born_in = number;
  if (allocation_listener != nullptr) allocation_listener(storage);
}

Status allocate_storage(tn_device device, Stream* stream, uint64_t bytes, tn_storage** storage) {
  if (device == kCpu) [[likely]] {
    return allocate_cpu(bytes, storage);
  }
  if (device == kMeta) {
    *storage = make_meta_storage(bytes);
    return nullptr;
  }
  TN_TRY(check_device(device));
  return device_memory(device).allocate(stream, bytes, storage);
}

Status empty_tensor(std::span<const int64_t> sizes, tn_dtype dtype, tn_device device,
                    Tensor** tensor) {
  uint64_t bytes = kItemSize[dtype];
  for (const int64_t size : sizes) bytes *= static_cast<uint64_t>(size);
  tn_storage* storage = nullptr;
  if (device == kCpu) [[likely]] {
    TN_TRY(allocate_cpu(bytes, &storage));
  } else {
    TN_TRY(allocate_storage(device, nullptr, bytes, &storage));
  }
  tell(storage);
  *tensor = make_tensor(storage, sizes, nullptr, 0, dtype);
  return nullptr;
}

Status empty_strided(std::span<const int64_t> sizes, const int64_t* strides, tn_dtype dtype,
                     tn_device device, Tensor** tensor) {
  Tensor* made;
  TN_TRY(empty_tensor(sizes, dtype, device, &made));
  const TensorRef flat(made);
  flat->storage->retain();
  *tensor = make_tensor(flat->storage, sizes, strides, 0, dtype);
  return nullptr;
}

Status empty_like(const Tensor* model, tn_dtype dtype, Tensor** tensor) {
  if (model->device.type != TN_DEVICE_CPU)
    return empty_tensor(model->size_span(), dtype, model->device, tensor);
  tn_storage* storage = nullptr;
  TN_TRY(allocate_cpu(static_cast<uint64_t>(model->numel) * kItemSize[dtype], &storage));
  tell(storage);
  *tensor = make_tensor_like(storage, model, dtype);
  return nullptr;
}

tn_storage* adopt_host_memory(void* memory, uint64_t bytes, void (*release)(void*), void* context) {
  auto* storage = new Adopted{};
  storage->memory = memory;
  storage->bytes = bytes;
  storage->device = kCpu;
  storage->context = context;
  storage->release_memory = release;
  storage->born_in = open_recording.load(std::memory_order_relaxed);
  storage->destroy = [](tn_storage* s) {
    auto* adopted = static_cast<Adopted*>(s);
    drop_blobs(s);
    if (adopted->release_memory != nullptr) adopted->release_memory(s->context);
    delete adopted;
  };
  return storage;
}

Tensor* adopt_host_tensor(void* memory, uint64_t bytes, void (*release)(void*), void* context,
                          std::span<const int64_t> sizes, const int64_t* strides, tn_dtype dtype) {
  tn_storage* storage = adopt_host_memory(memory, bytes, nullptr, context);
  Tensor* tensor = make_tensor(storage, sizes, strides, 0, dtype);
  static_cast<Adopted*>(storage)->release_memory = release;
  return tensor;
}

Status memory_stats(tn_device device, tn_memory_stats* stats) {
  TN_TRY(check_device(device));
  if (stats->size < sizeof(stats->size)) {
    return invalid("memory_stats: size is {}, expected {}", stats->size, sizeof(tn_memory_stats));
  }
  tn_memory_stats now{};
  now.size = stats->size;
  if (device == kCpu) {
    read_cpu_stats(&now);
  } else if (!(device == kMeta)) {
    device_memory(device).read_stats(&now);
  }
  std::memcpy(stats, &now, std::min<size_t>(stats->size, sizeof(now)));
  return nullptr;
}

Status reset_peak_memory(tn_device device) {
  TN_TRY(check_device(device));
  if (device == kCpu) {
    reset_cpu_peak();
  } else if (!(device == kMeta)) {
    device_memory(device).reset_peak();
  }
  return nullptr;
}

Status set_memory_limit(tn_device device, uint64_t bytes) {
  TN_TRY(check_device(device));
  if (device == kMeta) return invalid("meta has no memory to limit");
  if (!(device == kCpu)) return device_memory(device).set_limit(bytes);
  set_cpu_limit(bytes);
  return nullptr;
}

Status empty_cache(tn_device device) {
  TN_TRY(check_device(device));
  if (device == kMeta) return nullptr;
  if (!(device == kCpu)) return device_memory(device).empty_cache();
  empty_cpu_cache();
  return nullptr;
}

}  // namespace tenon
