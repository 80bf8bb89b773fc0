// How deep the calls of modules are within each other on a thread: each call through a handle
// (handle.hpp) is counted while it goes on.
#pragma once

#include <string>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// A call of a method through a handle, on this thread. A module that reaches itself again and again
// gets an Error before the stack is used up.
class CallDepth {
 public:
  static constexpr int kMost = 1000;
  CallDepth(const tn_object* object, const char* method) {
    if (++depth_ > kMost) [[unlikely]]
      refuse(object, method);
  }
  CallDepth(const CallDepth&) = delete;
  ~CallDepth() { --depth_; }
  static int now() { return depth_; }
  // Of this thread alone.
  static const void* thread() { return &depth_; }

 private:
  [[noreturn]] static void refuse(const tn_object* object, const char* method) {
    --depth_;
    fail(joined({api.object->type_name(object), ": ", method, ": more than ", std::to_string(kMost),
                 " calls of modules are within each other: a module, or a hook of it, calls itself "
                 "without an end"}),
         TN_FAILED_PRECONDITION);
  }
  static inline constinit thread_local int depth_ = 0;
};

}  // namespace detail

}  // namespace v0
}  // namespace tenon
