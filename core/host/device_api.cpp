// device/1 and cache/1.
#include "call/call.h"
#include "launch/launch.h"
#include "host/tables.h"
#include "memory/cache.h"
#include "memory/memory.h"
#include "registry/recording.h"
#include "registry/thread_state.h"

namespace tenon {
namespace {

const char* type_name_of(int32_t type) {
  const DeviceType* t = type >= 0 && type < device_type_count() ? device_type(type) : nullptr;
  return t != nullptr ? t->name.c_str() : nullptr;
}

const char* type_description(int32_t type) {
  const DeviceType* t = type >= 0 && type < device_type_count() ? device_type(type) : nullptr;
  return t != nullptr ? t->description.c_str() : nullptr;
}

int32_t count(int32_t type) {
  const DeviceType* t = type >= 0 && type < device_type_count() ? device_type(type) : nullptr;
  return t != nullptr ? t->count() : 0;
}

const char* type_absence(int32_t type) {
  const DeviceType* t = type >= 0 && type < device_type_count() ? device_type(type) : nullptr;
  return t != nullptr && t->count() == 0 && t->absence ? status_text(t->absence) : nullptr;
}

tn_status* change_fallback(int32_t policy) {
  return guarded([&] { return set_fallback(policy); });
}

uint32_t flags(int32_t type) {
  const DeviceType* t = type >= 0 && type < device_type_count() ? device_type(type) : nullptr;
  return t != nullptr ? t->def.flags : 0;
}

tn_status* parse(const char* text, tn_device* device) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("parse: the text", text));
    TN_TRY(expect_place("parse", device));
    return parse_device(text, device);
  });
}

tn_status* synchronize(tn_device device) {
  return guarded([&]() -> Status {
    TN_TRY(check_device(device));
    return synchronize_device(device);
  });
}

tn_status* stream_create(tn_device device, tn_stream** stream) {
  return guarded([&]() -> Status {
    TN_TRY(expect_place("stream_create", stream));
    Stream* made;
    TN_TRY(create_stream(device, &made));
    *stream = made;
    return nullptr;
  });
}

tn_status* stream_destroy(tn_stream* stream) {
  return guarded([&] { return destroy_stream(static_cast<Stream*>(stream)); });
}

tn_status* stream_synchronize(tn_stream* stream) {
  return guarded([&] { return synchronize_stream(static_cast<Stream*>(stream)); });
}

tn_status* get_current_stream(tn_device device, tn_stream** stream) {
  return guarded([&]() -> Status {
    TN_TRY(check_device(device));
    TN_TRY(expect_place("current_stream", stream));
    Stream* current;
    TN_TRY(current_stream(device, &current));
    *stream = current;
    return nullptr;
  });
}

tn_status* set_stream(tn_device device, tn_stream* stream) {
  return guarded([&]() -> Status {
    TN_TRY(check_device(device));
    if ((thread_state.modes & kModeRecord) != 0)
      thread_state.recording->refuse("stream: another stream is made the current one");
    return set_current_stream(device, static_cast<Stream*>(stream));
  });
}

tn_status* stats(tn_device device, tn_memory_stats* out) {
  return guarded([&]() -> Status {
    TN_TRY(check_device(device));
    TN_TRY(expect_place("memory_stats", out));
    return memory_stats(device, out);
  });
}

tn_status* set_limit(tn_device device, uint64_t bytes) {
  return guarded([&]() -> Status {
    TN_TRY(check_device(device));
    return set_memory_limit(device, bytes);
  });
}

tn_status* empty_device_cache(tn_device device) {
  return guarded([&]() -> Status {
    TN_TRY(check_device(device));
    return empty_cache(device);
  });
}

tn_status* reset_peak(tn_device device) {
  return guarded([&]() -> Status {
    TN_TRY(check_device(device));
    return reset_peak_memory(device);
  });
}

void* find_cached(const tn_call* call, const tn_tensor* t, uint64_t key) {
  void* found = nullptr;
  // Where memory for noting the use is lacking, it counts as not there.
  free_status(guarded([&]() -> Status {
    found = find_blob(as_tensor(t), static_cast<Stream*>(call->stream), key);
    return nullptr;
  }));
  return found;
}

tn_status* attach_cached(const tn_call* call, const tn_tensor* t, uint64_t key, void* blob,
                         uint64_t bytes, void (*destroy)(void*)) {
  return guarded([&] {
    return attach_blob(as_tensor(t), static_cast<Stream*>(call->stream), key, blob, bytes, destroy);
  });
}

}  // namespace

const tn_device_api* device_api() {
  static const tn_device_api table = {sizeof(tn_device_api),
                                      device_type_count,
                                      type_name_of,
                                      type_description,
                                      count,
                                      parse,
                                      synchronize,
                                      stream_create,
                                      stream_destroy,
                                      stream_synchronize,
                                      get_current_stream,
                                      set_stream,
                                      stats,
                                      set_limit,
                                      empty_device_cache,
                                      flags,
                                      change_fallback,
                                      fallback,
                                      type_absence,
                                      reset_peak};
  return &table;
}

const tn_cache_api* cache_api() {
  static const tn_cache_api table = {sizeof(tn_cache_api), find_cached, attach_cached};
  return &table;
}

}  // namespace tenon
