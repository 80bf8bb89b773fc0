// Storages: counted bytes on a device. Who makes one says how its memory is freed; the caching
// allocator (memory/) makes most.
#pragma once

#include <atomic>
#include <cstdint>

#include "tensor/device.h"

namespace tenon {

struct Hazards;   // memory/hazards.h: which streams use the memory
struct BlobList;  // memory/cache.h: what backends attached

}  // namespace tenon

struct tn_storage {
  std::atomic<uint32_t> refs{1};
  std::atomic<uint32_t> version{0};  // counts changes of the values, in every mode
  void* memory = nullptr;            // address, or the device's handle
  uint64_t bytes = 0;
  tn_device device{};
  // Frees the memory and the struct itself.
  void (*destroy)(tn_storage*) = nullptr;
  void* context = nullptr;  // of destroy
  // NULL; of the shadow of an argument that a recorded call kept: the storage that has the version.
  tn_storage* original = nullptr;
  tenon::Stream* stream = nullptr;  // where it was allocated; NULL on cpu and meta
  std::atomic<tenon::Hazards*> hazards{nullptr};
  std::atomic<tenon::BlobList*> blobs{nullptr};
  bool no_cache = false;               // a writable DLPack export: changes cannot be counted
  int32_t pinned_for = TN_DEVICE_CPU;  // the device type whose pinned memory it is; cpu: of none
  uint32_t born_in = 0;                // the number of a recording that was open then; 0: none was
  // 0: no compiled function leans on tensors that show it; else one more than how often these changed
  // in what is no value.
  std::atomic<uint64_t> watched{0};

  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs.load(std::memory_order_acquire) == 1 ||
        refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      destroy(this);
    }
  }
};

namespace tenon {

inline std::atomic<uint32_t>& version_of(const tn_storage* s) {
  return s->original != nullptr ? s->original->version : const_cast<tn_storage*>(s)->version;
}

// One memory? A recording sees its arguments through storages of its own (capture/compiled.cpp).
inline bool same_memory(const tn_storage* a, const tn_storage* b) {
  return a == b || (a->memory == b->memory && a->memory != nullptr && a->device == b->device);
}

}  // namespace tenon
