// How the arguments of an expression's schema map to operands, scalars and in-place outputs.
#pragma once

#include <atomic>
#include <cstdint>

#include "expr/expression.h"
#include "expr/parse.h"
#include "schema/schema.h"

namespace tenon {

inline constexpr uint32_t kMaxExpressionOperands = kMaxFormulaOperands;
inline constexpr uint32_t kMaxExpressionScalars = 16;
// as many as operands: gradients have one for each
inline constexpr uint32_t kMaxExpressionOutputs = 16;

struct OperandMap {
  uint8_t n_args = 0, n_operands = 0, n_scalars = 0, n_outputs = 0;
  uint8_t n_numbers = 0;  // scalars of type number: their kind takes part in typing
  bool any_inplace = false;
  uint8_t operand_args[kMaxExpressionOperands];
  uint8_t scalar_args[kMaxExpressionScalars];
  uint8_t number_args[kMaxExpressionScalars];
  int8_t inplace_operand[kMaxExpressionOutputs];  // operand that the output is; -1: a new tensor
  // Programs for operands that are all tensors of this one dtype, once they were compiled.
  mutable std::atomic<const CompiledProgram*> uniform[TN_N_DTYPES]{};
};

// Refuses more operands, scalars or outputs than fit, and in-place aliases that name no argument.
// `schema`: of the op, which may have arguments that the expression does not know.
[[nodiscard]] Status map_operands(const Expression& expression, const Schema& schema,
                                  OperandMap* map);

}  // namespace tenon
