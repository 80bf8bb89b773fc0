#include "call/tracing.h"

#include <cstring>
#include <vector>

#include "call/call.h"
#include "call/decompose.h"
#include "primitive/primitives.h"
#include "memory/memory.h"

namespace tenon {
namespace {

// The arguments with every tensor replaced by a meta tensor of its shape.
struct MetaArguments {
  MappedArguments mapped;
  std::vector<TensorRef> tensors;

  Status make(std::span<const tn_value> given) {
    TN_TRY(mapped.make(given, 0, [&](size_t, const tn_tensor* t, tn_tensor** meta) -> Status {
      Tensor* made;
      TN_TRY(empty_tensor(as_tensor(t)->size_span(), t->dtype, kMeta, &made));
      tensors.push_back(TensorRef(made));
      *meta = made;
      return nullptr;
    }));
    for (tn_value& v : mapped.values()) {
      if (v.kind == TN_KIND_DEVICE) v.as.device = kMeta;
    }
    return nullptr;
  }
  std::span<const tn_value> args() const { return mapped.args(); }
};

void describe_meta(const tn_tensor* t, tn_device device, tn_meta* meta) {
  meta->ndim = t->ndim;
  meta->dtype = t->dtype;
  meta->device = device;
  std::memcpy(meta->sizes, t->sizes, t->ndim * sizeof(int64_t));
}

}  // namespace

Status infer_by_tracing(const Op* op, std::span<const tn_value> args, std::span<tn_meta> metas) {
  MetaArguments meta;
  TN_TRY(meta.make(args));
  tn_value results[kMaxArguments] = {};
  const std::span<tn_value> traced(results, metas.size());
  ResultsScope scope(traced);
  ModeScope quiet(kModeNoGrad, kModesOfCalls);
  const auto run = [&](std::span<const tn_value> given) {
    return op->kind == OpKind::kPrimitive ? run_primitive(*op, given, traced)
                                          : run_decomposition(op, given, traced);
  };
  if (Status refused = run(meta.args())) {
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

bool traced_dtypes(const Op* op, std::span<const tn_value> args, std::vector<tn_dtype>* dtypes) {
  if (op->infer != nullptr) {
    tn_meta metas[kMaxArguments];
    if (StatusHolder(ask_inference(op, args, metas))) return false;
    for (size_t i = 0; i < op->schema.returns.size(); ++i) {
      if (!is_known_dtype(metas[i].dtype)) return false;
      dtypes->push_back(metas[i].dtype);
    }
    return true;
  }
  MetaArguments meta;
  if (StatusHolder(meta.make(args))) return false;
  tn_value results[kMaxArguments] = {};
  const std::span<tn_value> traced(results, op->schema.returns.size());
  ResultsScope scope(traced);
  ModeScope quiet(kModeNoGrad, kModesOfCalls);
  if (StatusHolder(run_decomposition(op, meta.args(), traced))) return false;
  for (const tn_value& v : traced) {
    for (const tn_tensor* t : tensors_of(v)) {
      dtypes->push_back(t != nullptr ? t->dtype : tn_dtype{TN_DTYPE_NONE});
    }
  }
  return true;
}

}  // namespace tenon
