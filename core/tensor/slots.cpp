// Calls of a backend's slots, each by the same few steps.
#include "tensor/slots.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/log.h"
#include "tensor/stream.h"

namespace tenon {
namespace {

// The first error of each device that is lost, as text. Lives as long as the process.
std::atomic<const std::string*> g_lost[kMaxDeviceTypes][kMaxDevices];

const tn_device_def& def_of(tn_device device) { return device_type(device.type)->def; }

std::string one_line(const tn_status* status) {
  std::string text = status_text(status);
  std::ranges::replace(text, '\n', ';');
  return text;
}

// What of the stream's work an error may be about.
std::string blame(const Stream* stream) {
  const char* last = stream->last_launch.load(std::memory_order_relaxed);
  const uint32_t n = stream->n_launched.load(std::memory_order_relaxed);
  if (last == nullptr || n == 0) return stream_text(stream);
  if (n == 1) {
    return fmt::format("{}: '{}', the only launch since the stream was last waited for",
                       stream_text(stream), last);
  }
  return fmt::format(
      "{}: one of {} launches since the stream was last waited for, the last of them '{}' "
      "(TENON_SYNC=1 "
      "finds out which)",
      stream_text(stream), n, last);
}

template <typename... Args>
void trace(tn_device device, const tn_status* failed, fmt::format_string<Args...> format,
           Args&&... args) {
  std::string line = device_text(device) + " " + fmt::format(format, std::forward<Args>(args)...);
  if (failed != nullptr) line += ": error: " + one_line(failed);
  trace_line(line);
}

// Whether a switch has its one known value. Who misspells it would wait for what never comes.
bool is_on(const char* name, const char* known) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0' || std::strcmp(text, "0") == 0) return false;
  if (std::strcmp(text, known) == 0) return true;
  log_line(
      2,
      fmt::format("{}={} has no effect; the one known value is '{}'", name, text, known).c_str());
  return false;
}

// An error of a slot becomes one for the user. `stream` (may be NULL) is where late errors may come
// from.
Status read_error(tn_device device, const char* slot, const Stream* stream, Status failed) {
  if (failed == nullptr) return nullptr;
  // Without streams nothing is late: an error is that of the call itself.
  const bool may_be_late = stream != nullptr && stream->device_type->has_streams();
  const auto where = [&] {
    return may_be_late ? fmt::format("{}: {}", slot, blame(stream)) : slot;
  };
  if (!is_fault(failed->code)) return may_be_late ? wrap(failed, where) : failed;
  StatusHolder hold(failed);
  const std::string what = where();
  return lose_device(device, what, hold.take());
}

}  // namespace

bool is_lost(tn_device device) {
  return device.type >= TN_FIRST_PLUGIN_DEVICE &&
         g_lost[device.type][device.index].load(std::memory_order_acquire) != nullptr;
}

Status check_not_lost(tn_device device) {
  if (!is_lost(device)) [[likely]]
    return nullptr;
  return error(TN_DEVICE_LOST, "{} is lost: {}", device_text(device),
               *g_lost[device.type][device.index].load(std::memory_order_acquire));
}

bool is_fault(tn_code code) {
  switch (code) {
    case TN_OUT_OF_MEMORY:
    case TN_INVALID_ARGUMENT:
    case TN_NOT_FOUND:
    case TN_UNSUPPORTED:
    case TN_FAILED_PRECONDITION:
      return false;
    default:
      return true;
  }
}

Status lose_device(tn_device device, const std::string& what, Status failed) {
  StatusHolder hold(failed);
  auto text = std::make_unique<std::string>(fmt::format("{}: {}", what, one_line(failed)));
  const std::string message = fmt::format("{} is lost: {}", device_text(device), what);
  const std::string* none = nullptr;
  if (g_lost[device.type][device.index].compare_exchange_strong(none, text.get())) {
    log_line(3, fmt::format("{} is lost: {}", device_text(device), *text).c_str());
    text.release();
    lose_streams(device);
  }
  return make_status(TN_DEVICE_LOST, message, hold.take());
}

Status judge_launch(Stream* stream, const char* name, Status failed) {
  if (!is_fault(failed->code) || is_lost(stream->device)) return failed;
  bool lost = failed->code == TN_DEVICE_LOST;
  if (!lost && stream->device_type->has_streams()) {
    const tn_device_def& def = stream->device_type->def;
    const StatusHolder answer(
        def.stream_synchronize(def.self, stream->device.index, stream->handle));
    if (is_tracing()) trace(stream->device, answer.get(), "stream_synchronize {}", stream->id);
    lost = answer && is_fault(answer.get()->code);
  }
  if (!lost) return failed;
  std::string what = fmt::format("'{}' on {}", name, stream_text(stream));
  // A driver tells of earlier work whenever it is called next.
  if (const uint32_t n = stream->n_launched.load(std::memory_order_relaxed);
      n > 0 && stream->device_type->has_streams()) {
    what += fmt::format(
        ", or one of {} launches before it since the stream was last waited for "
        "(TENON_SYNC=1 finds out which)",
        n);
  }
  return lose_device(stream->device, what, failed);
}

std::string stream_text(const Stream* stream) {
  return fmt::format("stream {} of {}", stream->id, device_text(stream->device));
}

bool is_tracing() {
  static const bool tracing = is_on("TENON_TRACE", "launches");
  return tracing;
}

bool is_synchronous() {
  static const bool synchronous = is_on("TENON_SYNC", "1");
  return synchronous;
}

void trace_line(const std::string& line) {
  std::fprintf(stderr, "tenon trace: %s\n", line.c_str());
}

namespace slots {

Status allocate(tn_device device, uint64_t bytes, void** memory) {
  TN_TRY(check_not_lost(device));
  const tn_device_def& def = def_of(device);
  Status failed = guarded([&] { return def.allocate(def.self, device.index, bytes, memory); });
  if (is_tracing()) trace(device, failed, "allocate {} bytes: {}", bytes, fmt::ptr(*memory));
  const uint64_t stated = device_type(device.type)->stated_alignment;
  if (failed == nullptr && stated > 1 && reinterpret_cast<uintptr_t>(*memory) % stated != 0) {
    slots::free(device, *memory, bytes);
    failed = error(TN_INTERNAL,
                   "plugin '{}' gave {}, which is no multiple of the alignment that it states, {}",
                   device_type(device.type)->plugin, fmt::ptr(*memory), stated);
  }
  return read_error(device, "allocate", nullptr, failed);
}

void free(tn_device device, void* memory, uint64_t bytes) {
  const tn_device_def& def = def_of(device);
  if (is_tracing()) trace(device, nullptr, "free {} bytes: {}", bytes, fmt::ptr(memory));
  def.free(def.self, device.index, memory, bytes);
}

Status allocate_host(tn_device device, uint64_t bytes, void** memory) {
  TN_TRY(check_not_lost(device));
  const tn_device_def& def = def_of(device);
  Status failed = guarded([&] { return def.allocate_host(def.self, device.index, bytes, memory); });
  if (is_tracing()) trace(device, failed, "allocate_host {} bytes: {}", bytes, fmt::ptr(*memory));
  return read_error(device, "allocate_host", nullptr, failed);
}

void free_host(tn_device device, void* memory, uint64_t bytes) {
  const tn_device_def& def = def_of(device);
  if (is_tracing()) trace(device, nullptr, "free_host {} bytes: {}", bytes, fmt::ptr(memory));
  def.free_host(def.self, device.index, memory, bytes);
}

Status memory_info(tn_device device, uint64_t* free_bytes, uint64_t* total_bytes) {
  TN_TRY(check_not_lost(device));
  const tn_device_def& def = def_of(device);
  return read_error(device, "memory_info", nullptr,
                    def.memory_info(def.self, device.index, free_bytes, total_bytes));
}

Status copy(Stream* stream, tn_device dst_device, void* dst, uint64_t dst_offset,
            tn_device src_device, const void* src, uint64_t src_offset, uint64_t bytes) {
  TN_TRY(check_not_lost(dst_device));
  TN_TRY(check_not_lost(src_device));
  const tn_device_def& def = stream->device_type->def;
  Status failed = guarded([&] {
    return def.copy(def.self, stream, dst_device, dst, dst_offset, src_device, src, src_offset,
                    bytes);
  });
  if (is_tracing()) {
    trace(stream->device, failed, "stream {} copy {} bytes: {} {} + {} to {} {} + {}", stream->id,
          bytes, device_text(src_device), fmt::ptr(src), src_offset, device_text(dst_device),
          fmt::ptr(dst), dst_offset);
  }
  if (failed != nullptr) return read_error(stream->device, "copy", stream, failed);
  note_launch(stream, "copy");
  return is_synchronous() && stream->stands_for == nullptr ? stream_synchronize(stream) : nullptr;
}

Status fill_bytes(Stream* stream, void* memory, uint64_t offset, uint8_t byte, uint64_t bytes) {
  TN_TRY(check_not_lost(stream->device));
  const tn_device_def& def = stream->device_type->def;
  Status failed =
      guarded([&] { return def.fill_bytes(def.self, stream, memory, offset, byte, bytes); });
  if (is_tracing()) {
    trace(stream->device, failed, "stream {} fill_bytes {} bytes with {}: {} + {}", stream->id,
          bytes, byte, fmt::ptr(memory), offset);
  }
  return read_error(stream->device, "fill_bytes", stream, failed);
}

Status stream_create(tn_device device, void** handle) {
  TN_TRY(check_not_lost(device));
  const tn_device_def& def = def_of(device);
  Status failed = guarded([&] { return def.stream_create(def.self, device.index, handle); });
  if (is_tracing()) trace(device, failed, "stream_create: {}", fmt::ptr(*handle));
  return read_error(device, "stream_create", nullptr, failed);
}

void stream_destroy(Stream* stream) {
  const tn_device_def& def = stream->device_type->def;
  if (is_tracing()) trace(stream->device, nullptr, "stream_destroy {}", stream->id);
  def.stream_destroy(def.self, stream->device.index, stream->handle);
}

Status stream_synchronize(Stream* stream) {
  TN_TRY(check_not_lost(stream->device));
  if (!stream->device_type->has_streams()) return nullptr;
  const tn_device_def& def = stream->device_type->def;
  Status failed = guarded(
      [&] { return def.stream_synchronize(def.self, stream->device.index, stream->handle); });
  if (is_tracing()) trace(stream->device, failed, "stream_synchronize {}", stream->id);
  if (failed != nullptr) failed = read_error(stream->device, "stream_synchronize", stream, failed);
  stream->n_launched.store(0, std::memory_order_relaxed);
  return failed;
}

Status event_create(tn_device device, void** event) {
  TN_TRY(check_not_lost(device));
  const tn_device_def& def = def_of(device);
  Status failed = guarded([&] { return def.event_create(def.self, device.index, event); });
  if (is_tracing()) trace(device, failed, "event_create: {}", fmt::ptr(*event));
  return read_error(device, "event_create", nullptr, failed);
}

void event_destroy(tn_device device, void* event) {
  const tn_device_def& def = def_of(device);
  if (is_tracing()) trace(device, nullptr, "event_destroy {}", fmt::ptr(event));
  def.event_destroy(def.self, device.index, event);
}

Status event_record(Stream* stream, void* event) {
  TN_TRY(check_not_lost(stream->device));
  const tn_device_def& def = stream->device_type->def;
  Status failed = guarded(
      [&] { return def.event_record(def.self, stream->device.index, event, stream->handle); });
  if (is_tracing())
    trace(stream->device, failed, "stream {} event_record {}", stream->id, fmt::ptr(event));
  return read_error(stream->device, "event_record", stream, failed);
}

Status stream_wait_event(Stream* stream, void* event) {
  TN_TRY(check_not_lost(stream->device));
  const tn_device_def& def = stream->device_type->def;
  Status failed = guarded(
      [&] { return def.stream_wait_event(def.self, stream->device.index, stream->handle, event); });
  if (is_tracing())
    trace(stream->device, failed, "stream {} stream_wait_event {}", stream->id, fmt::ptr(event));
  return read_error(stream->device, "stream_wait_event", stream, failed);
}

Status event_query(Stream* stream, void* event, bool* done) {
  *done = true;
  if (is_lost(stream->device)) return nullptr;
  const tn_device_def& def = stream->device_type->def;
  int32_t answer = 0;
  Status failed =
      guarded([&] { return def.event_query(def.self, stream->device.index, event, &answer); });
  if (is_tracing()) trace(stream->device, failed, "event_query {}: {}", fmt::ptr(event), answer);
  failed = read_error(stream->device, "event_query", stream, failed);
  *done = answer != 0 || is_lost(stream->device);
  return failed;
}

Status event_synchronize(Stream* stream, void* event) {
  if (is_lost(stream->device)) return nullptr;
  const tn_device_def& def = stream->device_type->def;
  Status failed =
      guarded([&] { return def.event_synchronize(def.self, stream->device.index, event); });
  if (is_tracing()) trace(stream->device, failed, "event_synchronize {}", fmt::ptr(event));
  return read_error(stream->device, "event_synchronize", stream, failed);
}

Status capture_begin(Stream* stream) {
  TN_TRY(check_not_lost(stream->device));
  const tn_device_def& def = stream->device_type->def;
  Status failed = guarded([&] { return def.capture_begin(def.self, stream); });
  if (is_tracing()) trace(stream->device, failed, "stream {} capture_begin", stream->id);
  return read_error(stream->device, "capture_begin", stream, failed);
}

Status capture_end(Stream* stream, void** graph) {
  TN_TRY(check_not_lost(stream->device));
  const tn_device_def& def = stream->device_type->def;
  Status failed = guarded([&] { return def.capture_end(def.self, stream, graph); });
  if (is_tracing())
    trace(stream->device, failed, "stream {} capture_end: {}", stream->id, fmt::ptr(*graph));
  return read_error(stream->device, "capture_end", stream, failed);
}

Status graph_launch(void* graph, Stream* stream) {
  TN_TRY(check_not_lost(stream->device));
  const tn_device_def& def = stream->device_type->def;
  Status failed = guarded([&] { return def.graph_launch(def.self, graph, stream); });
  if (is_tracing())
    trace(stream->device, failed, "stream {} graph_launch {}", stream->id, fmt::ptr(graph));
  if (failed != nullptr) return read_error(stream->device, "graph_launch", stream, failed);
  note_launch(stream, "graph");
  return is_synchronous() ? stream_synchronize(stream) : nullptr;
}

void graph_destroy(const DeviceType* type, void* graph) {
  if (is_tracing()) trace_line(fmt::format("{} graph_destroy {}", type->name, fmt::ptr(graph)));
  type->def.graph_destroy(type->def.self, graph);
}

}  // namespace slots
}  // namespace tenon
