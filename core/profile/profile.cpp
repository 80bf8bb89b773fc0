#include "profile/profile.h"

#include <chrono>

namespace tenon {

TN_HOT constinit thread_local ProfileSlot profile_slot{nullptr, nullptr, nullptr, nullptr};

void ProfileScope::tell(int32_t begin) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  event_.begin = begin;
  event_.ns =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  const ProfileSlot& slot = profile_slot;
  if (slot.fn != nullptr && event_.kind == TN_PROFILE_CALL)
    slot.fn(slot.context, event_.name, begin, event_.ns);
  if (slot.event != nullptr) slot.event(slot.event_context, &event_);
}

}  // namespace tenon
