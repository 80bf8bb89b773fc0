// Elementwise ops: each is its formula. In scope of a formula: the arguments by name, in a stated
// derivative dx also `g`, the gradient of the output, and `out`, the output itself. A derivative is
// stated where the derived one is worse at a kink or needs more than the output (in-place use under
// gradient copies its input then). Broadcasting, promotion, casts and AMP are the evaluator's.
// An option that chooses another formula is asked for by a line "when CONDITION:" (docs/expressions.md).
#include "pack.h"

#include <cmath>
#include <limits>

namespace tenon::ops_pack {
namespace {

void arithmetic() {
  op("add(Tensor x, Tensor y, number alpha=1) -> Tensor",
     "x + y\n when alpha != 1: x + element(alpha) * y")
      .doc("x + alpha * y. Operands broadcast and promote as PyTorch's.")
      .method()
      .inplace();
  op("sub(Tensor x, Tensor y, number alpha=1) -> Tensor",
     "x - y\n when alpha != 1: x - element(alpha) * y")
      .doc("x - alpha * y. Operands broadcast and promote as PyTorch's.")
      .method()
      .inplace();
  op("mul(Tensor x, Tensor y) -> Tensor", "x * y")
      .doc("x * y, element by element. Operands broadcast and promote as PyTorch's.")
      .method()
      .inplace();
  op("div(Tensor x, Tensor y, str? rounding_mode=None) -> Tensor",
     "x / y\n"
     "when rounding_mode == 'trunc': trunc_div(x, y)\n"
     "when rounding_mode == 'floor': x // y")
      .doc(
          "x / y. The quotient of integers is float32, but they stay integers where rounding_mode "
          "is \"trunc\", which rounds toward zero, or \"floor\", which is floor_divide; by 0 they "
          "give 0 then. Operands broadcast and promote as PyTorch's.")
      .method()
      .inplace();
  op("floor_divide(Tensor x, Tensor y) -> Tensor", "x // y")
      .doc("The exact quotient x / y, rounded down. Integers stay integers; by 0 they give 0.")
      .method()
      .inplace();
  op("pow(Tensor x, Tensor y) -> Tensor", "x ** y")
      .doc("x to the power y. Of integers a negative exponent gives 0, except for bases 1 and -1.")
      .method()
      .inplace();
  op("remainder(Tensor x, Tensor y) -> Tensor", "x % y")
      .doc("x - y * floor_divide(x, y): the sign is that of y, as of % in Python.")
      .method()
      .inplace();
  op("fmod(Tensor x, Tensor y) -> Tensor", "fmod(x, y)")
      .doc("The remainder of x / y truncated: the sign is that of x, as of fmod in C.")
      .method()
      .inplace();
  op("maximum(Tensor x, Tensor y) -> Tensor", "max(x, y)")
      .doc("The greater of x and y; NaN where either is NaN. Equal ones share the gradient.")
      .method()
      .inplace();
  op("minimum(Tensor x, Tensor y) -> Tensor", "min(x, y)")
      .doc("The smaller of x and y; NaN where either is NaN. Equal ones share the gradient.")
      .method()
      .inplace();
}

void functions_of_two() {
  // At the origin the gradient is 0. By the greater one, so that no square overflows or vanishes.
  op("atan2(Tensor x, Tensor y) -> Tensor",
     "let p = abs(float(x)); let q = abs(float(y)); let m = max(p, q)\n"
     "let n = where(m == 0 or isinf(m), 1, m); let a = x / n; let b = y / n\n"
     "let s = where(m == 0, 1, a * a + b * b)\n"
     "atan2(x, y)\n dx = g * (b / s / n); dy = -g * (a / s / n)")
      .doc(
          "The angle of the point (y, x), from -pi to pi, where x is the ordinate. The gradient at "
          "the origin is 0.")
      .method()
      .inplace();
  // By the greater one, so that no square overflows.
  op("hypot(Tensor x, Tensor y) -> Tensor",
     "let p = abs(float(x)); let q = abs(float(y)); let a = max(p, q); let b = min(p, q)\n"
     "where(isinf(x) or isinf(y), inf, where(a == 0, 0, a * sqrt(1 + square(b / a))))\n"
     "dx = g * (x / out); dy = g * (y / out)")
      .doc("sqrt(x * x + y * y), computed so that no square overflows.")
      .method()
      .inplace();
  op("logaddexp(Tensor x, Tensor y) -> Tensor",
     "let p = float(x); let q = float(y)\n"
     "where(p == q, p + 0.6931471805599453, max(p, q) + log1p(exp(-abs(p - q))))\n"
     "dx = g * sigmoid(x - y); dy = g * sigmoid(y - x)")
      .doc("log(exp(x) + exp(y)), computed so that no exponential overflows.")
      .method()
      .amp(Amp::widest);
}

void weighted_sums() {
  // From the nearer end, as PyTorch: a weight of 1 gives `end` exactly.
  op("lerp(Tensor x, Tensor end, Tensor weight) -> Tensor",
     "let near = abs(weight) < 0.5\n"
     "where(near, x, end) - (end - x) * where(near, -weight, 1 - weight)\n"
     "dx = g * (1 - weight); dend = g * weight; dweight = g * (end - x)")
      .doc("x + weight * (end - x). A weight of 1 gives end exactly.")
      .method()
      .inplace();
  op("addcmul(Tensor x, Tensor tensor1, Tensor tensor2, number value=1) -> Tensor",
     "x + value * tensor1 * tensor2")
      .doc("x + value * tensor1 * tensor2.")
      .method()
      .inplace();
  op("addcdiv(Tensor x, Tensor tensor1, Tensor tensor2, number value=1) -> Tensor",
     "x + value * (tensor1 / tensor2)")
      .doc("x + value * tensor1 / tensor2.")
      .method()
      .inplace();
}

void signs_and_rounding() {
  op("neg(Tensor x) -> Tensor", "-x").doc("-x.").method().inplace();
  op("abs(Tensor x) -> Tensor", "abs(x)").doc("The absolute value of x.").method().inplace();
  op("sign(Tensor x) -> Tensor", "sign(x)")
      .doc("-1, 0 or 1 by the sign of x; 0 for NaN.")
      .method()
      .inplace();
  op("ceil(Tensor x) -> Tensor", "ceil(x)")
      .doc("The smallest whole number that is not below x.")
      .method()
      .inplace();
  op("floor(Tensor x) -> Tensor", "floor(x)")
      .doc("The greatest whole number that is not above x.")
      .method()
      .inplace();
  op("round(Tensor x) -> Tensor", "round(x)")
      .doc("The nearest whole number; halves go to the even one.")
      .method()
      .inplace();
  // What round(x, decimals) is made of; factor is a power of ten.
  op("_round_times(Tensor x, float factor) -> Tensor", "round(x * factor) / factor");
  op("_round_by(Tensor x, float factor) -> Tensor", "round(x / factor) * factor");
  op("trunc(Tensor x) -> Tensor", "trunc(x)").doc("x without its fraction.").method().inplace();
  op("frac(Tensor x) -> Tensor", "x - trunc(x)")
      .doc("x - trunc(x): the fraction, with the sign of x.")
      .method()
      .inplace();
}

void powers_and_logarithms() {
  op("square(Tensor x) -> Tensor", "x ** 2").doc("x * x.").method().amp(Amp::widest).inplace();
  op("sqrt(Tensor x) -> Tensor", "sqrt(x)\n dx = g / (2 * out)")
      .doc("The square root of x; NaN below 0. Integers become float32.")
      .method()
      .inplace();
  op("rsqrt(Tensor x) -> Tensor", "rsqrt(x)\n dx = -0.5 * g * out * out * out")
      .doc("1 / sqrt(x). Integers become float32.")
      .method()
      .amp(Amp::float32)
      .inplace();
  op("reciprocal(Tensor x) -> Tensor", "1 / x\n dx = -g * out * out")
      .doc("1 / x. Integers become float32.")
      .method()
      .amp(Amp::float32)
      .inplace();
  op("exp(Tensor x) -> Tensor", "exp(x)\n dx = g * out")
      .doc("e to the power x. Integers become float32.")
      .method()
      .inplace();
  op("exp2(Tensor x) -> Tensor", "exp2(x)")
      .doc("2 to the power x. Integers become float32.")
      .method()
      .inplace();
  op("expm1(Tensor x) -> Tensor", "expm1(x)")
      .doc("exp(x) - 1, exact near 0. Integers become float32.")
      .method()
      .inplace();
  op("log(Tensor x) -> Tensor", "log(x)")
      .doc("The natural logarithm of x. Integers become float32.")
      .method()
      .inplace();
  op("log1p(Tensor x) -> Tensor", "log1p(x)")
      .doc("log(1 + x), exact near 0. Integers become float32.")
      .method()
      .inplace();
  op("log2(Tensor x) -> Tensor", "log2(x)")
      .doc("The logarithm of x to base 2. Integers become float32.")
      .method()
      .inplace();
  op("log10(Tensor x) -> Tensor", "log10(x)")
      .doc("The logarithm of x to base 10. Integers become float32.")
      .method()
      .inplace();
}

void trigonometry() {
  op("sin(Tensor x) -> Tensor", "sin(x)").doc("The sine of x in radians.").method().inplace();
  op("cos(Tensor x) -> Tensor", "cos(x)").doc("The cosine of x in radians.").method().inplace();
  op("tan(Tensor x) -> Tensor", "tan(x)").doc("The tangent of x in radians.").method().inplace();
  op("asin(Tensor x) -> Tensor", "asin(x)")
      .doc("The arc sine of x, from -pi/2 to pi/2.")
      .method()
      .inplace();
  op("acos(Tensor x) -> Tensor", "acos(x)")
      .doc("The arc cosine of x, from 0 to pi.")
      .method()
      .inplace();
  op("atan(Tensor x) -> Tensor", "atan(x)")
      .doc("The arc tangent of x, from -pi/2 to pi/2.")
      .method()
      .inplace();
  op("sinh(Tensor x) -> Tensor", "sinh(x)").doc("The hyperbolic sine of x.").method().inplace();
  op("cosh(Tensor x) -> Tensor", "cosh(x)").doc("The hyperbolic cosine of x.").method().inplace();
  op("tanh(Tensor x) -> Tensor", "tanh(x)\n dx = g * (1 - out * out)")
      .doc("The hyperbolic tangent of x.")
      .method()
      .inplace();
  op("asinh(Tensor x) -> Tensor", "asinh(x)").doc("The inverse of sinh.").method().inplace();
  op("acosh(Tensor x) -> Tensor", "acosh(x)")
      .doc("The inverse of cosh, from 0 on.")
      .method()
      .inplace();
  op("atanh(Tensor x) -> Tensor", "atanh(x)").doc("The inverse of tanh.").method().inplace();
}

void error_functions() {
  op("erf(Tensor x) -> Tensor", "erf(x)")
      .doc("The error function 2 / sqrt(pi) * integral of exp(-t * t) from 0 to x.")
      .method()
      .inplace();
  op("erfc(Tensor x) -> Tensor", "erfc(x)")
      .doc("1 - erf(x), exact for large x.")
      .method()
      .inplace();
}

// PyTorch's choices: at a bound that is a number x has no gradient, and with one that is a tensor it
// shares it, but where both bounds are x it keeps all.
#define CLAMP_DX                   \
  "dx = where(x < min or x > max," \
  " 0, where(min < max and (x == min or x == max), 0.5 * g, g))\n"
#define CLAMP_DMIN \
  "dmin = where(min <= max and x < min, g, where(min < max and x == min, 0.5 * g, 0))\n"
#define CLAMP_DMAX                                    \
  "dmax = where(min > max or min <= max and x > max," \
  " g, where(min < max and x == max, 0.5 * g, 0))\n"

void bounds() {
  op("clamp(Tensor x, Tensor? min=None, Tensor? max=None) -> Tensor",
     "clamp(x, min, max)\n" CLAMP_DX CLAMP_DMIN CLAMP_DMAX
     "when min is number and max is number:\n"
     "clamp(x, min, max)\n dx = where(x > min and x < max, g, 0)\n"
     "when max is None and min is number: max(x, min)\n dx = where(x > min, g, 0)\n"
     "when min is None and max is number: min(x, max)\n dx = where(x < max, g, 0)\n"
     "when min is None and max is None: error 'expected a bound at least'\n"
     "when max is None: max(x, min)\n"
     "when min is None: min(x, max)\n"
     "when min is number: clamp(x, min, max)\n" CLAMP_DX CLAMP_DMAX
     "when max is number: clamp(x, min, max)\n" CLAMP_DX CLAMP_DMIN)
      .doc(
          "x, cut off below min and above max, which are numbers or tensors that broadcast; one of "
          "them may be None. max where min is above max.")
      .method()
      .inplace();
  op("clamp_min(Tensor x, Tensor min) -> Tensor",
     "max(x, min)\n when min is number: max(x, min)\n dx = where(x > min, g, 0)")
      .doc("x, cut off below min, a number or a tensor that broadcasts.")
      .method()
      .inplace();
  op("clamp_max(Tensor x, Tensor max) -> Tensor",
     "min(x, max)\n when max is number: min(x, max)\n dx = where(x < max, g, 0)")
      .doc("x, cut off above max, a number or a tensor that broadcasts.")
      .method()
      .inplace();
}

// None has a gradient. That is derived, and not said by no_gradient(): written in place, they end
// the history of what they write.
void comparisons() {
  op("eq(Tensor x, Tensor y) -> Tensor", "x == y")
      .doc("Whether x equals y, as bool. NaN equals nothing.")
      .method()
      .inplace();
  op("ne(Tensor x, Tensor y) -> Tensor", "x != y")
      .doc("Whether x differs from y, as bool. NaN differs from everything.")
      .method()
      .inplace();
  op("lt(Tensor x, Tensor y) -> Tensor", "x < y")
      .doc("Whether x is below y, as bool.")
      .method()
      .inplace();
  op("le(Tensor x, Tensor y) -> Tensor", "x <= y")
      .doc("Whether x is at most y, as bool.")
      .method()
      .inplace();
  op("gt(Tensor x, Tensor y) -> Tensor", "x > y")
      .doc("Whether x is above y, as bool.")
      .method()
      .inplace();
  op("ge(Tensor x, Tensor y) -> Tensor", "x >= y")
      .doc("Whether x is at least y, as bool.")
      .method()
      .inplace();
  op("isnan(Tensor x) -> Tensor", "isnan(x)")
      .doc("Whether x is NaN, as bool.")
      .method()
      .no_gradient();
  op("isinf(Tensor x) -> Tensor", "isinf(x)")
      .doc("Whether x is an infinity, as bool.")
      .method()
      .no_gradient();
  op("isfinite(Tensor x) -> Tensor", "isfinite(x)")
      .doc("Whether x is neither an infinity nor NaN, as bool.")
      .method()
      .no_gradient();
}

void logic() {
  op("logical_and(Tensor x, Tensor y) -> Tensor", "bool(x) and bool(y)")
      .doc("Whether neither x nor y is 0, as bool.")
      .method()
      .inplace();
  op("logical_or(Tensor x, Tensor y) -> Tensor", "bool(x) or bool(y)")
      .doc("Whether x or y is not 0, as bool.")
      .method()
      .inplace();
  op("logical_xor(Tensor x, Tensor y) -> Tensor", "bool(x) != bool(y)")
      .doc("Whether just one of x and y is 0, as bool.")
      .method()
      .inplace();
  op("logical_not(Tensor x) -> Tensor", "logical_not(x)")
      .doc("Whether x is 0, as bool.")
      .method()
      .inplace();
  op("bitwise_and(Tensor x, Tensor y) -> Tensor", "x & y")
      .doc("The bits that x and y have both. Integers and bool.")
      .method()
      .no_gradient()
      .inplace();
  op("bitwise_or(Tensor x, Tensor y) -> Tensor", "x | y")
      .doc("The bits that x or y has. Integers and bool.")
      .method()
      .no_gradient()
      .inplace();
  op("bitwise_xor(Tensor x, Tensor y) -> Tensor", "x ^ y")
      .doc("The bits that just one of x and y has. Integers and bool.")
      .method()
      .no_gradient()
      .inplace();
  op("bitwise_not(Tensor x) -> Tensor", "~x")
      .doc("The bits that x has not. Integers and bool.")
      .method()
      .no_gradient()
      .inplace();
  op("bitwise_left_shift(Tensor x, Tensor y) -> Tensor", "x << y")
      .doc("x with its bits moved up by y. Integers.")
      .method()
      .no_gradient()
      .inplace();
  op("bitwise_right_shift(Tensor x, Tensor y) -> Tensor", "x >> y")
      .doc("x with its bits moved down by y, the sign kept. Integers.")
      .method()
      .no_gradient()
      .inplace();
}

// What nan_to_num puts in the place of an infinity, None meaning the greatest number of the dtype.
double greatest(Dtype dtype) {
  if (dtype == float16) return 65504;
  if (dtype == bfloat16) return 0x1.fep127;
  return dtype == float32 ? double(std::numeric_limits<float>::max())
                          : std::numeric_limits<double>::max();
}
struct Replaced {
  double nan, posinf, neginf;
};
Replaced replaced(Dtype dtype, optional<double> nan, optional<double> posinf,
                  optional<double> neginf) {
  return {nan.value_or(0), posinf.value_or(greatest(dtype)), neginf.value_or(-greatest(dtype))};
}

constexpr const char* kMaskedFill = "where(mask, value, x)";
constinit ExpressionRef masked_fill_of{
    "_masked_fill(Tensor x, Tensor mask, Tensor value) -> Tensor", kMaskedFill};
constinit ExpressionRef masked_fill_into{
    "_masked_fill_(Tensor(a!) x, Tensor mask, Tensor value) -> Tensor(a!)", kMaskedFill};

// x keeps its dtype: the value is taken as an element of it.
Tensor masked_fill_by(const char* name, const Operand& x, const Operand& mask, const Operand& value,
                      const ExpressionRef& formula) {
  if (!x.is_tensor()) fail(std::string(name) + ": x is a number, expected a tensor");
  if (!mask.is_tensor() || mask.tensor().dtype() != bool_) {
    fail(std::string(name) + ": mask is " +
         (mask.is_tensor() ? mask.tensor().dtype().name() : "a number") +
         ", expected a tensor of bool");
  }
  const Dtype dtype = x.tensor().dtype();
  if (!value.is_tensor()) {
    return prim::elementwise(formula, x, mask, number_for(name, "value", value, dtype));
  }
  const Tensor number = value.tensor();
  if (number.dim() != 0) {
    fail(std::string(name) + ": value is " + sizes_text(number.sizes()) +
         ", expected a number or a tensor without dimensions");
  }
  return prim::elementwise(formula, x, mask,
                           number.dtype() == dtype ? number : prim::copy(number, dtype));
}

void choices() {
  op("where(Tensor condition, Tensor x, Tensor y) -> Tensor", "where(condition, x, y)")
      .doc("x where condition is not 0, else y. The three broadcast.");
  op("masked_fill(Tensor x, Tensor mask, Tensor value) -> Tensor")
      .doc(
          "A copy of x with value, a number or a tensor without dimensions, where mask (bool, "
          "broadcast) is true.")
      .method()
      .numbers()
      .keeps_halves()
      .meaning([](Operand x, Operand mask, Operand value) {
        return masked_fill_by("masked_fill", x, mask, value, masked_fill_of);
      });
  op("masked_fill_(Tensor(a!) x, Tensor mask, Tensor value) -> Tensor(a!)")
      .doc("masked_fill(x, mask, value), written to x.")
      .method()
      .numbers()
      .meaning([](Operand x, Operand mask, Operand value) {
        return masked_fill_by("masked_fill_", x, mask, value, masked_fill_into);
      });
  op("_nan_to_num(Tensor x, float fill, float posinf, float neginf) -> Tensor",
     "where(isnan(x), fill, where(x == inf, posinf, where(x == -inf, neginf, x)))")
      .inplace();
  op("nan_to_num(Tensor x, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor")
      .doc(
          "x with numbers in the place of NaN and infinities: 0 and the greatest and least of the "
          "dtype, unless given.")
      .method()
      .keeps_halves()
      .meaning(
          [](Tensor x, optional<double> nan, optional<double> posinf, optional<double> neginf) {
            if (!x.dtype().is_float()) return prim::copy(x);
            Replaced by = replaced(x.dtype(), nan, posinf, neginf);
            return call(detail::op<"_nan_to_num">, x, by.nan, by.posinf, by.neginf);
          });
  op("nan_to_num_(Tensor(a!) x, float? nan=None, float? posinf=None, float? neginf=None)"
     " -> Tensor(a!)")
      .doc("nan_to_num(x, nan, posinf, neginf), written to x.")
      .method()
      .meaning(
          [](Tensor x, optional<double> nan, optional<double> posinf, optional<double> neginf) {
            if (!x.dtype().is_float()) return x;
            Replaced by = replaced(x.dtype(), nan, posinf, neginf);
            return call(detail::op<"_nan_to_num_">, x, by.nan, by.posinf, by.neginf);
          });
}

}  // namespace

void elementwise() {
  arithmetic();
  functions_of_two();
  weighted_sums();
  signs_and_rounding();
  powers_and_logarithms();
  trigonometry();
  error_functions();
  special();
  special_scaled();
  incomplete_gammas();
  zetas();
  bessels();
  numeric();
  activations();
  bounds();
  comparisons();
  logic();
  choices();
}

}  // namespace tenon::ops_pack
