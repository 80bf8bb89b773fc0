// Values to a tn_program: their order, their registers, their stores.
#pragma once

#include <vector>

#include "base/status.h"
#include "expr/lower.h"

namespace tenon {

struct FlatProgram {
  std::vector<tn_instruction> instructions;
  std::vector<tn_scalar> constants;
  uint32_t n_registers = 0;
};

// LOADs, PARAMs and CONSTs come first, each STORE as soon as its value is there, dead values not at
// all. Registers are reused as soon as they are free (linear scan); an operand's own register only
// by a result of the same register type, so that an evaluator over tiles may work in place.
[[nodiscard]] Status flatten(const std::string& name, const Lowered& lowered, FlatProgram* flat);

}  // namespace tenon
