// Streams and events. A stream is a thread that does tasks in order, so whatever the host forgets
// to order, to wait for or to keep alive goes wrong here as on real hardware: reliably with
// TENON_REF_SLOW_US, and by name under ThreadSanitizer. It counts the tasks that came and those
// that are done; an event is a place in that order.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "device.h"

namespace ref {
namespace {

using Tasks = std::deque<std::pair<Task, bool>>;  // true: also behind a failure
using Graph = std::shared_ptr<Tasks>;             // what was recorded; its launches keep it alive

class Stream {
 public:
  Stream() {
    if (const char* us = std::getenv("TENON_REF_SLOW_US")) slow_us_ = std::atoi(us);
    thread_ = std::thread([this] { run(); });
  }

  ~Stream() {
    if (!failure_) return;
    host->log(3, host->status_message(failure_));  // nobody asked, but it must not be lost
    host->status_free(failure_);
  }

  tn_status* enqueue(Task task, bool always) {
    const std::lock_guard lock(mutex_);
    if (stopping_) return error(host, TN_FAILED_PRECONDITION, "ref: the stream was shut down");
    if (graph_) return graph_->emplace_back(std::move(task), always), nullptr;
    tasks_.emplace_back(std::move(task), always);
    ++submitted_;
    changed_.notify_all();
    return nullptr;
  }

  uint64_t submitted() {
    const std::lock_guard lock(mutex_);
    return submitted_;
  }

  bool reached(uint64_t position, bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) changed_.wait(lock, [&] { return done_ >= position; });
    return done_ >= position;
  }

  tn_status* synchronize(uint64_t position) {
    reached(position, true);
    const std::lock_guard lock(mutex_);
    if (graph_)
      return error(host, TN_FAILED_PRECONDITION, "ref: a stream that records is waited for");
    return std::exchange(failure_, nullptr);
  }

  // From now on work is put there (NULL: done). Gives where it was put.
  Graph record(Graph graph) {
    const std::lock_guard lock(mutex_);
    return std::exchange(graph_, std::move(graph));
  }

  // Does what there is, then ends the thread.
  void stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    lock.unlock();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto [task, always] = std::move(tasks_.front());
      tasks_.pop_front();
      const bool runs = always || !failure_;
      lock.unlock();
      if (slow_us_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(slow_us_));
      tn_status* status = runs ? task() : nullptr;
      task = nullptr;  // what it kept goes before it counts as done
      lock.lock();
      if (!failure_) failure_ = std::exchange(status, nullptr);
      if (status) host->status_free(status);  // most likely a consequence of the first
      ++done_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Tasks tasks_;
  Graph graph_;  // NULL: nothing is recorded
  uint64_t submitted_ = 0;
  uint64_t done_ = 0;
  bool stopping_ = false;
  tn_status* failure_ = nullptr;  // the first since the last synchronize
  int slow_us_ = 0;               // sleeps so long before each task
  std::thread thread_;
};

// Done when the stream has done that many tasks. It keeps the stream's counts alive.
struct Event {
  std::shared_ptr<Stream> stream;  // NULL: never recorded, nothing to wait for
  uint64_t position = 0;

  bool reached(bool wait) const { return !stream || stream->reached(position, wait); }
};

std::mutex mutex;  // of the streams that the host has, and of all events
auto& streams = *new std::map<void*, std::shared_ptr<Stream>>;  // the host may use it behind exit

Event read(void* event) {
  const std::lock_guard lock(mutex);
  return *static_cast<Event*>(event);
}

Stream& stream_of(void* handle) { return *static_cast<Stream*>(handle); }

}  // namespace

tn_status* enqueue(void* stream, Task task, bool always) {
  return stream_of(stream).enqueue(std::move(task), always);
}

tn_status* synchronize(void* stream) {
  if (is_fork()) return refuse_fork();
  return stream_of(stream).synchronize(stream_of(stream).submitted());
}

void add_stream_slots(tn_device_def* def) {
  def->stream_create = [](void*, int32_t, void** stream) {
    return guarded("stream_create", [&] {
      note_use();
      const auto made = std::make_shared<Stream>();
      const std::lock_guard lock(mutex);
      streams[*stream = made.get()] = made;
    });
  };
  def->stream_destroy = [](void*, int32_t, void* stream) {
    if (is_fork()) return;
    stream_of(stream).stop();
    const std::lock_guard lock(mutex);
    streams.erase(stream);
  };
  def->stream_synchronize = [](void*, int32_t, void* stream) { return synchronize(stream); };
  def->capture_begin = [](void*, tn_stream* s) {
    return guarded("capture_begin",
                   [=] { stream_of(s->handle).record(std::make_shared<Tasks>()); });
  };
  def->capture_end = [](void*, tn_stream* s, void** graph) {
    return guarded("capture_end", [=] { *graph = new Graph(stream_of(s->handle).record({})); });
  };
  def->graph_launch = [](void*, void* handle, tn_stream* s) {
    return guarded("graph_launch", [=] {
      return enqueue(s->handle, [graph = *static_cast<Graph*>(handle)] {
        tn_status* status = nullptr;
        for (auto at = graph->begin(); !status && at != graph->end(); ++at) status = at->first();
        return status;
      });
    });
  };
  def->graph_destroy = [](void*, void* handle) { delete static_cast<Graph*>(handle); };
  def->event_create = [](void*, int32_t, void** event) {
    return guarded("event_create", [&] { *event = new Event; });
  };
  def->event_destroy = [](void*, int32_t, void* event) { delete static_cast<Event*>(event); };
  def->event_record = [](void*, int32_t, void* event, void* stream) {
    return guarded("event_record", [=] {
      const std::lock_guard lock(mutex);
      *static_cast<Event*>(event) = {streams.find(stream)->second, stream_of(stream).submitted()};
    });
  };
  def->stream_wait_event = [](void*, int32_t, void* stream, void* event) {
    return guarded("stream_wait_event", [&] {
      const Event recorded = read(event);
      return enqueue(
          stream, [=] { return recorded.reached(true), nullptr; }, true);
    });
  };
  def->event_query = [](void*, int32_t, void* event, int32_t* done) {
    return guarded("event_query", [=] { *done = read(event).reached(false); });
  };
  def->event_synchronize = [](void*, int32_t, void* event) {
    if (is_fork()) return refuse_fork();
    const Event recorded = read(event);
    return recorded.stream ? recorded.stream->synchronize(recorded.position) : nullptr;
  };
}

void stop_all_streams() {
  if (is_fork()) return;
  for (const auto& [handle, stream] : streams) stream->stop();
}

}  // namespace ref
