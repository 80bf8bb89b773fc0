// Decompositions: run as they are, and on meta tensors, which tells what a call would give.
#pragma once

#include <span>
#include <vector>

#include "dispatch/registry.h"
#include "dispatch/thread_state.h"

namespace tenon {

// While it lives, what is called is a part of `op`, unless that is a part of another: nodes and
// errors bear the name of the outermost, which the user called.
class DecompositionScope {
 public:
  explicit DecompositionScope(const Op* op) : before_(thread_state.decomposed) {
    if (before_ == nullptr) thread_state.decomposed = op;
  }
  DecompositionScope(const DecompositionScope&) = delete;
  ~DecompositionScope() { thread_state.decomposed = before_; }

 private:
  const Op* before_;
};

// The decomposition itself.
[[nodiscard]] Status trace_op(const Op* op, std::span<const tn_value> args,
                              std::span<tn_value> results);
// Sizes, dtypes and device of the outputs: by the op's infer function, or by its decomposition (or
// primitive) on meta tensors.
[[nodiscard]] Status infer_outputs(const Op* op, std::span<const tn_value> args,
                                   std::span<tn_meta> metas);
// The dtypes of the outputs of a decomposition, lists laid out flat. False: it cannot be run on
// meta tensors, or refuses the call.
bool traced_dtypes(const Op* op, std::span<const tn_value> args, std::vector<tn_dtype>* dtypes);

}  // namespace tenon
