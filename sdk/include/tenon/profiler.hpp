// Where the time and the memory of a program go: each call, node of backward, launch and method, with
// shapes, time, memory and floating point operations, as a table, as a trace that Perfetto
// (ui.perfetto.dev) and chrome://tracing open, and as one page of HTML. tenon.hpp does not include it.
//
//   Profiler profiler({.memory = true}, model);
//   profiler.start();
//   step(x, y);
//   profiler.stop();
//   std::cout << profiler.table();
//   profiler.save_html("profile.html");
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tenon/disk.hpp"
#include "tenon/object.hpp"
#include "tenon/profiler_layers.hpp"
#include "tenon/profiler_page.hpp"
#include "tenon/profiler_run.hpp"
#include "tenon/tensor.hpp"
#include "tenon/work_scope.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Sees the thread that starts it, until it stops; one of a thread at a time. Workers of data loaders
// are seen, too, and other threads of this program or library while a Range is open there. While it
// runs, the program is slower by about a microsecond an event, and compiled functions run eagerly.
// Used by one thread.
class Profiler {
 public:
  using Kind = detail::ProfileKind;
  using Event = detail::ProfileEvent;
  using Allocation = detail::ProfileAllocation;
  using MemoryRow = detail::ProfileMemoryRow;
  using LayerRow = detail::ProfileLayerRow;
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

  // The layers of `model` are told by their paths, and what their backward makes, too; others by their
  // types.
  explicit Profiler(ProfilerOptions options = {}, Object model = {})
      : options_(options), model_(std::move(model)) {}
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler() {
    if (!run_) return;
    run_->end();
    leave();
  }

  // An Error where another profiler sees this thread, or where this one runs. What was recorded before
  // is gone.
  void start() {
    if (detail::ProfileTrack::current())
      fail("Profiler: one runs on this thread already", TN_FAILED_PRECONDITION);
    if (track_) fail("Profiler: it runs on another thread", TN_FAILED_PRECONDITION);
    events_.clear();
    memory_ = nullptr, run_ = nullptr, missed_ = 0;
    hooks_.clear();
    try {
      if (model_.defined()) hooks_.add(model_);
      run_ = std::make_shared<detail::ProfileRun>(options_);
      track_ = run_->track_here();
      detail::ProfileTrack::enter(track_);
    } catch (...) {
      hooks_.clear();
      track_ = nullptr, run_ = nullptr;
      throw;
    }
    __atomic_store_n(&detail::work_listener, &kWork, __ATOMIC_RELEASE);
    detail::ProfileRun::offer(run_);
  }
  // On the thread that started it, else it is an Error. Does nothing where it does not run. Where there
  // is no memory to take what was recorded (std::bad_alloc), it has stopped, and may be called again.
  void stop() {
    if (!run_) return;
    if (track_ && detail::ProfileTrack::current() != track_)
      fail("Profiler: it runs on another thread, which has to stop it", TN_FAILED_PRECONDITION);
    run_->end();
    leave();
    hooks_.clear();
    track_ = nullptr;
    events_ = run_->take();
    memory_ = run_->memory();
    missed_ = run_->missed();
    run_ = nullptr;
    for (size_t i = events_.size(); i-- > 0;) {
      const Event& e = events_[i];
      if (e.parent >= 0) events_[static_cast<size_t>(e.parent)].flops += e.flops;
    }
  }

  // Marks a part of the program: a step, a phase. On a thread that no profiler sees, the first one
  // that runs sees it from here to the end of the range. Without a profiler it does nothing.
  class Range {
   public:
    explicit Range(std::string name) noexcept : track_(detail::ProfileTrack::current()) {
      if (!track_) attach();
      if (track_) range_ = track_->begin_range(std::move(name));
    }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
    // On its thread. Where a call or a range in it goes on, it ends with that.
    ~Range() {
      if (!track_ || track_ != detail::ProfileTrack::current()) return;
      if (range_ != 0) track_->end_range(range_);
      if (attached_) detail::ProfileTrack::leave();
    }

   private:
    void attach() noexcept {
      const std::shared_ptr<detail::ProfileRun> run = detail::ProfileRun::of_threads();
      if (!run) return;
      try {
        const auto track = run->track_here();
        if (!track) return;
        detail::ProfileTrack::enter(track);
        track_ = track, attached_ = true;
      } catch (...) {  // memory is exhausted: nobody sees the thread
        run->miss();
      }
    }
    std::shared_ptr<detail::ProfileTrack> track_;
    uint64_t range_ = 0;
    bool attached_ = false;
  };

  // When it has stopped: in order of their begin, those of each thread together.
  const std::vector<Event>& events() const { return events_; }
  // How often an event, or whose memory it is, was missed, as memory was exhausted.
  uint64_t missed() const { return missed_; }

  // Those with the most time of their own first. Times of threads are added up.
  std::vector<Row> rows(bool by_shapes = false) const;
  // Of the events that are in no other.
  uint64_t total_ns() const {
    uint64_t total = 0;
    for (const Event& e : events_) total += e.parent < 0 ? e.ns() : 0;
    return total;
  }

  // With .memory: what launches made, in order.
  std::vector<Allocation> allocations() const {
    return memory_ ? memory_->allocations() : std::vector<Allocation>();
  }
  // The most that was allocated on all devices, at the begin or the end of an event.
  uint64_t peak_bytes() const { return memory_ ? memory_->peak().bytes : 0; }
  // What was alive then, and what was when it stopped, by who made it, with the most bytes first. What
  // is from before the start or was made by no launch (data of the host) is not among it.
  std::vector<MemoryRow> alive_at_peak() const {
    return alive([this](const Allocation& a) { return memory_->is_at_peak(a); });
  }
  std::vector<MemoryRow> alive_at_end() const {
    return alive([](const Allocation& a) { return a.died == Allocation::kAlive; });
  }
  // Layers by the peak of what they made. What the backward of a layer of the model made is in a row of
  // its own, "0 (Linear) backward"; that of others, and sums of gradients, are in none.
  std::vector<LayerRow> layers() const {
    return memory_ ? detail::layer_rows(*memory_) : std::vector<LayerRow>();
  }

  // The first `most` rows as text, and with .memory those of the memory.
  std::string table(size_t most = 30, bool by_shapes = false) const {
    std::string text = detail::profile_table(rows(by_shapes), total_ns(), most, options_.memory);
    if (memory_)
      text += "\n" + detail::memory_table(memory_->peak(), alive_at_peak(), alive_at_end(),
                                          layers(), most);
    if (missed_ > 0)
      text += std::to_string(missed_) + " times memory was exhausted: parts are missing\n";
    return text;
  }
  // The format of trace events: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
  std::string trace_json() const {
    static const std::vector<detail::ProfileSample> none;
    return detail::profile_trace(events_, memory_ ? memory_->samples() : none);
  }
  // Files are there whole or not at all; an Error says why not.
  void save_trace(const std::string& path) const { write(path, trace_json()); }
  // Opens in any browser, and loads nothing from elsewhere.
  void save_html(const std::string& path) const {
    const std::string memory =
        memory_ ? detail::memory_json(memory_->peak(), alive_at_peak(), alive_at_end(), layers())
                : "null";
    write(path, detail::profile_page(rows(true), total_ns(), trace_json(), memory));
  }

 private:
  template <typename F>
  std::vector<MemoryRow> alive(const F& choose) const {
    if (!memory_) return {};
    return detail::memory_rows(memory_->allocations(), choose);
  }

  // Where this is its thread.
  void leave() {
    if (track_ && detail::ProfileTrack::current() == track_) detail::ProfileTrack::leave();
  }

  static void* begin_work(const char* what) noexcept {
    try {
      return new Range(what);
    } catch (...) {
      return nullptr;
    }
  }
  static void end_work(void* range) noexcept { delete static_cast<Range*>(range); }
  static constexpr detail::WorkListener kWork = {&Profiler::begin_work, &Profiler::end_work};

  static void write(const std::string& path, const std::string& text) {
    disk::Output file;
    disk::Problem problem = file.open(path);
    if (!problem) problem = file.write(text.data(), text.size());
    if (!problem) problem = file.commit();
    if (problem) fail(problem.text, problem.code);
  }

  ProfilerOptions options_;
  Object model_;
  detail::LayerHooks hooks_;
  // While it runs; `run_` until its events are taken, too.
  std::shared_ptr<detail::ProfileRun> run_;
  std::shared_ptr<detail::ProfileTrack> track_;
  // When it has stopped.
  std::vector<Event> events_;
  std::shared_ptr<detail::MemoryLog> memory_;
  uint64_t missed_ = 0;
};

inline std::vector<Profiler::Row> Profiler::rows(bool by_shapes) const {
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

}  // namespace v0
}  // namespace tenon
