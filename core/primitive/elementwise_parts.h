// What the files of elementwise calls share: elementwise.cpp (the general path),
// elementwise_uniform.cpp (the short one), elementwise_compile.cpp (the program of a call, and what
// is said when there is none).
#pragma once

#include "primitive/elementwise.h"

namespace tenon {

inline const char* name_of(const Op& op) { return op.schema.name.c_str(); }

inline tn_dtype number_dtype(uint32_t kind) {
  return kind == TN_KIND_FLOAT ? TN_FLOAT64 : kind == TN_KIND_INT ? TN_INT64 : TN_BOOL;
}

// The program of a call, by the types of its operands and numbers.
[[nodiscard]] Status compile_call(const Op& op, const tn_value* args,
                                  std::span<const OperandType> types,
                                  const CompiledProgram** compiled);
// Refuses, among the params, what is no element of a dtype that must be one, exponents of integers
// below 0, and bounds that leave nothing of a dtype.
[[nodiscard]] Status check_params(const Op& op, const CompiledProgram& compiled,
                                  const tn_scalar* params);
// Says with *taken whether it was this path's call; nothing has happened otherwise.
[[nodiscard]] Status run_uniform(const Op& op, const tn_value* args, Tensor** outputs, bool* taken);

// The end of a call that made (or retained) the first `made` outputs: gives them back where it
// failed, else notes what was written in place.
inline Status finish_outputs(const OperandMap& map, uint32_t made, Tensor** outputs,
                             Status status) {
  if (status != nullptr) [[unlikely]] {
    while (made-- > 0) outputs[made]->release();
    return status;
  }
  if (map.any_inplace) {
    for (uint32_t i = 0; i < map.n_outputs; ++i) {
      if (map.inplace_operand[i] >= 0) outputs[i]->bump_version();
    }
  }
  return nullptr;
}

}  // namespace tenon
