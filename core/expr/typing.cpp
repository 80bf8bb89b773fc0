// Promotion and the types of nodes: PyTorch's rules (TypeProperties.cpp of its ATen) for the
// operands together, and one walk over the formula.
#include "expr/typing.h"

#include <algorithm>

#include "expr/functions.h"
#include "tensor/dtype.h"

namespace tenon {
namespace {

const char* kKindNames[] = {"bool", "int", "float"};

tn_dtype promote_or_other(tn_dtype a, tn_dtype b) {
  if (a == TN_DTYPE_NONE) return b;
  return b == TN_DTYPE_NONE ? a : dtype_table::promote(a, b);
}

// A higher category beats a lower one of the same or a lower kind.
tn_dtype combine_categories(tn_dtype higher, tn_dtype lower) {
  if (higher == TN_DTYPE_NONE || lower == TN_DTYPE_NONE) return promote_or_other(higher, lower);
  return kind_of(higher) >= kind_of(lower) ? higher : dtype_table::promote(higher, lower);
}

template <typename TakesPart>
tn_dtype result_dtype(std::span<const OperandType> types, TakesPart&& takes_part) {
  tn_dtype by_category[3] = {TN_DTYPE_NONE, TN_DTYPE_NONE, TN_DTYPE_NONE};
  for (size_t i = 0; i < types.size(); ++i) {
    if (!takes_part(i)) continue;
    tn_dtype dtype = types[i].dtype;
    if (types[i].category == Category::kNumber && is_float(dtype)) dtype = TN_FLOAT32;
    tn_dtype& slot = by_category[static_cast<int>(types[i].category)];
    slot = promote_or_other(slot, dtype);
  }
  return combine_categories(by_category[0], combine_categories(by_category[1], by_category[2]));
}

class Typer {
 public:
  // operand_kind: of the operands that take part in promotion; kBool, the lowest, where there is
  // none.
  Typer(const Formula& formula, Typing* typing, Kind operand_kind)
      : formula_(formula), graph_(formula.graph), typing_(*typing), operand_kind_(operand_kind) {}

  Status run() {
    typing_.nodes.resize(graph_.size());
    for (NodeId id : formula_.order) TN_TRY(type(id));
    for (size_t i = 0; i < formula_.outputs.size(); ++i) {
      const NodeType result = typing_.nodes[formula_.outputs[i]];
      Kind kind = result.kind;
      // A result of numbers alone meets the operands at the end.
      if (result.weak) kind = std::max(kind, operand_kind_);
      typing_.outputs.push_back(kind == Kind::kBool  ? TN_BOOL
                                : kind == Kind::kInt ? typing_.int_dtype
                                                     : typing_.float_dtype);
    }
    return nullptr;
  }

 private:
  Status wrong_kind(const GraphNode& node, std::string_view takes, Kind got) {
    const std::string place =
        node.at == UINT32_MAX ? "" : place_text(formula_.text, node.at) + ": ";
    return invalid("{}: {}'{}' takes {}, got {}", formula_.name, place, operation_name(node.op),
                   takes, kKindNames[static_cast<int>(got)]);
  }

  Status type(NodeId id) {
    const GraphNode& node = graph_[id];
    const auto arg = [&](int i) { return typing_.nodes[node.args[i]]; };
    NodeType& result = typing_.nodes[id];
    switch (node.op) {
      case kOperand:
        result = {formula_.is_condition[node.value.i] ? Kind::kBool : operand_kind_, false};
        return nullptr;
      case kScalar:
        result = {typing_.scalars[node.value.i], true};
        return nullptr;
      case kConstant:
        result = {node.kind, true};
        return nullptr;
      case kToBool:
        result = {Kind::kBool, arg(0).weak};
        return nullptr;
      case kToInt:
        result = {Kind::kInt, arg(0).weak};
        return nullptr;
      case kToFloat:
        result = {Kind::kFloat, arg(0).weak};
        return nullptr;
      case kToElement:
        result = {operand_kind_, false};
        if (arg(0).kind != Kind::kFloat || operand_kind_ == Kind::kFloat) return nullptr;
        return wrong_kind(node, "bool and int", Kind::kFloat);
      case TN_I_NEG:
        result = arg(0);
        if (result.kind != Kind::kBool) return nullptr;
        return wrong_kind(node, "int and float", Kind::kBool);
      case TN_I_NOT:
        result = arg(0);
        if (result.kind != Kind::kFloat) return nullptr;
        return wrong_kind(node, "bool and int", Kind::kFloat);
      case TN_I_ABS:
      case TN_I_SIGN:
      case TN_I_FLOOR:
      case TN_I_CEIL:
      case TN_I_ROUND:
      case TN_I_TRUNC:
        result = arg(0);
        return nullptr;
      case TN_I_ISNAN:
      case TN_I_ISINF:
        result = {Kind::kBool, arg(0).weak};
        return nullptr;
      case TN_I_DIV:
      case TN_I_ATAN2:
        result = {Kind::kFloat, promote_types(arg(0), arg(1)).weak};
        return nullptr;
      case TN_I_SUB:
        result = promote_types(arg(0), arg(1));
        if (result.kind != Kind::kBool) return nullptr;
        return wrong_kind(node, "int and float", Kind::kBool);
      case TN_I_ADD:
      case TN_I_MUL:
      case TN_I_MIN:
      case TN_I_MAX:
        result = promote_types(arg(0), arg(1));
        return nullptr;
      case TN_I_FLOORDIV:
      case kTruncDiv:
      case TN_I_REM:
      case TN_I_FMOD:
      case TN_I_POW:  // bools count as ints
        result = promote_types(arg(0), arg(1));
        result.kind = std::max(result.kind, Kind::kInt);
        return nullptr;
      case TN_I_AND:
      case TN_I_OR:
      case TN_I_XOR:
        result = promote_types(arg(0), arg(1));
        if (result.kind != Kind::kFloat) return nullptr;
        return wrong_kind(node, "bool and int", Kind::kFloat);
      case TN_I_SHL:
      case TN_I_SHR:
        result = promote_types(arg(0), arg(1));
        if (result.kind == Kind::kFloat) return wrong_kind(node, "bool and int", Kind::kFloat);
        result.kind = Kind::kInt;
        return nullptr;
      case TN_I_EQ:
      case TN_I_NE:
      case TN_I_LT:
      case TN_I_LE:
      case TN_I_GT:
      case TN_I_GE:
        result = {Kind::kBool, promote_types(arg(0), arg(1)).weak};
        return nullptr;
      case TN_I_WHERE:
        result = promote_types(arg(1), arg(2));
        return nullptr;
      case kClamp:
        result = promote_types(arg(0), promote_types(arg(1), arg(2)));
        return nullptr;
      default:  // the functions of one float
        result = {Kind::kFloat, arg(0).weak};
        return nullptr;
    }
  }

  const Formula& formula_;
  const Graph& graph_;
  Typing& typing_;
  Kind operand_kind_;
};

// In-place outputs keep their operand's dtype.
Status fit_inplace(const Formula& formula, std::span<const OperandType> types, Typing* typing) {
  for (size_t i = 0; i < formula.outputs.size(); ++i) {
    const int32_t operand = formula.inplace[i];
    if (operand < 0) continue;
    const OperandType& target = types[operand];
    if (target.category == Category::kNumber) {
      return invalid("{}: argument '{}' is written in place and must be a Tensor, not a number",
                     formula.name, formula.operands[operand]);
    }
    const Kind from = kind_of(typing->outputs[i]), to = kind_of(target.dtype);
    if (from > to) {
      return invalid("{}: the result is {}, which cannot be written into '{}' of dtype {} in place",
                     formula.name, dtype_name(typing->outputs[i]), formula.operands[operand],
                     dtype_name(target.dtype));
    }
    typing->outputs[i] = target.dtype;
  }
  return nullptr;
}

}  // namespace

NodeType promote_types(NodeType a, NodeType b) {
  return {std::max(a.kind, b.kind), a.weak && b.weak};
}

Status type_formula(const Formula& formula, std::span<const OperandType> all_types,
                    Typing* typing) {
  const std::span<const OperandType> types = all_types.first(formula.n_operands);
  std::span<const OperandType> numbers = all_types.subspan(formula.n_operands);
  for (Type type : formula.scalars) {
    Kind kind = type == Type::kBool ? Kind::kBool : type == Type::kInt ? Kind::kInt : Kind::kFloat;
    if (type == Type::kNumber && !numbers.empty()) {
      kind = kind_of(numbers.front().dtype);
      numbers = numbers.subspan(1);
    }
    typing->scalars.push_back(kind);
  }
  const auto is_value = [&](size_t i) { return !formula.is_condition[i]; };
  tn_dtype common = result_dtype(types, is_value);
  const bool has_values = common != TN_DTYPE_NONE;
  typing->float_dtype = has_values && is_float(common) ? common : TN_FLOAT32;
  typing->int_dtype = has_values && kind_of(common) == Kind::kInt ? common : TN_INT64;
  typing->float_register = typing->float_dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32;
  if (!has_values) common = result_dtype(types, [](size_t) { return true; });
  typing->common = common == TN_DTYPE_NONE ? TN_FLOAT32 : common;
  TN_TRY(Typer(formula, typing, has_values ? kind_of(common) : Kind::kBool).run());
  return fit_inplace(formula, types, typing);
}

}  // namespace tenon
