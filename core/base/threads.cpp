// The slot for compute threads, and the loop without one.
#include "base/threads.h"

#include <atomic>
#include <list>
#include <mutex>

namespace tenon {
namespace {

std::atomic<const tn_threads_def*> slot{nullptr};

// Definitions stay for good: a loop may be running in one while the slot changes.
const tn_threads_def* keep(const tn_threads_def& def) {
  static auto* kept = new std::list<tn_threads_def>();
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  return &kept->emplace_back(def);
}

}  // namespace

void parallel_for(int64_t begin, int64_t end, int64_t grain, tn_range_fn fn, void* context) {
  if (begin >= end) return;
  const tn_threads_def* threads = slot.load(std::memory_order_acquire);
  if (threads == nullptr || end - begin <= grain) return fn(context, begin, end);
  threads->parallel_for(threads->self, begin, end, grain < 1 ? 1 : grain, fn, context);
}

int32_t thread_count() {
  const tn_threads_def* threads = slot.load(std::memory_order_acquire);
  return threads == nullptr ? 1 : threads->count(threads->self);
}

Status check_threads(const tn_threads_def& def) {
  if (def.count == nullptr) return invalid("threads: count is missing");
  if (def.parallel_for == nullptr) return invalid("threads: parallel_for is missing");
  return nullptr;
}

void set_threads(const tn_threads_def& def) { slot.store(keep(def), std::memory_order_release); }

void reset_threads() { slot.store(nullptr, std::memory_order_release); }

}  // namespace tenon
