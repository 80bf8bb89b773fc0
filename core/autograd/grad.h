// Gradients of tensors as users see them: requires_grad, .grad, hooks.
#pragma once

#include "autograd/node.h"

namespace tenon {

[[nodiscard]] Status set_requires_grad(Tensor* t, bool on);
// Retained; empty: none yet.
TensorRef grad_of(const Tensor* t);
// NULL clears. Sizes, dtype and device must be the tensor's.
[[nodiscard]] Status set_grad(Tensor* t, Tensor* grad);
[[nodiscard]] Status retain_grad(Tensor* t);
// The history of t goes from one node to another: so does what keeps its gradient. Hooks stay with
// the values that they were hung on.
void move_retained_grad(const Tensor* t, Node* from, Node* to, uint32_t number);
[[nodiscard]] Status add_hook(Tensor* t, tn_hook_fn fn, void* self, void (*destroy)(void*),
                              uint64_t* id);
[[nodiscard]] Status remove_hook(Tensor* t, uint64_t id);
// A new header that shares memory and version, outside the graph.
Tensor* detach(Tensor* t);

}  // namespace tenon
