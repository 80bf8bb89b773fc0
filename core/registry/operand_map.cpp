#include "registry/operand_map.h"

namespace tenon {

Status map_operands(const Expression& e, const Schema& schema, OperandMap* filled) {
  const Schema& own = e.schema();
  if (e.n_operands() > kMaxExpressionOperands || e.n_scalars() > kMaxExpressionScalars ||
      e.n_outputs() > kMaxExpressionOutputs) {
    return invalid("{}: an expression takes at most {} tensors, {} scalars and {} outputs",
                   schema.name, kMaxExpressionOperands, kMaxExpressionScalars,
                   kMaxExpressionOutputs);
  }
  OperandMap& map = *filled;
  map.n_args = static_cast<uint8_t>(schema.arguments.size());
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const int known = own.find(schema.arguments[i].name);
    if (known < 0) continue;
    const Type type = own.arguments[static_cast<size_t>(known)].type;
    if (type == Type::kTensor) {
      map.operand_args[map.n_operands++] = static_cast<uint8_t>(i);
    } else {
      if (type == Type::kNumber) map.number_args[map.n_numbers++] = static_cast<uint8_t>(i);
      map.scalar_args[map.n_scalars++] = static_cast<uint8_t>(i);
    }
  }
  map.n_outputs = static_cast<uint8_t>(schema.returns.size());
  for (uint32_t r = 0; r < map.n_outputs; ++r) {
    map.inplace_operand[r] = -1;
    for (uint32_t k = 0; schema.returns[r].alias != 0 && k < map.n_operands; ++k) {
      if (schema.arguments[map.operand_args[k]].alias != schema.returns[r].alias) continue;
      map.inplace_operand[r] = static_cast<int8_t>(k);
      map.any_inplace = true;
    }
    if (schema.returns[r].alias != 0 && map.inplace_operand[r] < 0) {
      return invalid("{}: output {} is an alias of no tensor argument", schema.name, r);
    }
  }
  return nullptr;
}

}  // namespace tenon
