// The primitives: a row for each says its schema, how it runs, and what stands for its kernel where
// a backend leaves it out. A primitive is an op without a name in the registry, called as every
// other (call.h); its gradient is in autograd/primitive_gradients.cpp. ELEMENTWISE has kernels and
// no op, since each formula is one (expressions.h).
#pragma once

#include <span>
#include <vector>

#include "registry/arguments.h"
#include "launch/launch.h"
#include "registry/thread_state.h"

namespace tenon {

struct PrimitiveRow {
  const char* schema;
  uint32_t flags;  // TN_OP_*
  // Infers the outputs, makes and fills them. Below autograd; arguments as its schema says.
  Status (*run)(Values args, Tensor** results);
  // Fills the outputs from what the kernel would have got (abi.h). NULL: a backend must bring the
  // kernel.
  Status (*without_kernel)(Values args, std::span<Tensor* const> outputs);
};

// NULL: there is no such primitive.
const PrimitiveRow* primitive_row(tn_primitive kind);
// Its op, made from the row; NULL for ELEMENTWISE, and where there is no such primitive.
const Op* primitive_op(tn_primitive kind);

// Runs an op of kind kPrimitive. Results are owned by the caller.
[[nodiscard]] Status run_primitive(const Op& op, Values args, std::span<tn_value> results);

// Computes outputs that exist: by the device's kernel of the primitive, or without. Errors say what
// the device lacks. meta: does nothing. `metas` as for launch.
[[nodiscard]] Status launch_primitive(tn_primitive kind, tn_device device, Values args,
                                      std::span<Tensor* const> outputs,
                                      const tn_meta* metas = nullptr);

// The kernel of a primitive for a call of `op`, or an error that says what the device lacks.
// `instruction_set`: what the programs and operands of a loop or reduction need.
[[nodiscard]] Status primitive_kernel(tn_primitive kind, const Op* op, tn_device device,
                                      std::span<const tn_value> args, uint32_t instruction_set,
                                      const Kernel** kernel);
const char* primitive_name(tn_primitive kind);

// Those that a backend must bring and for which this device has no kernel; abi.h says which those are.
std::vector<tn_primitive> missing_primitives(int32_t device_type);

// What rows hold. Files: reduce.cpp, scan.cpp, sort.cpp, matmul.cpp, index.cpp, convert.cpp,
// views.cpp.
[[nodiscard]] Status run_reduce(Values args, Tensor** result);
[[nodiscard]] Status run_scan(Values args, Tensor** result);
[[nodiscard]] Status scan_without_kernel(Values args, std::span<Tensor* const> outputs);
[[nodiscard]] Status run_sort(Values args, Tensor** results);  // values, indices
[[nodiscard]] Status sort_without_kernel(Values args, std::span<Tensor* const> outputs);
[[nodiscard]] Status run_matmul(Values args, Tensor** result);
[[nodiscard]] Status run_copy(Values args, Tensor** result);
[[nodiscard]] Status copy_without_kernel(Values args, std::span<Tensor* const> outputs);
[[nodiscard]] Status run_fill(Values args, Tensor** result);
[[nodiscard]] Status fill_without_kernel(Values args, std::span<Tensor* const> outputs);
[[nodiscard]] Status run_iota(Values args, Tensor** result);
[[nodiscard]] Status run_gather(Values args, Tensor** result);
[[nodiscard]] Status run_scatter(Values args, Tensor** result);
[[nodiscard]] Status run_scatter_into(Values args, Tensor** result);
[[nodiscard]] Status run_random_bits(Values args, Tensor** result);
[[nodiscard]] Status run_nonzero(Values args, Tensor** result);
[[nodiscard]] Status run_reshape(Values args, Tensor** result);  // copies where no view is possible
[[nodiscard]] Status run_permute(Values args, Tensor** result);
[[nodiscard]] Status run_slice(Values args, Tensor** result);
[[nodiscard]] Status run_expand(Values args, Tensor** result);
[[nodiscard]] Status run_as_strided(Values args, Tensor** result);

// Notes on a new view that gradients are off.
inline void mark_view(Tensor* view) {
  if ((thread_state.modes & (kModeNoGrad | kModeInference)) != 0) view->view_flags |= kViewNoGrad;
}

// Bit d set: dimension d is among dims (empty: all). Throws for dimensions out of range or twice.
uint32_t dims_mask(const char* what, std::span<const int64_t> dims, int32_t ndim);

}  // namespace tenon
