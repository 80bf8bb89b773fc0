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
// Of a leaf, after its gradient was accumulated; fn's `grad` is then the leaf itself, or what is the
// same for all that a hook can do with it.
[[nodiscard]] Status add_accumulated_hook(Tensor* t, tn_hook_fn fn, void* self,
                                          void (*destroy)(void*), uint64_t* id);
// t shows other memory from now on: so do such hooks.
void renew_hooked_values(Tensor* t);
[[nodiscard]] Status remove_hook(Tensor* t, uint64_t id);
// A new header that shares memory and version, outside the graph.
Tensor* detach(Tensor* t);

}  // namespace tenon
