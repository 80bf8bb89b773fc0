// Elementwise calls: from an expression and its arguments to one launch. Promotion, broadcasting,
// in-place rules and layout propagation live here and nowhere else.
#pragma once

#include "launch/launch.h"
#include "primitive/loop.h"

namespace tenon {

// Runs an op of kind kExpression below autograd. args in schema order, all there. outputs: n_outputs new
// references; those of in-place operands are the operands themselves, retained, their version
// bumped.
[[nodiscard]] Status run_elementwise(const Op& op, const tn_value* args, Tensor** outputs);

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
