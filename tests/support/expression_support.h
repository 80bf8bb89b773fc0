// An interpreter of programs for one element, as plain as abi.h's comments on the instructions, and
// shorthands to parse, compile and run a formula. Float32 registers are rounded after each
// instruction.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "expr/expression.h"

namespace tenon {

// A value in memory or a register: floats in f, all else in i.
struct Cell {
  double f = 0;
  int64_t i = 0;
  Cell() = default;
  Cell(double value) : f(value), i(0) {}
  Cell(int value) : f(value), i(value) {}
  Cell(int64_t value) : f(static_cast<double>(value)), i(value) {}
};

inline bool is_float_dtype(int dtype) { return dtype >= TN_FLOAT32 && dtype <= TN_BFLOAT16; }

inline Cell converted(const Cell& cell, int from, int to) {
  Cell result;
  const double number = is_float_dtype(from) ? cell.f : static_cast<double>(cell.i);
  if (is_float_dtype(to)) {
    result.f = to == TN_FLOAT64 ? number : static_cast<double>(static_cast<float>(number));
  } else if (to == TN_BOOL) {
    result.i = is_float_dtype(from) ? cell.f != 0 : cell.i != 0;
  } else {
    result.i = is_float_dtype(from) ? static_cast<int64_t>(cell.f) : cell.i;
    if (to == TN_INT32) result.i = static_cast<int32_t>(result.i);
    if (to == TN_UINT8) result.i = static_cast<uint8_t>(result.i);
  }
  return result;
}

inline double unary_result(int op, double x) {
  switch (op) {
    case TN_I_NEG:
      return -x;
    case TN_I_ABS:
      return std::fabs(x);
    case TN_I_SIGN:
      return (x > 0) - (x < 0);
    case TN_I_FLOOR:
      return std::floor(x);
    case TN_I_CEIL:
      return std::ceil(x);
    case TN_I_ROUND:
      return std::nearbyint(x);
    case TN_I_TRUNC:
      return std::trunc(x);
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
    case TN_I_ASIN:
      return std::asin(x);
    case TN_I_ACOS:
      return std::acos(x);
    case TN_I_ATAN:
      return std::atan(x);
    case TN_I_SINH:
      return std::sinh(x);
    case TN_I_COSH:
      return std::cosh(x);
    case TN_I_TANH:
      return std::tanh(x);
    case TN_I_ASINH:
      return std::asinh(x);
    case TN_I_ACOSH:
      return std::acosh(x);
    case TN_I_ATANH:
      return std::atanh(x);
    case TN_I_ERF:
      return std::erf(x);
    case TN_I_ERFC:
      return std::erfc(x);
    default:
      ADD_FAILURE() << "no float instruction of one operand: " << op;
      return 0;
  }
}

inline double binary_result(int op, double a, double b) {
  const bool is_nan = std::isnan(a) || std::isnan(b);
  switch (op) {
    case TN_I_ADD:
      return a + b;
    case TN_I_SUB:
      return a - b;
    case TN_I_MUL:
      return a * b;
    case TN_I_DIV:
      return a / b;
    case TN_I_FLOORDIV:
      return std::floor(a / b);
    case TN_I_REM:
      return a - std::floor(a / b) * b;
    case TN_I_FMOD:
      return std::fmod(a, b);
    case TN_I_POW:
      return std::pow(a, b);
    case TN_I_ATAN2:
      return std::atan2(a, b);
    case TN_I_MIN:
      return is_nan ? NAN : std::min(a, b);
    case TN_I_MAX:
      return is_nan ? NAN : std::max(a, b);
    default:
      ADD_FAILURE() << "no float instruction of two operands: " << op;
      return 0;
  }
}

inline int64_t integer_result(int op, int64_t a, int64_t b) {
  const auto u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
  const int64_t quotient = b == 0 || (b == -1) ? 0 : a / b, rest = b == 0 || b == -1 ? 0 : a % b;
  const bool down = rest != 0 && (rest < 0) != (b < 0);
  switch (op) {
    case TN_I_NEG:
      return static_cast<int64_t>(0 - u);
    case TN_I_ABS:
      return a < 0 ? static_cast<int64_t>(0 - u) : a;
    case TN_I_SIGN:
      return (a > 0) - (a < 0);
    case TN_I_NOT:
      return ~a;
    case TN_I_ADD:
      return static_cast<int64_t>(u + v);
    case TN_I_SUB:
      return static_cast<int64_t>(u - v);
    case TN_I_MUL:
      return static_cast<int64_t>(u * v);
    case TN_I_FLOORDIV:
      return b == -1 ? static_cast<int64_t>(0 - u) : quotient - (down ? 1 : 0);
    case TN_I_REM:
      return down ? rest + b : rest;
    case TN_I_FMOD:
      return rest;
    case TN_I_POW: {
      if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
      uint64_t result = 1;
      for (int64_t k = 0; k < b; ++k) result *= u;
      return static_cast<int64_t>(result);
    }
    case TN_I_MIN:
      return std::min(a, b);
    case TN_I_MAX:
      return std::max(a, b);
    case TN_I_AND:
      return a & b;
    case TN_I_OR:
      return a | b;
    case TN_I_XOR:
      return a ^ b;
    case TN_I_SHL:
      return b < 0 || b > 63 ? 0 : static_cast<int64_t>(u << b);
    case TN_I_SHR:
      return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
    default:
      ADD_FAILURE() << "no integer instruction: " << op;
      return 0;
  }
}

template <typename T>
bool comparison_result(int op, T a, T b) {
  switch (op) {
    case TN_I_EQ:
      return a == b;
    case TN_I_NE:
      return a != b;
    case TN_I_LT:
      return a < b;
    case TN_I_LE:
      return a <= b;
    case TN_I_GT:
      return a > b;
    default:
      return a >= b;
  }
}

// inputs: of the program's inputs, in their dtypes. params: of its params. Gives what the outputs'
// memory holds.
inline std::vector<Cell> run_program(const CompiledProgram& compiled,
                                     const std::vector<tn_dtype>& input_dtypes,
                                     const std::vector<Cell>& inputs,
                                     const std::vector<Cell>& params) {
  const tn_program& p = compiled.program;
  EXPECT_EQ(p.n_inputs, inputs.size());
  EXPECT_EQ(p.n_params, params.size());
  std::vector<Cell> r(p.n_registers);
  std::vector<Cell> outputs(p.n_outputs);
  const auto literal = [](int dtype, const tn_scalar& s) {
    return is_float_dtype(dtype) ? converted(Cell(s.f), TN_FLOAT64, dtype) : Cell(s.i);
  };
  for (uint32_t n = 0; n < p.n_instructions; ++n) {
    const tn_instruction& in = p.instructions[n];
    const int op = in.opcode;
    Cell result;
    if (op == TN_I_LOAD) {
      result = converted(inputs[in.a], input_dtypes[in.a], in.dtype);
    } else if (op == TN_I_PARAM) {
      EXPECT_EQ(compiled.params_are_float[in.a] != 0, is_float_dtype(in.dtype)) << "param " << in.a;
      result =
          is_float_dtype(in.dtype) ? converted(params[in.a], TN_FLOAT64, in.dtype) : params[in.a];
    } else if (op == TN_I_CONST) {
      result = literal(in.dtype, p.constants[in.a]);
    } else if (op == TN_I_STORE) {
      outputs[in.b] = converted(r[in.a], in.dtype, compiled.output_dtypes[in.b]);
      continue;
    } else if (op == TN_I_CAST) {
      result = converted(r[in.a], in.flags, in.dtype);
    } else if (op == TN_I_ISNAN) {
      result.i = std::isnan(r[in.a].f);
    } else if (op == TN_I_ISINF) {
      result.i = std::isinf(r[in.a].f);
    } else if (op >= TN_I_EQ && op <= TN_I_GE) {
      result.i = is_float_dtype(in.flags) ? comparison_result(op, r[in.a].f, r[in.b].f)
                                          : comparison_result(op, r[in.a].i, r[in.b].i);
    } else if (op == TN_I_WHERE) {
      result = r[in.a].i != 0 ? r[in.b] : r[in.c];
    } else if (in.dtype == TN_BOOL) {
      result.i = op == TN_I_NOT ? r[in.a].i == 0 : integer_result(op, r[in.a].i, r[in.b].i);
    } else if (in.dtype == TN_INT64) {
      result.i = integer_result(op, r[in.a].i, op < TN_I_ADD ? 0 : r[in.b].i);
    } else {
      const double value =
          op < TN_I_ADD ? unary_result(op, r[in.a].f) : binary_result(op, r[in.a].f, r[in.b].f);
      result = converted(Cell(value), TN_FLOAT64, in.dtype);
    }
    r[in.dst] = result;
  }
  return outputs;
}

inline OperandType dims(tn_dtype dtype) { return {dtype, Category::kTensor, false}; }
inline OperandType zero_dim(tn_dtype dtype) { return {dtype, Category::kZeroDim, false}; }
inline OperandType number(tn_dtype dtype) { return {dtype, Category::kNumber, true}; }

inline std::unique_ptr<Expression> parsed(std::string_view schema_text, std::string_view text) {
  Schema schema;
  StatusHolder status(parse_schema(schema_text, &schema));
  EXPECT_FALSE(status) << status_text(status.get());
  std::unique_ptr<Expression> expression;
  StatusHolder parse_status(Expression::parse(schema, text, &expression));
  EXPECT_FALSE(parse_status) << status_text(parse_status.get());
  return expression;
}

inline const CompiledProgram& compiled(const Expression& expression,
                                       const std::vector<OperandType>& types) {
  const CompiledProgram* program = nullptr;
  StatusHolder status(expression.compile(types, &program));
  if (status) throw std::runtime_error(status_text(status.get()));
  return *program;
}

// Runs with operands of the given types. values: of the operands in order; those that are params
// are passed as such.
inline std::vector<Cell> run(const Expression& expression, const std::vector<OperandType>& types,
                             const std::vector<Cell>& values,
                             const std::vector<Cell>& scalars = {}) {
  std::vector<tn_dtype> dtypes;
  std::vector<Cell> inputs, params;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].as_param) {
      params.push_back(values[i]);
    } else {
      inputs.push_back(values[i]);
      dtypes.push_back(types[i].dtype);
    }
  }
  params.insert(params.end(), scalars.begin(), scalars.end());
  return run_program(compiled(expression, types), dtypes, inputs, params);
}

// In float64.
inline double value_at(const Expression& expression, const std::vector<double>& x,
                       const std::vector<Cell>& scalars = {}) {
  return run(expression, std::vector<OperandType>(x.size(), dims(TN_FLOAT64)), {x.begin(), x.end()},
             scalars)[0]
      .f;
}

inline Expression::Gradient gradient_of(const Expression& expression, uint64_t wanted) {
  const Expression::Gradient* gradient = nullptr;
  StatusHolder status(expression.gradient(wanted, &gradient));
  EXPECT_FALSE(status) << status_text(status.get());
  return gradient != nullptr ? *gradient : Expression::Gradient{};
}

// The gradient of output 0 for operand i, in float64, with g = `g`.
inline double slope_at(const Expression& expression, uint32_t i, const std::vector<double>& x,
                       const std::vector<Cell>& scalars = {}, double g = 1) {
  const Expression::Gradient gradient = gradient_of(expression, uint64_t{1} << i);
  std::vector<double> operands;
  for (const GradientSource& source : gradient.sources) {
    operands.push_back(source.kind == GradientSource::kInput    ? x[source.index]
                       : source.kind == GradientSource::kOutput ? value_at(expression, x, scalars)
                                                                : g);
  }
  return value_at(*gradient.expression, operands, scalars);
}

}  // namespace tenon
