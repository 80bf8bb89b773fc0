// The program of an elementwise call; refusals in the words of the op's arguments.
#include <fmt/ranges.h>

#include "primitive/elementwise_parts.h"

namespace tenon {
namespace {

// "x is [2, 3] bool on cpu"
std::string argument_text(const Op& op, uint32_t arg, const tn_value& v) {
  const std::string& name = op.schema.arguments[arg].name;
  if (v.kind == TN_KIND_TENSOR) return fmt::format("{} is {}", name, tensor_text(v.as.tensor));
  const char* kind = v.kind == TN_KIND_FLOAT ? "a float"
                     : v.kind == TN_KIND_INT ? "an int"
                                             : "a bool";
  return fmt::format("{} is {}", name, kind);
}

// The kinds of dtypes, "int or float", that a call would take for the types `begin` to `end`
// instead of theirs: the formula is asked for each.
std::string kinds_that_fit(const Expression& e, std::span<const OperandType> types, size_t begin,
                           size_t end) {
  constexpr tn_dtype kOfKind[] = {TN_BOOL, TN_INT64, TN_FLOAT32};
  constexpr const char* kNames[] = {"bool", "int", "float"};
  std::vector<const char*> fitting;
  for (const int kind : {0, 1, 2}) {
    std::vector<OperandType> tried(types.begin(), types.end());
    for (size_t i = begin; i < end; ++i) tried[i].dtype = kOfKind[kind];
    const CompiledProgram* compiled;
    if (!StatusHolder(e.compile(tried, &compiled))) fitting.push_back(kNames[kind]);
  }
  return fmt::format("{}", fmt::join(fitting, " or "));
}

// There is no program for these types. `cause` is what the formula says, in its own terms; this
// adds the arguments, and what would be right.
Status refused_types(const Op& op, const tn_value* args, std::span<const OperandType> types,
                     Status cause) {
  const Expression& e = *op.expression;
  const OperandMap& map = op.map;
  if (cause->code != TN_INVALID_ARGUMENT) return cause;
  return wrap(cause, [&] {
    std::vector<std::string> found, expected;
    for (size_t i = 0; i < types.size(); ++i) {
      const uint32_t arg =
          i < map.n_operands ? map.operand_args[i] : map.number_args[i - map.n_operands];
      found.push_back(argument_text(op, arg, args[arg]));
      const std::string kinds = kinds_that_fit(e, types, i, i + 1);
      if (!kinds.empty())
        expected.push_back(fmt::format("{} to be {}", op.schema.arguments[arg].name, kinds));
    }
    if (expected.empty()) {
      const std::string kinds = kinds_that_fit(e, types, 0, types.size());
      if (!kinds.empty()) expected.push_back("all to be " + kinds);
    }
    std::string message = fmt::format("{}: {}", name_of(op), fmt::join(found, ", "));
    if (!expected.empty()) message += fmt::format("; expected {}", fmt::join(expected, ", or "));
    return message;
  });
}

}  // namespace

// The program of a call, by the types of its operands and numbers.
Status compile_call(const Op& op, const tn_value* args, std::span<const OperandType> types,
                    const CompiledProgram** compiled) {
  Status status = op.expression->compile(types, compiled);
  if (status != nullptr) [[unlikely]]
    return refused_types(op, args, types, status);
  return nullptr;
}

// As PyTorch: a number is known at the call, so it is refused; elements of a tensor are not looked
// at (1 / x ** n rounds to 0).
Status check_params(const Op& op, const CompiledProgram& compiled, const tn_scalar* params) {
  const ParamChecks& checks = compiled.checks;
  const OperandMap& map = op.map;
  const dtype_table::IntRange range = dtype_table::int_range(checks.int_dtype);
  const int64_t greatest = range.greatest;
  const int64_t lowest = range.least < 0 ? range.least : -greatest;  // -1 as uint8 is 255
  const auto is_no_element = [&](int64_t number) { return number < lowest || number > greatest; };
  for (uint32_t i = 0; i < compiled.program.n_params; ++i) {
    const int64_t number = params[i].i;
    const auto is = [i](uint32_t mask) { return (mask >> i & 1) != 0; };
    if (is(checks.exponents) && number < 0) {
      return invalid(
          "{}: an integer to the power of {}; expected an exponent of at least 0, or a float "
          "({}.0)",
          name_of(op), number, number);
    }
    // scalars come behind operands
    const uint32_t first_scalar = compiled.program.n_params - map.n_scalars;
    const auto name = [&]() -> std::string {
      if (is(checks.exponents)) return "the exponent";
      if (i < first_scalar) return "the number";
      return op.schema.arguments[map.scalar_args[i - first_scalar]].name;
    };
    const bool is_element = is(checks.elements) || is(checks.exponents);
    if (is_element && is_no_element(number)) {
      return invalid("{}: {} is {}, which is no {}; expected {} to {}", name_of(op), name(), number,
                     dtype_name(checks.int_dtype), is(checks.exponents) ? 0 : lowest, greatest);
    }
    const bool above = is(checks.greatest) && number > greatest;
    if (!above && !(is(checks.least) && number < range.least)) continue;
    return invalid("{}: {} is {}, {} every {}; expected at {} {}", name_of(op), name(), number,
                   above ? "above" : "below", dtype_name(checks.int_dtype),
                   above ? "most" : "least", above ? greatest : range.least);
  }
  return nullptr;
}

}  // namespace tenon
