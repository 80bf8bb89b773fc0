#include "profile/profile.h"

#include "base/hot_thread_local.h"

#include <chrono>

namespace tenon {

TN_HOT constinit thread_local ProfileSlot profile_slot{nullptr, nullptr};

uint64_t profile_clock_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace tenon
