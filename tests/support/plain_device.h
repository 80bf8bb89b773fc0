// A stranger's device without streams, for the inner tests of memory: it counts what it gives out,
// ends where it is told to, and fails as it is told to.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "memory_support.h"

namespace tenon {

// A device as small as the contract allows: no streams, no memory_info. Counts what it gave out.
struct PlainDevice {
  std::mutex mutex;
  std::map<void*, uint64_t> blocks;
  uint64_t capacity = uint64_t{1} << 40;
  uint64_t taken = 0;
  int n_allocations = 0;
  const char* failure = nullptr;
  tn_code code = TN_FAILED_PRECONDITION;  // of the failure
};

inline PlainDevice* device_state(void* self) { return static_cast<PlainDevice*>(self); }

inline tn_device_def plain_def(const char* name, PlainDevice* state) {
  tn_device_def def{};
  def.size = sizeof(def);
  def.name = name;
  def.lower_precision = TN_DTYPE_NONE;
  def.self = state;
  def.count = [](void*) { return 1; };
  def.allocate = [](void* self, int32_t, uint64_t bytes, void** memory) -> tn_status* {
    PlainDevice* d = device_state(self);
    const std::lock_guard lock(d->mutex);
    if (d->failure != nullptr) return make_status(d->code, d->failure);
    *memory = nullptr;
    if (d->taken + bytes > d->capacity) return nullptr;
    *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    d->blocks[*memory] = bytes;
    d->taken += bytes;
    ++d->n_allocations;
    return nullptr;
  };
  def.free = [](void* self, int32_t, void* memory, uint64_t bytes) {
    PlainDevice* d = device_state(self);
    const std::lock_guard lock(d->mutex);
    EXPECT_EQ(d->blocks.at(memory), bytes);
    d->blocks.erase(memory);
    d->taken -= bytes;
    std::free(memory);
  };
  def.copy = [](void*, tn_stream*, tn_device, void* dst, uint64_t dst_offset, tn_device,
                const void* src, uint64_t src_offset, uint64_t bytes) -> tn_status* {
    std::memcpy(static_cast<char*>(dst) + dst_offset, static_cast<const char*>(src) + src_offset,
                bytes);
    return nullptr;
  };
  return def;
}

// Each test has a device of its own.
struct Plain : testing::Test {
  void SetUp() override {
    static int number = 0;
    open("plain" + std::to_string(number++), 0);
  }
  void open(const std::string& name, uint32_t flags) {
    tn_device_def def = plain_def(name.c_str(), &state);
    def.flags = flags;
    ASSERT_OK(register_device(def, "test", &device.type));
  }
  void TearDown() override { EXPECT_OK(empty_cache(device)); }
  tn_device device{};
  PlainDevice& state = *new PlainDevice;  // devices live as long as the process
};

}  // namespace tenon
