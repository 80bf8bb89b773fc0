// Elementwise ops: each is its formula. In scope of a formula: the arguments by name, in a stated
// derivative dx also `g`, the gradient of the output, and `out`, the output itself. A derivative is
// stated where the derived one is worse at a kink or needs more than the output (which is what
// in-place use under gradient has). Broadcasting, promotion, casts and AMP are the evaluator's.
#include "pack.h"

namespace tenon::ops_pack {

void elementwise() {
  op("add(Tensor x, Tensor y) -> Tensor", "x + y").inplace();
  op("sub(Tensor x, Tensor y) -> Tensor", "x - y").inplace();
  op("mul(Tensor x, Tensor y) -> Tensor", "x * y").inplace();
  op("div(Tensor x, Tensor y) -> Tensor", "x / y").inplace();
  op("pow(Tensor x, Tensor y) -> Tensor", "x ** y").inplace();
  op("maximum(Tensor x, Tensor y) -> Tensor", "max(x, y)").inplace();
  op("minimum(Tensor x, Tensor y) -> Tensor", "min(x, y)").inplace();

  op("neg(Tensor x) -> Tensor", "-x").inplace();
  op("abs(Tensor x) -> Tensor", "abs(x)").inplace();
  op("exp(Tensor x) -> Tensor", "exp(x)\n dx = g * out").inplace();
  op("log(Tensor x) -> Tensor", "log(x)").inplace();
  op("sqrt(Tensor x) -> Tensor", "sqrt(x)\n dx = g / (2 * out)").inplace();
  op("rsqrt(Tensor x) -> Tensor", "rsqrt(x)\n dx = -0.5 * g * out * out * out").inplace();
  op("square(Tensor x) -> Tensor", "x * x").inplace();
  op("tanh(Tensor x) -> Tensor", "tanh(x)\n dx = g * (1 - out * out)").inplace();
  op("sigmoid(Tensor x) -> Tensor", "sigmoid(x)\n dx = g * out * (1 - out)").inplace();
  op("relu(Tensor x) -> Tensor", "max(x, 0)\n dx = where(out > 0, g, 0)").inplace();
  op("leaky_relu(Tensor x, float slope=0.01) -> Tensor",
     "where(x > 0, x, slope * x)\n dx = where(x > 0, g, slope * g)")
      .inplace();
  op("softplus(Tensor x, float beta=1) -> Tensor",
     "log1p(exp(-abs(beta * x))) / beta + max(x, 0)\n dx = g * sigmoid(beta * x)")
      .inplace();
  // The tanh form of Hendrycks & Gimpel, arXiv:1606.08415: sqrt(2 / pi) (x + 0.044715 x³).
  op("gelu(Tensor x) -> Tensor",
     "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))")
      .inplace();
  op("clamp(Tensor x, number low, number high) -> Tensor",
     "clamp(x, low, high)\n dx = where(x >= low and x <= high, g, 0)")
      .inplace();

  op("eq(Tensor x, Tensor y) -> Tensor", "x == y").no_gradient();
  op("ne(Tensor x, Tensor y) -> Tensor", "x != y").no_gradient();
  op("lt(Tensor x, Tensor y) -> Tensor", "x < y").no_gradient();
  op("le(Tensor x, Tensor y) -> Tensor", "x <= y").no_gradient();
  op("gt(Tensor x, Tensor y) -> Tensor", "x > y").no_gradient();
  op("ge(Tensor x, Tensor y) -> Tensor", "x >= y").no_gradient();
  op("logical_and(Tensor x, Tensor y) -> Tensor", "bool(x) and bool(y)").no_gradient();
  op("logical_or(Tensor x, Tensor y) -> Tensor", "bool(x) or bool(y)").no_gradient();
  op("logical_not(Tensor x) -> Tensor", "logical_not(x)").no_gradient();
  op("isnan(Tensor x) -> Tensor", "isnan(x)").no_gradient();
  op("bitwise_and(Tensor x, Tensor y) -> Tensor", "x & y").no_gradient();
  op("where(Tensor condition, Tensor x, Tensor y) -> Tensor", "where(condition, x, y)");
}

}  // namespace tenon::ops_pack
