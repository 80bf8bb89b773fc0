// An elementwise formula: parsed and checked once against its schema, typed and flattened to a
// tn_program for each combination of operand dtypes that is met, differentiated on demand. Used by
// the call path (to launch), autograd (gradients) and amp (its class). It knows nothing of tensors or
// devices.
//
// Invariants: an Expression is immutable to its users and lives as long as the process; compile and
// gradient are thread-safe, cached, and lock-free when the answer is there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/schema.h"

namespace tenon {

// How an operand in a Tensor's place takes part in promotion: PyTorch's three categories.
enum class Category : uint8_t { kTensor, kZeroDim, kNumber };

struct OperandType {
  tn_dtype dtype;  // kNumber: TN_FLOAT64 for float, TN_INT64 for int, TN_BOOL for bool
  Category category;
  bool as_param;  // the value comes in params, as a number does; else through memory
  bool operator==(const OperandType&) const = default;
};

// Numbers of a call whose values are looked at: bit i is param i.
struct ParamChecks {
  uint32_t any = 0;        // one of those below
  uint32_t exponents = 0;  // an integer is taken to its power: it must not be negative
  // Bounds of max and min over integers of int_dtype: as large as its greatest number at most, as
  // small as its least at least. Within these they may lie outside of it.
  uint32_t least = 0, greatest = 0;
  uint32_t elements = 0;  // must be elements of int_dtype, where -1 stands for 255 of uint8
  tn_dtype int_dtype = TN_INT64;
};

// A program for one combination of operand types. Tensor operands with as_param become parameters:
// params of a launch are first these, in operand order, then the schema's scalar arguments, in
// order. Inputs of the program are the other tensor operands, in order.
struct CompiledProgram {
  tn_program program;
  std::vector<tn_dtype> output_dtypes;
  // Of the tensor operands, promoted together: those that are more than conditions, else all.
  tn_dtype common_dtype;
  // Per param: 1 read from .f, 0 from .i. Of operands: what their dtype is. Of scalars: as the
  // program reads them, so an int or bool that only floats use is 1.
  std::vector<uint8_t> params_are_float;
  ParamChecks checks;
};

// What the k-th tensor operand of a gradient expression stands for.
struct GradientSource {
  enum Kind : uint8_t { kOutputGradient, kInput, kOutput } kind;
  uint32_t index;  // of the output, of the forward's tensor operand, of the output
};

class Expression {
 public:
  // `schema`: arguments of type Tensor are the operands, scalar arguments (int, float, bool,
  // number) are parameters; returns are the outputs (in-place aliases allowed). Tensor? and lists
  // are refused. The text: formulas of the outputs in order, a line (or ';') each, optional "let
  // name = ..." lines, then stated derivatives "dx = ..." in which g (or g0, g1, ...) is the
  // gradient of the output and out (or out0, ...) the output itself.
  static Status parse(const Schema& schema, std::string_view text,
                      std::unique_ptr<Expression>* expression);
  ~Expression();
  Expression(const Expression&) = delete;

  uint32_t n_operands() const;  // tensor operands
  uint32_t n_outputs() const;
  uint32_t n_scalars() const;  // scalar arguments of the schema
  const std::string& text() const;
  const Schema& schema() const;  // of a gradient expression: made up

  // AMP class by its instructions: TN_AMP_FLOAT32 with exp, log or pow, else TN_AMP_WIDEST.
  tn_amp_class amp_class() const;

  // types: of the n_operands() operands, and behind them, when the caller has them, of the scalar
  // arguments of type number, in order (kNumber, dtype as for operands); without them those are
  // floats. Types the formula: operands are first promoted together as PyTorch does (operands that
  // are only conditions of `where` or arguments of logical functions take no part), functions of
  // floats take integers to float32, comparisons give bool. Half types compute in float32 and are
  // stored as halves. In-place outputs have their operand's dtype (error when the result cannot be
  // cast to it: float to integer, anything but bool to bool).
  Status compile(std::span<const OperandType> types, const CompiledProgram** compiled) const;

  // May the formula have a gradient for operand i at all (it reaches an output through
  // differentiable functions)?
  bool differentiable(uint32_t operand) const;

  // The gradient for the operands in `wanted` (bit i: operand i), as an expression of its own: its
  // operands are `sources`, its outputs the gradients of the wanted operands in order (in the
  // broadcast shape, in the promoted dtype: the caller sums to size and casts), its scalar
  // arguments those of this expression. Itself differentiable.
  struct Gradient {
    const Expression* expression;
    std::span<const GradientSource> sources;
  };
  // It lives as long as this expression.
  Status gradient(uint64_t wanted, const Gradient** gradient) const;

 private:
  struct Impl;
  explicit Expression(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenon
