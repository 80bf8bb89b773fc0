// A typed formula as a list of values in the register types of abi.h: every conversion is explicit,
// integers narrower than int64 are wrapped, the language's own operations are expanded. The step
// between typing and the flat program.
#pragma once

#include <vector>

#include "expr/interner.h"
#include "expr/typing.h"
#include "tensor/dtype.h"

namespace tenon {

// An instruction whose operands are values, not registers yet. `immediate`: bits of a constant;
// index of an input or param.
struct Value {
  uint16_t opcode = 0;
  uint8_t dtype = 0;
  uint8_t flags = 0;
  uint8_t n_args = 0;
  std::array<uint32_t, 3> args{};
  uint64_t immediate = 0;

  bool is_leaf() const { return opcode <= TN_I_CONST; }
  // CASTs to narrow integers stay in an int64 register.
  uint8_t register_type() const { return static_cast<uint8_t>(dtype_table::register_type(dtype)); }
  bool operator==(const Value&) const = default;
  size_t hash() const {
    const uint64_t head =
        opcode | (uint64_t{dtype} << 16) | (uint64_t{flags} << 24) | (uint64_t{args[2]} << 32);
    return mix(mix(head, immediate), args[0] | (uint64_t{args[1]} << 32));
  }
};

struct Lowered {
  Interner<Value> values;
  std::vector<uint32_t> outputs;  // per output: the value that it stores
  std::vector<uint8_t> params_are_float;
  ParamChecks checks;
  uint32_t n_inputs = 0;
};

// types as type_formula takes them.
Lowered lower(const Formula& formula, std::span<const OperandType> types, const Typing& typing);

}  // namespace tenon
