// How an op runs below autograd: its kernel, its program, its primitive, its view, or its
// decomposition.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include <fmt/ranges.h>

#include "call/call.h"
#include "call/decompose.h"
#include "primitive/elementwise.h"
#include "launch/explain.h"
#include "primitive/primitives.h"
#include "call/widen.h"
#include "memory/memory.h"
#include "tensor/layout.h"
#include "tensor/view.h"

namespace tenon {

namespace {

// Outputs that are arguments (Tensor(a!)): the arguments themselves.
Tensor* aliased_argument(const Op* op, const Argument& output, std::span<const tn_value> args) {
  if (output.alias == 0 || !output.written) return nullptr;
  for (size_t i = 0; i < op->schema.arguments.size(); ++i) {
    if (op->schema.arguments[i].alias == output.alias && args[i].kind == TN_KIND_TENSOR) {
      return as_tensor(args[i].as.tensor);
    }
  }
  return nullptr;
}

void bump_written(const Op* op, std::span<const tn_value> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if ((op->written >> i & 1) == 0) continue;
    for (tn_tensor* t : tensors_of(args[i])) {
      if (t != nullptr) as_tensor(t)->bump_version();
    }
  }
}

Status make_metas(std::span<const tn_meta> metas, std::span<Tensor*> outputs) {
  for (size_t i = 0; i < metas.size(); ++i) {
    if (outputs[i] != nullptr) continue;
    const std::span<const int64_t> sizes(metas[i].sizes, metas[i].ndim);
    int64_t numel;
    TN_TRY(count_elements("infer", sizes, metas[i].dtype, &numel));
    TN_TRY(empty_tensor(sizes, metas[i].dtype, metas[i].device, &outputs[i]));
  }
  return nullptr;
}

// As make_metas, in the order of dimensions that the kernel asks for.
Status make_ordered(const Op* op, const Kernel& kernel, std::span<const tn_value> args,
                    std::span<const tn_meta> metas, std::span<Tensor*> outputs) {
  const tn_call call = call_before_outputs(kernel, op, call_device(args), args, metas.data(),
                                           static_cast<uint32_t>(metas.size()));
  for (size_t i = 0; i < metas.size(); ++i) {
    if (outputs[i] != nullptr) continue;
    const tn_meta& meta = metas[i];
    const std::span<const int64_t> sizes(meta.sizes, meta.ndim);
    int64_t numel;
    TN_TRY(count_elements("infer", sizes, meta.dtype, &numel));
    int32_t order[TN_MAX_RANK], rows[TN_MAX_RANK];
    std::iota(rows, rows + meta.ndim, 0);
    std::copy_n(rows, meta.ndim, order);
    kernel.def.order(kernel.def.self, &call, static_cast<uint32_t>(i), &meta, order);
    if (!std::is_permutation(order, order + meta.ndim, rows)) {
      return error(TN_INTERNAL, "{}: the kernel of {} gave [{}] as the order of {} dimensions",
                   op->schema.name, kernel.plugin, fmt::join(order, order + meta.ndim, ", "),
                   meta.ndim);
    }
    int64_t strides[TN_MAX_RANK];
    strides_in_order(sizes, order, strides);
    TN_TRY(empty_strided(sizes, strides, meta.dtype, meta.device, &outputs[i]));
  }
  return nullptr;
}

Status run_view_op(const Op* op, std::span<const tn_value> args, tn_value* result) {
  if (args.empty() || args[0].kind != TN_KIND_TENSOR) {
    return invalid("{}: the first argument of a view is the tensor it shows", op->schema.name);
  }
  tn_view view;  // its arrays are large, and a view takes nanoseconds
  view.ndim = -1;
  view.offset = 0;
  TN_TRY(op->view(op->self, args.data(), static_cast<uint32_t>(args.size()), &view));
  if (view.ndim < 0 || view.ndim > TN_MAX_RANK) {
    return invalid("{}: the view has {} dimensions, expected 0 to {}", op->schema.name, view.ndim,
                   TN_MAX_RANK);
  }
  for (int32_t d = 0; d < view.ndim; ++d) {
    if (view.strides[d] < 0) [[unlikely]]
      return invalid("{}: stride {} of dimension {} is negative", op->schema.name, view.strides[d],
                     d);
  }
  Tensor* x = as_tensor(args[0].as.tensor);
  Tensor* made;
  TN_TRY(make_view(x, {view.sizes, static_cast<size_t>(view.ndim)}, view.strides,
                   element_offset(x) + view.offset, &made));
  mark_view(made);
  *result = tensor_value(made);
  return nullptr;
}

Status no_kernel(const Op* op, std::span<const tn_value> args) {
  const tn_device device = call_device(args);
  TN_TRY(check_device(device));
  const Refusals refusals = refusals_of(op->kernels.find(device.type), {op, device, args});
  return error(
      TN_UNSUPPORTED, "{}: {} has no kernel for this call{}{}, and {}", op->schema.name,
      device_text(device), refusals.empty() ? "" : ": ", refusals_text(refusals),
      op->decompose != nullptr ? "the fallback policy is 'error'" : "the op has no decomposition");
}

}  // namespace

Status kernel_for(const Op* op, std::span<const tn_value> args, OutputMetas* metas,
                  const Kernel** kernel) {
  *kernel = nullptr;
  const tn_device device = call_device(args);
  if (device.type == TN_DEVICE_META) return nullptr;
  // A device among the values may be one that is not there; who makes the output says so.
  if (device.type < 0 || device.type >= kMaxDeviceTypes) [[unlikely]]
    return nullptr;
  const KernelList* list = op->kernels.find(device.type);
  if (list == nullptr) return nullptr;
  return choose_kernel(list, {op, device, args, 1, metas}, kernel);
}

Status run_kernel(const Op* op, const Kernel& kernel, std::span<const tn_value> args,
                  OutputMetas* output_metas, std::span<tn_value> results, Tensor** privates) {
  const size_t n = results.size();
  const bool dynamic = (op->flags & TN_OP_DYNAMIC) != 0;
  const uint32_t n_private = kernel.n_private;
  if (n + n_private > kMaxArguments) return invalid("{}: too many outputs", op->schema.name);
  Tensor* outputs[kMaxArguments] = {};
  const std::span<Tensor*> all(outputs, n + n_private);
  bool made_all = true;
  for (size_t i = 0; i < n; ++i) {
    outputs[i] = aliased_argument(op, op->schema.returns[i], args);
    if (outputs[i] != nullptr) outputs[i]->retain();
    made_all = made_all && outputs[i] != nullptr;
  }
  const auto go = [&]() -> Status {
    const tn_meta* metas = nullptr;
    if (!made_all) TN_TRY(output_metas->require(&metas));
    if (made_all || dynamic) {
      // Nothing is to be made here.
    } else if (kernel.def.order != nullptr) [[unlikely]] {
      TN_TRY(make_ordered(op, kernel, args, {metas, n}, {outputs, n}));
    } else {
      TN_TRY(make_metas({metas, n}, {outputs, n}));
    }
    if (privates != nullptr && n_private > 0) {
      tn_meta extra[kMaxArguments];
      const tn_call call =
          call_before_outputs(kernel, op, call_device(args), args, metas, static_cast<uint32_t>(n));
      // What is forgotten there is refused, and their memory is the kernel's to touch.
      for (uint32_t i = 0; i < n_private; ++i) {
        extra[i].ndim = 0;
        extra[i].dtype = TN_DTYPE_NONE;
      }
      TN_TRY(kernel.infer_private(kernel.def.self, &call, extra, n_private));
      for (uint32_t i = 0; i < n_private; ++i) extra[i].device = call.device;
      TN_TRY(make_metas({extra, n_private}, {outputs + n, n_private}));
    }
    TN_TRY(launch(kernel, op, call_device(args), args, all, metas));
    for (size_t i = 0; i < n; ++i) {
      if (outputs[i] == nullptr) {
        return error(TN_INTERNAL, "{}: the kernel of {} set no output {}", op->schema.name,
                     kernel.plugin, i);
      }
    }
    return nullptr;
  };
  if (Status status = guarded(go)) {
    for (Tensor* t : all) {
      if (t != nullptr) t->release();
    }
    return status;
  }
  bump_written(op, args);
  for (size_t i = 0; i < n; ++i) results[i] = tensor_value(outputs[i]);
  for (uint32_t i = 0; privates != nullptr && i < n_private; ++i) privates[i] = outputs[n + i];
  return nullptr;
}

Status decompose_as_is(const Op* op, std::span<const tn_value> args, std::span<tn_value> results) {
  if (op->decompose == nullptr) return no_kernel(op, args);
  explain_decomposed();
  count_event(Counter::kDecompositions);
  return run_decomposition(op, args, results);
}

static std::atomic<int32_t> fallback_policy{TN_FALLBACK_DECOMPOSE};

Status set_fallback(int32_t policy) {
  if (policy == TN_FALLBACK_CPU)
    return error(TN_UNSUPPORTED, "fallback: the policy 'cpu' is reserved");
  if (policy != TN_FALLBACK_DECOMPOSE && policy != TN_FALLBACK_ERROR)
    return invalid("fallback: policy {} is unknown", policy);
  fallback_policy.store(policy, std::memory_order_relaxed);
  return nullptr;
}

int32_t fallback() { return fallback_policy.load(std::memory_order_relaxed); }

Status fall_back(const Op* op, std::span<const tn_value> args) {
  if (!op->kernels.any() || call_device(args).type == TN_DEVICE_META) return nullptr;
  if (fallback() == TN_FALLBACK_ERROR) return no_kernel(op, args);
  count_event(Counter::kFallbacks);
  return nullptr;
}

Status decompose(const Op* op, std::span<const tn_value> args, std::span<tn_value> results) {
  if (!widens(op, args)) return decompose_as_is(op, args, results);
  return run_widened(op, args, results);
}

Status run_op(const Op* op, std::span<const tn_value> args, std::span<tn_value> results) {
  if (op->kind == OpKind::kExpression) {
    Tensor* outputs[kMaxExpressionOutputs];
    TN_TRY(run_elementwise(*op, args.data(), outputs));
    for (size_t i = 0; i < results.size(); ++i) results[i] = tensor_value(outputs[i]);
    return nullptr;
  }
  if (op->kind == OpKind::kView) return run_view_op(op, args, &results[0]);
  // Of an op without kernels there is nothing to choose, as of nearly every primitive.
  if (op->kind == OpKind::kPrimitive && !op->kernels.any())
    return run_primitive(*op, args, results);
  OutputMetas metas(op, args);
  const Kernel* kernel;
  TN_TRY(kernel_for(op, args, &metas, &kernel));
  return run_chosen(op, kernel, args, &metas, results);
}

Status run_chosen(const Op* op, const Kernel* kernel, std::span<const tn_value> args,
                  OutputMetas* metas, std::span<tn_value> results) {
  if (kernel != nullptr) return run_kernel(op, *kernel, args, metas, results, nullptr);
  if (op->kind == OpKind::kPrimitive) return run_primitive(*op, args, results);
  TN_TRY(fall_back(op, args));
  return decompose(op, args, results);
}

}  // namespace tenon
