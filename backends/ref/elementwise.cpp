// The evaluator of programs: every instruction of abi.h, for one element at a time, in registers of
// a union. A longer program (a gradient, a third party's op) needs nothing new here.
#include <cmath>

#include "kernel.h"

namespace ref {
namespace {

// Division rounds down, on the exact quotient: 1 // 0.1 is 9, since the double 0.1 is a little more
// than 1/10. Is the quotient that leaves this rest, of the sign of a, one too high?
template <class T>
bool too_high(T rest, T b) {
  return rest != 0 && (rest < 0) != (b < 0);
}

template <class T>
T floor_divide(T a, T b) {
  const T rest = std::fmod(a, b);
  return b == 0 ? a / b : std::round((a - rest) / b) - too_high(rest, b);
}

// clang-format off
// The float types. Clears *known for an opcode that there is none of.
template <class T>
T compute(uint16_t opcode, T a, T b, bool* known) {
  switch (opcode) {
    case TN_I_NEG: return -a;                 case TN_I_ABS: return std::fabs(a);
    case TN_I_FLOOR: return std::floor(a);    case TN_I_CEIL: return std::ceil(a);
    case TN_I_ROUND: return std::rint(a);     case TN_I_TRUNC: return std::trunc(a);
    case TN_I_EXP: return std::exp(a);        case TN_I_LOG: return std::log(a);
    case TN_I_EXP2: return std::exp2(a);      case TN_I_LOG2: return std::log2(a);
    case TN_I_EXPM1: return std::expm1(a);    case TN_I_LOG1P: return std::log1p(a);
    case TN_I_SQRT: return std::sqrt(a);      case TN_I_LOG10: return std::log10(a);
    case TN_I_SIN: return std::sin(a);        case TN_I_ASIN: return std::asin(a);
    case TN_I_COS: return std::cos(a);        case TN_I_ACOS: return std::acos(a);
    case TN_I_TAN: return std::tan(a);        case TN_I_ATAN: return std::atan(a);
    case TN_I_SINH: return std::sinh(a);      case TN_I_ASINH: return std::asinh(a);
    case TN_I_COSH: return std::cosh(a);      case TN_I_ACOSH: return std::acosh(a);
    case TN_I_TANH: return std::tanh(a);      case TN_I_ATANH: return std::atanh(a);
    case TN_I_ERF: return std::erf(a);        case TN_I_ERFC: return std::erfc(a);
    case TN_I_ADD: return a + b;              case TN_I_SUB: return a - b;
    case TN_I_MUL: return a * b;              case TN_I_DIV: return a / b;
    case TN_I_FMOD: return std::fmod(a, b);   case TN_I_FLOORDIV: return floor_divide(a, b);
    case TN_I_POW: return std::pow(a, b);     case TN_I_ATAN2: return std::atan2(a, b);
    case TN_I_REM: return a = std::fmod(a, b), too_high(a, b) ? a + b : a;
    case TN_I_MIN: return std::isnan(a) || a < b ? a : b;
    case TN_I_MAX: return std::isnan(a) || a > b ? a : b;
    case TN_I_SIGN: return (a > 0) - (a < 0);  // +0 for -0 and NaN
    default: return *known = false, a;
  }
}

int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1;
  for (uint64_t factor = base; exponent > 0; exponent /= 2, factor *= factor) {
    if (exponent % 2 == 1) result *= factor;
  }
  return result;
}

// Integers wrap. C++ says that of unsigned ones only: hence x and y beside a and b.
template <>
int64_t compute<int64_t>(uint16_t opcode, int64_t a, int64_t b, bool* known) {
  const uint64_t x = a, y = b;
  // Division by 0 gives 0, and by -1 it overflows for the smallest integer.
  const int64_t quotient = b == 0 ? 0 : b == -1 ? 0 - x : a / b;
  const int64_t rest = b == 0 || b == -1 ? 0 : a % b;
  switch (opcode) {
    case TN_I_ADD: return x + y;              case TN_I_SUB: return x - y;
    case TN_I_MUL: return x * y;              case TN_I_POW: return power(a, b);
    case TN_I_FMOD: return rest;              case TN_I_SIGN: return (a > 0) - (a < 0);
    case TN_I_REM: return too_high(rest, b) ? rest + b : rest;
    case TN_I_FLOORDIV: return quotient - too_high(rest, b);
    case TN_I_NEG: return 0 - x;              case TN_I_ABS: return a < 0 ? 0 - x : x;
    case TN_I_MIN: return a < b ? a : b;      case TN_I_MAX: return a > b ? a : b;
    case TN_I_AND: return a & b;              case TN_I_OR: return a | b;
    case TN_I_XOR: return a ^ b;              case TN_I_NOT: return ~a;
    case TN_I_SHL: return y < 64 ? x << y : 0;
    case TN_I_SHR: return a >> (y < 64 ? y : 63);
    default: return *known = false, a;
  }
}

template <class T>
bool compare(uint16_t opcode, T a, T b, bool* known) {
  switch (opcode) {
    case TN_I_EQ: return a == b;              case TN_I_NE: return a != b;
    case TN_I_LT: return a < b;               case TN_I_LE: return a <= b;
    case TN_I_GT: return a > b;               case TN_I_GE: return a >= b;
    case TN_I_ISNAN: return a != a;           case TN_I_ISINF: return std::isinf(double(a));
    default: return *known = false;
  }
}
// clang-format on

// Params and constants.
Register scalar(tn_scalar value, tn_dtype type) {
  if (type == TN_INT64 || type == TN_BOOL) return cast({.i = value.i}, TN_INT64, type);
  return cast({.d = value.f}, TN_FLOAT64, type);
}

// False: there is no such instruction.
bool execute(const tn_instruction& i, const tn_program& program, const tn_scalar* params,
             Register* r, const View* inputs, const View* outputs) {
  // clang-format off
  switch (i.opcode) {
    case TN_I_LOAD: r[i.dst] = inputs[i.a].load(i.dtype); return true;
    case TN_I_STORE: outputs[i.b].store(r[i.a], i.dtype); return true;
    case TN_I_PARAM: r[i.dst] = scalar(params[i.a], i.dtype); return true;
    case TN_I_CONST: r[i.dst] = scalar(program.constants[i.a], i.dtype); return true;
    case TN_I_CAST: r[i.dst] = cast(r[i.a], i.flags, i.dtype); return true;
    case TN_I_MOVE: r[i.dst] = r[i.a]; return true;
    case TN_I_WHERE: r[i.dst] = r[i.a].i ? r[i.b] : r[i.c]; return true;
  }
  // clang-format on
  const Register a = r[i.a], b = r[i.b];
  Register& y = r[i.dst];
  const bool tests = i.opcode == TN_I_ISNAN || i.opcode == TN_I_ISINF || i.opcode >= TN_I_EQ;
  bool known = false;
  const auto apply = [&](auto Register::*member) {
    known = true;
    if (tests) {
      y.i = compare(i.opcode, a.*member, b.*member, &known);
    } else {
      y.*member = compute(i.opcode, a.*member, b.*member, &known);
    }
  };
  const tn_dtype type = tests ? i.flags : i.dtype;
  if (type == TN_FLOAT32) apply(&Register::f);
  if (type == TN_FLOAT64) apply(&Register::d);
  if (type == TN_INT64 || type == TN_BOOL) apply(&Register::i);
  if (i.dtype == TN_BOOL && !tests) y.i = i.opcode == TN_I_NOT ? !a.i : y.i != 0;
  return known;
}

}  // namespace

tn_status* run_program(const tn_program& program, const tn_scalar* params, Register* registers,
                       const View* inputs, const View* outputs) {
  for (uint32_t k = 0; k < program.n_instructions; ++k) {
    const tn_instruction& i = program.instructions[k];
    if (execute(i, program, params, registers, inputs, outputs)) continue;
    return error(host, TN_UNSUPPORTED, "ref: opcode %d is not known for dtype %d", i.opcode,
                 i.dtype);
  }
  return nullptr;
}

tn_status* elementwise(const tn_call* call) {
  const tn_loop& loop = *call->args[0].as.loop;
  const tn_program& program = *loop.program;
  View views[TN_MAX_OPERANDS];  // of the outputs, then of the inputs
  const uint32_t n = program.n_outputs + program.n_inputs;
  for (uint32_t k = 0; k < n; ++k) views[k] = View(loop.operands[k], loop.ndim);
  const View* inputs = views + program.n_outputs;
  const tn_tensor* live = loop.live_params;  // inside a graph: on the device
  const void* params = live ? kernel_view(live->data) : static_cast<const void*>(loop.params);
  Registers registers;
  Index index(loop.ndim, loop.sizes);
  do {
    for (uint32_t k = 0; k < n; ++k) views[k].move(index);
    tn_status* status =
        run_program(program, static_cast<const tn_scalar*>(params), registers, inputs, views);
    if (status) return status;
  } while (index.next());
  return nullptr;
}

}  // namespace ref
