// How deep backwards run inside backwards: a custom function's backward, a hook or a checkpoint may
// call backward, whose nodes do so again. Each level lies on the thread's stack.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace tenon {

// One level, until the end of the scope.
class NestedBackward {
 public:
  NestedBackward();
  NestedBackward(const NestedBackward&) = delete;
  NestedBackward& operator=(const NestedBackward&) = delete;
  ~NestedBackward();
  // An error where the stack has no room for another level: its end would end the process.
  [[nodiscard]] Status enter() const;
  // Of this thread: deeper than errors name each level.
  static bool is_deep();
};

}  // namespace tenon
