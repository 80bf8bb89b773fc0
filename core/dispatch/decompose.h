// Decompositions: run as they are, and on meta tensors, which tells what a call would give.
#pragma once

#include <span>
#include <vector>

#include "dispatch/registry.h"

namespace tenon {

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
