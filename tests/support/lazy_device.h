// A fake device that is as slow as can be: a stream does nothing until somebody waits for it, so
// that whatever is not ordered, not waited for or freed too early shows in the values, every time.
// For the inner tests of devices and memory.
#pragma once

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "memory_support.h"

namespace tenon {

struct LazyStream {
  std::deque<std::function<void()>> tasks;
  uint64_t submitted = 0, done = 0;
};
struct LazyEvent {
  LazyStream* stream = nullptr;
  uint64_t position = 0;
};

struct Lazy {
  std::recursive_mutex mutex;  // of everything, tasks included
  std::map<void*, uint64_t> blocks;
  int n_allocations = 0, n_frees = 0, n_events = 0, n_events_destroyed = 0, n_waits = 0,
      n_streams = 0, n_synchronized = 0, n_copies = 0;
  std::function<void()> before_wait;  // called outside of the mutex, before a stream waits
  // These refuse, without the device being lost.
  bool cannot_record = false;  // event_record
  bool cannot_wait = false;    // stream_synchronize, event_synchronize and event_query
  int late_errors = 0;         // so many times event_query gives one, of earlier work
  // The device faults: every slot that can fail does.
  bool faults = false;
  bool throws = false;  // and so by an exception
  std::map<void*, uint64_t> pinned;
  bool no_pinned = false;  // allocate_host has no more

  tn_status* fault() const {
    if (throws) throw std::runtime_error("out of patience");
    return faults ? make_status(TN_INTERNAL, "the bus is gone") : nullptr;
  }

  void run(LazyStream* s, uint64_t position) {
    while (s->done < position) {
      const std::function<void()> task = std::move(s->tasks.front());
      s->tasks.pop_front();
      task();
      ++s->done;
    }
  }
  void submit(LazyStream* s, std::function<void()> task) {
    s->tasks.push_back(std::move(task));
    ++s->submitted;
  }
};

using Guard = std::lock_guard<std::recursive_mutex>;
inline Lazy& lazy(void* self) { return *static_cast<Lazy*>(self); }
// A stream in use: the host may not touch one that it has destroyed.
inline LazyStream* lazy_stream(void* s) {
  auto* stream = static_cast<LazyStream*>(s);
  EXPECT_NE(stream->done, UINT64_MAX) << "the stream was destroyed";
  return stream;
}
inline LazyEvent* lazy_event(void* e) { return static_cast<LazyEvent*>(e); }

inline void add_memory(tn_device_def* def) {
  def->allocate = [](void* self, int32_t, uint64_t bytes, void** memory) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    *memory = std::calloc((bytes + 63) / 64, 64);
    lazy(self).blocks[*memory] = bytes;
    ++lazy(self).n_allocations;
    return nullptr;
  };
  def->free = [](void* self, int32_t, void* memory, uint64_t bytes) {
    const Guard guard(lazy(self).mutex);
    EXPECT_EQ(lazy(self).blocks.at(memory), bytes);
    lazy(self).blocks.erase(memory);
    ++lazy(self).n_frees;
    std::free(memory);
  };
  def->copy = [](void* self, tn_stream* stream, tn_device, void* dst, uint64_t dst_offset,
                 tn_device, const void* src, uint64_t src_offset, uint64_t bytes) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    const auto copy = [=] {
      std::memcpy(static_cast<char*>(dst) + dst_offset, static_cast<const char*>(src) + src_offset,
                  bytes);
    };
    ++lazy(self).n_copies;
    stream->handle != nullptr ? lazy(self).submit(lazy_stream(stream->handle), copy) : copy();
    return nullptr;
  };
  def->fill_bytes = [](void* self, tn_stream* stream, void* memory, uint64_t offset, uint8_t byte,
                       uint64_t bytes) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    lazy(self).submit(lazy_stream(stream->handle), [=] {
      const bool lives = lazy(self).blocks.contains(memory);
      EXPECT_TRUE(lives) << "freed before its fill";
      if (lives) std::memset(static_cast<char*>(memory) + offset, byte, bytes);
    });
    return nullptr;
  };
}

inline void add_streams(tn_device_def* def) {
  def->stream_create = [](void* self, int32_t, void** stream) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    ++lazy(self).n_streams;
    *stream = new LazyStream;
    return nullptr;
  };
  def->stream_destroy = [](void* self, int32_t, void* stream) {
    const Guard guard(lazy(self).mutex);
    LazyStream* ended = lazy_stream(stream);
    EXPECT_TRUE(ended->tasks.empty() || lazy(self).faults);
    --lazy(self).n_streams;
    ended->submitted = ended->done = UINT64_MAX;  // events may look at it
    static auto* graveyard = new std::vector<LazyStream*>;
    graveyard->push_back(ended);
  };
  def->stream_synchronize = [](void* self, int32_t, void* stream) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    if (lazy(self).cannot_wait) return make_status(TN_FAILED_PRECONDITION, "not now");
    ++lazy(self).n_synchronized;
    lazy(self).run(lazy_stream(stream), lazy_stream(stream)->submitted);
    return nullptr;
  };
  def->event_create = [](void* self, int32_t, void** event) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    ++lazy(self).n_events;
    *event = new LazyEvent;
    static auto* all = new std::vector<void*>;  // pools keep events as long as the process
    all->push_back(*event);
    return nullptr;
  };
  def->event_destroy = [](void* self, int32_t, void*) {
    const Guard guard(lazy(self).mutex);
    ++lazy(self).n_events_destroyed;
  };
  def->event_record = [](void* self, int32_t, void* event, void* stream) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    if (lazy(self).cannot_record) return make_status(TN_FAILED_PRECONDITION, "not now");
    *lazy_event(event) = {lazy_stream(stream), lazy_stream(stream)->submitted};
    return nullptr;
  };
  def->stream_wait_event = [](void* self, int32_t, void* stream, void* event) -> tn_status* {
    if (lazy(self).before_wait) lazy(self).before_wait();
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    ++lazy(self).n_waits;
    const LazyEvent now = *lazy_event(event);
    lazy(self).submit(lazy_stream(stream),
                      [self, now] { lazy(self).run(now.stream, now.position); });
    return nullptr;
  };
  def->event_query = [](void* self, int32_t, void* event, int32_t* done) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    if (lazy(self).cannot_wait) return make_status(TN_FAILED_PRECONDITION, "not now");
    if (lazy(self).late_errors > 0) {
      --lazy(self).late_errors;
      return make_status(TN_INVALID_ARGUMENT, "an index was out of range");
    }
    *done = lazy_event(event)->stream->done >= lazy_event(event)->position;
    return nullptr;
  };
  def->event_synchronize = [](void* self, int32_t, void* event) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    if (lazy(self).cannot_wait) return make_status(TN_FAILED_PRECONDITION, "not now");
    lazy(self).run(lazy_event(event)->stream, lazy_event(event)->position);
    return nullptr;
  };
}

inline void add_pinned(tn_device_def* def) {
  def->allocate_host = [](void* self, int32_t, uint64_t bytes, void** memory) -> tn_status* {
    const Guard guard(lazy(self).mutex);
    if (lazy(self).faults) return lazy(self).fault();
    if (lazy(self).no_pinned) return nullptr;
    *memory = std::calloc((bytes + 63) / 64, 64);
    lazy(self).pinned[*memory] = bytes;
    return nullptr;
  };
  def->free_host = [](void* self, int32_t, void* memory, uint64_t bytes) {
    const Guard guard(lazy(self).mutex);
    EXPECT_EQ(lazy(self).pinned.at(memory), bytes);
    lazy(self).pinned.erase(memory);
    std::free(memory);
  };
}

inline tn_device_def lazy_def(const char* name, Lazy* state, bool streams = true) {
  tn_device_def def{};
  def.size = sizeof(def);
  def.name = name;
  def.description = "lazy";
  def.lower_precision = TN_DTYPE_NONE;
  def.self = state;
  def.count = [](void*) { return 2; };
  add_memory(&def);
  if (streams) {
    add_streams(&def);
    add_pinned(&def);
  } else {
    def.fill_bytes = nullptr;
  }
  return def;
}

// Each test has devices of its own: two with streams.
struct StreamTest : testing::Test {
  void SetUp() override {
    const std::string name = "lazy" + std::to_string(number++);
    const tn_device_def def = lazy_def(name.c_str(), &state);
    ASSERT_OK(register_device(def, "test", &device.type));
    other_device = {device.type, 1};
    ASSERT_OK(current_stream(device, &main));
    ASSERT_OK(create_stream(device, &side));
  }
  void TearDown() override {
    EXPECT_OK(set_current_stream(device, nullptr));
    EXPECT_OK(empty_cache(device));
    EXPECT_OK(empty_cache(other_device));
    EXPECT_TRUE(state.blocks.empty());
  }
  tn_storage* make(Stream* stream) {
    tn_storage* storage = nullptr;
    EXPECT_OK(allocate_storage(stream->device, stream, sizeof(int64_t), &storage));
    return storage;
  }
  // Kernels: the use is noted, then the work is put on the stream, as dispatch does.
  void write(tn_storage* s, Stream* stream, int64_t value) {
    EXPECT_OK(use_storage(s, stream, true));
    submit(stream, [at = static_cast<int64_t*>(s->memory), value] { *at = value; });
  }
  void read(tn_storage* s, Stream* stream, int64_t* into) {
    EXPECT_OK(use_storage(s, stream, false));
    submit(stream, [at = static_cast<const int64_t*>(s->memory), into] { *into = *at; });
  }
  void submit(Stream* stream, std::function<void()> task) {
    const Guard guard(state.mutex);
    state.submit(lazy_stream(stream->handle), std::move(task));
  }
  // The stream does its work, and nobody waited for it.
  void run(Stream* stream) {
    const Guard guard(state.mutex);
    state.run(lazy_stream(stream->handle), lazy_stream(stream->handle)->submitted);
  }
  int waits() {
    const Guard guard(state.mutex);
    return state.n_waits;
  }
  static inline int number = 0;
  Lazy& state = *new Lazy;
  tn_device device{}, other_device{};
  Stream *main = nullptr, *side = nullptr;
};

}  // namespace tenon
