// The schema language: "linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor". Ops,
// factories, methods and kernels state their schemas in it; this file parses them. Grammar in
// docs/expressions.md. The registry of ops is in registry.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tenon {

// Of a schema; as many results. Dispatch completes arguments on its stack.
inline constexpr uint32_t kMaxArguments = 32;

// `number` is an int, float or bool as it comes (PyTorch's Scalar); `expression` the op of a formula
// (host->expression); `object` a tn_object.
enum class Type : uint8_t {
  kTensor,
  kInt,
  kFloat,
  kBool,
  kNumber,
  kString,
  kDtype,
  kDevice,
  kExpression,
  kObject
};

struct Argument {
  std::string name;  // of returns: may be empty
  Type type = Type::kTensor;
  bool list = false;
  bool optional = false;          // "Tensor?", "int[]?": None is taken
  bool optional_entries = false;  // "Tensor?[]": entries may be NULL
  bool or_text = false;           // "int[]|str": a word stands for the list too
  bool is_dynamic = false;        // "dynamic float lr": a tensor may stand for the number
  char alias = 0;                 // "Tensor(a)": 'a'; 0: none
  bool written = false;           // "Tensor(a!)"
  bool has_default = false;
  // kind TN_KIND_NONE for None; lists and strings point into storage of the schema
  tn_value default_value{};
  // bit k: a value of kind k fits without a closer look; see check_value. Set by parse_schema
  uint32_t kinds = 0;
};

// Immutable after parse. Movable, not copyable: default values point into it.
struct Schema {
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Argument> returns;
  bool has_returns = false;  // "-> ()" has, and returns nothing

  Schema() = default;
  Schema(Schema&&) = default;
  Schema& operator=(Schema&&) = default;

  Schema clone() const;

  // Index of the argument, or -1.
  int find(std::string_view argument) const;

  // Storage of default lists and strings; stable under move.
  std::vector<std::vector<int64_t>> int_lists;
  std::vector<std::vector<double>> float_lists;
  std::vector<std::unique_ptr<std::string>> strings;
  std::vector<std::vector<const char*>> string_lists;
};

// Returns may be absent ("Linear(int in_features)" of a factory). Errors name the column and what
// was expected there.
[[nodiscard]] Status parse_schema(std::string_view text, Schema* schema);

// Is the value in itself what its kind says, whatever it is for? Tensors, objects and expressions
// are there, lists have memory where they have entries (of which only those of `Tensor?[]` may be
// NULL: that is for whoever knows the type), a string is as long as it says, a bool is 0 or 1, a
// dtype and a device exist. What only kernels get (loop, reduction) and unknown kinds are not.
bool is_sound(const tn_value& value);
// A list of tensors or objects in which one is NULL.
bool has_hole(const tn_value& value);

// What check_value does where the fast path has not said yes: the whole check, and the message.
[[nodiscard]] Status check_value_closely(const Schema& schema, const Argument& argument,
                                         const tn_value& value, bool numbers_as_tensors);

// Does `value` fit `argument`? An int fits float and number; a list of one does not fit a scalar; a
// single Tensor does not fit a list. Numbers fit kTensor only where `numbers_as_tensors` and the
// argument is not written. The message names the schema, the argument and what came.
[[nodiscard]] inline Status check_value(const Schema& schema, const Argument& argument,
                                        const tn_value& value, bool numbers_as_tensors) {
  if (value.kind == TN_KIND_TENSOR && argument.type == Type::kTensor && !argument.list &&
      value.as.tensor != nullptr)
    return nullptr;
  constexpr uint32_t kLists = 1u << TN_KIND_INTS | 1u << TN_KIND_FLOATS;
  if (value.kind < 32 && ((argument.kinds >> value.kind) & 1) != 0 &&
      (value.kind != TN_KIND_BOOL || static_cast<uint64_t>(value.as.i) < 2) &&
      ((kLists >> value.kind & 1) == 0 || value.as.ints != nullptr))
    return nullptr;
  return check_value_closely(schema, argument, value, numbers_as_tensors);
}

// Is this the line of documentation, and is this the group, that a definition may carry? NULL is
// none. `what` names the definition in the message.
[[nodiscard]] Status check_doc(const std::string& what, const char* doc, const char* group);

const char* type_name(Type type);                          // "Tensor", "str"
std::string argument_type_text(const Argument& argument);  // "Tensor?[]"
std::string value_kind_name(const tn_value& value);        // "int", "list of 3 ints", "None"

// Of numbers: the same number, whatever their kinds are. Devices, objects and expressions are never
// the same.
bool same_value(const tn_value& a, const tn_value& b);

std::string default_text(const tn_value& value);  // "1.0", "[1, 2]", as a schema states it

// The normalized text of a schema, from its parts.
std::string schema_text(const Schema& schema);

}  // namespace tenon
