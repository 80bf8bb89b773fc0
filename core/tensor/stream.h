// Streams and events from the inside, for device.cpp and memory/: which streams are alive, events
// from a pool, and what happens when work is known to be done. All other parts use device.h.
//
// Invariants
//  1. A Stream is never freed: who still holds a destroyed one finds it dead, and all its work
//     done.
//  2. A backend's handle is used between enter_stream() and leave_stream() only (kernels excepted);
//     destruction waits for these.
//  3. On a lost device every stream is as a dead one.
//  4. An event may be recorded again as soon as a wait for it was enqueued: backends wait for the
//     record that was last then.
#pragma once

#include <utility>

#include "tensor/device.h"

namespace tenon {

// Marks the stream as in use by this thread. False: it is dead or its device lost, and its work
// done.
bool enter_stream(Stream* stream);
void leave_stream(Stream* stream);

class StreamUse {
 public:
  explicit StreamUse(Stream* stream) : stream_(enter_stream(stream) ? stream : nullptr) {}
  StreamUse(const StreamUse&) = delete;
  StreamUse& operator=(const StreamUse&) = delete;
  ~StreamUse() {
    if (stream_ != nullptr) leave_stream(stream_);
  }
  explicit operator bool() const { return stream_ != nullptr; }

 private:
  Stream* stream_;
};

[[nodiscard]] Status default_stream(tn_device device, Stream** stream);

// The device can do no more (slots.h): nobody enters its streams from now on.
void lose_streams(tn_device device);

// At shutdown, before the device's slots go: ends all streams of the type, the default ones too,
// and destroys its events.
void close_streams(int32_t type);

// A stream on which this thread records a graph in the place of another one. What other threads put on
// that meanwhile is no part of the graph, and whoever waits for the device does not wait for this one:
// nothing ever runs on it. `is_good`: it records no more, and may be used again.
[[nodiscard]] Status take_recorder(Stream* stands_for, Stream** recorder);
void give_back_recorder(Stream* recorder, bool is_good);

// A point in a stream's work. An empty event has passed. Goes back to its device's pool when it is
// destroyed.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept
      : stream_(other.stream_),
        handle_(other.handle_),
        recorded_(std::exchange(other.recorded_, false)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(handle_, other.handle_);
    std::swap(recorded_, other.recorded_);
    return *this;
  }
  ~Event() { recycle(); }

  // Of an empty event: behind all work now on `stream`. Stays empty for a dead stream, on a lost
  // device, and where the device has none.
  [[nodiscard]] Status record(Stream* stream);
  [[nodiscard]] Status query(bool* passed) const;
  [[nodiscard]] Status synchronize() const;             // the calling thread waits
  [[nodiscard]] Status make_wait(Stream* later) const;  // of the same device type
  bool is_empty() const { return !recorded_; }

 private:
  void recycle();

  Stream* stream_ = nullptr;  // of the record
  void* handle_ = nullptr;    // a backend's may be NULL too
  bool recorded_ = false;
};

// What memory/ wants to know. Called outside of all locks.
struct StreamHooks {
  void (*synchronized)(tn_device device) = nullptr;  // some stream of the device was waited for
  void (*destroyed)(Stream* stream) = nullptr;       // it is dead now
};
void set_stream_hooks(const StreamHooks* hooks);  // lives as long as the process

}  // namespace tenon
