// Reads a program into a graph, checks it on the way, and marks what a STORE reaches.
#include "programs/graph.h"

#include <algorithm>

namespace tenon::cpu_backend {

RegisterType type_of(tn_dtype dtype) {
  switch (dtype_table::register_type(dtype)) {
    case TN_FLOAT32:
      return kF32;
    case TN_FLOAT64:
      return kF64;
    case TN_BOOL:
      return kBool;
    default:
      return kI64;
  }
}

bool is_native(tn_dtype dtype, RegisterType type) {
  constexpr tn_dtype kNative[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_BOOL};
  return kNative[type] == dtype;
}

namespace {

class Reader {
 public:
  Reader(const tn_host* host, const tn_program& program, const Plan& plan, Graph* graph)
      : host_(host),
        program_(program),
        plan_(plan),
        graph_(*graph),
        registers_(program.n_registers, kNone) {}

  void run() {
    n_outputs_ = plan_.mode == kResult ? 0 : program_.n_outputs;
    if (plan_.n_operands != n_outputs_ + program_.n_inputs) {
      return malformed("operand counts differ");
    }
    for (uint32_t i = 0; i < program_.n_instructions; ++i) {
      read(program_.instructions[i]);
    }
    mark_live();
    return;
  }

 private:
  void malformed(const char* why) {
    check(error(host_, TN_INTERNAL, "cpu: malformed program %llu: %s",
                static_cast<unsigned long long>(program_.id), why));
  }

  int add_value(Value value) {
    graph_.values.push_back(value);
    return static_cast<int>(graph_.values.size()) - 1;
  }
  bool is(int value, RegisterType type) {
    return value != kNone && graph_.values[value].type == type;
  }
  int reg(uint16_t r) { return r < registers_.size() ? registers_[r] : kNone; }

  int add_node(Node node, RegisterType type, bool varies = false) {
    bool scalar = !varies;
    for (const int operand : {node.a, node.b, node.c}) {
      scalar = scalar && (operand == kNone || graph_.values[operand].scalar);
    }
    node.d = add_value({Value::kNode, type, scalar, static_cast<int>(graph_.nodes.size())});
    graph_.nodes.push_back(node);
    return node.d;
  }

  void read(const tn_instruction& in) {
    if (in.opcode == TN_I_STORE) {
      if (reg(in.a) == kNone || in.b >= program_.n_outputs) {
        return malformed("STORE of nothing");
      }
      graph_.stores.push_back({reg(in.a), in.b, static_cast<int>(graph_.nodes.size())});
      return;
    }
    int value = kNone;
    switch (in.opcode) {
      case TN_I_LOAD:
        read_load(in, &value);
        break;
      case TN_I_PARAM:
        value = in.a < program_.n_params ? add_value({Value::kParam, type_of(in.dtype), true, in.a})
                                         : kNone;
        break;
      case TN_I_CONST:
        value = in.a < program_.n_constants
                    ? add_value({Value::kConstant, type_of(in.dtype), true, in.a})
                    : kNone;
        break;
      case TN_I_MOVE:
        value = reg(in.a);
        break;
      case TN_I_CAST:
        read_cast(in, &value);
        break;
      case TN_I_WHERE:
        read_where(in, &value);
        break;
      default:
        read_operation(in, &value);
    }
    if (value == kNone || in.dst >= registers_.size()) {
      return malformed("an operand or register is not there");
    }
    registers_[in.dst] = value;
    return;
  }

  void read_load(const tn_instruction& in, int* value) {
    if (in.a >= program_.n_inputs) {
      return malformed("LOAD of no operand");
    }
    const int operand = static_cast<int>(n_outputs_) + in.a;
    const uint8_t key = plan_.keys[operand];
    const RegisterType type = type_of(in.dtype);
    for (const auto& [loaded, from] : loads_) {
      if (from == operand && graph_.values[loaded].type == type) {
        *value = loaded;
        return;
      }
    }
    const bool scalar = access_of(key) == kBroadcast;
    const bool in_memory = is_native(dtype_of(key), type) && access_of(key) != kStrided;
    if (in_memory && (scalar || plan_.mode != kInPlace)) {
      *value = add_value({Value::kOperand, type, scalar, operand});
    } else {
      *value = add_node({Node::kLoad, in.opcode, dtype_of(key), operand, kNone, kNone, kNone}, type,
                        !scalar);
    }
    loads_.push_back({*value, operand});
    return;
  }

  void read_cast(const tn_instruction& in, int* value) {
    const RegisterType from = type_of(in.flags);
    if (!is(reg(in.a), from) || in.dtype >= TN_N_DTYPES) {
      return malformed("operand of CAST");
    }
    *value = is_native(in.dtype, from)
                 ? reg(in.a)
                 : add_node({Node::kCast, in.opcode, in.dtype, kNone, reg(in.a), kNone, kNone},
                            type_of(in.dtype));
    return;
  }

  void read_where(const tn_instruction& in, int* value) {
    const RegisterType type = type_of(in.dtype);
    if (!is(reg(in.a), kBool) || !is(reg(in.b), type) || !is(reg(in.c), type)) {
      return malformed("operands of WHERE");
    }
    *value =
        add_node({Node::kWhere, in.opcode, in.dtype, kNone, reg(in.a), reg(in.b), reg(in.c)}, type);
    return;
  }

  void read_operation(const tn_instruction& in, int* value) {
    if (in.opcode >= TN_N_INSTRUCTIONS) {
      check(error(host_, TN_UNSUPPORTED, "cpu: unknown instruction %d", in.opcode));
    }
    const bool tests = (in.opcode >= TN_I_EQ && in.opcode <= TN_I_GE) || in.opcode == TN_I_ISNAN ||
                       in.opcode == TN_I_ISINF;
    const RegisterType type = type_of(tests ? in.flags : in.dtype);
    const bool is_binary = table().binary[in.opcode][type][kVV] != nullptr;
    if (!is_binary && !table().unary[in.opcode][type]) {
      constexpr const char* kTypes[] = {"float32", "float64", "int64", "bool"};
      check(error(host_, TN_UNSUPPORTED, "cpu: instruction %d is not there for %s", in.opcode,
                  kTypes[type]));
    }
    if (!is(reg(in.a), type) || (is_binary && !is(reg(in.b), type))) {
      return malformed("operand types differ");
    }
    *value = add_node({is_binary ? Node::kBinary : Node::kUnary, in.opcode, in.dtype, kNone,
                       reg(in.a), is_binary ? reg(in.b) : kNone, kNone},
                      tests ? kBool : type);
    return;
  }

  void mark(int value, int reader) {
    if (value == kNone) {
      return;
    }
    Value& v = graph_.values[value];
    v.last_use = std::max(v.last_use, reader);
    if (v.origin == Value::kNode) {
      graph_.nodes[v.index].live = true;
    }
  }
  void mark_live() {
    for (const Store& store : graph_.stores) {
      mark(store.value, store.node);
    }
    for (int n = static_cast<int>(graph_.nodes.size()) - 1; n >= 0; --n) {
      const Node& node = graph_.nodes[n];
      if (node.live) {
        mark(node.a, n);
        mark(node.b, n);
        mark(node.c, n);
      }
    }
  }

  const tn_host* host_;
  const tn_program& program_;
  const Plan& plan_;
  Graph& graph_;
  uint32_t n_outputs_ = 0;
  std::vector<int> registers_;
  std::vector<std::pair<int, int>> loads_;  // value, operand
};

}  // namespace

void read_graph(const tn_host* host, const tn_program& program, const Plan& plan, Graph* graph) {
  return Reader(host, program, plan, graph).run();
}

}  // namespace tenon::cpu_backend
