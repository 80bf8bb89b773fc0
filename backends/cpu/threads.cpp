// The host's threads slot, on OpenMP: the pool that oneDNN uses too. Calls from within a piece run
// on their own thread.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "cpu.h"
#include "patience.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__SANITIZE_THREAD__)
#include <thread>
#include <vector>
#else
#include <omp.h>
#include <pthread.h>
#if defined(__clang__)
#include <mutex>
#include <new>
#include <shared_mutex>
#endif
#endif

namespace tenon::cpu_backend {
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
void give_up_threads_before_fork() {}  // each call starts its threads anew

#elif defined(__clang__)

// clang's OpenMP gives its threads up at a fork by itself, and holds its locks over it. But these serve
// by tickets, and the child waits for ever for the threads of the parent that had drawn one. So a fork
// waits, before OpenMP's own handler, until no thread is within OpenMP by way of this file, and a thread
// that comes later waits for the fork. Not so one from within a piece, which would wait for itself.
thread_local bool inside = false;  // of a piece, whose thread must not wait
std::mutex entrance;
std::shared_mutex within_openmp;

void wait_before_fork() {
  omp_get_max_threads();  // begins OpenMP, which registers its handler: of these the last comes first
  pthread_atfork(
      [] {
        if (inside) return;
        entrance.lock();
        within_openmp.lock();
      },
      [] {
        if (inside) return;
        within_openmp.unlock();
        entrance.unlock();
      },
      [] {
        if (inside) return;
        // Its owner is a thread of another number here, which cannot unlock it.
        new (&within_openmp) std::shared_mutex;
        entrance.unlock();
      });
}

class WithinOpenMp {
 public:
  WithinOpenMp() {
    if (inside) return;
    // Not before it is used: OpenMP wants shared memory, which a process may not have.
    static const bool waits = (wait_before_fork(), true);
    (void)waits;
    const std::scoped_lock comes(entrance);
    lock_ = std::shared_lock(within_openmp);
  }

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

int32_t count_threads() {
  const WithinOpenMp within;
  return omp_get_max_threads();
}

template <typename Body>
void run_pieces(int64_t n, const Body& body) {
  const WithinOpenMp within;
#pragma omp parallel for num_threads(static_cast <int>(n)) schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    inside = true;
    body(i);
    inside = false;
  }
}
bool is_inside() { return inside; }

void give_up_threads_before_fork() {}  // above

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

// A fork has only the thread that called it, and OpenMP would wait for the others of that thread's
// pool for ever, in oneDNN too. So the pool is given up in front of the fork: parent and child make
// theirs anew.
void give_up_threads_before_fork() {
  static const int done =
      pthread_atfork([] { omp_pause_resource_all(omp_pause_hard); }, nullptr, nullptr);
  (void)done;
}

#endif

// What a thread does with numbers that are too small, and how it rounds: set by programs, often without their
// knowing, as by a library that was compiled with -ffast-math.
#if defined(__x86_64__)
constexpr uint32_t kRaised = 0x3f;  // bits of what happened, which are no mode
uint32_t float_modes() { return _mm_getcsr() & ~kRaised; }
void set_float_modes(uint32_t modes) { _mm_setcsr(modes | (_mm_getcsr() & kRaised)); }
#else
uint32_t float_modes() { return 0; }
void set_float_modes(uint32_t) {}
#endif

// The caller's modes, while it lives, on whatever thread: results are the same on any number of threads.
class FloatModes {
 public:
  explicit FloatModes(uint32_t callers) : callers_(callers), own_(float_modes()) {
    if (own_ != callers_) set_float_modes(callers_);
  }
  FloatModes(const FloatModes&) = delete;
  ~FloatModes() {
    if (own_ != callers_) set_float_modes(own_);
  }

 private:
  const uint32_t callers_, own_;
};

constinit Patience patience;

int64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

int32_t count(void*) { return thread_count(); }

// One piece a thread: equal shares, in order.
void run_in_pieces(void*, int64_t begin, int64_t end, int64_t grain, tn_range_fn fn,
                   void* context) {
  const int64_t total = end - begin;
  if (total <= 0) {
    return;
  }
  const int64_t pieces = std::min<int64_t>(thread_count(), total / std::max<int64_t>(grain, 1));
  if (pieces <= 1 || is_inside() || patience.is_lost(now())) {
    fn(context, begin, end);
    return;
  }
  int64_t started = 0, finished = 0;  // of the first piece, which is this thread's
  const uint32_t modes = float_modes();
  run_pieces(pieces, [&](int64_t i) {
    const FloatModes same(modes);
    if (i == 0) {
      started = now();
    }
    const int64_t from = begin + total * i / pieces;  // total is far below 2^63 / threads
    fn(context, from, begin + total * (i + 1) / pieces);
    if (i == 0) {
      finished = now();
    }
  });
  const int64_t ended = now();
  patience.note(ended, finished - started, ended - finished);
}

}  // namespace

int32_t thread_count() { return count_threads(); }

void add_threads() {
  give_up_threads_before_fork();
  tn_threads_def def = {};
  def.size = sizeof def;
  def.count = count;
  def.parallel_for = run_in_pieces;
  plugin::threads(def);
}

}  // namespace tenon::cpu_backend
