// Elementwise calls: from an expression and its arguments to one launch. Promotion, broadcasting,
// in-place rules and layout propagation live here and nowhere else.
#pragma once

#include "dispatch/launch.h"
#include "dispatch/loop.h"
#include "expr/parse.h"

namespace tenon {

inline constexpr uint32_t kMaxExpressionOperands = kMaxFormulaOperands;
inline constexpr uint32_t kMaxExpressionScalars = 16;
// as many as operands: gradients have one for each
inline constexpr uint32_t kMaxExpressionOutputs = 16;

// How the arguments of an expression's schema map to operands, scalars and in-place outputs. Made
// once per expression.
struct ElementwisePlan {
  uint8_t n_args = 0, n_operands = 0, n_scalars = 0, n_outputs = 0;
  uint8_t n_numbers = 0;  // scalars of type number: their kind takes part in typing
  bool any_inplace = false;
  uint8_t operand_args[kMaxExpressionOperands];
  uint8_t scalar_args[kMaxExpressionScalars];
  uint8_t number_args[kMaxExpressionScalars];
  int8_t inplace_operand[kMaxExpressionOutputs];  // operand that the output is; -1: a new tensor
  // Programs for operands that are all tensors of this one dtype, once they were compiled.
  mutable std::atomic<const CompiledProgram*> uniform[TN_N_DTYPES];
};
const ElementwisePlan& make_elementwise_plan(const Expression& expression);
inline const ElementwisePlan& elementwise_plan(const Expression& expression) {
  const void* plan = expression.plan.load(std::memory_order_acquire);
  return plan != nullptr ? *static_cast<const ElementwisePlan*>(plan)
                         : make_elementwise_plan(expression);
}
// Limits above; in-place aliases that name an argument. Call before an expression is used.
[[nodiscard]] Status check_elementwise(const Expression& expression);

// Runs the expression below autograd. args in schema order, all there. outputs: n_outputs new
// references; those of in-place operands are the operands themselves, retained, their version
// bumped. `op` (may be NULL) brings its own kernels and its name.
[[nodiscard]] Status run_elementwise(const Op* op, const Expression& expression,
                                     const tn_value* args, Tensor** outputs);

// The number in a value of kind INT, FLOAT or BOOL.
inline tn_scalar number_scalar(const tn_value& v, bool as_float) {
  tn_scalar s;
  if (as_float) {
    s.f = v.kind == TN_KIND_FLOAT ? v.as.f : static_cast<double>(v.as.i);
  } else {
    s.i = v.kind == TN_KIND_FLOAT ? static_cast<int64_t>(v.as.f) : v.as.i;
  }
  return s;
}

}  // namespace tenon
