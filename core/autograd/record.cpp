#include "autograd/record.h"

#include "autograd/grad.h"
#include "autograd/inplace.h"
#include "autograd/saved_hooks.h"
#include "autograd/view_nodes.h"
#include "registry/arguments.h"
#include "launch/explain.h"
#include "registry/expressions.h"
#include "primitive/primitives.h"
#include "call/widen.h"
#include "tensor/view.h"

namespace tenon {

void flat_tensors(std::span<const tn_value> args, TensorList* tensors) {
  for (const tn_value& v : args) {
    for (tn_tensor* t : tensors_of(v)) tensors->push_back(as_tensor(t));
  }
}

Edge gradient_edge(Tensor* t) {
  refresh_view(t);
  if (t->grad_fn != nullptr) {
    t->grad_fn->retain();
    return {grad_fn_of(t), t->output_number};
  }
  if (t->requires_grad() && t->meta != nullptr) {
    t->meta->retain();
    return {static_cast<Leaf*>(t->meta), 0};
  }
  return {};
}

void set_history(Tensor* output, Node* node, uint32_t number) {
  node->retain();
  if (output->meta != nullptr) move_retained_grad(output, grad_fn_of(output), node, number);
  if (output->grad_fn != nullptr) output->grad_fn->release();
  output->grad_fn = node;
  output->output_number = number;
  output->flags = (output->flags | TN_TENSOR_REQUIRES_GRAD) & ~uint32_t{TN_TENSOR_LEAF};
  output->grad_fn_version = output->version();
  output->view_flags &= ~kViewNoGrad;
}

void note_forward(Node* node, std::span<const tn_value> args, tn_device device) {
  note_place(node, args, device);
  note_saved(node);
}

void note_saved(Node* node) {
  if ((thread_state.modes & kModeSavedHooks) != 0) [[unlikely]]
    pack_saved(node);
}

void note_place(Node* node, std::span<const tn_value> args, tn_device device) {
  if (device.type != TN_DEVICE_CPU && device.type != TN_DEVICE_META) {
    Stream* stream = nullptr;
    StatusHolder ignored(current_stream(device, &stream));
    node->stream = stream;
  }
  if ((thread_state.modes & kModeAnomaly) == 0) return;
  std::string text = node->name() + "(";
  TensorList tensors;
  flat_tensors(args, &tensors);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0) text += ", ";
    text += tensors[i] != nullptr ? tensor_text(tensors[i]) : "none";
  }
  node->extras().forward = text + ")";
}

Status refuse_inference(const char* what, std::span<const tn_value> args) {
  const auto refuse = [&](const tn_tensor* t) -> Status {
    if (t == nullptr || (t->flags & TN_TENSOR_INFERENCE) == 0) [[likely]]
      return nullptr;
    return error(TN_FAILED_PRECONDITION,
                 "{}: {} was made in inference mode and cannot be saved for a gradient; clone it "
                 "outside inference mode",
                 what, tensor_text(t));
  };
  for (const tn_value& v : args) {
    for (const tn_tensor* t : tensors_of(v)) TN_TRY(refuse(t));
  }
  return nullptr;
}

static Status check_written(const Op* op, std::span<const tn_value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if ((op->written >> i & 1) == 0) continue;
    if (args[i].kind == TN_KIND_TENSOR)
      TN_TRY(check_writable(op->schema.name.c_str(), as_tensor(args[i].as.tensor)));
  }
  return nullptr;
}

Status record_op(const Op* op, std::span<const tn_value> args, std::span<tn_value> results) {
  return guarded([&]() -> Status {
    if (op->written != 0) [[unlikely]]
      TN_TRY(check_written(op, args));
    switch (op->kind) {
      case OpKind::kExpression:
        if (op->vjp != nullptr) {
          tn_value complete[kMaxArguments];
          return record_vjp(op, with_defaults(*op, args, complete), nullptr, nullptr, results);
        }
        return record_elementwise(*op, args, results);
      case OpKind::kPrimitive:
        if (op->vjp != nullptr) return record_vjp(op, args, nullptr, nullptr, results);
        return record_primitive(*op, args, results);
      case OpKind::kView:
        if (op->vjp != nullptr) return record_vjp(op, args, nullptr, nullptr, results);
        return record_view(op, args, results);
      default:
        break;
    }
    OutputMetas metas(op, args);
    const Kernel* kernel;
    TN_TRY(kernel_for(op, args, &metas, &kernel));
    if (kernel != nullptr && kernel->is_pair)
      return record_pair(op, *kernel, args, &metas, results);
    // Of halves both directions are computed in float32; a kernel's output is rounded once already.
    if (kernel == nullptr && widens(op, args)) {
      TN_TRY(fall_back(op, args));
      return run_widened(op, args, results);
    }
    if (op->vjp != nullptr) return record_vjp(op, args, kernel, &metas, results);
    if (op->decompose != nullptr) {
      if (kernel != nullptr) {
        explain_note("the kernel of {} has no gradient: the decomposition is recorded instead",
                     kernel->plugin);
      } else {
        TN_TRY(fall_back(op, args));
      }
      if (gives_views(op)) [[unlikely]]
        return record_views(op, args, &results[0]);
      return decompose(op, args, results);
    }
    return error(TN_UNSUPPORTED, "{}: has no gradient: no expression, vjp, pair or decomposition",
                 op->schema.name);
  });
}

}  // namespace tenon
