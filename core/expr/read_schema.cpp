// What a formula takes from its schema.
#include <algorithm>

#include "expr/functions.h"
#include "expr/parse.h"

namespace tenon {

Status read_schema(const Schema& schema, Formula* formula) {
  const std::string& name = schema.name;
  std::vector<const Argument*> operands;
  for (const Argument& argument : schema.arguments) {
    if (!is_free_name(argument.name)) {
      return invalid("{}: argument '{}' means something else in expressions", name, argument.name);
    }
    const bool is_number = argument.type == Type::kInt || argument.type == Type::kFloat ||
                           argument.type == Type::kBool || argument.type == Type::kNumber;
    if (argument.list || argument.optional || (argument.type != Type::kTensor && !is_number)) {
      return invalid(
          "{}: argument '{}' is {}; an expression takes Tensor, int, float, bool and number", name,
          argument.name, argument_type_text(argument));
    }
    if (is_number) {
      formula->scalars.push_back(argument.type);
      formula->scalar_names.push_back(argument.name);
    } else {
      operands.push_back(&argument);
      formula->operands.push_back(argument.name);
    }
  }
  if (operands.size() > kMaxFormulaOperands) {
    return invalid("{}: {} Tensor arguments, an expression takes at most {}", name, operands.size(),
                   kMaxFormulaOperands);
  }
  formula->n_operands = static_cast<uint32_t>(operands.size());
  formula->stated.assign(operands.size(), kNoNode);
  if (schema.returns.empty()) return invalid("{}: an expression needs at least one result", name);
  for (const Argument& result : schema.returns) {
    if (result.type != Type::kTensor || result.list || result.optional) {
      return invalid("{}: an expression gives Tensors, not {}", name, argument_type_text(result));
    }
    if (result.alias != 0 && !result.written) {
      return invalid("{}: an expression gives new Tensors or Tensor({}!), no view", name,
                     result.alias);
    }
    int32_t target = -1;
    for (size_t i = 0; result.written && i < operands.size(); ++i) {
      if (operands[i]->alias == result.alias && operands[i]->written)
        target = static_cast<int32_t>(i);
    }
    formula->inplace.push_back(target);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto n =
        std::count(formula->inplace.begin(), formula->inplace.end(), static_cast<int32_t>(i));
    if (n != (operands[i]->written ? 1 : 0)) {
      return invalid("{}: argument '{}' is {}, and {} results write it", name, operands[i]->name,
                     argument_type_text(*operands[i]), n);
    }
  }
  return nullptr;
}

}  // namespace tenon
