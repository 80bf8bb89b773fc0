// Streams: made on first use or on demand, current per thread, destroyed behind their work; events
// from a pool per device.
#include "tensor/stream.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "base/hot_thread_local.h"
#include "base/thread_local.h"
#include "tensor/slots.h"

namespace tenon {
namespace {

enum StreamState : int32_t { kAlive, kClosing, kDead, kLost };

struct LiveStream : Stream {
  std::atomic<int32_t> state{kAlive};
  std::atomic<int32_t> users{0};
};

LiveStream* live(Stream* stream) { return static_cast<LiveStream*>(stream); }

struct DeviceStreams {
  std::mutex mutex;
  std::atomic<LiveStream*> first{nullptr};  // the default stream
  size_t n_streams = 0;                     // ever made; needs the mutex
  std::vector<LiveStream*> streams;         // the living; needs the mutex
  std::vector<LiveStream*> recorders;       // that graphs are recorded on; needs the mutex
  std::vector<LiveStream*> idle_recorders;  // with room for all there are; needs the mutex
  std::vector<LiveStream*> dead;            // kept for those who still hold one; needs the mutex
  // free ones, with room for all there are; needs the mutex
  std::vector<void*> events;
  size_t n_events = 0;  // that there are; needs the mutex
};

std::atomic<DeviceStreams*> g_devices[kMaxDeviceTypes][kMaxDevices];
std::atomic<uint64_t> g_next_id{1};
std::atomic<const StreamHooks*> g_hooks{nullptr};

// The device exists. Lives as long as the process.
DeviceStreams& streams_of(tn_device device) {
  std::atomic<DeviceStreams*>& place = g_devices[device.type][device.index];
  DeviceStreams* found = place.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto fresh = std::make_unique<DeviceStreams>();
    if (place.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return *found;
}

bool has_no_streams(tn_device device) { return device.type < TN_FIRST_PLUGIN_DEVICE; }

Status dead_stream(const Stream* stream) {
  return error(TN_FAILED_PRECONDITION, "{} was destroyed", stream_text(stream));
}

Status make_stream(tn_device device, LiveStream** made) {
  const DeviceType* type = device_type(device.type);
  void* handle = nullptr;
  auto stream = std::make_unique<LiveStream>();
  {
    // Room for it among the living, and once among the dead: who ends a stream needs no memory.
    DeviceStreams& here = streams_of(device);
    const std::lock_guard lock(here.mutex);
    const size_t all = here.n_streams + 1;
    if (here.streams.capacity() < all) here.streams.reserve(2 * all);
    if (here.dead.capacity() < all) here.dead.reserve(2 * all);
    here.n_streams = all;
  }
  if (type->has_streams()) {
    if (Status failed = slots::stream_create(device, &handle)) {
      return wrap(failed,
                  [&] { return fmt::format("{}: no stream could be made", device_text(device)); });
    }
  }
  stream->device = device;
  stream->id = g_next_id.fetch_add(1, std::memory_order_relaxed);
  stream->handle = handle;
  stream->device_type = type;
  *made = stream.release();
  return nullptr;
}

// Needs the mutex. The device may have been lost meanwhile, and lose_streams been here.
void add_stream(DeviceStreams& here, LiveStream* made) {
  here.streams.push_back(made);
  if (is_lost(made->device)) made->state.store(kLost, std::memory_order_seq_cst);
}

// The streams that this thread set or used last. `recent` is any device's; `set` are those that
// differ from the default.
struct CurrentStreams {
  tn_device recent_device{-1, -1};
  LiveStream* recent = nullptr;
};
TN_HOT constinit thread_local CurrentStreams t_current;

std::vector<LiveStream*>& streams_set() {
  static auto& set = *new ThreadLocal<std::vector<LiveStream*>>;
  return set.get();
}

std::vector<LiveStream*>::iterator find_set(std::vector<LiveStream*>& set, tn_device device) {
  return std::find_if(set.begin(), set.end(),
                      [&](const LiveStream* s) { return s->device == device; });
}

void call_synchronized(tn_device device) {
  const StreamHooks* hooks = g_hooks.load(std::memory_order_acquire);
  if (hooks != nullptr && hooks->synchronized != nullptr) hooks->synchronized(device);
}

Status wait_for(Stream* stream) {
  TN_TRY(check_not_lost(stream->device));
  const StreamUse use(stream);
  return use ? slots::stream_synchronize(stream) : nullptr;
}

// To `closing`, by one thread; false: it is closing or dead already.
bool begin_end(LiveStream* s) {
  int32_t state = kAlive;
  if (s->state.compare_exchange_strong(state, kClosing, std::memory_order_seq_cst)) return true;
  return state == kLost &&
         s->state.compare_exchange_strong(state, kClosing, std::memory_order_seq_cst);
}

// Of a stream that this thread said `closing` to: waits for its users and its work.
Status end_stream(LiveStream* s) {
  while (s->users.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  Status failed = is_lost(s->device) ? nullptr : slots::stream_synchronize(s);
  if (s->device_type->has_streams()) slots::stream_destroy(s);
  s->state.store(kDead, std::memory_order_seq_cst);
  return failed;
}

}  // namespace

void set_stream_hooks(const StreamHooks* hooks) { g_hooks.store(hooks, std::memory_order_release); }

bool enter_stream(Stream* stream) {
  LiveStream* s = live(stream);
  for (;;) {
    // Against destroy_stream: it says `closing` before it reads the users, we count before we read
    // the state.
    s->users.fetch_add(1, std::memory_order_seq_cst);
    const int32_t state = s->state.load(std::memory_order_seq_cst);
    if (state == kAlive) return true;
    s->users.fetch_sub(1, std::memory_order_release);
    if (state == kDead || state == kLost) return false;
    std::this_thread::yield();  // its work is being waited for
  }
}

void leave_stream(Stream* stream) { live(stream)->users.fetch_sub(1, std::memory_order_release); }

Status default_stream(tn_device device, Stream** stream) {
  TN_TRY(check_device(device));
  *stream = nullptr;
  if (has_no_streams(device)) return nullptr;
  TN_TRY(check_not_lost(device));
  DeviceStreams& here = streams_of(device);
  LiveStream* found = here.first.load(std::memory_order_acquire);
  if (found == nullptr) {
    LiveStream* made = nullptr;
    TN_TRY(make_stream(device, &made));
    // Two threads may make one each; the second is then as any other stream.
    const std::lock_guard lock(here.mutex);
    add_stream(here, made);
    if (here.first.compare_exchange_strong(found, made, std::memory_order_acq_rel)) found = made;
  }
  *stream = found;
  return nullptr;
}

Status current_stream(tn_device device, Stream** stream) {
  CurrentStreams& current = t_current;
  if (current.recent != nullptr && current.recent_device == device &&
      current.recent->state.load(std::memory_order_relaxed) == kAlive) [[likely]] {
    *stream = current.recent;
    return nullptr;
  }
  *stream = nullptr;
  if (device == kCpu || device == kMeta) return nullptr;
  TN_TRY(check_not_lost(device));
  std::vector<LiveStream*>& set = streams_set();
  const auto found = find_set(set, device);
  if (found != set.end() && (*found)->state.load(std::memory_order_relaxed) == kAlive) {
    *stream = *found;
  } else {
    if (found != set.end()) set.erase(found);
    TN_TRY(default_stream(device, stream));
  }
  if (*stream != nullptr) {
    current.recent_device = device;
    current.recent = live(*stream);
  }
  return nullptr;
}

Status set_current_stream(tn_device device, Stream* stream) {
  TN_TRY(check_device(device));
  if (stream != nullptr && !(stream->device == device)) {
    return invalid("{} cannot be current on {}", stream_text(stream), device_text(device));
  }
  if (stream != nullptr && live(stream)->state.load(std::memory_order_acquire) != kAlive) {
    return dead_stream(stream);
  }
  std::vector<LiveStream*>& set = streams_set();
  const auto found = find_set(set, device);
  // Another stream in place of the one that was set needs no memory: who goes back to the stream
  // before cannot fail.
  if (stream != nullptr && found != set.end()) {
    *found = live(stream);
  } else if (stream != nullptr) {
    set.push_back(live(stream));
  } else if (found != set.end()) {
    set.erase(found);
  }
  if (t_current.recent_device == device) t_current = {};
  if (stream != nullptr) t_current = {device, live(stream)};
  return nullptr;
}

Status create_stream(tn_device device, Stream** stream) {
  TN_TRY(check_device(device));
  if (has_no_streams(device)) {
    return error(TN_UNSUPPORTED, "{} has no streams: its calls have finished when they return",
                 device_text(device));
  }
  TN_TRY(check_not_lost(device));
  LiveStream* made = nullptr;
  TN_TRY(make_stream(device, &made));
  DeviceStreams& here = streams_of(device);
  const std::lock_guard lock(here.mutex);
  add_stream(here, made);
  *stream = made;
  return nullptr;
}

Status destroy_stream(Stream* stream) {
  if (stream == nullptr) return invalid("the default stream cannot be destroyed");
  LiveStream* s = live(stream);
  DeviceStreams& here = streams_of(stream->device);
  if (here.first.load(std::memory_order_acquire) == s) {
    return invalid("{} is the default stream, which cannot be destroyed", stream_text(stream));
  }
  if (!begin_end(s)) return dead_stream(stream);
  Status failed = end_stream(s);
  {
    const std::lock_guard lock(here.mutex);
    std::erase(here.streams, s);
    here.dead.push_back(s);
  }
  const StreamHooks* hooks = g_hooks.load(std::memory_order_acquire);
  if (hooks != nullptr && hooks->destroyed != nullptr) hooks->destroyed(stream);
  call_synchronized(stream->device);
  return failed;
}

void close_streams(int32_t type) {
  const DeviceType* device = device_type(type);
  for (int32_t index = 0; index < device->n_open(); ++index) {
    DeviceStreams& here = streams_of({type, index});
    std::vector<LiveStream*> streams;
    std::vector<void*> events;
    {
      const std::lock_guard lock(here.mutex);
      streams = std::exchange(here.streams, {});
      streams.insert(streams.end(), here.recorders.begin(), here.recorders.end());
      here.recorders = here.idle_recorders = {};
      events = std::exchange(here.events, {});
      here.dead.insert(here.dead.end(), streams.begin(), streams.end());
    }
    for (LiveStream* stream : streams) {
      if (!begin_end(stream)) continue;
      const StatusHolder failed(end_stream(stream));
    }
    for (void* event : events) slots::event_destroy({type, index}, event);
  }
}

Status take_recorder(Stream* stands_for, Stream** recorder) {
  DeviceStreams& here = streams_of(stands_for->device);
  LiveStream* found = nullptr;
  {
    const std::lock_guard lock(here.mutex);
    if (!here.idle_recorders.empty()) {
      found = here.idle_recorders.back();
      here.idle_recorders.pop_back();
    }
  }
  if (found == nullptr) {
    TN_TRY(make_stream(stands_for->device, &found));
    const std::lock_guard lock(here.mutex);
    here.idle_recorders.reserve(here.recorders.size() + 1);
    here.recorders.push_back(found);
    if (is_lost(found->device)) found->state.store(kLost, std::memory_order_seq_cst);
  }
  found->stands_for = stands_for;
  *recorder = found;
  return nullptr;
}

void give_back_recorder(Stream* recorder, bool is_good) {
  recorder->stands_for = nullptr;
  if (!is_good) return;
  DeviceStreams& here = streams_of(recorder->device);
  const std::lock_guard lock(here.mutex);
  here.idle_recorders.push_back(live(recorder));
}

Status synchronize_stream(Stream* stream) {
  if (stream == nullptr) return nullptr;  // cpu's
  TN_TRY(wait_for(stream));
  call_synchronized(stream->device);
  return nullptr;
}

Status synchronize_device(tn_device device) {
  TN_TRY(check_device(device));
  if (has_no_streams(device)) return nullptr;
  TN_TRY(check_not_lost(device));
  std::vector<LiveStream*> streams;
  {
    DeviceStreams& here = streams_of(device);
    const std::lock_guard lock(here.mutex);
    streams = here.streams;
  }
  for (LiveStream* stream : streams) TN_TRY(wait_for(stream));
  call_synchronized(device);
  return nullptr;
}

void lose_streams(tn_device device) {
  DeviceStreams& here = streams_of(device);
  const std::lock_guard lock(here.mutex);
  for (const auto* streams : {&here.streams, &here.recorders}) {
    for (LiveStream* stream : *streams) {
      int32_t state = kAlive;
      stream->state.compare_exchange_strong(state, kLost, std::memory_order_seq_cst);
    }
  }
}

Status order_streams(Stream* earlier, Stream* later) {
  // Work of cpu and meta has finished when the call returned, and waits for nobody.
  if (earlier == later || earlier == nullptr || later == nullptr) return nullptr;
  if (earlier->device_type != later->device_type) return wait_for(earlier);
  TN_TRY(check_not_lost(earlier->device));
  Event event;
  TN_TRY(event.record(earlier));
  return event.make_wait(later);
}

Status Event::record(Stream* stream) {
  const StreamUse use(stream);
  if (!use || !stream->device_type->has_streams()) return nullptr;
  DeviceStreams& here = streams_of(stream->device);
  void* handle = nullptr;
  bool pooled = false;
  {
    const std::lock_guard lock(here.mutex);
    pooled = !here.events.empty();
    if (pooled) {
      handle = here.events.back();
      here.events.pop_back();
    } else {
      if (here.events.capacity() <= here.n_events) here.events.reserve(2 * here.n_events + 8);
      ++here.n_events;
    }
  }
  if (!pooled) TN_TRY(slots::event_create(stream->device, &handle));
  if (Status failed = slots::event_record(stream, handle)) {
    slots::event_destroy(stream->device, handle);
    return failed;
  }
  stream_ = stream;
  handle_ = handle;
  recorded_ = true;
  return nullptr;
}

Status Event::query(bool* passed) const {
  *passed = true;
  return is_empty() ? nullptr : slots::event_query(stream_, handle_, passed);
}

Status Event::synchronize() const {
  return is_empty() ? nullptr : slots::event_synchronize(stream_, handle_);
}

Status Event::make_wait(Stream* later) const {
  if (is_empty()) return nullptr;
  TN_TRY(check_not_lost(later->device));
  const StreamUse use(later);
  return use ? slots::stream_wait_event(later, handle_) : dead_stream(later);
}

void Event::recycle() {
  if (is_empty()) return;
  DeviceStreams& here = streams_of(stream_->device);
  const std::lock_guard lock(here.mutex);
  here.events.push_back(handle_);
  recorded_ = false;
}

}  // namespace tenon
