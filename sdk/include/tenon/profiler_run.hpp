// A run of a profiler: the tracks of the threads that it sees, and what they have in common. Used by
// profiler.hpp.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tenon/profiler_track.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// Thread-safe.
class ProfileRun {
 public:
  explicit ProfileRun(ProfilerOptions options) : options_(options), zero_ns_(profile_now()) {
    if (options.memory) memory_ = std::make_shared<MemoryLog>();
  }

  // The one that sees other threads than the one that started it.
  static std::shared_ptr<ProfileRun> of_threads() {
    const std::lock_guard lock(mutex());
    return place().lock();
  }
  static void offer(const std::shared_ptr<ProfileRun>& run) {
    const std::lock_guard lock(mutex());
    const std::shared_ptr<ProfileRun> now = place().lock();
    if (run->options_.threads && (!now || now->is_over())) place() = run;
  }

  // This thread's, which nobody sees; NULL where the run is over. Threads of one id are one after the
  // other.
  std::shared_ptr<ProfileTrack> track_here() {
    const std::lock_guard lock(own_mutex_);
    if (over_) return nullptr;
    for (const auto& [thread, track] : tracks_) {
      if (::pthread_equal(thread, ::pthread_self())) return track;
    }
    tracks_.emplace_back(::pthread_self(),
                         std::make_shared<ProfileTrack>(options_, memory_, zero_ns_));
    return tracks_.back().second;
  }
  const std::shared_ptr<MemoryLog>& memory() const { return memory_; }
  // On any thread; what it saw stays until it is taken.
  void end() noexcept {
    const std::lock_guard lock(own_mutex_);
    over_ = true;
    for (const auto& [thread, track] : tracks_) track->end();
    if (memory_) memory_->end();
  }
  // Of all threads, those of each together, when it has ended. Where memory is exhausted they stay.
  std::vector<ProfileEvent> take() {
    const std::lock_guard lock(own_mutex_);
    if (tracks_.size() == 1) return std::move(tracks_[0].second->events());
    size_t count = 0;
    for (const auto& [thread, track] : tracks_) count += track->events().size();
    std::vector<ProfileEvent> all;
    all.reserve(count);
    for (size_t i = 0; i < tracks_.size(); ++i) {
      const auto first = static_cast<int64_t>(all.size());
      for (ProfileEvent& event : tracks_[i].second->events()) {
        if (event.parent >= 0) event.parent += first;
        event.thread = static_cast<int64_t>(i);
        all.push_back(std::move(event));
      }
    }
    return all;
  }
  // A thread that cannot be seen, as memory is exhausted.
  void miss() noexcept { ++missed_; }
  uint64_t missed() {
    const std::lock_guard lock(own_mutex_);
    uint64_t missed = missed_;
    for (const auto& [thread, track] : tracks_) missed += track->missed();
    return missed;
  }

 private:
  bool is_over() {
    const std::lock_guard lock(own_mutex_);
    return over_;
  }
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::weak_ptr<ProfileRun>& place() {
    static std::weak_ptr<ProfileRun> run;
    return run;
  }

  const ProfilerOptions options_;
  const uint64_t zero_ns_;
  std::shared_ptr<MemoryLog> memory_;
  std::atomic<uint64_t> missed_ = 0;
  std::mutex own_mutex_;
  std::vector<std::pair<pthread_t, std::shared_ptr<ProfileTrack>>> tracks_;
  bool over_ = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
