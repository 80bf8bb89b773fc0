// A formula back to text: for gradients, which nobody wrote.
#include <cmath>

#include <fmt/format.h>

#include "expr/functions.h"
#include "expr/graph.h"

namespace tenon {
namespace {

struct Piece {
  std::string text;
  uint8_t precedence = kTightest;
};

std::string constant_text(const GraphNode& node) {
  if (node.kind == Kind::kBool) return node.value.i != 0 ? "True" : "False";
  if (node.kind == Kind::kInt) return fmt::format("{}", node.value.i);
  std::string text = fmt::format("{}", node.value.f);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

std::string within(const Piece& piece, uint8_t precedence) {
  return piece.precedence < precedence ? fmt::format("({})", piece.text) : piece.text;
}

Piece piece_of(const Formula& formula, const GraphNode& node, std::span<const Piece> pieces) {
  const auto arg = [&](int i) -> const Piece& { return pieces[node.args[i]]; };
  switch (node.op) {
    case kOperand:
      return {formula.operands[node.value.i]};
    case kScalar:
      return {formula.scalar_names[node.value.i]};
    case kConstant: {
      std::string text = constant_text(node);
      const bool negative = text[0] == '-';
      return {std::move(text), negative ? uint8_t{kUnary} : uint8_t{kTightest}};
    }
    case TN_I_NEG:
      return {fmt::format("-{}", within(arg(0), kUnary)), kUnary};
    case TN_I_NOT:
      return {fmt::format("~{}", within(arg(0), kUnary)), kUnary};
    default:
      break;
  }
  if (const Operator* op = operator_of(node.op)) {
    const uint8_t p = op->precedence;
    const bool is_power = p == kPower;
    const uint8_t left = p == kComparison || is_power ? p + 1 : p;
    const uint8_t right = is_power ? uint8_t{kUnary} : static_cast<uint8_t>(p + 1);
    return {fmt::format("{} {} {}", within(arg(0), left), op->text, within(arg(1), right)), p};
  }
  std::string text = fmt::format("{}(", operation_name(node.op));
  for (int i = 0; i < node.n_args; ++i) text += (i == 0 ? "" : ", ") + arg(i).text;
  return {text + ")"};
}

}  // namespace

std::string formula_text(const Formula& formula) {
  const Graph& graph = formula.graph;
  std::vector<uint32_t> uses(graph.size());
  for (NodeId id : formula.order) {
    for (NodeId argument : graph[id].arguments()) ++uses[argument];
  }
  std::vector<Piece> pieces(graph.size());
  std::string lines;
  int n_names = 0;
  for (NodeId id : formula.order) {
    pieces[id] = piece_of(formula, graph[id], pieces);
    // Long ones are named too, so that a chain does not copy itself at each link.
    if (graph[id].n_args > 0 && (uses[id] > 1 || pieces[id].text.size() > 200)) {
      const std::string name = fmt::format("t{}", ++n_names);
      lines += fmt::format("let {} = {}\n", name, pieces[id].text);
      pieces[id] = {name};
    }
  }
  for (size_t i = 0; i < formula.outputs.size(); ++i) {
    lines += (i == 0 ? "" : "\n") + pieces[formula.outputs[i]].text;
  }
  return lines;
}

}  // namespace tenon
