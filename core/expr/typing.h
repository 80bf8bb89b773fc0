// Types of a formula for one combination of operand dtypes. A program has one float dtype and one
// integer dtype, so a node's type is its kind, and whether it is weak: a Python number, that takes
// the dtype of what it meets.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "expr/expression.h"
#include "expr/graph.h"

namespace tenon {

struct NodeType {
  Kind kind = Kind::kFloat;
  bool weak = false;
};

struct Typing {
  std::vector<Kind> scalars;  // kinds of the scalar arguments
  tn_dtype common;  // of the operands that take part in promotion, else of all; float32 where there
                    // is none
  tn_dtype float_dtype;         // of float results: `common`, or float32
  tn_dtype int_dtype;           // of integer results: `common`, or int64
  tn_dtype float_register;      // TN_FLOAT64 when float_dtype is, else TN_FLOAT32
  std::vector<NodeType> nodes;  // by NodeId; set for the formula's order only
  std::vector<tn_dtype> outputs;
  bool is_narrow() const { return int_dtype != TN_INT64; }
};

// types: of the operands, then of the scalar arguments of type number, where they are known; else
// these are floats. Errors name the column, the operation and what it was given.
[[nodiscard]] Status type_formula(const Formula& formula, std::span<const OperandType> types,
                                  Typing* typing);

// What a binary operation gives: the higher kind; weak when both are.
NodeType promote_types(NodeType a, NodeType b);

}  // namespace tenon
