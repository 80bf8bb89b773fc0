// The slot for compute threads. The host starts none: a plugin fills the slot (the cpu backend's
// OpenMP), and without one everything runs on the calling thread.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace tenon {

// Runs fn over [begin, end) in pieces of at least `grain` and returns when all are done. From any
// thread.
void parallel_for(int64_t begin, int64_t end, int64_t grain, tn_range_fn fn, void* context);
int32_t thread_count();  // threads that run at once; 1 without a plugin

[[nodiscard]] Status check_threads(const tn_threads_def& def);
void set_threads(const tn_threads_def& def);
void reset_threads();  // back to the calling thread; at shutdown

}  // namespace tenon
