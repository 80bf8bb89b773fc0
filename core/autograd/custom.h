// Custom functions: an application's backward as a node (autograd/1's custom).
#pragma once

#include <span>

#include "autograd/node.h"

namespace tenon {

// Records one node from inputs to outputs when an input needs a gradient and grad mode is on. On
// success `self` is taken, and destroyed with the node.
[[nodiscard]] Status record_custom(const char* name, tn_backward_fn fn, void* self,
                                   void (*destroy)(void*), std::span<tn_tensor* const> inputs,
                                   std::span<tn_tensor* const> outputs,
                                   std::span<tn_tensor* const> saved);
// Within a custom backward of this thread; owned by the caller.
[[nodiscard]] Status custom_saved(uint32_t index, Tensor** tensor);

}  // namespace tenon
