// What threads of this library are at work on, for who wants to see them: a profiler. A loader's
// workers open a scope for each batch. Used by data/pipeline.hpp and profiler.hpp.
#pragma once

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// What a scope tells, on its thread. NULL as what `begin` gives: `end` is not called.
struct WorkListener {
  void* (*begin)(const char* what) noexcept;
  void (*end)(void*) noexcept;
};
// Set once, and valid for the life of the process; NULL: nobody listens.
inline constinit const WorkListener* work_listener = nullptr;

class WorkScope {
 public:
  explicit WorkScope(const char* what) {
    listener_ = __atomic_load_n(&work_listener, __ATOMIC_ACQUIRE);
    if (listener_ != nullptr) held_ = listener_->begin(what);
  }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;
  ~WorkScope() {
    if (held_ != nullptr) listener_->end(held_);
  }

 private:
  const WorkListener* listener_;
  void* held_ = nullptr;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
