// Streams and events of the fake driver. A stream is a thread that does tasks in order; an event is a
// place in that order. TENON_FAKE_CUDA_SLOW_US sleeps so long before each task, so that what is not
// ordered goes wrong.
#pragma once

#include <cuda.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace fake {

using Task = std::function<void()>;

class Stream;
struct Capture;
using Clock = std::map<const Stream*, uint64_t>;  // how much of what each stream recorded

class Stream {
 public:
  explicit Stream(int device);
  ~Stream();  // does what there is
  void enqueue(Task task);
  uint64_t submitted();
  bool reached(uint64_t position, bool wait);
  int device() const { return device_; }

  // Of capture.cpp: what it records now, and what of that is before its next work.
  std::shared_ptr<Capture> capture;
  Clock clock;

 private:
  void run();

  const int device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  uint64_t submitted_ = 0, done_ = 0;
  bool stopping_ = false;
  int slow_us_ = 0;
  std::thread thread_;
};

// Lives while an event or the driver has it.
struct Place {
  std::shared_ptr<Stream> stream;  // NULL: never recorded, nothing to wait for
  uint64_t position = 0;

  bool reached(bool wait) const { return !stream || stream->reached(position, wait); }
};

}  // namespace fake
