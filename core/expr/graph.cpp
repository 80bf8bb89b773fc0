// Nodes, their schedule, and what a finished formula knows of its operands.
#include "expr/graph.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tenon {
namespace {

bool commutes(uint16_t op) {
  return op == TN_I_ADD || op == TN_I_MUL || op == TN_I_AND || op == TN_I_OR || op == TN_I_XOR ||
         op == TN_I_EQ || op == TN_I_NE;
}

bool gives_bool(const GraphNode& node) {
  if (node.op >= TN_I_EQ && node.op <= TN_I_GE) return true;
  return node.op == kToBool || node.op == TN_I_ISNAN || node.op == TN_I_ISINF ||
         (node.op == kConstant && node.kind == Kind::kBool);
}

}  // namespace

NodeId Graph::leaf(uint16_t op, uint32_t index) {
  GraphNode node;
  node.op = op;
  node.value.i = index;
  return nodes_.intern(node);
}

NodeId Graph::constant(Kind kind, tn_scalar value) {
  GraphNode node;
  node.op = kConstant;
  node.kind = kind;
  node.value = value;
  if (kind == Kind::kFloat && std::isnan(value.f))
    node.value.f = std::bit_cast<double>(0x7FF8000000000000ull);
  return nodes_.intern(node);
}

NodeId Graph::make(uint16_t op, std::span<const NodeId> args, uint32_t at) {
  if (op == kToBool && gives_bool(nodes_[args[0]])) return args[0];
  GraphNode node;
  node.op = op;
  node.at = at;
  node.n_args = static_cast<uint8_t>(args.size());
  std::copy(args.begin(), args.end(), node.args.begin());
  if (std::all_of(args.begin(), args.end(), [&](NodeId id) { return is_constant(id); })) {
    std::array<GraphNode, 3> constants;
    for (size_t i = 0; i < args.size(); ++i) constants[i] = nodes_[args[i]];
    Kind kind;
    tn_scalar value{};
    if (fold(op, {constants.data(), args.size()}, &kind, &value)) return constant(kind, value);
  }
  if (commutes(op)) {
    GraphNode swapped = node;
    std::swap(swapped.args[0], swapped.args[1]);
    if (const NodeId found = nodes_.find(swapped); found != kNoNode) return found;
  }
  return nodes_.intern(node);
}

double Graph::constant_or(NodeId id, double otherwise) const {
  const GraphNode& node = nodes_[id];
  if (node.op != kConstant) return otherwise;
  return node.kind == Kind::kFloat ? node.value.f : static_cast<double>(node.value.i);
}

std::vector<NodeId> Graph::schedule(std::span<const NodeId> roots) const {
  std::vector<NodeId> order;
  std::vector<uint8_t> done(size());
  std::vector<std::pair<NodeId, uint8_t>> stack;  // a node and the next of its arguments
  for (NodeId root : roots) {
    if (!done[root]) stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const GraphNode& node = nodes_[id];
      if (next < node.n_args) {
        const NodeId argument = node.args[next++];
        if (!done[argument]) stack.push_back({argument, 0});
        continue;
      }
      if (!done[id]) order.push_back(id);
      done[id] = 1;
      stack.pop_back();
    }
  }
  return order;
}

void Formula::settle() {
  order = graph.schedule(outputs);
  std::vector<uint8_t> used(n_operands), as_value(n_operands);
  for (NodeId id : order) {
    const GraphNode& node = graph[id];
    if (node.op == kOperand) used[node.value.i] = 1;
    if (node.op == kToBool) continue;
    for (NodeId argument : node.arguments()) {
      if (graph[argument].op == kOperand) as_value[graph[argument].value.i] = 1;
    }
  }
  for (NodeId id : outputs) {
    if (graph[id].op == kOperand) as_value[graph[id].value.i] = 1;
  }
  is_condition.resize(n_operands);
  for (uint32_t i = 0; i < n_operands; ++i) is_condition[i] = used[i] && !as_value[i];
}

std::string place_text(const std::string& text, size_t at) {
  at = std::min(at, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const size_t line_start = line == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  const size_t column = at - line_start + 1;
  if (text.find('\n') == std::string::npos) return fmt::format("column {}", column);
  return fmt::format("line {}, column {}", line + 1, column);
}

}  // namespace tenon
