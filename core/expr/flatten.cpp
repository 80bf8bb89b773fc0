// Liveness and linear-scan registers. Values are numbered in an order in which arguments precede
// users, so one walk schedules.
#include "expr/flatten.h"

#include <algorithm>

namespace tenon {
namespace {

constexpr size_t kMaxProgram = UINT16_MAX;

class Flattener {
 public:
  Flattener(const Lowered& lowered, FlatProgram* flat)
      : values_(lowered.values), outputs_(lowered.outputs), flat_(*flat) {}

  Status run(const std::string& name) {
    count_uses();
    registers_.assign(values_.size(), 0);
    const auto n_live =
        values_.size() - static_cast<size_t>(std::count(uses_.begin(), uses_.end(), 0u));
    if (n_live + outputs_.size() > kMaxProgram) {
      return error(TN_UNSUPPORTED, "{}: the program would have {} instructions, at most {} fit",
                   name, n_live + outputs_.size(), kMaxProgram);
    }
    for (bool leaves : {true, false}) {
      for (uint32_t id = 0; id < values_.size(); ++id) {
        if (uses_[id] != 0 && values_[id].is_leaf() == leaves) emit(id);
      }
      // Stores of leaves wait until all are loaded: an output may be an input's memory.
      for (uint32_t id = 0; leaves && id < values_.size(); ++id) {
        if (uses_[id] != 0 && values_[id].is_leaf()) store(id);
      }
    }
    return nullptr;
  }

 private:
  void count_uses() {
    uses_.assign(values_.size(), 0);
    for (uint32_t id : outputs_) ++uses_[id];
    for (uint32_t id = values_.size(); id-- > 0;) {
      if (uses_[id] == 0) continue;
      for (uint32_t i = 0; i < values_[id].n_args; ++i) ++uses_[values_[id].args[i]];
    }
  }

  uint16_t take_register() {
    if (free_.empty()) return static_cast<uint16_t>(flat_.n_registers++);
    const uint16_t taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void end_use(uint32_t id) {
    if (--uses_[id] == 0) free_.push_back(registers_[id]);
  }

  void emit(uint32_t id) {
    const Value& value = values_[id];
    tn_instruction instruction{};
    instruction.opcode = value.opcode;
    instruction.dtype = value.dtype;
    instruction.flags = value.flags;
    if (value.opcode == TN_I_CONST) {
      instruction.a = static_cast<uint16_t>(flat_.constants.size());
      flat_.constants.push_back(tn_scalar{.i = static_cast<int64_t>(value.immediate)});
    } else if (value.is_leaf()) {
      instruction.a = static_cast<uint16_t>(value.immediate);
    }
    uint16_t* const fields[3] = {&instruction.a, &instruction.b, &instruction.c};
    const auto in_place = [&](uint32_t argument) {
      return values_[argument].register_type() == value.register_type();
    };
    for (uint32_t i = 0; i < value.n_args; ++i) {
      *fields[i] = registers_[value.args[i]];
      if (in_place(value.args[i])) end_use(value.args[i]);
    }
    registers_[id] = instruction.dst = take_register();
    for (uint32_t i = 0; i < value.n_args; ++i) {
      if (!in_place(value.args[i])) end_use(value.args[i]);
    }
    flat_.instructions.push_back(instruction);
    if (!value.is_leaf()) store(id);
  }

  void store(uint32_t id) {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i] != id) continue;
      tn_instruction instruction{};
      instruction.opcode = TN_I_STORE;
      instruction.dtype = values_[id].register_type();
      instruction.a = registers_[id];
      instruction.b = static_cast<uint16_t>(i);
      flat_.instructions.push_back(instruction);
      end_use(id);
    }
  }

  const Interner<Value>& values_;
  const std::vector<uint32_t>& outputs_;
  FlatProgram& flat_;
  std::vector<uint32_t> uses_;  // that are still to come, per value
  std::vector<uint16_t> registers_;
  std::vector<uint16_t> free_;
};

}  // namespace

Status flatten(const std::string& name, const Lowered& lowered, FlatProgram* flat) {
  return Flattener(lowered, flat).run(name);
}

}  // namespace tenon
