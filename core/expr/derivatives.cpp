// One case an operation. The formulas are PyTorch's (tools/autograd/derivatives.yaml,
// FunctionsManual.cpp), which fixes what happens at ties, at kinks and for NaN.
#include "expr/derivatives.h"

#include <numbers>

namespace tenon {
namespace {

// Writes graph nodes as arithmetic. A product with 1 is the other factor: gradients are floats, so
// nothing is lost.
struct Term {
  Graph* graph;
  NodeId id;
};
Term make(uint16_t op, Term a) { return {a.graph, a.graph->make(op, {a.id})}; }
Term make(uint16_t op, Term a, Term b) { return {a.graph, a.graph->make(op, {a.id, b.id})}; }
Term number(Term like, double value) { return {like.graph, like.graph->number(value)}; }

Term operator+(Term a, Term b) { return make(TN_I_ADD, a, b); }
Term operator-(Term a, Term b) { return make(TN_I_SUB, a, b); }
Term operator/(Term a, Term b) { return make(TN_I_DIV, a, b); }
Term operator-(Term a) {
  const GraphNode& node = (*a.graph)[a.id];
  return node.op == TN_I_NEG ? Term{a.graph, node.args[0]} : make(TN_I_NEG, a);
}
Term operator*(Term a, Term b) {
  if (a.graph->constant_or(a.id, 0) == 1) return b;
  return a.graph->constant_or(b.id, 0) == 1 ? a : make(TN_I_MUL, a, b);
}
Term operator+(Term a, double b) { return a + number(a, b); }
Term operator-(double a, Term b) { return number(b, a) - b; }
Term operator*(Term a, double b) { return a * number(a, b); }
Term square(Term a) { return a * a; }
Term sqrt(Term a) { return make(TN_I_SQRT, a); }
Term compare(uint16_t op, Term a, Term b) { return make(op, a, b); }
Term where(Term condition, Term a, Term b) {
  return {a.graph, a.graph->make(TN_I_WHERE, {condition.id, a.id, b.id})};
}
Term where(Term condition, Term a, double b) { return where(condition, a, number(a, b)); }
Term where(Term condition, double a, Term b) { return where(condition, number(b, a), b); }

Term power_by_base(Term g, Term a, Term b) {
  Graph& graph = *g.graph;
  if (!graph.is_constant(b.id)) {
    // The exponent stays at 0 once it is there. 0 ** -1 would be infinite, and times the 0 of the
    // branch not taken a NaN in the second derivative.
    const Term is_zero = compare(TN_I_EQ, b, number(b, 0));
    const Term lower = make(TN_I_POW, a, where(is_zero, 0.0, b + -1.0));
    return where(is_zero, 0.0, g * (b * lower));
  }
  const double n = graph.constant_or(b.id, 0);
  if (n == 0) return {g.graph, kNoNode};
  if (n == 1) return g;
  const Term lower = n == 2 ? a : make(TN_I_POW, a, number(a, n - 1));
  return g * (lower * n);
}

Term power_by_exponent(Term g, Term a, Term b, Term out) {
  if (g.graph->is_constant(a.id) && g.graph->constant_or(a.id, 0) != 0)
    return g * (out * make(TN_I_LOG, a));
  const Term at_zero =
      make(TN_I_AND, compare(TN_I_EQ, a, number(a, 0)), compare(TN_I_GE, b, number(b, 0)));
  // The logarithm has no 0 to see, so that its own derivative is finite there.
  return where(at_zero, 0.0, g * (out * make(TN_I_LOG, where(at_zero, 1.0, a))));
}

// The gradient of a function of one float.
Term unary(uint16_t op, Term g, Term x, Term out) {
  constexpr double kSlopeOfErf = 2 * std::numbers::inv_sqrtpi;
  switch (op) {
    case TN_I_NEG:
      return -g;
    case TN_I_ABS:
      return g * make(TN_I_SIGN, x);
    case TN_I_SQRT:
      return g / (out * 2);
    case TN_I_EXP:
      return g * out;
    case TN_I_EXP2:
      return g * out * std::numbers::ln2;
    case TN_I_EXPM1:
      return g * (out + 1);
    case TN_I_LOG:
      return g / x;
    case TN_I_LOG2:
      return g / (x * std::numbers::ln2);
    case TN_I_LOG10:
      return g / (x * std::numbers::ln10);
    case TN_I_LOG1P:
      return g / (x + 1);
    case TN_I_SIN:
      return g * make(TN_I_COS, x);
    case TN_I_COS:
      return -(g * make(TN_I_SIN, x));
    case TN_I_TAN:
      return g * (square(out) + 1);
    case TN_I_ASIN:
      return g / sqrt(1 - square(x));
    case TN_I_ACOS:
      return -(g / sqrt(1 - square(x)));
    case TN_I_ATAN:
      return g / (square(x) + 1);
    case TN_I_SINH:
      return g * make(TN_I_COSH, x);
    case TN_I_COSH:
      return g * make(TN_I_SINH, x);
    case TN_I_TANH:
      return g * (1 - square(out));
    case TN_I_ASINH:
      return g / sqrt(square(x) + 1);
    case TN_I_ACOSH:
      return g / sqrt(square(x) + -1.0);
    case TN_I_ATANH:
      return g / (1 - square(x));
    case TN_I_ERF:
      return g * (make(TN_I_EXP, -square(x)) * kSlopeOfErf);
    case TN_I_ERFC:
      return g * (make(TN_I_EXP, -square(x)) * -kSlopeOfErf);
    case kSigmoid:
      return g * (1 - out) * out;
    case kToFloat:
    case kToElement:
      return g;
    default:  // sign, floor, ceil, round, trunc
      return {g.graph, kNoNode};
  }
}

// min and max. Two tensors share the gradient where they are equal; against a number it passes
// beyond the bound only, as relu's.
Term extreme(uint16_t op, Term g, Term own, Term other, bool other_on_tensors) {
  const bool is_max = op == TN_I_MAX;
  if (!other_on_tensors) return where(compare(is_max ? TN_I_LE : TN_I_GE, own, other), 0.0, g);
  const Term lost = compare(is_max ? TN_I_LT : TN_I_GT, own, other);
  return where(lost, 0.0, where(compare(TN_I_EQ, own, other), g * 0.5, g));
}

// Of where(condition, x, y).
std::array<NodeId, 3> chosen(Term g, Term condition, std::array<bool, 3> needs) {
  return {kNoNode, needs[1] ? where(condition, g, 0.0).id : kNoNode,
          needs[2] ? where(condition, 0.0, g).id : kNoNode};
}
// Of clamp(x, low, high).
std::array<NodeId, 3> clamped(Term g, Term x, Term low, Term high, std::array<bool, 3> needs) {
  const Term inside = make(TN_I_AND, compare(TN_I_GE, x, low), compare(TN_I_LE, x, high));
  std::array<NodeId, 3> result = {kNoNode, kNoNode, kNoNode};
  if (needs[0]) result[0] = where(inside, g, 0.0).id;
  if (needs[1]) {
    const Term below = make(TN_I_AND, compare(TN_I_LT, low, high), compare(TN_I_LT, x, low));
    result[1] = where(below, g, 0.0).id;
  }
  if (needs[2]) {
    const Term above = make(TN_I_OR, compare(TN_I_GT, x, high), compare(TN_I_LT, high, low));
    result[2] = where(above, g, 0.0).id;
  }
  return result;
}

}  // namespace

bool has_derivative(uint16_t op, int i) {
  switch (op) {
    case kToBool:
    case kToInt:
    case TN_I_NOT:
    case TN_I_ISNAN:
    case TN_I_ISINF:
    case TN_I_AND:
    case TN_I_OR:
    case TN_I_XOR:
    case TN_I_SHL:
    case TN_I_SHR:
      return false;
    case TN_I_WHERE:
      return i > 0;
    default:
      return op < TN_I_EQ || op > TN_I_GE;
  }
}

std::array<NodeId, 3> derivatives(Graph& graph, NodeId id, NodeId g_id, std::array<bool, 3> needs,
                                  std::array<bool, 3> on_tensors) {
  const GraphNode node = graph[id];
  const Term g{&graph, g_id}, out{&graph, id};
  const auto arg = [&](int i) { return Term{&graph, node.args[i]}; };
  std::array<NodeId, 3> result = {kNoNode, kNoNode, kNoNode};
  if (node.n_args == 1) {
    if (needs[0]) result[0] = unary(node.op, g, arg(0), out).id;
    return result;
  }
  const Term a = arg(0), b = arg(1);
  if (node.op == kClamp) return clamped(g, a, b, arg(2), needs);
  if (node.op == TN_I_WHERE) return chosen(g, a, needs);
  switch (node.op) {
    case TN_I_ADD:
      if (needs[0]) result[0] = g_id;
      if (needs[1]) result[1] = g_id;
      break;
    case TN_I_SUB:
      if (needs[0]) result[0] = g_id;
      if (needs[1]) result[1] = (-g).id;
      break;
    case TN_I_MUL:
      if (needs[0]) result[0] = (g * b).id;
      if (needs[1]) result[1] = (g * a).id;
      break;
    case TN_I_DIV:
      if (needs[0]) result[0] = (g / b).id;
      if (needs[1]) result[1] = (-g * (out / b)).id;
      break;
    case TN_I_REM:  // a - (a // b) * b, whose quotient does not move
      if (needs[0]) result[0] = g_id;
      if (needs[1]) result[1] = (-g * make(TN_I_FLOORDIV, a, b)).id;
      break;
    case TN_I_FMOD:
      if (needs[0]) result[0] = g_id;
      if (needs[1]) result[1] = (-g * make(TN_I_TRUNC, a / b)).id;
      break;
    case TN_I_POW:
      if (needs[0]) result[0] = power_by_base(g, a, b).id;
      if (needs[1]) result[1] = power_by_exponent(g, a, b, out).id;
      break;
    case TN_I_ATAN2: {
      const Term scaled = g / (square(a) + square(b));
      if (needs[0]) result[0] = (scaled * b).id;
      if (needs[1]) result[1] = (-(scaled * a)).id;
      break;
    }
    case TN_I_MIN:
    case TN_I_MAX:
      if (needs[0]) result[0] = extreme(node.op, g, a, b, on_tensors[1]).id;
      if (needs[1]) result[1] = extreme(node.op, g, b, a, on_tensors[0]).id;
      break;
    default:  // floor_div, trunc_div
      break;
  }
  return result;
}

}  // namespace tenon
