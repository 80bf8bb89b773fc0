// Devices as values, and their memory. Streams are in stream.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// A device type and an index. Default: the CPU. Cheap to copy.
struct Device {
  tn_device value{TN_DEVICE_CPU, 0};

  constexpr Device() = default;
  constexpr Device(tn_device device) : value(device) {}
  // "cpu", "ref", "ref:1". The error of an unknown one names the devices there are.
  Device(const char* text) { check(detail::api.device->parse(text, &value)); }
  Device(const std::string& text) : Device(text.c_str()) {}

  // The first device of a plugin's that is really there, else the CPU. An Error before any plugin is
  // loaded: it would be the CPU on every machine.
  static Device best() {
    if (detail::api.device->n_types() == TN_FIRST_PLUGIN_DEVICE && !any_plugin()) {
      fail(
          "Device::best: no plugin is loaded, and devices come with plugins; call load_plugins() "
          "first",
          TN_FAILED_PRECONDITION);
    }
    for (int32_t type = TN_FIRST_PLUGIN_DEVICE; type < detail::api.device->n_types(); ++type) {
      bool simulated = (detail::api.device->flags(type) & TN_DEVICE_SIMULATED) != 0;
      if (!simulated && detail::api.device->count(type) > 0) return tn_device{type, 0};
    }
    return {};
  }
  // Every device there is, the CPU first, without `meta`.
  static std::vector<Device> all() {
    std::vector<Device> devices;
    for (int32_t type = 0; type < detail::api.device->n_types(); ++type) {
      if (type == TN_DEVICE_META) continue;
      int32_t count = detail::api.device->count(type);
      for (int32_t i = 0; i < count; ++i) devices.push_back(tn_device{type, i});
    }
    return devices;
  }

  constexpr bool operator==(const Device& other) const {
    return value.type == other.value.type && value.index == other.value.index;
  }
  constexpr bool is_cpu() const { return value.type == TN_DEVICE_CPU; }
  constexpr int32_t index() const { return value.index; }
  // Of the type: "ref".
  std::string type() const {
    const char* name = detail::api.device->type_name(value.type);
    return name ? name : "unknown";
  }
  // "ref:1"; "cpu" and "meta" have no number.
  std::string name() const {
    if (value.type < TN_FIRST_PLUGIN_DEVICE) return type();
    return detail::joined({type(), ":", std::to_string(value.index)});
  }
  // Waits for all work of the device.
  void synchronize() const { check(detail::api.device->synchronize(value)); }

  tn_memory_stats memory_stats() const {
    tn_memory_stats stats{};
    stats.size = sizeof(stats);
    check(detail::api.device->memory_stats(value, &stats));
    return stats;
  }
  // In bytes: of live tensors, the most that these were, and what was taken from the device for
  // them. The most is since the start of the process, or since reset_peak_memory_stats().
  uint64_t memory_allocated() const { return memory_stats().allocated; }
  uint64_t max_memory_allocated() const { return memory_stats().peak_allocated; }
  uint64_t memory_reserved() const { return memory_stats().reserved_bytes; }
  void reset_peak_memory_stats() const { check(detail::api.device->reset_peak_memory(value)); }
  // In bytes; 0: none. Allocations beyond it are out of memory.
  void set_memory_limit(uint64_t bytes) const {
    check(detail::api.device->set_memory_limit(value, bytes));
  }
  void empty_cache() const { check(detail::api.device->empty_cache(value)); }

 private:
  static bool any_plugin() {
    const char* json = nullptr;
    check(detail::api.plugin->list(&json));
    return detail::take_text(json).find("\"loaded\"") != std::string::npos;
  }
};

// What becomes of a call for whose op there are kernels, but none that takes it on its device: its
// decomposition runs there, or it is an Error with the reasons of the kernels. Of the process.
enum class Fallback : int32_t { decompose = TN_FALLBACK_DECOMPOSE, error = TN_FALLBACK_ERROR };
inline void set_fallback(Fallback policy) {
  check(detail::api.device->set_fallback(int32_t(policy)));
}
inline Fallback fallback() { return Fallback(detail::api.device->fallback()); }

// By libtorch's names. A plugin's device is asked for by its name when a Device is made of it, as
// "cuda" is.
struct DeviceType {
  const char* name;
  operator Device() const { return Device(name); }
  friend bool operator==(const std::string& type, DeviceType other) { return type == other.name; }
};
inline constexpr DeviceType kCPU{"cpu"}, kCUDA{"cuda"};

inline constexpr Device cpu{tn_device{TN_DEVICE_CPU, 0}};
inline constexpr Device meta{tn_device{TN_DEVICE_META, 0}};

}  // namespace v0
}  // namespace tenon
