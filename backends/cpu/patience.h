// When calls should stop waiting for other threads: the rule by which threads.cpp gives work to one
// thread or to all. It has no clock of its own; times are nanoseconds of one steady clock, which
// the caller reads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tenon::cpu_backend {

// OpenMP's join waits for all its threads. On a machine that others keep busy one of them may be
// out for several time slices, and 20 us of work take 10 ms: when that is seen twice in a short
// time, calls run on their own thread for a while, longer each time that it is seen again. Once in
// a while it happens on a machine that nobody else uses. Thread-safe.
class Patience {
 public:
  static constexpr int64_t kTolerated = 1'000'000;
  static constexpr int64_t kRecent = 50'000'000;
  static constexpr int64_t kFirstPause = 100'000'000;
  static constexpr int64_t kLongestPause = 3'200'000'000;

  bool is_lost(int64_t now) const { return now < alone_until_.load(std::memory_order_relaxed); }

  // A call ended at `now`. `own` is how long the caller's equal share took, `waited` how long it
  // then waited for the others.
  void note(int64_t now, int64_t own, int64_t waited) {
    if (waited < own + kTolerated) {
      pause_.store(kFirstPause, std::memory_order_relaxed);
      return;
    }
    const int64_t pause = pause_.load(std::memory_order_relaxed);
    const int64_t before = last_.exchange(now, std::memory_order_relaxed);
    if (pause == kFirstPause && now - before > kRecent) {
      return;
    }
    alone_until_.store(now + pause, std::memory_order_relaxed);
    pause_.store(std::min(2 * pause, kLongestPause), std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t> alone_until_ = 0;
  std::atomic<int64_t> pause_ = kFirstPause;
  std::atomic<int64_t> last_ = -kRecent;  // when a wait was too long
};

}  // namespace tenon::cpu_backend
