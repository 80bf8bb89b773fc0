// What a call would give, found out by running the op's meaning on meta tensors: shapes and dtypes
// only, no kernels.
#pragma once

#include <span>
#include <vector>

#include "registry/inference.h"

namespace tenon {

// The handler (registry/handlers.h): the metas of the outputs, one each.
[[nodiscard]] Status infer_by_tracing(const Op* op, std::span<const tn_value> args,
                                      std::span<tn_meta> metas);

// The dtypes of the outputs of a decomposition, lists laid out flat. False: it cannot be run on
// meta tensors, or refuses the call.
bool traced_dtypes(const Op* op, std::span<const tn_value> args, std::vector<tn_dtype>* dtypes);

}  // namespace tenon
