// A formula as a graph of scalar operations. Nodes are hash-consed: equal ones are one, so common
// subexpressions are computed once; constants fold as they are made. Nothing is typed here: that
// happens for each combination of operand dtypes.
//
// Invariants: 1. arguments have smaller numbers than the nodes that use them. 2. Nodes are never
// changed or removed.
// 3. Nothing recurses, so a long chain is as safe as a short one.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "expr/interner.h"
#include "schema/schema.h"
#include "tensor/dtype.h"

namespace tenon {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

// What a node does: an instruction of abi.h, or one of these.
enum : uint16_t {
  kOperand = 200,  // tensor operand value.i; of stated derivatives also gradients and outputs,
                   // numbered behind the operands
  kScalar,         // scalar argument value.i
  kConstant,       // `value`, of `kind`: a Python number
  kToBool,         // bool(x), and the conditions of where, and, or, not
  kToInt,          // int(x)
  kToFloat,        // float(x)
  kToElement,      // element(n): a number as an element of the operands' dtype
  kSigmoid,  // these two are kept whole for their gradients' sake, and expanded when flattened
  kClamp,
  kTruncDiv,  // the quotient without its fraction: two instructions or three, by the types
};

struct GraphNode {
  uint16_t op = 0;
  uint8_t n_args = 0;
  Kind kind = Kind::kFloat;  // of a constant
  uint32_t at = UINT32_MAX;  // where it stood first in the text; no part of its identity
  std::array<NodeId, 3> args{};
  tn_scalar value{};

  std::span<const NodeId> arguments() const { return {args.data(), n_args}; }
  uint64_t bits() const { return static_cast<uint64_t>(value.i); }
  bool operator==(const GraphNode& other) const {
    return op == other.op && n_args == other.n_args && kind == other.kind && args == other.args &&
           bits() == other.bits();
  }
  size_t hash() const {
    const size_t head = mix(
        op | (static_cast<uint64_t>(n_args) << 16) | (static_cast<uint64_t>(kind) << 24), bits());
    return mix(mix(head, args[0] | (static_cast<uint64_t>(args[1]) << 32)), args[2]);
  }
};

class Graph {
 public:
  const GraphNode& operator[](NodeId id) const { return nodes_[id]; }
  uint32_t size() const { return nodes_.size(); }

  NodeId operand(uint32_t index) { return leaf(kOperand, index); }
  NodeId scalar(uint32_t index) { return leaf(kScalar, index); }
  NodeId constant(Kind kind, tn_scalar value);
  NodeId number(double value) { return constant(Kind::kFloat, tn_scalar{.f = value}); }
  NodeId integer(int64_t value) { return constant(Kind::kInt, tn_scalar{.i = value}); }

  // Gives the equal node where there is one, the folded constant where all arguments are constants.
  NodeId make(uint16_t op, std::span<const NodeId> args, uint32_t at = UINT32_MAX);
  NodeId make(uint16_t op, std::initializer_list<NodeId> args, uint32_t at = UINT32_MAX) {
    return make(op, std::span<const NodeId>(args.begin(), args.size()), at);
  }

  bool is_constant(NodeId id) const { return nodes_[id].op == kConstant; }
  // A constant's value as a float; `otherwise` for other nodes.
  double constant_or(NodeId id, double otherwise) const;

  // The nodes that `roots` need, arguments before users, roots as early as can be.
  std::vector<NodeId> schedule(std::span<const NodeId> roots) const;

 private:
  NodeId leaf(uint16_t op, uint32_t index);
  Interner<GraphNode> nodes_;
};

// A parsed formula, and what the later steps need to know of it. Immutable once `settle` has run.
struct Formula {
  std::string name;  // of the op, for messages
  std::string text;  // as written, for columns
  Graph graph;
  uint32_t n_operands = 0;
  std::vector<Type> scalars;  // types of the scalar arguments
  std::vector<NodeId> outputs;
  std::vector<int32_t> inplace;       // per output: the operand that it is written into, or -1
  std::vector<NodeId> stated;         // per operand: its stated derivative, or kNoNode
  std::vector<std::string> operands;  // their names
  std::vector<std::string> scalar_names;

  // Filled by settle.
  std::vector<NodeId> order;          // schedule of the outputs
  std::vector<uint8_t> is_condition;  // per operand: an output needs it, and only as a condition
  void settle();
};

// x ** n for these n is multiplications, divisions and square roots.
inline bool is_simple_power(double n) {
  return n == 0 || n == 1 || n == 2 || n == 3 || n == -1 || n == -2 || n == 0.5 || n == -0.5;
}

// The outputs in the language, a line each; parts that are used more than once are named by `let`.
std::string formula_text(const Formula& formula);

// The instruction's or pseudo-operation's name as the language writes it: "log1p", "+", "where".
const char* operation_name(uint16_t op);

// "line 2, column 3", or "column 3" where the text has one line.
std::string place_text(const std::string& text, size_t at);

// Computes `op` on constants as the language does on Python numbers. False: it is not folded.
bool fold(uint16_t op, std::span<const GraphNode> args, Kind* kind, tn_scalar* value);

}  // namespace tenon
