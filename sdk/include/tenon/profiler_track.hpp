// What a profiler sees of one thread: events, each with those that are in it. A run of a profiler has
// a track for the thread that started it and for each other thread that it sees. Used by
// profiler_run.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tenon/event_listener.hpp"
#include "tenon/profiler_memory.hpp"
#include "tenon/profiler_page.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct ProfilerOptions {
  bool shapes = true;  // the sizes of the tensors that an event gets
  // What an event left allocated, who made what is alive, and the peak. Asks the devices twice for
  // each event.
  bool memory = false;
  // Waits after each launch, so that the time of a launch on a device with streams is that of its
  // work, and not that of putting it there.
  bool synchronize = false;
  // Sees workers of data loaders, and other threads while a Range is open there. Of several profilers
  // that run at a time the first sees them.
  bool threads = true;
};

namespace detail {

enum class ProfileKind { call, node, launch, method, range };

struct ProfileEvent {
  ProfileKind kind = ProfileKind::call;
  // The op ("linear"); of a node "linear backward"; "Linear.forward"; the name of a range
  std::string name;
  std::string kernel;   // of a launch: the plugin that has it
  std::string shapes;   // "[64, 100] float32, [10, 100] float32", without those of outputs
  std::string layer;    // the object whose method it is in: "Linear", of a known model "0 (Linear)"
  int64_t parent = -1;  // the event that it is in; -1: none
  int64_t thread = 0;   // 0: the one that started; then in the order in which they were met
  uint64_t begin_ns = 0, end_ns = 0;  // since the start
  int64_t bytes = 0;                  // allocated at the end less at the begin
  // Of a launch: of products, convolutions and attention, a multiplication and an addition being
  // two; others have 0. Of all others the sum of what is in them.
  double flops = 0;

  uint64_t ns() const { return end_ns - begin_ns; }
};

inline uint64_t profile_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Opened and closed on its thread; ended by another one, too. `parent` counts within the track.
//
//  1. Calls, nodes, launches and methods end in the opposite order of their begins, each of which
//     counts, seen or missed: an end is that of the last begin, and never of another event.
//  2. Nothing that the program does fails because it is seen. Where memory is exhausted an event is
//     missed, and what is in it is in the event around it.
class ProfileTrack {
 public:
  ProfileTrack(ProfilerOptions options, std::shared_ptr<MemoryLog> memory, uint64_t zero_ns)
      : options_(options), memory_(std::move(memory)), zero_ns_(zero_ns) {}
  ProfileTrack(const ProfileTrack&) = delete;
  ProfileTrack& operator=(const ProfileTrack&) = delete;

  // The one that sees this thread; NULL: none does.
  static std::shared_ptr<ProfileTrack> current() noexcept {
    if (here_ == nullptr) return nullptr;
    if (here_->is_over()) leave();
    return here_ == nullptr ? nullptr : place().track;
  }
  // From now on this one, until `leave`, where there is none. On its thread, which is not about to end.
  static void enter(const std::shared_ptr<ProfileTrack>& track) {
    if (gone_) fail("Profiler: this thread is ending", TN_FAILED_PRECONDITION);
    track->listener_.listen(&ProfileTrack::see, track.get());
    place().track = track;
    here_ = track.get();
  }
  // What is open ends here.
  static void leave() noexcept {
    if (here_ == nullptr) return;
    here_->listener_.stop();
    here_->end_all(false);
    MemoryLog::forget_running();
    here_ = nullptr;
    place().track = nullptr;
  }

  // 0: it is missed, or the run is over.
  uint64_t begin_range(std::string name) noexcept {
    const std::lock_guard lock(mutex_);
    if (over_) return 0;  // since `current` was asked
    return tried([&] {
      ProfileEvent event;
      event.kind = ProfileKind::range;
      event.name = std::move(name);
      open(std::move(event), 0, profile_now());
      open_.back().range = last_range_ + 1;
    })
               ? ++last_range_
               : 0;
  }
  // It ends where what began in it has ended.
  void end_range(uint64_t range) noexcept {
    const std::lock_guard lock(mutex_);
    for (Open& each : open_) each.has_ended = each.has_ended || each.range == range;
    close_ended(since_start(profile_now()));
  }
  // The path of the object whose method has begun.
  void name_layer(const std::string& path) noexcept {
    const std::lock_guard lock(mutex_);
    if (ProfileEvent* method = innermost_method()) tried([&] { method->layer = path; });
  }
  // Whether a method is under way, and which number of a node was the last before it (NodeLayers).
  void note_nodes(uint64_t last) noexcept {
    const std::lock_guard lock(mutex_);
    if (innermost_method() != nullptr) innermost()->nodes = last;
  }
  bool method_nodes(uint64_t* last) noexcept {
    const std::lock_guard lock(mutex_);
    if (innermost_method() == nullptr) return false;
    *last = innermost()->nodes;
    return true;
  }
  // The node of backward that begins next is of this layer, if it has this name.
  void expect_node(const std::string& name, const std::string& layer) noexcept {
    const std::lock_guard lock(mutex_);
    if (!tried([&] { next_node_ = name, next_layer_ = layer; })) next_node_.clear();
  }
  // Which event is the method under way; -1: none, or it was missed.
  int64_t method() noexcept {
    const std::lock_guard lock(mutex_);
    return innermost_method() != nullptr ? innermost()->event : -1;
  }
  // Something else was missed, as memory is exhausted.
  void miss() noexcept {
    const std::lock_guard lock(mutex_);
    ++missed_;
  }
  // What is open ends now, and so not before what is in it; nothing is seen afterwards.
  void end() noexcept { end_all(true); }
  // When it is over.
  std::vector<ProfileEvent>& events() { return events_; }
  uint64_t missed() const { return missed_; }

 private:
  // An event that has begun. Of a range `depth` is 0; others have the number of begins around them,
  // with their own.
  struct Open {
    int64_t event = 0;
    uint64_t depth = 0, range = 0;
    uint64_t nodes = 0;  // see note_nodes
    bool has_ended = false;
  };
  struct Place {
    std::shared_ptr<ProfileTrack> track;
    ~Place() {
      gone_ = true;
      if (here_ != nullptr) here_->listener_.stop();
      here_ = nullptr;
    }
  };
  static Place& place() {
    static thread_local Place place;
    return place;
  }

  bool is_over() noexcept {
    const std::lock_guard lock(mutex_);
    return over_;
  }
  void end_all(bool over) noexcept {
    const std::lock_guard lock(mutex_);
    const uint64_t now = since_start(profile_now());
    while (!open_.empty()) close(now);
    depth_ = 0;
    over_ = over_ || over;
  }
  ProfileEvent& at(const Open& open) { return events_[static_cast<size_t>(open.event)]; }
  uint64_t since_start(uint64_t ns) const { return ns > zero_ns_ ? ns - zero_ns_ : 0; }

  // These need the mutex.
  template <typename F>
  bool tried(const F& f) noexcept {
    try {
      f();
      return true;
    } catch (...) {  // memory is exhausted
      ++missed_;
      return false;
    }
  }
  void open(ProfileEvent event, uint64_t depth, uint64_t ns) {
    if (!open_.empty()) {
      event.parent = open_.back().event;
      if (event.layer.empty()) event.layer = at(open_.back()).layer;
    }
    event.begin_ns = event.end_ns = since_start(ns);
    if (memory_) event.bytes = -static_cast<int64_t>(memory_->sample(event.begin_ns));
    const auto number = static_cast<int64_t>(events_.size());
    events_.push_back(std::move(event));
    try {
      open_.push_back({.event = number, .depth = depth});
    } catch (...) {
      events_.pop_back();
      throw;
    }
  }
  void close(uint64_t end_ns) noexcept {
    ProfileEvent& event = at(open_.back());
    event.end_ns = std::max(end_ns, event.begin_ns);
    if (memory_) event.bytes += static_cast<int64_t>(memory_->sample(event.end_ns));
    open_.pop_back();
  }
  void close_ended(uint64_t end_ns) noexcept {
    while (!open_.empty() && open_.back().has_ended) close(end_ns);
  }
  // Of those that are no ranges; NULL: there is none.
  Open* innermost() {
    for (size_t i = open_.size(); i > 0; --i) {
      if (open_[i - 1].depth != 0) return &open_[i - 1];
    }
    return nullptr;
  }
  // NULL where the last one that began was missed, or is no method.
  ProfileEvent* innermost_method() {
    Open* const last = innermost();
    if (over_ || last == nullptr || last->depth != depth_) return nullptr;
    return at(*last).kind == ProfileKind::method ? &at(*last) : nullptr;
  }
  // What made the memory of a launch: the outermost call or node in the same method or range.
  const std::string& maker(const Open* launch) {
    auto i = static_cast<size_t>(launch - open_.data()) + 1;
    while (i > 1) {
      const ProfileKind outer = at(open_[i - 2]).kind;
      if (outer == ProfileKind::method || outer == ProfileKind::range) break;
      --i;
    }
    return at(open_[i - 1]).name;
  }

  // A border to C: nothing is thrown.
  static void see(void* self, const tn_profile_event* event) {
    static_cast<ProfileTrack*>(self)->note(*event);
  }
  void note(const tn_profile_event& e) noexcept {
    if (e.kind < 0 || e.kind > TN_PROFILE_METHOD) return;
    const bool begins = e.begin != 0, launch = e.kind == TN_PROFILE_LAUNCH;
    // Of a run that is over, too: the event lives no longer than this.
    if (memory_ && launch) begins ? MemoryLog::begin_running(&e) : MemoryLog::end_running();
    const std::lock_guard lock(mutex_);
    if (over_) return;
    if (begins) {
      ++depth_;
      tried([&] { note_begin(e); });
    } else if (depth_ > 0) {  // what began before the profiler did is not there
      note_end(e);
      --depth_;
    }
  }
  static ProfileKind kind_of(const tn_profile_event& e) {
    static constexpr ProfileKind kKinds[] = {ProfileKind::call, ProfileKind::node,
                                             ProfileKind::launch, ProfileKind::method};
    return kKinds[e.kind];
  }
  void note_begin(const tn_profile_event& e) {
    const bool node = e.kind == TN_PROFILE_NODE;
    std::string expected;
    expected.swap(next_node_);
    ProfileEvent event;
    event.kind = kind_of(e);
    event.name = e.name;
    if (e.kind == TN_PROFILE_METHOD) event.layer = event.name.substr(0, event.name.find('.'));
    if (node && expected == event.name) event.layer = next_layer_ + " backward";
    if (node || e.backward != 0) event.name += " backward";
    if (e.plugin != nullptr) event.kernel = e.plugin;
    if (options_.shapes) event.shapes = profile_shapes(e);
    if (e.kind == TN_PROFILE_LAUNCH) event.flops = profile_flops(e);
    open(std::move(event), depth_, e.ns);
    if (memory_ && e.kind != TN_PROFILE_LAUNCH) memory_->begin_call(e);
  }
  void note_end(const tn_profile_event& e) noexcept {
    const Open* const last = innermost();
    if (last == nullptr || last->depth != depth_) return;  // its begin was missed
    uint64_t end = e.ns;
    if (options_.synchronize && e.kind == TN_PROFILE_LAUNCH && e.device.type != TN_DEVICE_CPU) {
      ignore(api.device->synchronize(e.device));
      end = profile_now();
    }
    end = since_start(end);
    if (memory_ && e.kind == TN_PROFILE_LAUNCH)
      tried([&] { memory_->end_launch(e, maker(last), at(*last).layer, end); });
    // Ranges that began in it end with it.
    const auto outer = static_cast<size_t>(last - open_.data());
    while (open_.size() > outer) close(end);
    close_ended(end);
  }

  static inline constinit thread_local ProfileTrack* here_ = nullptr;
  static inline constinit thread_local bool gone_ = false;  // the thread's place
  const ProfilerOptions options_;
  const std::shared_ptr<MemoryLog> memory_;
  const uint64_t zero_ns_;
  EventListener listener_;
  std::mutex mutex_;
  std::vector<ProfileEvent> events_;
  std::vector<Open> open_;
  uint64_t depth_ = 0;  // begins without their ends
  uint64_t missed_ = 0, last_range_ = 0;
  std::string next_node_, next_layer_;
  bool over_ = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
