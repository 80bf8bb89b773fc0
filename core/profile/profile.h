// The profiler's slots: functions that see what the thread that set them does. Calls, nodes of
// backward and launches open a scope where kModeProfile is on.
#pragma once

#include <span>

#include "base/hot_thread_local.h"
#include "tenon/abi.h"

namespace tenon {

struct ProfileSlot {
  tn_profile_fn fn;
  void* context;
  tn_profile_event_fn event;
  void* event_context;
};
TN_HOT extern constinit thread_local ProfileSlot profile_slot;

// Tells the slots of the begin and of the end. Of each function that is there at its time: one may be
// removed in between.
class ProfileScope {
 public:
  explicit ProfileScope(const tn_profile_event& event) : event_(event) { tell(1); }
  ProfileScope(const ProfileScope&) = delete;
  ~ProfileScope() { tell(0); }

 private:
  void tell(int32_t begin);
  tn_profile_event event_;
};

inline tn_profile_event profile_event(int32_t kind, const char* name,
                                      std::span<const tn_value> args) {
  tn_profile_event event{};
  event.size = sizeof(event);
  event.kind = kind;
  event.name = name;
  event.args = args.data();
  event.n_args = static_cast<uint32_t>(args.size());
  return event;
}

}  // namespace tenon
