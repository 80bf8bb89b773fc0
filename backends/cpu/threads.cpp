// The host's threads slot, on OpenMP: the pool that oneDNN uses too. Calls from within a piece run
// on their own thread.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "cpu.h"

#if defined(__SANITIZE_THREAD__)
#include <thread>
#include <vector>
#else
#include <omp.h>
#endif

namespace tenon::cpu {
namespace {

#if defined(__SANITIZE_THREAD__)

// OpenMP's library is not built for the thread sanitizer, which would see races in its barriers.
thread_local bool inside = false;
int32_t count_threads() {
  return static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency()));
}

template <typename Body>
void run_pieces(int64_t n, const Body& body) {
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < n; ++i) {
    threads.emplace_back([&body, i] {
      inside = true;
      body(i);
    });
  }
  body(0);
  for (std::thread& thread : threads) {
    thread.join();
  }
}
bool is_inside() { return inside; }

#else

int32_t count_threads() { return omp_get_max_threads(); }

template <typename Body>
void run_pieces(int64_t n, const Body& body) {
#pragma omp parallel for num_threads(static_cast <int>(n)) schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    body(i);
  }
}
bool is_inside() { return omp_in_parallel(); }

#endif

// OpenMP's join waits for all its threads. On a machine that others keep busy one of them may be
// out for several time slices, and 20 us of work take 10 ms: when that is seen twice in a short time,
// calls run on their own thread for a while, longer each time that it is seen again. Once in a while
// it happens on a machine that nobody else uses.
class Patience {
 public:
  static int64_t now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }
  bool is_lost() const { return now() < alone_until_.load(std::memory_order_relaxed); }
  // `own` is how long the caller's equal share took, `waited` how long it then waited for the
  // others.
  void note(int64_t own, int64_t waited) {
    if (waited < own + kTolerated) {
      pause_.store(kFirstPause, std::memory_order_relaxed);
      return;
    }
    const int64_t pause = pause_.load(std::memory_order_relaxed), time = now();
    const int64_t before = last_.exchange(time, std::memory_order_relaxed);
    if (pause == kFirstPause && time - before > kRecent) {
      return;
    }
    alone_until_.store(time + pause, std::memory_order_relaxed);
    pause_.store(std::min(2 * pause, kLongestPause), std::memory_order_relaxed);
  }

 private:
  static constexpr int64_t kTolerated = 1'000'000;
  static constexpr int64_t kRecent = 50'000'000;
  static constexpr int64_t kFirstPause = 100'000'000;
  static constexpr int64_t kLongestPause = 3'200'000'000;
  std::atomic<int64_t> alone_until_ = 0;
  std::atomic<int64_t> pause_ = kFirstPause;
  std::atomic<int64_t> last_ = -kRecent;  // when a wait was too long
};
constinit Patience patience;

int32_t count(void*) { return thread_count(); }

// One piece a thread: equal shares, in order.
void parallel_for(void*, int64_t begin, int64_t end, int64_t grain, tn_range_fn fn, void* context) {
  const int64_t total = end - begin;
  if (total <= 0) {
    return;
  }
  const int64_t pieces = std::min<int64_t>(thread_count(), total / std::max<int64_t>(grain, 1));
  if (pieces <= 1 || is_inside() || patience.is_lost()) {
    fn(context, begin, end);
    return;
  }
  int64_t started = 0, finished = 0;  // of the first piece, which is this thread's
  run_pieces(pieces, [&](int64_t i) {
    if (i == 0) {
      started = Patience::now();
    }
    const int64_t from = begin + total * i / pieces;  // total is far below 2^63 / threads
    fn(context, from, begin + total * (i + 1) / pieces);
    if (i == 0) {
      finished = Patience::now();
    }
  });
  patience.note(finished - started, Patience::now() - finished);
}

}  // namespace

int32_t thread_count() { return count_threads(); }

tn_status* add_threads(tn_registrar* r) {
  tn_threads_def def = {};
  def.size = sizeof def;
  def.count = count;
  def.parallel_for = parallel_for;
  return r->threads(r, &def);
}

}  // namespace tenon::cpu
