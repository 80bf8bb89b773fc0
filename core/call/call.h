// The call path: from an op and its arguments to results. Order: profile, explain, autocast,
// autograd, then run_op: kernel table, inference, allocation, launch, or decomposition.
// docs/architecture.md follows one `add` through it.
#pragma once

#include <span>

#include "registry/handlers.h"
#include "registry/inference.h"
#include "registry/thread_state.h"
#include "registry/values.h"

namespace tenon {

// As host->call: the one way in.
[[nodiscard]] Status call(const Op* op, const tn_value* args, uint32_t n_args, tn_value* results,
                          uint32_t n_results);

// The rest of the path for arguments that are checked and complete.
[[nodiscard]] Status call_below_autocast(const Op* op, std::span<const tn_value> args,
                                         std::span<tn_value> results);
// Of a tensor that a call writes: one that was made in inference mode is written in inference mode
// alone, since a graph that it stands beside would not notice.
[[nodiscard]] Status refuse_inference_write(const char* what, const tn_tensor* t);
inline Status check_inference_write(const char* what, const tn_tensor* t) {
  if (t == nullptr || (t->flags & TN_TENSOR_INFERENCE) == 0 ||
      (thread_state.modes & kModeInference) != 0) [[likely]]
    return nullptr;
  return refuse_inference_write(what, t);
}
// Below autograd: nothing is recorded for this op itself.
[[nodiscard]] Status run_op(const Op* op, std::span<const tn_value> args,
                            std::span<tn_value> results);
// What becomes of a call for whose op there are kernels, but none that takes it: TN_FALLBACK_*, of
// the process.
[[nodiscard]] Status set_fallback(int32_t policy);
int32_t fallback();
// Such a call, before it decomposes: counts it, or refuses it. Calls of ops without any kernel
// pass.
[[nodiscard]] Status fall_back(const Op* op, std::span<const tn_value> args);
// Runs the op's decomposition in the place of a kernel that is not there, of halves in float32
// (call/widen.h); records when grad mode is on.
[[nodiscard]] Status decompose(const Op* op, std::span<const tn_value> args,
                               std::span<tn_value> results);
// The same with halves as they are.
[[nodiscard]] Status decompose_as_is(const Op* op, std::span<const tn_value> args,
                                     std::span<tn_value> results);
// The kernel of the op that takes the call; NULL: it decomposes, or runs as a primitive. An error:
// the op refuses the call.
[[nodiscard]] Status kernel_for(const Op* op, std::span<const tn_value> args, OutputMetas* metas,
                                const Kernel** kernel);
// Launches that kernel. With `privates` (n_private entries, filled) it is the forward of a pair.
[[nodiscard]] Status run_kernel(const Op* op, const Kernel& kernel, std::span<const tn_value> args,
                                OutputMetas* metas, std::span<tn_value> results, Tensor** privates);
// Goes on with what kernel_for gave. Not for expressions and views.
[[nodiscard]] Status run_chosen(const Op* op, const Kernel* kernel, std::span<const tn_value> args,
                                OutputMetas* metas, std::span<tn_value> results);

}  // namespace tenon
