// Devices and their streams: names interned to types, the backend's table behind each, the current
// stream of a thread. `cpu` and `meta` are always there and have no table. Memory is in memory/.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tenon/abi.h"

namespace tenon {

inline constexpr int32_t kMaxDeviceTypes = 32;
inline constexpr int32_t kMaxDevices = 64;  // of one type

inline bool operator==(tn_device a, tn_device b) { return a.type == b.type && a.index == b.index; }
inline constexpr tn_device kCpu{TN_DEVICE_CPU, 0};
inline constexpr tn_device kMeta{TN_DEVICE_META, 0};

// Lives as long as the process. Immutable once registered, but for how many devices there are, which
// is asked late where the definition has `open`.
struct DeviceType {
  int32_t type;
  std::string name;
  std::string description;
  std::string plugin;
  tn_device_def def;              // zero for cpu and meta
  uint64_t stated_alignment = 0;  // of its addresses; 0: it states none, or has none
  // -1: nobody asked yet. `absence`, written before, says why there are none; NULL: nobody knows.
  mutable std::atomic<int32_t> n_devices;
  mutable Status absence;
  int32_t count() const {
    const int32_t n = n_devices.load(std::memory_order_acquire);
    return n >= 0 ? n : open_devices();
  }
  // Those that may have been used: 0 while nobody asked.
  int32_t n_open() const { return std::max(0, n_devices.load(std::memory_order_acquire)); }
  bool has_streams() const { return def.stream_create != nullptr; }

 private:
  int32_t open_devices() const;
};

struct Stream : tn_stream {
  const DeviceType* device_type;
  // For messages about late errors (slots.h); threads that share a stream may miscount.
  std::atomic<const char*> last_launch{nullptr};
  std::atomic<uint32_t> n_launched{0};  // since the stream was last waited for
  std::atomic<void*> memory{nullptr};   // its free blocks: of memory/device_memory.h
  // Of a stream that a graph is recorded on: the one in whose place it stands, to which memory and
  // its uses belong. One thread has it. Else NULL.
  Stream* stands_for = nullptr;
};

// NULL: no such type.
const DeviceType* device_type(int32_t type);
int32_t device_type_count();
const DeviceType* find_device_type(std::string_view name);
// Fails when the name is taken or not a name, or the table lacks a mandatory slot. Calls def.count,
// unless there is def.open.
[[nodiscard]] Status check_device_def(const tn_device_def& def);
[[nodiscard]] Status register_device(const tn_device_def& def, std::string plugin, int32_t* type);

std::string device_text(tn_device device);  // "cpu", "ref:1"
// Errors name the devices that are there.
[[nodiscard]] Status parse_device(std::string_view text, tn_device* device);
[[nodiscard]] Status check_device(tn_device device);

// The stream that calls of this thread on `device` go to: the one set, else the device's default
// stream (made on first use). NULL for cpu and meta.
[[nodiscard]] Status current_stream(tn_device device, Stream** stream);
[[nodiscard]] Status set_current_stream(tn_device device, Stream* stream);
[[nodiscard]] Status create_stream(tn_device device, Stream** stream);
[[nodiscard]] Status destroy_stream(Stream* stream);
[[nodiscard]] Status synchronize_stream(Stream* stream);
// All streams of the device that were ever made.
[[nodiscard]] Status synchronize_device(tn_device device);
// Work put on `later` from now on runs behind all work now on `earlier`. Any two streams, of any
// two device types: where the types differ, the calling thread waits for `earlier`.
[[nodiscard]] Status order_streams(Stream* earlier, Stream* later);

}  // namespace tenon
