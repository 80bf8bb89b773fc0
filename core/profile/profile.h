// The profiler's slot: a function that sees each op begin and end on the thread that set it.
#pragma once

#include "base/hot_thread_local.h"
#include "tenon/abi.h"

namespace tenon {

struct ProfileSlot {
  tn_profile_fn fn;
  void* context;
};
TN_HOT extern constinit thread_local ProfileSlot profile_slot;

uint64_t profile_clock_ns();

}  // namespace tenon
