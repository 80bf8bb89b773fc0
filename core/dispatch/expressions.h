// Expressions by text, parsed once and shared: host->expression, and the formulas of the core
// itself.
#pragma once

#include <memory>

#include "expr/expression.h"

struct tn_expression {
  std::unique_ptr<tenon::Expression> expression;
};

namespace tenon {

// Lives as long as the process. Thread-safe.
[[nodiscard]] Status intern_expression(const char* schema, const char* formula,
                                       const tn_expression** expression);

// For formulas of the core, which are right: throws StatusException.
const Expression& formula(const char* schema, const char* text);

}  // namespace tenon
