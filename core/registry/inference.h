// Sizes, dtype and device of a call's outputs, before there are any: by the function that the op
// states, else by running its decomposition (or primitive) on meta tensors.
#pragma once

#include <span>
#include <vector>

#include "registry/registry.h"

namespace tenon {

// Of one call; found out once, when it is first asked for. Borrows op and arguments.
class OutputMetas {
 public:
  OutputMetas(const Op* op, std::span<const tn_value> args) : op_(op), args_(args) {}
  // An error: the call is refused. NULL without one: tracing does not tell.
  [[nodiscard]] Status find(const tn_meta** metas) {
    if (!looked_) TN_TRY(look());
    *metas = untraced_ ? nullptr : metas_;
    return nullptr;
  }
  // As find, and an error where tracing does not tell, which says why; once.
  [[nodiscard]] Status require(const tn_meta** metas);
  uint32_t count() const { return static_cast<uint32_t>(op_->schema.returns.size()); }

 private:
  Status look();
  Status check() const;
  const Op* op_;
  std::span<const tn_value> args_;
  bool looked_ = false;
  StatusHolder untraced_;
  tn_meta metas_[kMaxArguments];  // one for each output; of a dynamic size -1
};

// By the function that the op states.
[[nodiscard]] Status ask_inference(const Op* op, std::span<const tn_value> args, tn_meta* metas);

}  // namespace tenon
