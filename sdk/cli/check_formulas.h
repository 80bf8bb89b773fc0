// Formulas that between them have every instruction of a program. `tenon check` and
// tests/cpu/kernel_sweep_test.cpp try them, by tolerances of their own numbers.
#pragma once

#include "check_tolerance.h"

namespace tenon::cli::conformance {

enum class Takes { all, numbers, floats, whole };  // the dtypes of the operands

struct Formula {
  const char* text;  // of the operands x and y, between -1 and 1, or whole numbers from -20 to 20
  Takes takes;
  Tolerance tolerance;
  char positive = ' ';  // the operand that is above 0: 'x' or 'y'
};

// Functions: at most 4 units of the float that computes them.
inline constexpr Formula kFormulas[] = {
    {"max(x, y)", Takes::numbers, {}},
    {"min(x, y)", Takes::numbers, {}},
    {"where(x > y, x, y)", Takes::numbers, {}},
    {"x", Takes::numbers, {}},
    {"clamp(x, 0, 1)", Takes::numbers, {}},
    {"x < y", Takes::all, {}},
    {"x <= y", Takes::all, {}},
    {"x > y", Takes::all, {}},
    {"x == y", Takes::all, {}},
    {"x != y", Takes::all, {}},
    {"x >= y", Takes::all, {}},
    {"bool(x) and bool(y)", Takes::all, {}},
    {"bool(x) or not bool(y)", Takes::all, {}},
    {"isnan(x) or x != y", Takes::all, {}},
    {"isinf(x) or x == y", Takes::all, {}},
    {"x + y", Takes::all, {}},
    {"x * y", Takes::all, {}},
    {"x - y", Takes::numbers, {}},
    {"-x", Takes::numbers, {}},
    {"abs(x) + sign(y)", Takes::numbers, {}},
    {"x * y + y - 2 * x", Takes::numbers, {0, 2}},  // 3 roundings of numbers below 4
    {"x / y", Takes::floats, {0.5}, 'y'},
    {"exp(x)", Takes::floats, {4}},
    {"expm1(x)", Takes::floats, {4}},
    {"tanh(x)", Takes::floats, {4}},
    {"sigmoid(x)", Takes::floats, {4}},
    {"sin(x)", Takes::floats, {4}},
    {"cos(x)", Takes::floats, {4}},
    {"tan(x)", Takes::floats, {4}},
    {"atan(x)", Takes::floats, {4}},
    {"atan2(x, y)", Takes::floats, {4}},
    {"erf(x)", Takes::floats, {4}},
    {"erfc(x)", Takes::floats, {4}},
    {"sinh(x)", Takes::floats, {4}},
    {"cosh(x)", Takes::floats, {4}},
    {"exp2(x)", Takes::floats, {4}},
    {"asin(x)", Takes::floats, {4}},
    {"acos(x)", Takes::floats, {4}},
    {"asinh(x)", Takes::floats, {4}},
    {"acosh(1 + x)", Takes::floats, {4, 4}, 'x'},  // the sum's rounding near 1 has its root
    {"atanh(x / 2)", Takes::floats, {4}},
    {"log1p(x)", Takes::floats, {4}, 'x'},
    {"sqrt(x)", Takes::floats, {4}, 'x'},
    {"rsqrt(x)", Takes::floats, {4}, 'x'},
    {"reciprocal(x)", Takes::floats, {4}, 'x'},
    {"x ** y", Takes::floats, {4}, 'x'},
    {"x ** 2.5", Takes::floats, {4}, 'x'},
    {"x ** 3", Takes::floats, {4}, 'x'},
    {"x ** -0.5", Takes::floats, {4}, 'x'},
    {"log(x)", Takes::floats, {4}, 'x'},
    {"log2(x)", Takes::floats, {4}, 'x'},
    {"log10(x)", Takes::floats, {4}, 'x'},
    {"fmod(x * 8, y)", Takes::floats, {}, 'y'},
    {"floor(x * 8) + ceil(y * 8) + trunc(x * 4) + round(y * 4)", Takes::floats, {}},
    {"x // y", Takes::whole, {}},
    {"x % y", Takes::whole, {}},
    {"fmod(x, y)", Takes::whole, {}},
    {"x & y", Takes::whole, {}},
    {"x | y", Takes::whole, {}},
    {"x ^ y", Takes::whole, {}},
    {"(x << 2) >> 1", Takes::whole, {}},
    {"x ** 3", Takes::whole, {}},
    {"~x", Takes::whole, {}},
    {"float(x) / 8", Takes::whole, {}},
    {"int(float(x) * 1.5)", Takes::whole, {}},
};

}  // namespace tenon::cli::conformance
