#include "registry/inference.h"

#include <algorithm>
#include <cstring>

#include "registry/handlers.h"
#include "registry/values.h"
#include "tensor/device.h"
#include "tensor/tensor.h"

namespace tenon {

Handlers handlers;

Status ask_inference(const Op* op, std::span<const tn_value> args, tn_meta* metas) {
  // What it forgets is a scalar on the device of the call, and no dtype, which is refused.
  const size_t n = op->schema.returns.size();
  const tn_device device = call_device(args);
  std::memset(metas, 0, n * sizeof(tn_meta));
  for (size_t i = 0; i < n; ++i) {
    metas[i].dtype = TN_DTYPE_NONE;
    metas[i].device = device;
  }
  return op->infer(op->self, args.data(), static_cast<uint32_t>(args.size()), metas,
                   static_cast<uint32_t>(n));
}

// Kernels choose, and compute with these sizes, before there is a tensor: what overflows, or is no
// shape at all, is refused before they see it. Of a dynamic output nothing is known yet.
Status OutputMetas::check() const {
  const tn_device device = call_device(args_);
  const bool may_choose = std::ranges::any_of(
      op_->schema.arguments, [](const Argument& a) { return a.type == Type::kDevice; });
  for (const tn_meta& meta : std::span(metas_, count())) {
    if (op_->infer == nullptr || may_choose || meta.device == device || meta.device == kCpu)
      continue;
    return error(TN_INTERNAL, "{}: infer of plugin '{}' gives {} for a call on {}",
                 op_->schema.name, op_->plugin, device_text(meta.device), device_text(device));
  }
  if ((op_->flags & TN_OP_DYNAMIC) != 0) return nullptr;
  for (const tn_meta& meta : std::span(metas_, count())) {
    int64_t numel;
    TN_TRY(count_elements(op_->schema.name.c_str(), {meta.sizes, static_cast<size_t>(meta.ndim)},
                          meta.dtype, &numel));
  }
  return nullptr;
}

Status OutputMetas::look() {
  looked_ = true;
  const std::span<tn_meta> metas(metas_, op_->schema.returns.size());
  const Status refused = guarded([&] {
    return op_->infer != nullptr ? ask_inference(op_, args_, metas_)
                                 : handlers.trace(op_, args_, metas);
  });
  // An op that states its inference has refused the call. What cannot be traced may run all the
  // same, by its decomposition.
  if (refused != nullptr && op_->infer == nullptr && refused->code != TN_OUT_OF_MEMORY) {
    untraced_.set(refused);
    return nullptr;
  }
  return refused != nullptr ? refused : check();
}

Status OutputMetas::require(const tn_meta** metas) {
  TN_TRY(find(metas));
  return untraced_.take();
}

}  // namespace tenon
