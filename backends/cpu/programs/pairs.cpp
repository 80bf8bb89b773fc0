// Finds pairs in a graph: in order, each node that may be a second takes the first that it reads.
#include "programs/pairs.h"

#include <algorithm>
#include <utility>

namespace tenon::cpu_backend {
namespace {

class Finder {
 public:
  Finder(const Table& table, Graph* graph)
      : table_(*table.pairs), graph_(*graph), uses_(graph->values.size()) {}

  std::vector<Pair> find() {
    count_uses();
    pairs_.resize(graph_.nodes.size());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (!node.live || graph_.values[node.d].scalar) continue;
      if (node.kind == Node::kBinary) {
        if (!pair_up(second_kind(node.opcode, /*turned=*/false), n, node.a, node.b))
          pair_up(second_kind(node.opcode, /*turned=*/true), n, node.b, node.a);
      } else if (node.kind == Node::kUnary) {
        if (node.opcode == TN_I_ABS) pair_up(kThenAbs, n, node.a, kNone);
      } else if (node.kind == Node::kWhere) {
        pair_up_where(node, n);
      }
    }
    return std::move(pairs_);
  }

 private:
  void count_uses() {
    for (const Store& store : graph_.stores) ++uses_[store.value];
    for (const Node& node : graph_.nodes) {
      if (!node.live) continue;
      for (const int value : {node.a, node.b, node.c})
        if (value != kNone) ++uses_[value];
    }
  }
  bool is_scalar(int value) const { return graph_.values[value].scalar; }
  RegisterType type(int value) const { return graph_.values[value].type; }

  // The node that gives this value, if it is a binary one of floats whose value nobody else reads, and
  // no part of a pair yet.
  const Node* first_of(int value) const {
    const Value& v = graph_.values[value];
    if (v.origin != Value::kNode || v.scalar || uses_[value] != 1) return nullptr;
    const Node& node = graph_.nodes[v.index];
    const bool fits = node.kind == Node::kBinary && type(node.a) == kF32 && !pairs_[v.index].fn;
    return fits ? &node : nullptr;
  }
  Shape shape_of(const Node& node) const {
    return is_scalar(node.a) ? kSV : is_scalar(node.b) ? kVS : kVV;
  }

  static int first_kind(uint16_t opcode) {
    switch (opcode) {
      case TN_I_ADD:
        return kFirstAdd;
      case TN_I_MUL:
        return kFirstMul;
      case TN_I_SUB:
        return kFirstSub;
      case TN_I_MAX:
        return kFirstMax;
      case TN_I_MIN:
        return kFirstMin;
      default:
        return kNone;
    }
  }
  // turned: its second operand is what the first node gives. The larger of 0 and -0 depends on their
  // order.
  static int second_kind(uint16_t opcode, bool turned) {
    switch (opcode) {
      case TN_I_ADD:
        return kThenAdd;
      case TN_I_MUL:
        return kThenMul;
      case TN_I_SUB:
        return turned ? kThenSubFrom : kThenSub;
      case TN_I_MAX:
        return turned ? kNone : kThenMax;
      case TN_I_MIN:
        return turned ? kNone : kThenMin;
      default:
        return kNone;
    }
  }

  // other: what the second reads beside the first's value; kNone: nothing.
  bool pair_up(int then, size_t n, int value, int other) {
    const Node* first = then == kNone ? nullptr : first_of(value);
    const int kind = first ? first_kind(first->opcode) : kNone;
    if (kind == kNone || (other != kNone && type(other) != kF32)) return false;
    int a = first->a, b = first->b;
    Shape shape = shape_of(*first);
    if (shape == kSV && kind != kFirstSub) {
      if (kind != kFirstAdd && kind != kFirstMul) return false;
      std::swap(a, b);
      shape = kVS;
    }
    const bool is_one = other == kNone || is_scalar(other);
    return take(n, value, table_.pairs[kind][shape][then][is_one],
                {a, b, other == kNone ? a : other, kNone});
  }
  void pair_up_where(const Node& node, size_t n) {
    const Node* first = type(node.b) == kF32 ? first_of(node.a) : nullptr;
    if (!first || first->opcode < TN_I_EQ || first->opcode > TN_I_GE) return;
    int a = first->a, b = first->b;
    uint16_t opcode = first->opcode;
    Shape shape = shape_of(*first);
    if (shape == kSV) {  // 0 < x is x > 0
      std::swap(a, b);
      shape = kVS;
      opcode = mirrored(opcode);
    }
    const int kind = (is_scalar(node.b) ? 1 : 0) + (is_scalar(node.c) ? 2 : 0);
    take(n, node.a, table_.selects[opcode - TN_I_EQ][shape][kind], {a, b, node.b, node.c});
  }
  static uint16_t mirrored(uint16_t opcode) {
    switch (opcode) {
      case TN_I_LT:
        return TN_I_GT;
      case TN_I_LE:
        return TN_I_GE;
      case TN_I_GT:
        return TN_I_LT;
      case TN_I_GE:
        return TN_I_LE;
      default:
        return opcode;
    }
  }

  bool take(size_t n, int first_value, StepFn fn, std::array<int, 4> operands) {
    if (!fn) return false;
    pairs_[n].fn = fn;
    pairs_[n].operands = operands;
    pairs_[graph_.values[first_value].index].is_first = true;
    for (const int operand : operands) {
      if (operand == kNone) continue;
      int& last_use = graph_.values[operand].last_use;
      last_use = std::max(last_use, static_cast<int>(n));
    }
    return true;
  }

  const PairFunctions& table_;
  Graph& graph_;
  std::vector<int> uses_;  // of the values
  std::vector<Pair> pairs_;
};

}  // namespace

std::vector<Pair> find_pairs(const Table& table, Graph* graph) {
  return Finder(table, graph).find();
}

}  // namespace tenon::cpu_backend
