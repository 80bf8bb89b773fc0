// Running the decomposition of an op, as it is. On meta tensors that tells what a call would give
// (call/tracing.h).
#pragma once

#include <span>

#include "registry/registry.h"
#include "registry/thread_state.h"

namespace tenon {

// While it lives, what is called is a part of `op`, unless that is a part of another: nodes and
// errors bear the name of the outermost, which the user called.
class DecompositionScope {
 public:
  explicit DecompositionScope(const Op* op) : before_(thread_state.decomposed) {
    if (before_ == nullptr) thread_state.decomposed = op;
    ++thread_state.decompositions_deep;
  }
  DecompositionScope(const DecompositionScope&) = delete;
  ~DecompositionScope() {
    thread_state.decomposed = before_;
    --thread_state.decompositions_deep;
  }
  uint32_t depth() const { return thread_state.decompositions_deep; }

 private:
  const Op* before_;
};

// The function that the op states, with a look at what it gives; nothing is counted or explained.
[[nodiscard]] Status run_decomposition(const Op* op, std::span<const tn_value> args,
                                       std::span<tn_value> results);

}  // namespace tenon
