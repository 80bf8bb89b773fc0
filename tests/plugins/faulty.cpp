// Device `faulty`: the backend ref, some of whose kernels do what TENON_TEST_FAULT says, for tests
// of what finds such faults:
//   stride     ELEMENTWISE takes the rows of its first input for dense
//   last       ELEMENTWISE leaves out the last element of rows of more than 64
//   primitive  REDUCE gives the least for the greatest
//   write      SCATTER writes nothing
//   crash      IOTA ends the process
//   lost       IOTA loses the device
//   float64    there are no kernels for float64, which a backend may leave out
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "small.h"
#include "through_ref.h"

extern "C" {
SMALL_MANIFEST(TN_ABI_VERSION);
}

namespace {

const tn_host* host;
tn_registrar* registrar;
std::deque<tn_kernel_def> kernels;

bool has(const char* fault) {
  const char* wanted = std::getenv("TENON_TEST_FAULT");
  return wanted != nullptr && std::strcmp(wanted, fault) == 0;
}

// The kernel on another loop or reduction than it was given.
tn_status* launch_with(const tn_kernel_def& kernel, const tn_call* call, const tn_value& first) {
  std::vector<tn_value> args(call->args, call->args + call->n_args);
  args[0] = first;
  tn_call other = *call;
  other.args = args.data();
  return kernel.launch(kernel.self, &other);
}

tn_status* launch_elementwise(const tn_kernel_def& kernel, const tn_call* call) {
  tn_loop loop = *call->args[0].as.loop;
  const auto last = static_cast<size_t>(loop.ndim - 1);
  std::vector<int64_t> sizes(loop.sizes, loop.sizes + loop.ndim);
  std::vector<tn_operand> operands(
      loop.operands, loop.operands + loop.program->n_outputs + loop.program->n_inputs);
  std::vector<int64_t> strides;
  if (has("last") && sizes[last] > 64) {
    loop.numel = loop.numel / sizes[last] * (sizes[last] - 1);
    --sizes[last];
  }
  if (has("stride") && loop.program->n_inputs > 0) {
    tn_operand& input = operands[loop.program->n_outputs];
    strides.assign(input.strides, input.strides + loop.ndim);
    if (strides[last] > 1) strides[last] = 1;
    input.strides = strides.data();
  }
  loop.sizes = sizes.data();
  loop.operands = operands.data();
  tn_value first = call->args[0];
  first.as.loop = &loop;
  return launch_with(kernel, call, first);
}

tn_status* launch(void* self, const tn_call* call) {
  const auto& kernel = *static_cast<const tn_kernel_def*>(self);
  if (kernel.primitive == TN_PRIM_SCATTER && has("write")) return nullptr;
  if (kernel.primitive == TN_PRIM_ELEMENTWISE && (has("last") || has("stride")))
    return launch_elementwise(kernel, call);
  if (kernel.primitive == TN_PRIM_REDUCE && has("primitive")) {
    tn_reduction reduction = *call->args[0].as.reduction;
    if (reduction.kind == TN_REDUCE_MAX) reduction.kind = TN_REDUCE_MIN;
    tn_value first = call->args[0];
    first.as.reduction = &reduction;
    return launch_with(kernel, call, first);
  }
  if (kernel.primitive == TN_PRIM_IOTA && has("crash")) std::abort();
  if (kernel.primitive == TN_PRIM_IOTA && has("lost"))
    return host->status(TN_DEVICE_LOST, "the bus is gone", nullptr);
  return kernel.launch(kernel.self, call);
}

tn_status* take_device(tn_registrar*, const tn_device_def* def) {
  tn_device_def faulty = *def;
  faulty.name = "faulty";
  faulty.destroy = nullptr;
  return registrar->device(registrar, &faulty);
}

tn_status* take_kernel(tn_registrar*, const tn_kernel_def* def) {
  kernels.push_back(*def);
  tn_kernel_def faulty = *def;
  faulty.device = "faulty";
  faulty.launch = launch;
  faulty.self = &kernels.back();
  if (has("float64")) {
    const uint32_t all = (uint32_t{1} << TN_N_DTYPES) - 1;
    faulty.dtypes = (def->dtypes == 0 ? all : def->dtypes) & ~TN_DTYPE_BIT(TN_FLOAT64);
  }
  return registrar->kernel(registrar, &faulty);
}

}  // namespace

extern "C" TN_EXPORT tn_status* tenon_plugin_init(const tn_host* the_host,
                                                  tn_registrar* the_registrar, void** self) {
  host = the_host;
  registrar = the_registrar;
  return init_through_ref(host, registrar, self, take_device, take_kernel);
}
