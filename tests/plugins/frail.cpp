// Devices `frail0`, `frail1`, ... of 64 each: the backend ref behind slots and kernels that
// fail from a chosen call on, as on a machine whose accelerator falls off the bus. Tests reach
// frail_* through dlsym.
#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "small.h"
#include "through_ref.h"

extern "C" {
SMALL_MANIFEST(TN_ABI_VERSION);
}

namespace {

constexpr int32_t kTypes = 8, kDevices = 64;

struct Device {
  std::atomic<int64_t> calls{0}, fails_from{0}, live{0};
  std::mutex mutex;
  std::vector<void*> streams;  // needs the mutex
};

const tn_host* host;
tn_registrar* registrar;
tn_device_def real;
Device devices[kTypes][kDevices];
std::deque<tn_kernel_def> kernels;

Device& device_of(void* type, int32_t index) { return static_cast<Device*>(type)[index]; }

// Types are registered one after the other.
Device& device_of(const tn_call* call) {
  static const int32_t first = [] {
    tn_device device = {};
    static_cast<const tn_device_api*>(host->get_interface("device/1"))->parse("frail0", &device);
    return device.type;
  }();
  return devices[call->device.type - first][call->device.index];
}

// A device that fell off the bus does nothing any more: what is under way ends here.
tn_status* broken(Device& device) {
  const int64_t from = device.fails_from;
  if (++device.calls < from || from == 0) return nullptr;
  const std::lock_guard lock(device.mutex);
  for (void* stream : device.streams) {
    if (tn_status* late = real.stream_synchronize(real.self, 0, stream)) host->status_free(late);
  }
  return host->status(TN_INTERNAL, "the bus is gone", nullptr);
}
int32_t real_index(int32_t index) { return index % 2; }

tn_device_def frail_def(const char* name, Device* type) {
  tn_device_def def = real;
  def.name = name;
  def.self = type;
  def.destroy = nullptr;
  def.count = [](void*) { return kDevices; };
  def.allocate = [](void* self, int32_t index, uint64_t bytes, void** memory) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    ++device_of(self, index).live;
    return real.allocate(real.self, real_index(index), bytes, memory);
  };
  def.free = [](void* self, int32_t index, void* memory, uint64_t bytes) {
    --device_of(self, index).live;
    real.free(real.self, real_index(index), memory, bytes);
  };
  def.allocate_host = [](void* self, int32_t index, uint64_t bytes, void** memory) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    ++device_of(self, index).live;
    return real.allocate_host(real.self, real_index(index), bytes, memory);
  };
  def.free_host = [](void* self, int32_t index, void* memory, uint64_t bytes) {
    --device_of(self, index).live;
    real.free_host(real.self, real_index(index), memory, bytes);
  };
  def.copy = [](void* self, tn_stream* stream, tn_device dst_device, void* dst, uint64_t dst_offset,
                tn_device src_device, const void* src, uint64_t src_offset,
                uint64_t bytes) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, stream->device.index))) return failed;
    return real.copy(real.self, stream, dst_device, dst, dst_offset, src_device, src, src_offset,
                     bytes);
  };
  def.fill_bytes = [](void* self, tn_stream* stream, void* memory, uint64_t offset, uint8_t byte,
                      uint64_t bytes) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, stream->device.index))) return failed;
    return real.fill_bytes(real.self, stream, memory, offset, byte, bytes);
  };
  def.stream_create = [](void* self, int32_t index, void** stream) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    Device& device = device_of(self, index);
    const std::lock_guard lock(device.mutex);
    tn_status* failed = real.stream_create(real.self, real_index(index), stream);
    if (failed == nullptr) device.streams.push_back(*stream);
    return failed;
  };
  def.stream_destroy = [](void* self, int32_t index, void* stream) {
    Device& device = device_of(self, index);
    const std::lock_guard lock(device.mutex);
    std::erase(device.streams, stream);
    real.stream_destroy(real.self, real_index(index), stream);
  };
  def.stream_synchronize = [](void* self, int32_t index, void* stream) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    return real.stream_synchronize(real.self, real_index(index), stream);
  };
  def.event_create = [](void* self, int32_t index, void** event) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    return real.event_create(real.self, real_index(index), event);
  };
  def.event_destroy = [](void*, int32_t index, void* event) {
    real.event_destroy(real.self, real_index(index), event);
  };
  def.event_record = [](void* self, int32_t index, void* event, void* stream) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    return real.event_record(real.self, real_index(index), event, stream);
  };
  def.stream_wait_event = [](void* self, int32_t index, void* stream, void* event) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    return real.stream_wait_event(real.self, real_index(index), stream, event);
  };
  def.event_query = [](void* self, int32_t index, void* event, int32_t* done) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    return real.event_query(real.self, real_index(index), event, done);
  };
  def.event_synchronize = [](void* self, int32_t index, void* event) -> tn_status* {
    if (tn_status* failed = broken(device_of(self, index))) return failed;
    return real.event_synchronize(real.self, real_index(index), event);
  };
  return def;
}

const char* type_name(int32_t type) {
  static const std::deque<std::string> names = [] {
    std::deque<std::string> list;
    for (int32_t t = 0; t < kTypes; ++t) list.push_back("frail" + std::to_string(t));
    return list;
  }();
  return names[static_cast<size_t>(type)].c_str();
}

tn_status* take_device(tn_registrar*, const tn_device_def* def) {
  real = *def;
  for (int32_t type = 0; type < kTypes; ++type) {
    const tn_device_def frail = frail_def(type_name(type), devices[type]);
    if (tn_status* failed = registrar->device(registrar, &frail)) return failed;
  }
  return nullptr;
}

tn_status* launch(void* self, const tn_call* call) {
  const auto& kernel = *static_cast<const tn_kernel_def*>(self);
  if (tn_status* failed = broken(device_of(call))) return failed;
  return kernel.launch(kernel.self, call);
}

tn_status* take_kernel(tn_registrar*, const tn_kernel_def* def) {
  kernels.push_back(*def);
  for (int32_t type = 0; type < kTypes; ++type) {
    tn_kernel_def frail = *def;
    frail.device = type_name(type);
    frail.launch = launch;
    frail.self = &kernels.back();
    if (tn_status* failed = registrar->kernel(registrar, &frail)) return failed;
  }
  return nullptr;
}

}  // namespace

extern "C" {

// From its n-th call on everything of the device fails; 0: nothing does. Counts from now on.
TN_EXPORT void frail_fail_from(int32_t type, int32_t index, int64_t n) {
  devices[type][index].calls = 0;
  devices[type][index].fails_from = n;
}
TN_EXPORT int64_t frail_calls(int32_t type, int32_t index) { return devices[type][index].calls; }
// Allocations that the host did not give back.
TN_EXPORT int64_t frail_live(int32_t type, int32_t index) { return devices[type][index].live; }

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* the_host, tn_registrar* the_registrar,
                                       void** self) {
  host = the_host;
  registrar = the_registrar;
  return init_through_ref(host, registrar, self, take_device, take_kernel);
}

}  // extern "C"
