// Streams of devices, and waiting for them. The CPU has none: its calls have finished when they
// return.
#pragma once

#include <utility>

#include "tenon/device.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// An owned stream of a device; work in it runs in order. Destroyed after its work is done.
class Stream {
 public:
  explicit Stream(Device device) : device_(device) {
    check(detail::api.device->stream_create(device.value, &stream_));
  }
  Stream(Stream&& other) noexcept
      : device_(other.device_), stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  // Waits for its work. What fails there has nobody to be told, and is logged; synchronize() throws it.
  ~Stream() {
    if (stream_) detail::log_failure("~Stream", detail::api.device->stream_destroy(stream_));
  }
  Device device() const { return device_; }
  tn_stream* get() const { return stream_; }
  void synchronize() const { check(detail::api.device->stream_synchronize(stream_)); }

 private:
  Device device_;
  tn_stream* stream_ = nullptr;
};

// Calls of this thread on the stream's device go to it until the end of the scope.
class StreamGuard {
 public:
  explicit StreamGuard(const Stream& stream) : device_(stream.device()) {
    check(detail::api.device->current_stream(device_.value, &before_));
    check(detail::api.device->set_current_stream(device_.value, stream.get()));
  }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  ~StreamGuard() { ignore(detail::api.device->set_current_stream(device_.value, before_)); }

 private:
  Device device_;
  tn_stream* before_ = nullptr;
};

// Waits for all work of a device.
inline void synchronize(Device device) { device.synchronize(); }

}  // namespace v0
}  // namespace tenon
