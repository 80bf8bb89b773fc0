#include "dispatch/inference.h"

#include <cstring>
#include <vector>

#include "dispatch/call.h"
#include "dispatch/decompose.h"
#include "dispatch/primitives.h"
#include "memory/memory.h"

namespace tenon {
namespace {

// The arguments with every tensor replaced by a meta tensor of its shape.
struct MetaArguments {
  std::vector<tn_value> args;
  std::vector<TensorRef> tensors;
  std::vector<std::vector<tn_tensor*>> lists;
};

Status meta_tensor(const tn_tensor* t, MetaArguments* meta, tn_tensor** made) {
  *made = nullptr;
  if (t == nullptr) return nullptr;
  Tensor* m;
  TN_TRY(empty_tensor(as_tensor(t)->size_span(), t->dtype, kMeta, &m));
  meta->tensors.push_back(TensorRef(m));
  *made = m;
  return nullptr;
}

Status make_meta(std::span<const tn_value> args, MetaArguments* meta) {
  meta->args.assign(args.begin(), args.end());
  for (tn_value& v : meta->args) {
    if (v.kind == TN_KIND_TENSOR) {
      TN_TRY(meta_tensor(v.as.tensor, meta, &v.as.tensor));
    } else if (v.kind == TN_KIND_TENSORS) {
      auto& list = meta->lists.emplace_back(v.count);
      for (uint32_t i = 0; i < v.count; ++i) TN_TRY(meta_tensor(v.as.tensors[i], meta, &list[i]));
      v.as.tensors = list.data();
    } else if (v.kind == TN_KIND_DEVICE) {
      v.as.device = kMeta;
    }
  }
  return nullptr;
}

void describe_meta(const tn_tensor* t, tn_device device, tn_meta* meta) {
  meta->ndim = t->ndim;
  meta->dtype = t->dtype;
  meta->device = device;
  std::memcpy(meta->sizes, t->sizes, t->ndim * sizeof(int64_t));
}

// Without an infer function the decomposition (or primitive) runs on meta tensors: shapes only, no
// kernels.
Status infer_by_tracing(const Op* op, std::span<const tn_value> args, std::span<tn_meta> metas) {
  MetaArguments meta;
  TN_TRY(make_meta(args, &meta));
  tn_value results[kMaxArguments] = {};
  const std::span<tn_value> traced(results, metas.size());
  ResultsScope scope(traced);
  ModeScope quiet(kModeNoGrad, kModesWithHandlers);
  const auto run = [&](std::span<const tn_value> given) {
    return op->kind == OpKind::kPrimitive ? run_primitive(*op, given, traced)
                                          : trace_op(op, given, traced);
  };
  if (Status refused = run(meta.args)) {
    if (refused->code == TN_OUT_OF_MEMORY) return refused;
    // The same on the arguments themselves, whose device the message should name.
    if (Status named = run(args)) {
      free_status(refused);
      return named;
    }
    return refused;
  }
  Status status = nullptr;
  for (size_t i = 0; i < metas.size() && status == nullptr; ++i) {
    if (results[i].kind == TN_KIND_TENSOR) {
      describe_meta(results[i].as.tensor, call_device(args), &metas[i]);
    } else {
      status = error(TN_UNSUPPORTED,
                     "{}: output {} is a list, and a kernel for it needs an infer function",
                     op->schema.name, i);
    }
  }
  return status;
}

Status ask(const Op* op, std::span<const tn_value> args, tn_meta* metas) {
  return op->infer(op->self, args.data(), static_cast<uint32_t>(args.size()), metas,
                   static_cast<uint32_t>(op->schema.returns.size()));
}

}  // namespace

Status OutputMetas::look() {
  looked_ = true;
  const std::span<tn_meta> metas(metas_, op_->schema.returns.size());
  const Status refused = guarded([&] {
    return op_->infer != nullptr ? ask(op_, args_, metas_) : infer_by_tracing(op_, args_, metas);
  });
  // An op that states its inference has refused the call. What cannot be traced may run all the
  // same, by its decomposition.
  if (refused != nullptr && op_->infer == nullptr && refused->code != TN_OUT_OF_MEMORY) {
    untraced_.set(refused);
    return nullptr;
  }
  return refused;
}

Status OutputMetas::require(const tn_meta** metas) {
  TN_TRY(find(metas));
  return untraced_.take();
}

bool traced_dtypes(const Op* op, std::span<const tn_value> args, std::vector<tn_dtype>* dtypes) {
  if (op->infer != nullptr) {
    tn_meta metas[kMaxArguments];
    if (StatusHolder(ask(op, args, metas))) return false;
    for (size_t i = 0; i < op->schema.returns.size(); ++i) dtypes->push_back(metas[i].dtype);
    return true;
  }
  MetaArguments meta;
  if (StatusHolder(make_meta(args, &meta))) return false;
  tn_value results[kMaxArguments] = {};
  const std::span<tn_value> traced(results, op->schema.returns.size());
  ResultsScope scope(traced);
  ModeScope quiet(kModeNoGrad, kModesWithHandlers);
  if (StatusHolder(trace_op(op, meta.args, traced))) return false;
  for (const tn_value& v : traced) {
    if (v.kind == TN_KIND_TENSOR) dtypes->push_back(v.as.tensor->dtype);
    for (uint32_t i = 0; v.kind == TN_KIND_TENSORS && i < v.count; ++i) {
      dtypes->push_back(v.as.tensors[i] != nullptr ? v.as.tensors[i]->dtype
                                                   : tn_dtype{TN_DTYPE_NONE});
    }
  }
  return true;
}

}  // namespace tenon
