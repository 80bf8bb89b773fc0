// Operations on constants, as Python's numbers: int / int is a float, ints are 64 bits and wrap,
// bools count as ints.
#include <cmath>
#include <limits>

#include "expr/graph.h"

namespace tenon {
namespace {

int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

double as_float(const GraphNode& node) {
  return node.kind == Kind::kFloat ? node.value.f : static_cast<double>(node.value.i);
}

double fold_unary(uint16_t op, double x, bool* known) {
  switch (op) {
    case TN_I_SQRT:
      return std::sqrt(x);
    case TN_I_EXP:
      return std::exp(x);
    case TN_I_EXP2:
      return std::exp2(x);
    case TN_I_EXPM1:
      return std::expm1(x);
    case TN_I_LOG:
      return std::log(x);
    case TN_I_LOG2:
      return std::log2(x);
    case TN_I_LOG10:
      return std::log10(x);
    case TN_I_LOG1P:
      return std::log1p(x);
    case TN_I_SIN:
      return std::sin(x);
    case TN_I_COS:
      return std::cos(x);
    case TN_I_TAN:
      return std::tan(x);
    case TN_I_TANH:
      return std::tanh(x);
    case TN_I_ATAN:
      return std::atan(x);
    case TN_I_ERF:
      return std::erf(x);
    default:
      *known = false;
      return 0;
  }
}

bool fold_floats(uint16_t op, double a, double b, double* result) {
  switch (op) {
    case TN_I_ADD:
      *result = a + b;
      return true;
    case TN_I_SUB:
      *result = a - b;
      return true;
    case TN_I_MUL:
      *result = a * b;
      return true;
    case TN_I_DIV:
      *result = a / b;
      return true;
    case TN_I_POW:
      *result = std::pow(a, b);
      return true;
    default:
      return false;
  }
}

bool fold_ints(uint16_t op, int64_t a, int64_t b, int64_t* result) {
  const uint64_t u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
  switch (op) {
    case TN_I_ADD:
      *result = wrap(u + v);
      return true;
    case TN_I_SUB:
      *result = wrap(u - v);
      return true;
    case TN_I_MUL:
      *result = wrap(u * v);
      return true;
    case TN_I_POW: {
      uint64_t power = 1, base = u;
      for (; b > 0; b >>= 1, base *= base) {
        if ((b & 1) != 0) power *= base;
      }
      *result = wrap(power);
      return true;
    }
    case TN_I_AND:
      *result = a & b;
      return true;
    case TN_I_OR:
      *result = a | b;
      return true;
    case TN_I_XOR:
      *result = a ^ b;
      return true;
    case TN_I_SHL:
      *result = b < 0 || b > 63 ? 0 : wrap(u << b);
      return true;
    default:
      return false;
  }
}

}  // namespace

bool fold(uint16_t op, std::span<const GraphNode> args, Kind* kind, tn_scalar* value) {
  const GraphNode& a = args[0];
  if (op == kToFloat) {
    *kind = Kind::kFloat;
    value->f = as_float(a);
    return true;
  }
  if (op == kToBool) {
    *kind = Kind::kBool;
    value->i = as_float(a) != 0;
    return true;
  }
  if (args.size() == 1 && op == TN_I_NEG && a.kind != Kind::kBool) {
    *kind = a.kind;
    if (a.kind == Kind::kFloat) {
      value->f = -a.value.f;
    } else {
      value->i = wrap(0 - static_cast<uint64_t>(a.value.i));
    }
    return true;
  }
  if (args.size() == 1) {
    bool known = true;
    *kind = Kind::kFloat;
    value->f = fold_unary(op, as_float(a), &known);
    return known;
  }
  if (args.size() != 2) return false;
  const GraphNode& b = args[1];
  const bool both_bool = a.kind == Kind::kBool && b.kind == Kind::kBool;
  const bool is_float = a.kind == Kind::kFloat || b.kind == Kind::kFloat || op == TN_I_DIV ||
                        (op == TN_I_POW && as_float(b) < 0);
  if (both_bool) return false;
  *kind = is_float ? Kind::kFloat : Kind::kInt;
  return is_float ? fold_floats(op, as_float(a), as_float(b), &value->f)
                  : fold_ints(op, a.value.i, b.value.i, &value->i);
}

}  // namespace tenon
