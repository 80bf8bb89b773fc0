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
    tn_dtype& common = by_category[static_cast<int>(types[i].category)];
    common = promote_or_other(common, dtype);
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
  // Refuses arguments of this kind, which is bool or float, whichever the operation does not take.
  Status takes_no(Kind refused, const GraphNode& node, NodeType arguments) {
    if (arguments.kind != refused) return nullptr;
    const std::string place =
        node.at == UINT32_MAX ? "" : place_text(formula_.text, node.at) + ": ";
    return invalid("{}: {}'{}' takes {}, got {}", formula_.name, place, operation_name(node.op),
                   refused == Kind::kBool ? "int and float" : "bool and int",
                   kKindNames[static_cast<int>(refused)]);
  }

  Status type(NodeId id) {
    const GraphNode& node = graph_[id];
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
      case TN_I_WHERE:
        result = promote_types(argument(node, 1), argument(node, 2));
        return nullptr;
      case kClamp:
        result =
            promote_types(argument(node, 0), promote_types(argument(node, 1), argument(node, 2)));
        return nullptr;
      default:
        return node.n_args == 1 ? type_of_one(node, &result) : type_of_two(node, &result);
    }
  }

  NodeType argument(const GraphNode& node, int i) const { return typing_.nodes[node.args[i]]; }

  // An operation of one argument.
  Status type_of_one(const GraphNode& node, NodeType* result) {
    *result = argument(node, 0);
    switch (node.op) {
      case kToBool:
      case TN_I_ISNAN:
      case TN_I_ISINF:
        result->kind = Kind::kBool;
        return nullptr;
      case kToInt:
        result->kind = Kind::kInt;
        return nullptr;
      case kToElement:
        if (operand_kind_ != Kind::kFloat) TN_TRY(takes_no(Kind::kFloat, node, *result));
        *result = {operand_kind_, false};
        return nullptr;
      case TN_I_NEG:
        return takes_no(Kind::kBool, node, *result);
      case TN_I_NOT:
        return takes_no(Kind::kFloat, node, *result);
      case TN_I_ABS:
      case TN_I_SIGN:
      case TN_I_FLOOR:
      case TN_I_CEIL:
      case TN_I_ROUND:
      case TN_I_TRUNC:
        return nullptr;
      default:  // kToFloat and the functions of one float
        result->kind = Kind::kFloat;
        return nullptr;
    }
  }

  // An operation of two arguments.
  Status type_of_two(const GraphNode& node, NodeType* result) {
    *result = promote_types(argument(node, 0), argument(node, 1));
    switch (node.op) {
      case TN_I_DIV:
      case TN_I_ATAN2:
        result->kind = Kind::kFloat;
        return nullptr;
      case TN_I_SUB:
        return takes_no(Kind::kBool, node, *result);
      case TN_I_FLOORDIV:
      case kTruncDiv:
      case TN_I_REM:
      case TN_I_FMOD:
      case TN_I_POW:  // bools count as ints
        result->kind = std::max(result->kind, Kind::kInt);
        return nullptr;
      case TN_I_AND:
      case TN_I_OR:
      case TN_I_XOR:
        return takes_no(Kind::kFloat, node, *result);
      case TN_I_SHL:
      case TN_I_SHR:
        TN_TRY(takes_no(Kind::kFloat, node, *result));
        result->kind = Kind::kInt;
        return nullptr;
      case TN_I_EQ:
      case TN_I_NE:
      case TN_I_LT:
      case TN_I_LE:
      case TN_I_GT:
      case TN_I_GE:
        result->kind = Kind::kBool;
        return nullptr;
      default:  // ADD, MUL, MIN and MAX
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
