// What follows from an op's schema, and from its formula.
#include <algorithm>

#include "registry/registry.h"

namespace tenon {

void set_schema(Op* op, Schema schema) {
  op->schema = std::move(schema);
  if (op->name.empty()) op->name = op->schema.name;
  for (size_t i = 0; i < op->schema.arguments.size(); ++i) {
    const Argument& argument = op->schema.arguments[i];
    if (argument.written) op->written |= uint64_t{1} << i;
    op->defaults.push_back(argument.default_value);
    if (!argument.has_default) op->n_required = static_cast<uint32_t>(i + 1);
  }
  op->n_direct = static_cast<uint32_t>(op->schema.arguments.size());
  op->inplace = std::any_of(op->schema.returns.begin(), op->schema.returns.end(),
                            [](const Argument& result) { return result.written; });
  // Views share memory with halves, and a list that is written is a model's.
  const auto is_view = [](const Argument& result) { return result.alias != 0 && !result.written; };
  const auto is_written_list = [](const Argument& argument) {
    return argument.written && argument.list;
  };
  op->widens =
      op->kind == OpKind::kDecomposition && (op->flags & TN_OP_KEEPS_HALVES) == 0 &&
      std::none_of(op->schema.returns.begin(), op->schema.returns.end(), is_view) &&
      std::none_of(op->schema.arguments.begin(), op->schema.arguments.end(), is_written_list);
}

Status set_expression(Op* op, std::shared_ptr<const Expression> expression) {
  op->kind = OpKind::kExpression;
  TN_TRY(map_operands(*expression, op->schema, &op->map));
  op->expression = std::move(expression);
  return nullptr;
}

}  // namespace tenon
