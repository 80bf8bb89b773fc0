// Ops that are a formula and have no name in the registry: those of host->expression and of the
// core itself, parsed once by their text and shared, and the gradients of expressions.
#pragma once

#include <span>

#include "registry/registry.h"

namespace tenon {

// Lives as long as the process. Thread-safe.
[[nodiscard]] Status intern_expression(const char* schema, const char* formula, const Op** op);

// For formulas of the core, which are right: throws StatusException.
const Op& formula(const char* schema, const char* text);

// The gradient of an expression for the operands in `wanted` (Expression::gradient).
struct GradientOp {
  Op op;
  uint64_t wanted;
  std::span<const GradientSource> sources;
  const GradientOp* next;  // of the same expression, made before
};

[[nodiscard]] Status make_gradient(const Op& op, uint64_t wanted, const GradientOp** gradient);
// It lives as long as the op. Thread-safe, and without a lock once it was made.
[[nodiscard]] inline Status gradient_of(const Op& op, uint64_t wanted,
                                        const GradientOp** gradient) {
  const GradientOp* found = op.gradients.load(std::memory_order_acquire);
  while (found != nullptr && found->wanted != wanted) found = found->next;
  *gradient = found;
  return found != nullptr ? nullptr : make_gradient(op, wanted, gradient);
}

}  // namespace tenon
