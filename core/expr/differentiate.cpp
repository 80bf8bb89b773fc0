// Reverse mode: adjoints from the outputs to the operands, then a copy of what they need.
#include "expr/differentiate.h"

#include <algorithm>

#include "expr/derivatives.h"

namespace tenon {
namespace {

// Per node of the outputs' schedule: the operands that it depends on through derivatives.
std::vector<uint64_t> reaches(const Formula& formula) {
  const Graph& graph = formula.graph;
  std::vector<uint64_t> reach(graph.size());
  for (NodeId id : formula.order) {
    const GraphNode& node = graph[id];
    if (node.op == kOperand) reach[id] = uint64_t{1} << node.value.i;
    for (int i = 0; i < node.n_args; ++i) {
      if (has_derivative(node.op, i)) reach[id] |= reach[node.args[i]];
    }
  }
  return reach;
}

// The adjoint of each operand, kNoNode where nothing flows. New nodes are added to `graph`.
std::vector<NodeId> adjoints_of_operands(const Formula& formula, uint64_t wanted, Graph* graph) {
  const std::vector<uint64_t> reach = reaches(formula);
  std::vector<uint8_t> on_tensors(graph->size());
  for (NodeId id : formula.order) {
    const GraphNode& node = (*graph)[id];
    on_tensors[id] = node.op == kOperand;
    for (NodeId argument : node.arguments()) on_tensors[id] |= on_tensors[argument];
  }
  std::vector<NodeId> adjoint(graph->size(), kNoNode);
  const auto add = [&](NodeId to, NodeId flow) {
    if (flow == kNoNode) return;
    adjoint[to] = adjoint[to] == kNoNode ? flow : graph->make(TN_I_ADD, {adjoint[to], flow});
  };
  for (uint32_t i = 0; i < formula.outputs.size(); ++i) {
    if ((reach[formula.outputs[i]] & wanted) != 0)
      add(formula.outputs[i], graph->operand(formula.n_operands + i));
  }
  std::vector<NodeId> result(formula.n_operands, kNoNode);
  // Numbers give an order too: arguments have smaller ones.
  for (NodeId id = static_cast<NodeId>(adjoint.size()); id-- > 0;) {
    if (adjoint[id] == kNoNode) continue;
    const GraphNode node = (*graph)[id];
    if (node.op == kOperand) result[node.value.i] = adjoint[id];
    if (node.n_args == 0) continue;
    std::array<bool, 3> needs{}, depends{};
    for (int i = 0; i < node.n_args; ++i) {
      needs[i] = has_derivative(node.op, i) && (reach[node.args[i]] & wanted) != 0;
      depends[i] = on_tensors[node.args[i]] != 0;
    }
    const std::array<NodeId, 3> flows = derivatives(*graph, id, adjoint[id], needs, depends);
    for (int i = 0; i < node.n_args; ++i) add(node.args[i], flows[i]);
  }
  return result;
}

// Copies what `roots` need from one graph into another. `leaf` says what becomes of a node: kNoNode
// copies it.
template <typename Leaf>
std::vector<NodeId> copy_into(const Graph& from, std::span<const NodeId> roots, Graph* to,
                              Leaf&& leaf) {
  std::vector<NodeId> copies(from.size(), kNoNode);
  for (NodeId id : from.schedule(roots)) {
    copies[id] = leaf(id);
    if (copies[id] != kNoNode) continue;
    const GraphNode& node = from[id];
    if (node.op == kConstant) {
      copies[id] = to->constant(node.kind, node.value);
    } else if (node.n_args == 0) {
      copies[id] = node.op == kOperand ? to->operand(node.value.i) : to->scalar(node.value.i);
    } else {
      std::array<NodeId, 3> args{};
      for (int i = 0; i < node.n_args; ++i) args[i] = copies[node.args[i]];
      copies[id] = to->make(node.op, {args.data(), node.n_args});
    }
  }
  std::vector<NodeId> result;
  for (NodeId root : roots) result.push_back(copies[root]);
  return result;
}

std::vector<uint8_t> used_operands(const Graph& graph, std::span<const NodeId> roots, size_t n) {
  std::vector<uint8_t> used(n);
  for (NodeId id : graph.schedule(roots)) {
    if (graph[id].op == kOperand) used[graph[id].value.i] = 1;
  }
  return used;
}

// Reads the forward's outputs instead of computing them again, where that spares an input: exp's
// gradient is g * out. Outputs that are operands or constants stay. One that is written in place is
// read only where it spares every input: later writes to it refuse the gradient, which a copy of
// the input does not. A quotient is computed again: as in PyTorch, it may be written in place.
void use_outputs(const Formula& formula, uint64_t wanted, Graph* graph,
                 std::vector<NodeId>* roots) {
  const std::vector<uint64_t> reach = reaches(formula);
  const size_t n_sources = formula.n_operands + 2 * formula.outputs.size();
  Graph replaced;
  const std::vector<NodeId> candidate = copy_into(*graph, *roots, &replaced, [&](NodeId id) {
    for (uint32_t i = 0; i < formula.outputs.size(); ++i) {
      const bool is_read =
          formula.outputs[i] == id && (*graph)[id].n_args != 0 && (*graph)[id].op != TN_I_DIV;
      if (!is_read || (reach[id] & wanted) == 0) continue;
      return replaced.operand(
          static_cast<uint32_t>(formula.n_operands + formula.outputs.size() + i));
    }
    return kNoNode;
  });
  const auto count = [&](const Graph& of, std::span<const NodeId> at) {
    const std::vector<uint8_t> used = used_operands(of, at, n_sources);
    return std::count(used.begin(), used.begin() + formula.n_operands, 1);
  };
  const auto n_read = count(replaced, candidate);
  const bool writes = std::any_of(formula.inplace.begin(), formula.inplace.end(),
                                  [](int operand) { return operand >= 0; });
  if (n_read >= count(*graph, *roots) || (writes && n_read > 0)) return;
  *graph = std::move(replaced);
  *roots = candidate;
}

// Inputs keep their names; gradients and outputs are g and out, or g0, out0, ... A gradient's own
// gradient has a g already, and calls its new one gg.
std::vector<std::string> source_names(const Formula& formula,
                                      std::span<const GradientSource> sources) {
  const auto is_taken = [&](const std::string& name) {
    const auto is_in = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    return is_in(formula.operands) || is_in(formula.scalar_names);
  };
  std::vector<std::string> names;
  for (const GradientSource& source : sources) {
    if (source.kind == GradientSource::kInput) {
      names.push_back(formula.operands[source.index]);
      continue;
    }
    std::string name = source.kind == GradientSource::kOutputGradient ? "g" : "out";
    if (formula.outputs.size() > 1) name += std::to_string(source.index);
    while (is_taken(name)) name.insert(name.begin(), 'g');
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

uint64_t differentiable_operands(const Formula& formula) {
  const std::vector<uint64_t> reach = reaches(formula);
  uint64_t result = 0;
  for (NodeId output : formula.outputs) result |= reach[output];
  for (uint32_t i = 0; i < formula.stated.size(); ++i) {
    if (formula.stated[i] != kNoNode) result |= uint64_t{1} << i;
  }
  return result;
}

void differentiate(const Formula& formula, uint64_t wanted, Formula* gradient,
                   std::vector<GradientSource>* sources) {
  const uint32_t n = formula.n_operands, m = static_cast<uint32_t>(formula.outputs.size());
  uint64_t derived = wanted;
  for (uint32_t i = 0; i < n; ++i) {
    if (formula.stated[i] != kNoNode) derived &= ~(uint64_t{1} << i);
  }
  Graph graph = formula.graph;
  const std::vector<NodeId> adjoints = adjoints_of_operands(formula, derived, &graph);
  std::vector<NodeId> roots;
  for (uint32_t i = 0; i < n; ++i) {
    if ((wanted >> i & 1) == 0) continue;
    NodeId root = formula.stated[i] != kNoNode ? formula.stated[i] : adjoints[i];
    roots.push_back(root == kNoNode ? graph.number(0) : root);
  }
  // What is stated stays as it is.
  if (derived == wanted) use_outputs(formula, wanted, &graph, &roots);

  const std::vector<uint8_t> used = used_operands(graph, roots, n + 2 * m);
  std::vector<uint32_t> operand_of(n + 2 * m);
  const auto take = [&](GradientSource::Kind kind, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      if (!used[first + i]) continue;
      operand_of[first + i] = static_cast<uint32_t>(sources->size());
      sources->push_back({kind, i});
    }
  };
  take(GradientSource::kOutputGradient, n, m);
  take(GradientSource::kInput, 0, n);
  take(GradientSource::kOutput, n + m, m);

  gradient->name = "gradient of " + formula.name;
  gradient->scalars = formula.scalars;
  gradient->n_operands = static_cast<uint32_t>(sources->size());
  gradient->outputs = copy_into(graph, roots, &gradient->graph, [&](NodeId id) {
    if (graph[id].op != kOperand) return kNoNode;
    return gradient->graph.operand(operand_of[graph[id].value.i]);
  });
  gradient->inplace.assign(gradient->outputs.size(), -1);
  gradient->stated.assign(gradient->n_operands, kNoNode);
  gradient->operands = source_names(formula, *sources);
  gradient->scalar_names = formula.scalar_names;
  gradient->settle();
  gradient->text = formula_text(*gradient);
}

}  // namespace tenon
