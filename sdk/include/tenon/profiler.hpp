// Where the time of a program goes: each call, node of backward, launch and method of this thread,
// with shapes, time, memory and floating point operations, as a table, as a trace that Perfetto
// (ui.perfetto.dev) and chrome://tracing open, and as one page of HTML. tenon.hpp does not include it.
//
//   Profiler profiler({.synchronize = true});
//   profiler.start();
//   step(x, y);
//   profiler.stop();
//   std::cout << profiler.table();
//   profiler.save_html("profile.html");
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/disk.hpp"
#include "tenon/event_listener.hpp"
#include "tenon/profiler_page.hpp"
#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct ProfilerOptions {
  bool shapes = true;  // the sizes of the tensors that an event gets
  // What an event left allocated on its device. Asks the device twice for each event.
  bool memory = false;
  // Waits after each launch, so that the time of a launch on a device with streams is that of its
  // work, and not that of putting it there.
  bool synchronize = false;
};

// Sees the thread that starts it, until it stops; one of a thread at a time. While it runs, the
// program is slower by about a microsecond an event, and compiled functions run eagerly. Not
// thread-safe.
class Profiler {
 public:
  enum class Kind { call, node, launch, method, range };
  struct Event {
    Kind kind = Kind::call;
    // The op ("linear"); of a node "linear backward"; "Linear.forward"; the name of a range
    std::string name;
    std::string kernel;   // of a launch: the plugin that has it
    std::string shapes;   // "[64, 100] float32, [10, 100] float32", without those of outputs
    int64_t parent = -1;  // the event that it is in; -1: none
    uint64_t begin_ns = 0, end_ns = 0;  // since the start
    int64_t bytes = 0;                  // allocated at the end less at the begin
    // Of a launch: of products, convolutions and attention, a multiplication and an addition being
    // two; others have 0. Of all others the sum of what is in them.
    double flops = 0;

    uint64_t ns() const { return end_ns - begin_ns; }
  };
  // Events that have a name, and if asked for the shapes, in common.
  struct Row {
    Kind kind = Kind::call;
    std::string name, shapes;
    uint64_t count = 0;
    uint64_t total_ns = 0;  // with what is in them
    uint64_t self_ns = 0;   // without: sums to the time of all events
    int64_t bytes = 0;      // without what is in them
    double flops = 0;       // likewise
  };

  explicit Profiler(ProfilerOptions options = {}) : options_(options) {}
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler() { stop(); }

  // An Error where another profiler sees this thread. What was recorded before is gone.
  void start() {
    if (current() != nullptr) {
      fail("Profiler: one runs on this thread already", TN_FAILED_PRECONDITION);
    }
    events_.clear();
    open_.clear();
    current() = this;
    zero_ns_ = 0;
    listener_.listen(&Profiler::see, this);
  }
  // On the thread that started it. Does nothing where it does not run.
  void stop() {
    if (current() != this) return;
    listener_.stop();
    current() = nullptr;
    while (!open_.empty()) close(events_.empty() ? 0 : events_.back().end_ns);
    for (size_t i = events_.size(); i-- > 0;) {
      if (events_[i].parent >= 0) at(events_[i].parent).flops += events_[i].flops;
    }
  }

  // Marks a part of the program: a step, a phase. Without a profiler on the thread it does nothing.
  class Range {
   public:
    explicit Range(std::string name) : of_(current()) {
      if (of_ == nullptr) return;
      of_->open(Kind::range, std::move(name), of_->since_start(now_ns()));
    }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
    ~Range() {
      if (of_ != nullptr && of_ == current()) of_->close(of_->since_start(now_ns()));
    }

   private:
    Profiler* of_;
  };

  // In order of their begin. flops of those that are no launches are there when it has stopped.
  const std::vector<Event>& events() const { return events_; }

  // Those with the most time of their own first.
  std::vector<Row> rows(bool by_shapes = false) const {
    std::vector<uint64_t> inner_ns(events_.size());
    std::vector<int64_t> inner_bytes(events_.size());
    std::vector<double> inner_flops(events_.size());
    for (const Event& e : events_) {
      if (e.parent < 0) continue;
      const auto p = static_cast<size_t>(e.parent);
      inner_ns[p] += e.ns(), inner_bytes[p] += e.bytes, inner_flops[p] += e.flops;
    }
    std::map<std::pair<std::string, std::string>, Row> found;
    for (size_t i = 0; i < events_.size(); ++i) {
      const Event& e = events_[i];
      const std::string shown = e.kernel.empty() ? e.name : e.name + " (" + e.kernel + ")";
      Row& row = found[{shown, by_shapes ? e.shapes : ""}];
      row.kind = e.kind, row.name = shown;
      if (by_shapes) row.shapes = e.shapes;
      ++row.count;
      row.total_ns += e.ns();
      row.self_ns += e.ns() - std::min(e.ns(), inner_ns[i]);
      row.bytes += e.bytes - inner_bytes[i];
      row.flops += e.flops - inner_flops[i];
    }
    std::vector<Row> rows;
    for (auto& [key, row] : found) rows.push_back(std::move(row));
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.self_ns > b.self_ns; });
    return rows;
  }

  // The first `most` rows as text.
  std::string table(size_t most = 30, bool by_shapes = false) const {
    return detail::profile_table(rows(by_shapes), total_ns(), most, options_.memory);
  }
  // The format of trace events: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
  std::string trace_json() const { return detail::profile_trace(events_); }
  // Files are there whole or not at all; an Error says why not.
  void save_trace(const std::string& path) const { write(path, trace_json()); }
  // Opens in any browser, and loads nothing from elsewhere.
  void save_html(const std::string& path) const {
    write(path, detail::profile_page(rows(true), total_ns(), trace_json()));
  }
  // Of the events that are in no other.
  uint64_t total_ns() const {
    uint64_t total = 0;
    for (const Event& e : events_) total += e.parent < 0 ? e.ns() : 0;
    return total;
  }

 private:
  static Profiler*& current() {
    static thread_local Profiler* profiler = nullptr;
    return profiler;
  }
  static uint64_t now_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  }
  Event& at(int64_t i) { return events_[static_cast<size_t>(i)]; }
  uint64_t since_start(uint64_t ns) {
    if (zero_ns_ == 0) zero_ns_ = ns;
    return ns - zero_ns_;
  }

  Event& open(Kind kind, std::string name, uint64_t ns) {
    Event event;
    event.kind = kind;
    event.name = std::move(name);
    event.parent = open_.empty() ? -1 : open_.back();
    event.begin_ns = event.end_ns = ns;
    if (options_.memory) event.bytes = -allocated();
    open_.push_back(static_cast<int64_t>(events_.size()));
    events_.push_back(std::move(event));
    return events_.back();
  }
  void close(uint64_t ns) {
    if (open_.empty()) return;
    Event& event = at(open_.back());
    event.end_ns = std::max(ns, event.begin_ns);
    if (options_.memory) event.bytes += allocated();
    open_.pop_back();
  }
  // On cpu and on the devices that launches were met on.
  int64_t allocated() const {
    uint64_t bytes = cpu.memory_stats().allocated;
    for (const Device& device : devices_) bytes += device.memory_stats().allocated;
    return static_cast<int64_t>(bytes);
  }

  // A border to C: nothing is thrown. Where memory is exhausted the event is not there.
  static void see(void* self, const tn_profile_event* event) {
    try {
      static_cast<Profiler*>(self)->note(*event);
    } catch (...) {
    }
  }
  void note(const tn_profile_event& e) {
    static constexpr Kind kKinds[] = {Kind::call, Kind::node, Kind::launch, Kind::method};
    if (e.kind < 0 || e.kind > TN_PROFILE_METHOD) return;
    if (e.begin == 0) {
      // What began before the profiler did is not there.
      if (open_.empty() || at(open_.back()).kind != kKinds[e.kind]) return;
      uint64_t end = e.ns;
      if (options_.synchronize && e.kind == TN_PROFILE_LAUNCH && e.device.type != TN_DEVICE_CPU) {
        ignore(detail::api.device->synchronize(e.device));
        end = now_ns();
      }
      return close(since_start(end));
    }
    const bool backward = e.kind == TN_PROFILE_NODE || e.backward != 0;
    if (e.kind == TN_PROFILE_LAUNCH && options_.memory) see_device(Device(e.device));
    Event& event = open(kKinds[e.kind], std::string(e.name) + (backward ? " backward" : ""),
                        since_start(e.ns));
    if (e.plugin != nullptr) event.kernel = e.plugin;
    if (options_.shapes) event.shapes = detail::profile_shapes(e);
    if (e.kind == TN_PROFILE_LAUNCH) event.flops = detail::profile_flops(e);
  }
  void see_device(Device device) {
    if (device.is_cpu()) return;
    for (const Device& known : devices_) {
      if (known == device) return;
    }
    devices_.push_back(device);
  }

  static void write(const std::string& path, const std::string& text) {
    disk::Output file;
    disk::Problem problem = file.open(path);
    if (!problem) problem = file.write(text.data(), text.size());
    if (!problem) problem = file.commit();
    if (problem) fail(problem.text, problem.code);
  }

  ProfilerOptions options_;
  detail::EventListener listener_;
  std::vector<Event> events_;
  std::vector<int64_t> open_;
  std::vector<Device> devices_;
  uint64_t zero_ns_ = 0;
};

}  // namespace v0
}  // namespace tenon
