// Text to Formula: names, precedence, constants, `let`, stated derivatives. Types are checked
// later, when dtypes are known.
#pragma once

#include <string_view>

#include "base/status.h"
#include "expr/graph.h"
#include "schema/schema.h"

namespace tenon {

// Formulas are limited, since they come from strangers: in length, in depth of nesting, and in
// operands.
inline constexpr size_t kMaxFormulaText = 8192;
inline constexpr int kMaxFormulaDepth = 200;
inline constexpr uint32_t kMaxFormulaOperands = 16;

// Operands, scalars and in-place outputs from the schema; refuses what an expression cannot have.
[[nodiscard]] Status read_schema(const Schema& schema, Formula* formula);

[[nodiscard]] Status parse_formula(const Schema& schema, std::string_view text, Formula* formula);

}  // namespace tenon
