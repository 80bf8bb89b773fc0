// From a plugin's definitions to records: every rule that a definition must keep by itself is
// checked here. Conflicts with what other plugins brought are the registry's.
#pragma once

#include <string>

#include "registry/registry.h"

namespace tenon {

// Check a definition and make records. `stage_op` may append two (a TN_OP_INPLACE one brings
// `name_` too).
[[nodiscard]] Status stage_op(const tn_op_def& def, const std::string& plugin, StagedOps* staged);
[[nodiscard]] Status stage_kernel(const tn_kernel_def& def, const std::string& plugin,
                                  StagedOps* staged);
[[nodiscard]] Status stage_pair(const tn_kernel_pair_def& def, const std::string& plugin,
                                StagedOps* staged);
[[nodiscard]] Status stage_vjp(const char* op, tn_vjp_fn fn, void* self, const std::string& plugin,
                               StagedOps* staged);

}  // namespace tenon
