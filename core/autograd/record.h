// Recording: what happens to a call when an argument needs a gradient. The handlers of the call
// path, and history of tensors.
#pragma once

#include <span>

#include "autograd/node.h"
#include "call/call.h"

namespace tenon {

// The name of a node: a part of an op's decomposition bears the name of that op, which the user
// called.
inline const std::string& recorded_name(const std::string& own) {
  return thread_state.decomposed != nullptr ? thread_state.decomposed->schema.name : own;
}

// The handler (call/call.h).
[[nodiscard]] Status record_op(const Op* op, std::span<const tn_value> args,
                               std::span<tn_value> results);
// elementwise_node.cpp: an expression.
[[nodiscard]] Status record_elementwise(const Op& op, std::span<const tn_value> args,
                                        std::span<tn_value> results);
// primitive_gradients.cpp: an op of kind kPrimitive.
[[nodiscard]] Status record_primitive(const Op& op, std::span<const tn_value> args,
                                      std::span<tn_value> results);
// op_nodes.cpp: an op with a pair's backward, or a stated vjp.
[[nodiscard]] Status record_pair(const Op* op, const Kernel& kernel, std::span<const tn_value> args,
                                 OutputMetas* metas, std::span<tn_value> results);
// metas NULL: no kernel was asked for yet, so run_op does it.
[[nodiscard]] Status record_vjp(const Op* op, std::span<const tn_value> args, const Kernel* kernel,
                                OutputMetas* metas, std::span<tn_value> results);
// view_nodes.cpp: a view.
[[nodiscard]] Status record_view(const Op* op, std::span<const tn_value> args,
                                 std::span<tn_value> results);
// inplace.cpp: a tensor that was written in place. It, and the base it is a view of, get the node;
// edge `written` of the node belonged to the tensor before.
[[nodiscard]] Status rebase_history(Tensor* tensor, Node* node, uint32_t number, uint32_t written);
// Refuses in-place writes that have no gradient: leaves, views of leaves, views made while
// gradients were off.
[[nodiscard]] Status check_writable(const char* what, Tensor* t);

// Where the gradient of t goes: its grad_fn (made anew for a view whose base was written), its
// leaf, or nowhere. Owned.
Edge gradient_edge(Tensor* t);

// A fresh output gets its node (one reference is taken from the caller: retain per output).
void set_history(Tensor* output, Node* node, uint32_t number);
// The same for a new tensor that has none, which takes the node over; its output 0 unless
// output_number says another.
inline void give_history(Tensor* output, Node* node) {
  output->grad_fn = node;
  output->flags = (output->flags | TN_TENSOR_REQUIRES_GRAD) & ~uint32_t{TN_TENSOR_LEAF};
}
// Anomaly mode: the node remembers the call; on devices it remembers the stream. Packs what it saved,
// where that is wished for, and throws where that fails. Call once per new node, behind its saves.
void note_forward(Node* node, std::span<const tn_value> args, tn_device device);
// Its two halves, of calls that write: the place is known before the history is given, which other
// nodes take it from; what was saved is packed behind that, so that where a function that packs fails,
// what was written has its new history.
void note_place(Node* node, std::span<const tn_value> args, tn_device device);
void note_saved(Node* node);  // throws
[[nodiscard]] Status refuse_inference(const char* what, std::span<const tn_value> args);

// The tensors of the arguments in order, lists laid out flat with NULL for absent entries. Without
// arguments that are None: not the flat count of vjps.
using TensorList = SmallVector<Tensor*, 8>;
void flat_tensors(std::span<const tn_value> args, TensorList* tensors);

// Below autograd for a scope.
class NoGradScope : public ModeScope {
 public:
  NoGradScope() : ModeScope(kModeNoGrad, 0) {}
};

}  // namespace tenon
