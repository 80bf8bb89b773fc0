// Choosing a kernel and launching it: the bottom of the call path. Knows kernels, streams and
// layouts, no shapes and no gradients.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "registry/inference.h"
#include "registry/thread_state.h"
#include "registry/values.h"
#include "tensor/tensor.h"

namespace tenon {

// A launch: the public struct, and what host->workspace and host->set_output
// need behind it.
struct HostCall : tn_call {
  Tensor** host_outputs;  // the same array as outputs, for set_output
  std::vector<tn_storage*> workspaces;
};

// A copy of a call that can be launched again and again: it owns all that it points to but storages
// and programs.
class RepeatedCall : public HostCall {
 public:
  [[nodiscard]] Status make(const tn_call& of);

 private:
  struct Free {
    void operator()(tn_call* block) const { std::free(block); }
  };
  std::unique_ptr<tn_call, Free> block_;
};

// Reasons why kernels did not run, in order of the list.
struct Refusal {
  const Kernel* kernel;
  std::string reason;
};
using Refusals = std::vector<Refusal>;

// What a kernel is chosen for.
struct KernelQuestion {
  const Op* op;
  tn_device device;
  std::span<const tn_value> args;  // as the kernel gets them
  uint32_t instruction_set = 1;    // what the programs and operands of a loop or reduction need
  OutputMetas* outputs = nullptr;  // of ops; NULL for kernels of primitives and formulas
};

// The first kernel of the list that takes the call. NULL: none; so for no list. Explain is told why
// the others do not. Kernels of ops are refused under TENON_KERNELS=primitives. An error: the op
// itself refuses the call.
[[nodiscard]] Status choose_kernel(const KernelList* list, const KernelQuestion& question,
                                   const Kernel** kernel);
// Why each kernel of the list does not take it.
Refusals refusals_of(const KernelList* list, const KernelQuestion& question);

// What `supports` and `order` get: the call without outputs.
tn_call call_before_outputs(const Kernel& kernel, const Op* op, tn_device device,
                            std::span<const tn_value> args, const tn_meta* metas,
                            uint32_t n_outputs);

// "cpu: dtype float16 is not among its own; acme: groups > 1"
std::string refusals_text(const Refusals& refusals);

// Launches on the current stream of `device`. outputs may have NULL entries. Orders streams, makes
// layout copies, hands out random state when the op or primitive is random. `metas` (may be
// NULL) as in tn_call. meta: does nothing.
[[nodiscard]] Status launch(const Kernel& kernel, const Op* op, tn_device device,
                            std::span<const tn_value> args, std::span<Tensor*> outputs,
                            const tn_meta* metas = nullptr);
// The backward of a pair.
[[nodiscard]] Status launch_backward(const Kernel& kernel, const Op* op, tn_device device,
                                     std::span<const tn_value> args, std::span<Tensor*> outputs);

// Launches a call that was launched before, on the current stream of its device.
[[nodiscard]] Status relaunch(const Kernel& kernel, tn_kernel_fn fn, const Op* op,
                              RepeatedCall* call);

// The loop of a formula in the common case: on cpu, and none of kModesOfLaunches is on.
[[nodiscard]] Status launch_loop(const Kernel& kernel, const Op* op, const tn_loop& loop,
                                 std::span<Tensor*> outputs);

// A line of TENON_TRACE=launches: op, kernel, stream, shapes and dtypes.
void trace_launch(const char* name, const Kernel& kernel, tn_device device,
                  std::span<const tn_value> args, std::span<Tensor* const> outputs,
                  const tn_status* failed);

// While a graph of a device is recorded: where workspace is kept, which the graph works on each time
// that it is launched.
extern constinit thread_local std::vector<Ref<tn_storage>>* captured_workspaces;

// host->workspace, set_output, keep, release_kept.
[[nodiscard]] Status call_workspace(const tn_call* call, uint64_t bytes, void** data);
[[nodiscard]] Status call_set_output(const tn_call* call, uint32_t output, int32_t ndim,
                                     const int64_t* sizes);
[[nodiscard]] Status keep_call(const tn_call* call, const tn_call** kept);
void release_kept_call(const tn_call* kept);

bool primitives_only();  // TENON_KERNELS=primitives

}  // namespace tenon
