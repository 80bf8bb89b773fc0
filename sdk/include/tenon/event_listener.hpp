// Functions that see what a thread does, as `profile/1` tells it. The host has one place for such a
// function on each thread, which the listeners of a program share: a profiler goes on while a
// checkpointed call listens, too. Used by profiler.hpp and checkpoint_call.hpp.
#pragma once

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// Listens on the thread that calls `listen`, until `stop` on the same thread. Not thread-safe.
class EventListener {
 public:
  EventListener() = default;
  EventListener(const EventListener&) = delete;
  EventListener& operator=(const EventListener&) = delete;
  ~EventListener() { stop(); }

  // `see` throws nothing and calls no op. Once at a time.
  void listen(tn_profile_event_fn see, void* context) {
    see_ = see, context_ = context;
    next_ = first_;
    if (first_ == nullptr) api.profile->set_events(&EventListener::tell, nullptr);
    first_ = this;
  }
  // Does nothing where it does not listen.
  void stop() {
    for (EventListener** at = &first_; *at != nullptr; at = &(*at)->next_) {
      if (*at != this) continue;
      *at = next_;
      if (first_ == nullptr) api.profile->set_events(nullptr, nullptr);
      return;
    }
  }

 private:
  static void tell(void*, const tn_profile_event* event) {
    for (EventListener* each = first_; each != nullptr; each = each->next_)
      each->see_(each->context_, event);
  }

  static inline constinit thread_local EventListener* first_ = nullptr;
  EventListener* next_ = nullptr;
  tn_profile_event_fn see_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
