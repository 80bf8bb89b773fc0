// Lowering, node by node.
#include "expr/lower.h"

#include <algorithm>

#include "tensor/dtype.h"

namespace tenon {
namespace {

class Lowering {
 public:
  Lowering(const Formula& formula, std::span<const OperandType> types, const Typing& typing)
      : formula_(formula),
        graph_(formula.graph),
        types_(types),
        typing_(typing),
        float_(static_cast<uint8_t>(typing.float_register)) {
    for (const OperandType& type : types) {
      indices_.push_back(type.as_param ? static_cast<uint32_t>(result_.params_are_float.size())
                                       : result_.n_inputs++);
      if (type.as_param) result_.params_are_float.push_back(is_float(type.dtype));
    }
    first_scalar_ = static_cast<uint32_t>(result_.params_are_float.size());
    for (Kind kind : typing.scalars) result_.params_are_float.push_back(kind == Kind::kFloat);
  }

  Lowered run() {
    choose_params();
    values_.assign(graph_.size(), 0);
    for (NodeId id : formula_.order) values_[id] = lower_node(id);
    for (size_t i = 0; i < formula_.outputs.size(); ++i) result_.outputs.push_back(output(i));
    ParamChecks& checks = result_.checks;
    checks.any = checks.exponents | checks.least | checks.greatest | checks.elements;
    checks.int_dtype = typing_.int_dtype;
    return std::move(result_);
  }

 private:
  static constexpr uint8_t kDouble = TN_FLOAT64, kLong = TN_INT64, kBoolean = TN_BOOL;
  using Args = std::initializer_list<uint32_t>;

  uint32_t emit(uint16_t opcode, uint8_t dtype, Args args, uint8_t flags = 0,
                uint64_t immediate = 0) {
    Value value{opcode, dtype, flags, static_cast<uint8_t>(args.size()), {}, immediate};
    std::copy(args.begin(), args.end(), value.args.begin());
    return result_.values.intern(value);
  }
  uint32_t constant_float(double value) {
    // Programs hold doubles; a float32 register rounds them.
    return emit(TN_I_CONST, float_, {}, 0, std::bit_cast<uint64_t>(value));
  }
  uint8_t register_of(Kind kind) const {
    return kind == Kind::kBool ? kBoolean : kind == Kind::kInt ? kLong : float_;
  }

  uint32_t cast(uint32_t value, uint8_t to) {
    const uint8_t from = result_.values[value].register_type();
    return from == to ? value : emit(TN_I_CAST, to, {value}, from);
  }
  uint32_t wrap(uint32_t value) {
    if (!typing_.is_narrow()) return value;
    const Value& number = result_.values[value];
    if (number.opcode != TN_I_CONST) {
      return emit(TN_I_CAST, static_cast<uint8_t>(typing_.int_dtype), {value}, kLong);
    }
    const int64_t narrow =
        dtype_table::wrap(typing_.int_dtype, static_cast<int64_t>(number.immediate));
    return emit(TN_I_CONST, kLong, {}, 0, static_cast<uint64_t>(narrow));
  }

  // Int and bool params that only floats use are read as floats, so that no element converts them.
  void choose_params() {
    std::vector<uint8_t> other_use(formula_.scalars.size()), float_use(formula_.scalars.size());
    for (NodeId id : formula_.order) {
      const GraphNode& node = graph_[id];
      for (int i = 0; i < node.n_args; ++i) {
        const GraphNode& argument = graph_[node.args[i]];
        if (argument.op != kScalar) continue;
        (wanted_kind(id, i) == Kind::kFloat ? float_use : other_use)[argument.value.i] = 1;
      }
    }
    for (size_t i = 0; i < formula_.outputs.size(); ++i) {
      const GraphNode& node = graph_[formula_.outputs[i]];
      if (node.op == kScalar)
        (is_float(typing_.outputs[i]) ? float_use : other_use)[node.value.i] = 1;
    }
    for (size_t i = 0; i < formula_.scalars.size(); ++i) {
      if (float_use[i] && !other_use[i]) result_.params_are_float[first_scalar_ + i] = 1;
    }
  }

  // The kind in which node `id` reads its i-th argument.
  Kind wanted_kind(NodeId id, int i) const {
    const GraphNode& node = graph_[id];
    const Kind own = typing_.nodes[node.args[i]].kind;
    switch (node.op) {
      case kToBool:
      case kToInt:
        return own;
      case kToFloat:
        return Kind::kFloat;
      case TN_I_WHERE:
        return i == 0 ? Kind::kBool : typing_.nodes[id].kind;
      case TN_I_EQ:
      case TN_I_NE:
      case TN_I_LT:
      case TN_I_LE:
      case TN_I_GT:
      case TN_I_GE:
        return std::max(typing_.nodes[node.args[0]].kind, typing_.nodes[node.args[1]].kind);
      case TN_I_ISNAN:
      case TN_I_ISINF:
        return own;
      default:
        return typing_.nodes[id].kind;
    }
  }

  // The value of a node in the register of `kind`. `narrow`: as the program's integer dtype, where
  // it is still a free number.
  uint32_t read(NodeId id, Kind kind, bool narrow = false) {
    const GraphNode& node = graph_[id];
    const NodeType type = typing_.nodes[id];
    uint32_t value = values_[id];
    if (node.op == kConstant && kind != type.kind) {
      const double number = graph_.constant_or(id, 0);
      value = kind == Kind::kFloat ? constant_float(number)
                                   : emit(TN_I_CONST, kLong, {}, 0, node.bits());
    }
    value = cast(value, register_of(kind));
    if (kind != Kind::kInt || type.kind != Kind::kInt) return value;
    if (narrow && node.op == kScalar) note_element(first_scalar_ + uint32_t(node.value.i));
    return (narrow && type.weak) || is_wide(node) ? wrap(value) : value;
  }
  // As PyTorch: a scalar of the call, and a number that `where` chooses, must be an element of the
  // dtype; a number in the place of a tensor wraps.
  void note_element(uint32_t param) {
    if (typing_.is_narrow()) result_.checks.elements |= 1u << param;
  }
  void note_choice(NodeId id) {
    const GraphNode& node = graph_[id];
    if (node.op != kOperand || types_[node.value.i].category != Category::kNumber) return;
    if (typing_.nodes[id].kind == Kind::kInt) note_element(indices_[node.value.i]);
  }
  // An operand that may be beyond the program's integer dtype: a number, or a tensor without
  // dimensions of a larger dtype. Who computes in floats reads it as it is, so 100 / 300 of uint8
  // is a third.
  bool is_wide(const GraphNode& node) const {
    if (node.op != kOperand) return false;
    return !dtype_table::holds(typing_.int_dtype, types_[node.value.i].dtype);
  }
  uint32_t argument(NodeId id, int i) {
    return read(graph_[id].args[i], wanted_kind(id, i), !typing_.nodes[id].weak);
  }

  uint32_t lower_node(NodeId id) {
    const GraphNode& node = graph_[id];
    const NodeType type = typing_.nodes[id];
    const uint8_t reg = register_of(type.kind);
    const auto arg = [&](int i) { return argument(id, i); };
    switch (node.op) {
      case kOperand:
        return operand(node.value.i, type.kind);
      case kScalar: {
        const uint32_t param = first_scalar_ + static_cast<uint32_t>(node.value.i);
        return emit(TN_I_PARAM, result_.params_are_float[param] ? float_ : reg, {}, 0, param);
      }
      case kConstant:
        return type.kind == Kind::kFloat ? constant_float(node.value.f)
                                         : emit(TN_I_CONST, reg, {}, 0, node.bits());
      case kToBool:
      case kToFloat:
      case kToElement:
        return cast(arg(0), reg);
      case kToInt: {
        const uint32_t whole = cast(arg(0), kLong);
        return type.weak ? whole : wrap(whole);
      }
      case TN_I_ISNAN:
      case TN_I_ISINF:
        if (typing_.nodes[node.args[0]].kind != Kind::kFloat)
          return emit(TN_I_CONST, kBoolean, {}, 0, 0);
        return emit(node.op, kBoolean, {arg(0)}, float_);
      case TN_I_EQ:
      case TN_I_NE:
      case TN_I_LT:
      case TN_I_LE:
      case TN_I_GT:
      case TN_I_GE:
        return comparison(id);
      case TN_I_WHERE:
        if (type.kind == Kind::kInt) {
          note_choice(node.args[1]);
          note_choice(node.args[2]);
        }
        return emit(node.op, reg, {arg(0), arg(1), arg(2)});
      case kSigmoid:
        return sigmoid(arg(0));
      case kClamp: {
        const uint32_t raised = extreme(TN_I_MAX, type.kind, arg(0), bound(id, 1, TN_I_MAX));
        return extreme(TN_I_MIN, type.kind, raised, bound(id, 2, TN_I_MIN));
      }
      case kTruncDiv:
        return trunc_div(id);
      case TN_I_MIN:
      case TN_I_MAX:
        return extreme(node.op, type.kind, bound(id, 0, node.op), bound(id, 1, node.op));
      case TN_I_POW:
        return power(id);
      default:
        return same_kind(id);
    }
  }

  // An instruction whose arguments are of its result's kind. Bools are added and multiplied by
  // logic, and what changes no whole number is left out.
  uint32_t same_kind(NodeId id) {
    const GraphNode& node = graph_[id];
    const NodeType type = typing_.nodes[id];
    const uint8_t reg = register_of(type.kind);
    const bool leaps = node.op == TN_I_REM || node.op == TN_I_FMOD;
    const auto arg = [&](int i) {
      const uint32_t value = argument(id, i);
      return leaps ? as_stored(node.args[i], node.args[1 - i], type.kind, value) : value;
    };
    if (type.kind == Kind::kBool && (node.op == TN_I_ADD || node.op == TN_I_MUL)) {
      return emit(node.op == TN_I_ADD ? TN_I_OR : TN_I_AND, kBoolean, {arg(0), arg(1)});
    }
    const bool is_whole = type.kind != Kind::kFloat;
    const bool rounds = node.op >= TN_I_FLOOR && node.op <= TN_I_TRUNC;
    const bool keeps_bool =
        type.kind == Kind::kBool && (node.op == TN_I_ABS || node.op == TN_I_SIGN);
    if ((rounds && is_whole) || keeps_bool) return arg(0);
    const uint32_t value =
        node.n_args == 1 ? emit(node.op, reg, {arg(0)}) : emit(node.op, reg, {arg(0), arg(1)});
    return can_overflow(node.op) ? wrapped(value, type) : value;
  }

  // 1 / (1 + exp(-x))
  uint32_t sigmoid(uint32_t x) {
    const uint32_t one = constant_float(1),
                   power = emit(TN_I_EXP, float_, {emit(TN_I_NEG, float_, {x})});
    return emit(TN_I_DIV, float_, {one, emit(TN_I_ADD, float_, {one, power})});
  }

  uint32_t trunc_div(NodeId id) {
    const NodeType type = typing_.nodes[id];
    const uint8_t reg = register_of(type.kind);
    const uint32_t x = argument(id, 0), y = argument(id, 1);
    if (type.kind == Kind::kFloat) return emit(TN_I_TRUNC, reg, {emit(TN_I_DIV, reg, {x, y})});
    // What fmod leaves is divisible, so that no quotient is rounded. By 0 it is 0.
    const uint32_t whole = wrapped(emit(TN_I_SUB, reg, {x, emit(TN_I_FMOD, reg, {x, y})}), type);
    return wrapped(emit(TN_I_FLOORDIV, reg, {whole, y}), type);
  }

  // Numbers are compared as they are, and not wrapped to a narrow dtype.
  uint32_t comparison(NodeId id) {
    const GraphNode& node = graph_[id];
    const Kind kind = wanted_kind(id, 0);
    const auto side = [&](int i) {
      return as_stored(node.args[i], node.args[1 - i], kind, read(node.args[i], kind));
    };
    return emit(node.op, kBoolean, {side(0), side(1)}, register_of(kind));
  }

  // An operand where the smallest difference counts: a number beside halves is rounded to one, so
  // half(0.1) == 0.1, and so is a tensor of integers, or one without dimensions of another float
  // dtype, beside a tensor of halves itself.
  uint32_t as_stored(NodeId id, NodeId beside, Kind kind, uint32_t value) {
    const GraphNode& node = graph_[id];
    if (kind != Kind::kFloat || node.op != kOperand || !is_half(typing_.float_dtype)) return value;
    if (types_[node.value.i].category != Category::kNumber &&
        (is_stored_half(node) || !is_stored_half(graph_[beside])))
      return value;
    return emit(TN_I_CAST, static_cast<uint8_t>(typing_.float_dtype), {value}, float_);
  }

  bool is_stored_half(const GraphNode& node) const {
    return node.op == kOperand && types_[node.value.i].category != Category::kNumber &&
           types_[node.value.i].dtype == typing_.float_dtype;
  }

  uint32_t wrapped(uint32_t value, NodeType type) {
    return type.kind == Kind::kInt && !type.weak ? wrap(value) : value;
  }
  static bool can_overflow(uint16_t op) {
    return op == TN_I_NEG || op == TN_I_ABS || op == TN_I_NOT || op == TN_I_ADD || op == TN_I_SUB ||
           op == TN_I_MUL || op == TN_I_FLOORDIV || op == TN_I_POW || op == TN_I_SHL;
  }

  uint32_t extreme(uint16_t op, Kind kind, uint32_t a, uint32_t b) {
    if (kind == Kind::kBool) return emit(op == TN_I_MIN ? TN_I_AND : TN_I_OR, kBoolean, {a, b});
    return emit(op, register_of(kind), {a, b});
  }

  // Argument i of a max or min. A number is compared as it is, so max(x, -1) of uint8 is x. One
  // that leaves nothing of x's dtype is wrapped where it is a literal, and refused where the call
  // has it.
  uint32_t bound(NodeId id, int i, uint16_t op) {
    const NodeId at = graph_[id].args[i];
    const GraphNode& number = graph_[at];
    const NodeType type = typing_.nodes[id];
    const bool is_free = typing_.nodes[at].weak && !type.weak && type.kind == Kind::kInt;
    if (!is_free || !typing_.is_narrow()) return argument(id, i);
    if (number.op == kScalar) {
      const uint32_t bit = 1u << (first_scalar_ + static_cast<uint32_t>(number.value.i));
      (op == TN_I_MAX ? result_.checks.greatest : result_.checks.least) |= bit;
      return read(at, Kind::kInt);
    }
    const auto [least, greatest] = dtype_table::int_range(typing_.int_dtype);
    const double n = graph_.constant_or(at, 0);
    const bool fits =
        op == TN_I_MAX ? n <= static_cast<double>(greatest) : n >= static_cast<double>(least);
    return graph_.is_constant(at) && fits ? read(at, Kind::kInt) : argument(id, i);
  }

  uint32_t operand(int64_t i, Kind kind) {
    const OperandType& type = types_[i];
    if (!type.as_param) return emit(TN_I_LOAD, register_of(kind), {}, 0, indices_[i]);
    // As it comes; a condition in full, before it is compared with 0.
    const Kind own = kind_of(type.dtype);
    const bool is_full = own == Kind::kFloat && formula_.is_condition[i];
    return cast(emit(TN_I_PARAM, is_full ? kDouble : register_of(own), {}, 0, indices_[i]),
                register_of(kind));
  }

  void note_exponent(const GraphNode& exponent) {
    const auto i = static_cast<size_t>(exponent.value.i);
    if (exponent.op == kScalar) result_.checks.exponents |= 1u << (first_scalar_ + i);
    if (exponent.op == kOperand && types_[i].category == Category::kNumber) {
      result_.checks.exponents |= 1u << indices_[i];
    }
  }

  uint32_t power(NodeId id) {
    const NodeType type = typing_.nodes[id];
    const uint8_t reg = register_of(type.kind);
    const NodeId exponent = graph_[id].args[1];
    const double n = graph_.is_constant(exponent) ? graph_.constant_or(exponent, 0) : 4;
    const bool is_float = type.kind == Kind::kFloat;
    if (!is_float) note_exponent(graph_[exponent]);
    if (!is_simple_power(n) || (!is_float && n < 0)) {
      return wrapped(emit(TN_I_POW, reg, {argument(id, 0), read(exponent, type.kind)}), type);
    }
    const auto one = [&] {
      return is_float ? constant_float(1) : emit(TN_I_CONST, kLong, {}, 0, 1);
    };
    if (n == 0) return one();
    const uint32_t x = argument(id, 0);
    const auto square = [&] { return wrapped(emit(TN_I_MUL, reg, {x, x}), type); };
    if (n == 1) return x;
    if (n == 2) return square();
    if (n == 3) return wrapped(emit(TN_I_MUL, reg, {square(), x}), type);
    const uint32_t root_or_power = n == -1 ? x : n == -2 ? square() : emit(TN_I_SQRT, float_, {x});
    return n == 0.5 ? root_or_power : emit(TN_I_DIV, float_, {one(), root_or_power});
  }

  // In the register type that belongs to the output's dtype.
  uint32_t output(size_t i) {
    const tn_dtype dtype = typing_.outputs[i];
    const Kind kind = kind_of(dtype);
    const uint32_t value = read(formula_.outputs[i], kind, /*narrow=*/true);
    return kind == Kind::kFloat ? cast(value, dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32)
                                : value;
  }

  const Formula& formula_;
  const Graph& graph_;
  std::span<const OperandType> types_;
  const Typing& typing_;
  const uint8_t float_;            // the float register type
  std::vector<uint32_t> indices_;  // per operand: its input or its param
  uint32_t first_scalar_ = 0;
  std::vector<uint32_t> values_;  // per node
  Lowered result_;
};

}  // namespace

Lowered lower(const Formula& formula, std::span<const OperandType> types, const Typing& typing) {
  return Lowering(formula, types.first(formula.n_operands), typing).run();
}

}  // namespace tenon
