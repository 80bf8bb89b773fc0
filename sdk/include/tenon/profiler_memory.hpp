// Whose memory it is: which launch made a tensor's memory, in which layer, and whether it was freed.
// For the memory of a profile; used by profiler.hpp and profiler_track.hpp.
//
// What a launch writes and does not read, and what no call was seen to get, is memory that it made. A
// blob (cache/1) is attached to the memory, goes with it on whichever thread, and says so. A blob goes,
// too, when a kernel looks for a packed weight that was changed since: that launch has the memory
// among its arguments, and so it is watched again. Where the host drops all blobs, as memory is
// exhausted, what was alive counts as freed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tenon/device.hpp"
#include "tenon/profiler_page.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// Memory that a launch made.
struct ProfileAllocation {
  static constexpr uint64_t kAlive = UINT64_MAX;
  std::string op;      // "linear", "linear backward"
  std::string layer;   // as ProfileEvent::layer
  std::string tensor;  // "[64, 128] float32"
  uint64_t bytes = 0;
  uint64_t begin_ns = 0;             // since the start
  uint64_t born = 0, died = kAlive;  // in the order of what happened; kAlive: not before the end
};
// Allocations that have op, layer and tensor in common.
struct ProfileMemoryRow {
  std::string op, layer, tensor;
  uint64_t count = 0, bytes = 0;
};
struct ProfileLayerRow {
  std::string layer;           // "": what no layer made
  uint64_t peak_bytes = 0;     // the most that was alive of what it made
  uint64_t at_peak_bytes = 0;  // of it at the peak of all
  uint64_t at_end_bytes = 0;   // of it at the end
};
struct ProfileSample {
  uint64_t ns = 0, bytes = 0;
};

// Made anew for each run of a profiler. Thread-safe; what it gives stays as it is once it has ended.
class MemoryLog : public std::enable_shared_from_this<MemoryLog> {
 public:
  MemoryLog() {
    for (int32_t type = 0; type < api.device->n_types(); ++type) {
      if (type == TN_DEVICE_META) continue;
      for (int32_t i = 0; i < api.device->count(type); ++i) devices_.push_back({type, i});
    }
    cache_ = find_interface<tn_cache_api>(host(), "cache/1");
  }

  // Looks at what is allocated on all devices.
  uint64_t sample(uint64_t ns) noexcept {
    const std::lock_guard lock(mutex_);
    uint64_t now = 0;
    for (const tn_device device : devices_) {
      tn_memory_stats stats{};
      stats.size = sizeof(stats);
      ignore(api.device->memory_stats(device, &stats));
      now += stats.allocated;
    }
    if (ended_) return now;
    if (samples_.empty() || samples_.back().bytes != now) {
      try {
        samples_.push_back({ns, now});
      } catch (const std::bad_alloc&) {  // the curve has a point less
      }
    }
    // Results of a launch are there at its begin, and known at its end: the later of two peaks.
    if (now >= peak_.bytes) peak_ = {ns, now}, peak_order_ = order_;
    return now;
  }
  // The begin of a call: who made its arguments is known, or they are from before.
  void begin_call(const tn_profile_event& e) {
    each_tensor(e, [&](tn_tensor* t) {
      if (may_watch(t) && note(t->storage, nullptr)) watch(t);
    });
  }
  // A launch begins on this thread, or the one ends that began last: a kernel may call ops.
  static void begin_running(const tn_profile_event* launch) noexcept {
    Running& r = running();
    if (r.n < kMostWithin) r.launches[r.n] = launch;
    ++r.n;
  }
  static void forget_running() noexcept { running().n = 0; }
  static void end_running() noexcept {
    if (running().n > 0) --running().n;  // else it began before the profiler did
  }
  void end_launch(const tn_profile_event& e, const std::string& op, const std::string& layer,
                  uint64_t ns) {
    each_tensor(e, [&](tn_tensor* t) {
      if (was_dropped(t->storage)) watch(t);
    });
    for (uint32_t i = 0; i < e.n_outputs; ++i) {
      tn_tensor* t = e.outputs[i];
      if (t == nullptr || !may_watch(t) || reads(e, t->storage)) continue;
      ProfileAllocation made;
      made.op = op, made.layer = layer;
      add_shape(&made.tensor, t);
      made.bytes = static_cast<uint64_t>(t->numel) * Dtype{t->dtype}.itemsize();
      made.begin_ns = ns;
      if (note(t->storage, &made)) watch(t);
    }
  }
  // What happens afterwards is not noted.
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    known_.clear();
  }

  const std::vector<ProfileAllocation>& allocations() const { return allocations_; }
  const std::vector<ProfileSample>& samples() const { return samples_; }
  ProfileSample peak() const { return peak_; }
  bool is_at_peak(const ProfileAllocation& a) const {
    return a.born <= peak_order_ && a.died > peak_order_;
  }

 private:
  static constexpr size_t kNobody = SIZE_MAX;
  struct Known {
    size_t allocation = kNobody;
    uint64_t watch = 0;  // the number of the blob that is attached; 0: it was dropped
  };
  struct Watch {
    std::weak_ptr<MemoryLog> log;  // memory may live longer
    tn_storage* storage;
    uint64_t number;
  };

  // The launches under way on this thread, each within the one before. Deeper ones are not looked at.
  static constexpr int kMostWithin = 8;
  struct Running {
    const tn_profile_event* launches[kMostWithin];
    int n = 0;
  };
  static Running& running() {
    static thread_local Running of_thread;
    return of_thread;
  }
  static bool is_read_by_running(const tn_storage* storage) {
    const Running& r = running();
    for (int i = 0; i < std::min(r.n, kMostWithin); ++i) {
      if (reads(*r.launches[i], storage)) return true;
    }
    return false;
  }
  static bool may_watch(const tn_tensor* t) {
    return t->numel > 0 && t->storage != nullptr && t->device.type != TN_DEVICE_META;
  }
  template <typename F>
  static void each_tensor(const tn_profile_event& e, const F& f) {
    for (uint32_t i = 0; i < e.n_args; ++i) {
      const tn_value& v = e.args[i];
      if (v.kind == TN_KIND_TENSOR && v.as.tensor != nullptr) f(v.as.tensor);
      for (uint32_t k = 0; v.kind == TN_KIND_TENSORS && k < v.count; ++k) {
        if (v.as.tensors[k] != nullptr) f(v.as.tensors[k]);
      }
    }
  }
  static bool reads(const tn_profile_event& e, const tn_storage* storage) {
    bool found = false;
    each_tensor(e, [&](const tn_tensor* t) { found = found || t->storage == storage; });
    for (uint32_t i = 0; i < e.n_args; ++i) {
      if (e.args[i].kind != TN_KIND_LOOP) continue;
      const tn_loop& loop = *e.args[i].as.loop;
      const tn_operand* input = loop.operands + loop.program->n_outputs;
      for (uint32_t k = 0; k < loop.program->n_inputs; ++k)
        found = found || input[k].storage == storage;
    }
    return found;
  }

  // Whether it was not known. `made`: by a launch.
  bool note(tn_storage* storage, ProfileAllocation* made) {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    // All that may throw comes before what is changed.
    if (made != nullptr && allocations_.size() == allocations_.capacity())
      allocations_.reserve(2 * allocations_.size() + 16);
    const auto [place, is_new] = known_.try_emplace(storage);
    if (!is_new || made == nullptr) return is_new;
    place->second.allocation = allocations_.size();
    made->born = ++order_;
    allocations_.push_back(std::move(*made));
    return true;
  }
  bool was_dropped(tn_storage* storage) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(storage);
    return found != known_.end() && found->second.watch == 0;
  }
  // Without the mutex: where there is no room for blobs, it goes at once. What cannot be watched, as
  // memory is exhausted, counts as freed, since nobody would hear of it.
  void watch(tn_tensor* t) {
    if (cache_ == nullptr) return;
    const uint64_t number = next_watch(t->storage);
    if (number == 0) return;
    try {
      auto held = std::make_unique<Watch>(Watch{weak_from_this(), t->storage, number});
      // Outside of a launch; of the call the host takes the stream, and no work makes this blob.
      tn_call call{};
      call.size = sizeof(call);
      check(cache_->attach(&call, t, number, held.get(), 0, &MemoryLog::dropped));
      held.release();  // NOLINT(bugprone-unused-return-value)
    } catch (...) {
      drop({weak_from_this(), t->storage, number});
      throw;
    }
  }
  // The one that is valid from now on; 0: the memory is not known.
  uint64_t next_watch(const tn_storage* storage) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(storage);
    return found == known_.end() ? 0 : found->second.watch = ++watches_;
  }
  static void dropped(void* blob) {
    const std::unique_ptr<Watch> held(static_cast<Watch*>(blob));
    if (const auto log = held->log.lock()) log->drop(*held);
  }
  void drop(const Watch& held) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(held.storage);
    if (ended_ || found == known_.end() || found->second.watch != held.number) return;
    if (is_read_by_running(held.storage)) {
      found->second.watch = 0;
      return;
    }
    if (found->second.allocation != kNobody) allocations_[found->second.allocation].died = ++order_;
    known_.erase(found);
  }

  std::mutex mutex_;
  std::vector<tn_device> devices_;
  const tn_cache_api* cache_ = nullptr;
  std::map<const tn_storage*, Known> known_;
  std::vector<ProfileAllocation> allocations_;
  std::vector<ProfileSample> samples_;
  ProfileSample peak_;
  uint64_t order_ = 0, peak_order_ = 0, watches_ = 0;
  bool ended_ = false;
};

// Of those that `choose` takes, with the most bytes first.
template <typename F>
std::vector<ProfileMemoryRow> memory_rows(const std::vector<ProfileAllocation>& all,
                                          const F& choose) {
  std::map<std::tuple<std::string, std::string, std::string>, ProfileMemoryRow> found;
  for (const ProfileAllocation& a : all) {
    if (!choose(a)) continue;
    ProfileMemoryRow& row = found[{a.op, a.layer, a.tensor}];
    row.op = a.op, row.layer = a.layer, row.tensor = a.tensor;
    ++row.count, row.bytes += a.bytes;
  }
  std::vector<ProfileMemoryRow> rows;
  for (auto& [key, row] : found) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return rows;
}

inline std::vector<ProfileLayerRow> layer_rows(const MemoryLog& log) {
  struct Change {
    uint64_t order;
    const ProfileAllocation* of;
    bool frees;
  };
  std::vector<Change> changes;
  std::map<std::string, ProfileLayerRow> found;
  for (const ProfileAllocation& a : log.allocations()) {
    changes.push_back({a.born, &a, false});
    if (a.died != a.kAlive) changes.push_back({a.died, &a, true});
    ProfileLayerRow& row = found[a.layer];
    row.layer = a.layer;
    if (log.is_at_peak(a)) row.at_peak_bytes += a.bytes;
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.order < b.order; });
  for (const Change& change : changes) {
    ProfileLayerRow& row = found[change.of->layer];
    row.at_end_bytes += change.frees ? -change.of->bytes : change.of->bytes;
    row.peak_bytes = std::max(row.peak_bytes, row.at_end_bytes);
  }
  std::vector<ProfileLayerRow> rows;
  for (auto& [name, row] : found) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.peak_bytes > b.peak_bytes; });
  return rows;
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
