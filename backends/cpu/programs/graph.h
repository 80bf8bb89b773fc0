// A program as values that are written once: what plan.cpp turns into steps. Knows the operands'
// dtypes and strides (keys), nothing of cells and tiles.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "programs/plan.h"

namespace tenon::cpu_backend {

constexpr int kNone = -1;

struct Value {
  enum Origin : uint8_t { kNode, kOperand, kParam, kConstant } origin;
  RegisterType type;
  bool scalar;  // the same for a whole row
  int index;    // of the node, operand, parameter, or constant
  int last_use =
      kNone;  // the node that reads it last; a store counts as the node before which it stands
};

struct Node {
  enum Kind : uint8_t { kLoad, kUnary, kBinary, kWhere, kCast } kind;
  uint16_t opcode;
  tn_dtype dtype;  // kLoad: from; kCast: to
  int operand;     // kLoad
  int a, b, c;     // values
  int d = kNone;
  bool live = false;
};

struct Store {
  int value, output;
  int node;  // the store stands before this node
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Store> stores;
};

// Memory of this dtype is just what a register of the type holds.
bool is_native(tn_dtype dtype, RegisterType type);

// `plan` gives mode and keys.
void read_graph(const tn_host* host, const tn_program& program, const Plan& plan, Graph* graph);

}  // namespace tenon::cpu_backend
