// schema/1: what a schema says, for whoever compares a function with it. There is one parser.
#include <vector>

#include "host/tables.h"
#include "schema/schema.h"

namespace tenon {
namespace {

// Bit k: a value of kind k fits the argument.
uint32_t fitting_kinds(const Argument& argument) {
  const uint32_t text = argument.or_text ? 1u << TN_KIND_STRING : 0;
  const auto one_or_list = [&](uint32_t one, uint32_t list) {
    return 1u << (argument.list ? list : one);
  };
  const uint32_t none = argument.optional ? 1u << TN_KIND_NONE : 0;
  constexpr uint32_t kNumbers = 1u << TN_KIND_INT | 1u << TN_KIND_FLOAT | 1u << TN_KIND_BOOL;
  switch (argument.type) {
    case Type::kTensor:
      return none | one_or_list(TN_KIND_TENSOR, TN_KIND_TENSORS);
    case Type::kInt:
      return none | text | one_or_list(TN_KIND_INT, TN_KIND_INTS);
    case Type::kFloat:
      return none | one_or_list(TN_KIND_FLOAT, TN_KIND_FLOATS) |
             one_or_list(TN_KIND_INT, TN_KIND_INTS);
    case Type::kBool:
      return none | one_or_list(TN_KIND_BOOL, TN_KIND_INTS);
    case Type::kNumber:
      return none | (argument.list ? 1u << TN_KIND_INTS | 1u << TN_KIND_FLOATS : kNumbers);
    case Type::kString:
      return none | one_or_list(TN_KIND_STRING, TN_KIND_STRINGS);
    case Type::kDtype:
      return none | 1u << TN_KIND_DTYPE;
    case Type::kDevice:
      return none | 1u << TN_KIND_DEVICE;
    case Type::kExpression:
      return none | 1u << TN_KIND_EXPRESSION;
    case Type::kObject:
      return none | one_or_list(TN_KIND_OBJECT, TN_KIND_OBJECTS);
  }
  return none;
}

tn_status* read(const char* text, tn_schema_fn see, void* context) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("read: the schema", text));
    if (see == nullptr) return invalid("read: the function is NULL");
    Schema schema;
    TN_TRY(parse_schema(text, &schema));
    std::vector<std::string> types;
    for (const Argument& argument : schema.arguments) {
      types.push_back(argument_type_text(argument));
    }
    std::vector<tn_schema_argument> arguments;
    for (size_t i = 0; i < types.size(); ++i) {
      const Argument& argument = schema.arguments[i];
      arguments.push_back({argument.name.c_str(), types[i].c_str(), fitting_kinds(argument), 0});
    }
    const tn_schema seen = {
        sizeof(tn_schema), static_cast<uint32_t>(arguments.size()),      schema.name.c_str(),
        arguments.data(),  static_cast<uint32_t>(schema.returns.size()), 0};
    see(context, &seen);
    return nullptr;
  });
}

}  // namespace

const tn_schema_api* schema_api() {
  static const tn_schema_api table = {sizeof(tn_schema_api), read};
  return &table;
}

}  // namespace tenon
