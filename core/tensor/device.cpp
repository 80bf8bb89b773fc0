// The registry of device types, and devices as text. Reads take no lock: types are added, never
// changed or removed.
#include "tensor/device.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/not_loaded.h"
#include "base/text.h"

namespace tenon {
namespace {

std::atomic<const DeviceType*> g_types[kMaxDeviceTypes];
std::atomic<int32_t> g_count{0};
std::mutex g_mutex;  // of writers

// Needs g_mutex.
void publish(const DeviceType* entry) {
  g_types[entry->type].store(entry, std::memory_order_release);
  g_count.store(entry->type + 1, std::memory_order_release);
}

void add_built_in_types() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::lock_guard lock(g_mutex);
    const auto add = [](int32_t type, const char* name, const char* description) {
      auto* entry = new DeviceType{};
      entry->type = type;
      entry->name = name;
      entry->description = description;
      entry->def.size = sizeof(tn_device_def);
      entry->def.lower_precision = type == TN_DEVICE_CPU ? TN_BFLOAT16 : TN_DTYPE_NONE;
      entry->def.name = entry->name.c_str();
      entry->def.description = entry->description.c_str();
      entry->n_devices = 1;
      publish(entry);
    };
    add(TN_DEVICE_CPU, "cpu", "host memory");
    add(TN_DEVICE_META, "meta", "shapes without memory");
  });
}

// The author's struct may be older (shorter) or younger than ours.
tn_device_def read_def(const tn_device_def& def) {
  tn_device_def copy{};
  std::memcpy(&copy, &def, std::min<size_t>(def.size, sizeof(copy)));
  copy.size = sizeof(copy);
  return copy;
}

bool is_name(std::string_view text) {
  if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
  for (const char c : text) {
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_') return false;
  }
  return true;
}

struct Slot {
  const char* name;
  bool present;
};

Status check_group(const char* device, const char* group, std::initializer_list<Slot> slots) {
  const Slot* present = nullptr;
  const Slot* absent = nullptr;
  for (const Slot& slot : slots) (slot.present ? present : absent) = &slot;
  if (present == nullptr || absent == nullptr) return nullptr;
  return invalid("device '{}': {} is given but {} is not; the slots of {} come all or none", device,
                 present->name, absent->name, group);
}

Status count_devices(const tn_device_def& def, int32_t* count) {
  *count = def.count(def.self);
  if (*count >= 0 && *count <= kMaxDevices) return nullptr;
  return invalid("device '{}': count gave {}, expected 0 to {}", def.name, *count, kMaxDevices);
}

// "cpu, ref (2)"
std::string devices_here(std::string_view name = {}) {
  std::string text;
  const int32_t n = device_type_count();
  for (int32_t t = 0; t < n; ++t) {
    const DeviceType* type = device_type(t);
    if (t == TN_DEVICE_META) continue;
    if (!text.empty()) text += ", ";
    text += type->name;
    if (type->count() == 0) text += " (none present)";
    if (type->count() > 1) text += fmt::format(" ({})", type->count());
  }
  if (n == TN_FIRST_PLUGIN_DEVICE) text += "; load_plugins() loads what brings others";
  text += not_loaded_text(name);
  return text;
}

Status index_error(std::string_view text, const DeviceType& type) {
  if (type.count() == 0) {
    return error(TN_NOT_FOUND, "device '{}': there is no {} device here{}{}", printable(text),
                 type.name, type.absence ? ": " : "",
                 type.absence ? status_text(type.absence) : "");
  }
  return invalid("device '{}': index out of range; {} has {} device{}", printable(text), type.name,
                 type.count(), type.count() == 1 ? "" : "s");
}

}  // namespace

int32_t DeviceType::open_devices() const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (n_devices >= 0) return n_devices;  // meanwhile
  int32_t n = 0;
  absence = def.open(def.self);
  if (!absence) absence = count_devices(def, &n);
  n_devices.store(absence ? 0 : n, std::memory_order_release);
  return n_devices;
}

const DeviceType* device_type(int32_t type) {
  if (static_cast<uint32_t>(type) >= kMaxDeviceTypes) return nullptr;
  const DeviceType* entry = g_types[type].load(std::memory_order_acquire);
  if (entry != nullptr) [[likely]] {
    return entry;
  }
  add_built_in_types();
  return g_types[type].load(std::memory_order_acquire);
}

int32_t device_type_count() {
  add_built_in_types();
  return g_count.load(std::memory_order_acquire);
}

const DeviceType* find_device_type(std::string_view name) {
  const int32_t n = device_type_count();
  for (int32_t t = 0; t < n; ++t) {
    const DeviceType* type = device_type(t);
    if (type->name == name) return type;
  }
  return nullptr;
}

Status check_device_def(const tn_device_def& given) {
  const tn_device_def def = read_def(given);
  if (def.name == nullptr || !is_name(def.name)) {
    return invalid("device '{}': expected a name of lower case letters, digits and '_'",
                   def.name == nullptr ? "" : def.name);
  }
  if (const DeviceType* other = find_device_type(def.name)) {
    return invalid("device '{}': the name is taken by {}", def.name,
                   other->plugin.empty() ? "the core" : "plugin '" + other->plugin + "'");
  }
  constexpr uint32_t kFlags = TN_DEVICE_NO_ADDRESS | TN_DEVICE_SIMULATED;
  if ((def.flags & ~kFlags) != 0) {
    return invalid("device '{}': unknown flags {:#x}", def.name, def.flags & ~kFlags);
  }
  for (const Slot& slot : {Slot{"count", def.count != nullptr},
                           {"allocate", def.allocate != nullptr},
                           {"free", def.free != nullptr},
                           {"copy", def.copy != nullptr}}) {
    if (!slot.present) {
      return invalid("device '{}': {} is not given, and is mandatory", def.name, slot.name);
    }
  }
  TN_TRY(check_group(def.name, "streams",
                     {{"stream_create", def.stream_create != nullptr},
                      {"stream_destroy", def.stream_destroy != nullptr},
                      {"stream_synchronize", def.stream_synchronize != nullptr},
                      {"event_create", def.event_create != nullptr},
                      {"event_destroy", def.event_destroy != nullptr},
                      {"event_record", def.event_record != nullptr},
                      {"stream_wait_event", def.stream_wait_event != nullptr},
                      {"event_query", def.event_query != nullptr},
                      {"event_synchronize", def.event_synchronize != nullptr}}));
  TN_TRY(check_group(def.name, "graphs",
                     {{"capture_begin", def.capture_begin != nullptr},
                      {"capture_end", def.capture_end != nullptr},
                      {"graph_launch", def.graph_launch != nullptr},
                      {"graph_destroy", def.graph_destroy != nullptr}}));
  TN_TRY(check_group(
      def.name, "pinned memory",
      {{"allocate_host", def.allocate_host != nullptr}, {"free_host", def.free_host != nullptr}}));
  if (def.alignment < 0 || (def.alignment & (def.alignment - 1)) != 0) {
    return invalid("device '{}': alignment is {}, expected a power of two", def.name,
                   def.alignment);
  }
  if (def.lower_precision != TN_DTYPE_NONE && def.lower_precision != TN_FLOAT16 &&
      def.lower_precision != TN_BFLOAT16) {
    return invalid("device '{}': lower_precision is {}, expected float16, bfloat16 or none",
                   def.name, static_cast<int32_t>(def.lower_precision));
  }
  int32_t count = 0;
  return def.open ? nullptr : count_devices(def, &count);
}

Status register_device(const tn_device_def& given, std::string plugin, int32_t* type) {
  TN_TRY(check_device_def(given));
  auto entry = std::make_unique<DeviceType>();
  entry->def = read_def(given);
  entry->name = entry->def.name;
  entry->description = entry->def.description == nullptr ? "" : entry->def.description;
  entry->plugin = std::move(plugin);
  entry->def.name = entry->name.c_str();
  entry->def.description = entry->description.c_str();
  const bool has_addresses = (entry->def.flags & TN_DEVICE_NO_ADDRESS) == 0;
  entry->stated_alignment = has_addresses ? static_cast<uint64_t>(entry->def.alignment) : 0;
  if (entry->def.alignment == 0) entry->def.alignment = 64;
  int32_t count = -1;
  if (!entry->def.open) TN_TRY(count_devices(entry->def, &count));
  entry->n_devices = count;
  const std::lock_guard lock(g_mutex);
  const int32_t n = g_count.load(std::memory_order_relaxed);
  if (n == kMaxDeviceTypes) {
    return error(TN_FAILED_PRECONDITION, "device '{}': there are {} device types already",
                 entry->name, n);
  }
  if (find_device_type(entry->name) != nullptr) {
    return invalid("device '{}': the name is taken", entry->name);  // since check_device_def
  }
  entry->type = n;
  publish(entry.release());
  *type = n;
  return nullptr;
}

std::string device_text(tn_device device) {
  const DeviceType* type = device_type(device.type);
  if (type == nullptr) return fmt::format("device {}:{}", device.type, device.index);
  if (device.type < TN_FIRST_PLUGIN_DEVICE && device.index == 0) return type->name;
  return fmt::format("{}:{}", type->name, device.index);
}

Status parse_device(std::string_view text, tn_device* device) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  int32_t index = 0;
  bool well_formed = !name.empty();
  if (colon != std::string_view::npos) {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, index);
    // A number too large for an index is still a number: it is out of range.
    if (parsed.ec == std::errc::result_out_of_range) index = INT32_MAX;
    well_formed &= parsed.ec != std::errc::invalid_argument && parsed.ptr == end && index >= 0;
  }
  if (!well_formed) {
    return invalid("device '{}': expected a name, or a name and an index as in ref:1",
                   printable(text));
  }
  const DeviceType* type = find_device_type(name);
  if (type == nullptr) {
    return error(TN_NOT_FOUND, "unknown device '{}'; devices here: {}", printable(name),
                 devices_here(name));
  }
  if (index >= type->count()) return index_error(text, *type);
  *device = {type->type, index};
  return nullptr;
}

Status check_device(tn_device device) {
  const DeviceType* type = device_type(device.type);
  if (type == nullptr) {
    return error(TN_NOT_FOUND, "there is no device type {}; devices here: {}", device.type,
                 devices_here());
  }
  if (device.index < 0 || device.index >= type->count()) {
    return index_error(fmt::format("{}:{}", type->name, device.index), *type);
  }
  return nullptr;
}

}  // namespace tenon
