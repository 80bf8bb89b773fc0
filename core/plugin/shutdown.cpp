// Closes devices, ops, factories and policies, and tells the plugins.
#include "plugin/shutdown.h"

#include "amp/autocast.h"
#include "base/threads.h"
#include "memory/cache.h"
#include "memory/memory.h"
#include "object/factory.h"
#include "tensor/slots.h"
#include "tensor/stream.h"

namespace tenon {
namespace {

template <typename... Args>
Status after_shutdown(Args...) {
  return make_status(TN_FAILED_PRECONDITION, "plugins were shut down");
}
template <typename... Args>
void nothing(Args...) {}

template <typename... Args>
void close_slot(Status (*&slot)(Args...)) {
  if (slot != nullptr) slot = after_shutdown<Args...>;
}
template <typename... Args>
void close_slot(void (*&slot)(Args...)) {
  if (slot != nullptr) slot = nothing<Args...>;
}
template <typename... Slots>
void close_slots(Slots&... slots) {
  (close_slot(slots), ...);
}

// The type stays, but its functions fail from now on: the plugin's `self` goes.
void close_device(int32_t type) {
  close_streams(type);
  tn_device_def& def = const_cast<DeviceType*>(device_type(type))->def;
  close_slots(def.allocate, def.free, def.copy, def.stream_create, def.stream_destroy,
              def.stream_synchronize, def.event_create, def.event_destroy, def.event_record,
              def.stream_wait_event, def.event_query, def.event_synchronize, def.memory_info,
              def.fill_bytes, def.capture_begin, def.capture_end, def.graph_launch,
              def.graph_destroy, def.allocate_host, def.free_host);
}

Status check_device_is_free(tn_device device) {
  drop_all_blobs(device);
  // Waits for the device first, and so finds all memory that was released and what failed. A device
  // that is lost, be it by this wait, has nothing to wait for.
  Status failed = empty_cache(device);
  if (failed != nullptr && is_lost(device)) {
    free_status(failed);
    failed = empty_cache(device);
  }
  TN_TRY(failed);
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  TN_TRY(memory_stats(device, &stats));
  if (stats.allocated == 0) return nullptr;
  return error(TN_FAILED_PRECONDITION,
               "shutdown: tensors with {} bytes in all still live on {}; release them first",
               stats.allocated, device_text(device));
}

}  // namespace

Status check_nothing_lives(const std::vector<LoadedPlugin>& plugins) {
  for (const LoadedPlugin& plugin : plugins) {
    for (const int32_t type : plugin.staging->device_types()) {
      const int32_t count = device_type(type)->n_open();
      for (int32_t index = 0; index < count; ++index) TN_TRY(check_device_is_free({type, index}));
    }
  }
  return nullptr;
}

Status call_shutdown(tn_plugin_shutdown_fn shutdown, void* self) {
  try {
    return shutdown(self);
  } catch (const std::exception& e) {
    return error(TN_EXCEPTION, "tenon_plugin_shutdown threw: {}", e.what());
  } catch (...) {
    return make_status(TN_EXCEPTION, "tenon_plugin_shutdown threw what is no std::exception");
  }
}

Status shut_down(const std::vector<LoadedPlugin>& plugins) {
  drop_all_blobs(kCpu);  // a plugin's packed weights
  registry().close();
  close_policies();
  close_factories();
  reset_threads();
  reset_compilers();
  // What was compiled launches kernels, which are no longer there.
  watched_changes.fetch_or(kNothingFits, std::memory_order_relaxed);
  for (const LoadedPlugin& plugin : plugins) {
    for (const int32_t type : plugin.staging->device_types()) close_device(type);
  }
  Status first = nullptr;
  for (auto plugin = plugins.rbegin(); plugin != plugins.rend(); ++plugin) {
    registry().release(plugin->id);
    const std::vector<DestroySlot>& slots = plugin->staging->destroy_slots();
    for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) slot->destroy(slot->self);
    if (plugin->shutdown == nullptr) continue;
    Status status = call_shutdown(plugin->shutdown, plugin->self);
    if (status == nullptr) continue;
    if (first == nullptr) {
      first = wrap(status, [&] { return fmt::format("plugin '{}': shutdown failed", plugin->id); });
    } else {
      free_status(status);
    }
  }
  return first;
}

}  // namespace tenon
