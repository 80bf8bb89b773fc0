// The call path: from an op and its arguments to results. Order: profile, explain, autocast,
// autograd, then run_op: kernel table, inference, allocation, launch, or decomposition.
// docs/architecture.md follows one `add` through it.
#pragma once

#include <span>

#include "base/small_vector.h"
#include "dispatch/inference.h"
#include "dispatch/thread_state.h"
#include "tensor/tensor.h"

namespace tenon {

void release_values(std::span<tn_value> values);

// The parts above dispatch that take part in a call; `wire()` in host/host.cpp fills them.
struct Handlers {
  // Called when an argument needs a gradient and grad mode is on.
  Status (*autograd_op)(const Op*, std::span<const tn_value> args,
                        std::span<tn_value> results) = nullptr;
  // Called when autocast is on; goes on by call_below_autocast.
  Status (*autocast)(const Op*, std::span<const tn_value> args,
                     std::span<tn_value> results) = nullptr;
};
extern Handlers handlers;

// As host->call: the one way in.
[[nodiscard]] Status call(const Op* op, const tn_value* args, uint32_t n_args, tn_value* results,
                          uint32_t n_results);

// The rest of the path for arguments that are checked and complete.
[[nodiscard]] Status call_below_autocast(const Op* op, std::span<const tn_value> args,
                                         std::span<tn_value> results);
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
// The op's decomposition, whatever kernels there are; records when grad mode is on.
[[nodiscard]] Status decompose_op(const Op* op, std::span<const tn_value> args,
                                  std::span<tn_value> results);
// What stands for a kernel that is not there: the decomposition, of halves in float32
// (dispatch/widen.h).
[[nodiscard]] Status run_meaning(const Op* op, std::span<const tn_value> args,
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

// Of the first tensor, else the first device among the values, else cpu.
tn_device call_device(std::span<const tn_value> args);
inline bool needs_gradient(const Tensor* t) {
  if (t->requires_grad()) return true;
  // A view made before its base was written under gradient: the base knows.
  return t->base != nullptr && t->base->requires_grad() && (t->view_flags & kViewNoGrad) == 0;
}
bool any_needs_gradient(std::span<const tn_value> args);

// Objects in values: counted by object/, which is above; host/ wires it.
struct ObjectReferences {
  void (*retain)(tn_object*);
  void (*release)(tn_object*);
};
extern ObjectReferences object_references;

// Values that are given up unless they are kept: results of a call on their way. They are NONE from
// the start, so that whoever fails below, by a status or an exception, may leave them as they are.
class ResultsScope {
 public:
  explicit ResultsScope(std::span<tn_value> results) : results_(results) {
    for (tn_value& v : results_) v.kind = TN_KIND_NONE;
  }
  ResultsScope(const ResultsScope&) = delete;
  ~ResultsScope() {
    if (!kept_) [[unlikely]]
      release_values(results_);
  }
  // Keeps them where there was no error. Gives the status.
  Status keep_if_fine(Status status) {
    kept_ = status == nullptr;
    return status;
  }

 private:
  std::span<tn_value> results_;
  bool kept_ = false;
};

// A list of values that are released with it.
template <size_t kInline>
struct OwnedValues : SmallVector<tn_value, kInline> {
  OwnedValues() = default;
  OwnedValues(const OwnedValues&) = delete;
  ~OwnedValues() { release_values(*this); }
};

[[nodiscard]] Status copy_value(const tn_value& borrowed, tn_value* owned);
void release_value(tn_value* value);

}  // namespace tenon
