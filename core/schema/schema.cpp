// What a schema is once it is parsed: its text, its copies, and the check of values against it.
#include "schema/schema.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/text.h"
#include "tensor/device.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

namespace tenon {
namespace {

std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

template <typename T, typename F>
std::string list_text(const T* entries, uint32_t count, F&& text) {
  std::string result = "[";
  for (uint32_t i = 0; i < count; ++i) result += (i == 0 ? "" : ", ") + text(entries[i]);
  return result + "]";
}

}  // namespace

std::string default_text(const tn_value& value) {
  switch (value.kind) {
    case TN_KIND_NONE:
      return "None";
    case TN_KIND_INT:
      return fmt::format("{}", value.as.i);
    case TN_KIND_FLOAT:
      return float_text(value.as.f);
    case TN_KIND_BOOL:
      return value.as.i != 0 ? "True" : "False";
    case TN_KIND_DTYPE:
      return dtype_name(value.as.dtype);
    case TN_KIND_STRING:
      return quoted({value.as.string, value.count});
    case TN_KIND_INTS:
      return list_text(value.as.ints, value.count, [](int64_t i) { return fmt::format("{}", i); });
    case TN_KIND_FLOATS:
      return list_text(value.as.floats, value.count, float_text);
    case TN_KIND_STRINGS:
      return list_text(value.as.strings, value.count, [](const char* s) { return quoted(s); });
    default:
      return "[]";  // no other list has entries in a default
  }
}

namespace {

std::string argument_text(const Argument& argument) {
  std::string text = argument.is_dynamic ? "dynamic " : "";
  text += argument_type_text(argument);
  if (!argument.name.empty()) text += " " + argument.name;
  if (argument.has_default) text += "=" + default_text(argument.default_value);
  return text;
}

bool list_fits(const Argument& argument, const tn_value& value) {
  switch (value.kind) {
    case TN_KIND_TENSORS:
      return argument.type == Type::kTensor && (argument.optional_entries || !has_hole(value));
    case TN_KIND_OBJECTS:
      return argument.type == Type::kObject && (argument.optional_entries || !has_hole(value));
    case TN_KIND_INTS:
      return argument.type == Type::kInt || (argument.type == Type::kFloat && value.count == 0);
    case TN_KIND_FLOATS:
      return argument.type == Type::kFloat;
    case TN_KIND_STRINGS:
      return argument.type == Type::kString;
    default:
      return false;
  }
}

bool stands_for_number(const Argument& argument, const tn_value& value) {
  const tn_tensor& t = *value.as.tensor;
  const bool any = argument.type == Type::kNumber;
  const bool fits_type = (t.dtype == TN_FLOAT64 && (any || argument.type == Type::kFloat)) ||
                         (t.dtype == TN_INT64 &&
                          (any || argument.type == Type::kFloat || argument.type == Type::kInt)) ||
                         (t.dtype == TN_BOOL && (any || argument.type == Type::kBool));
  return t.numel == 1 && t.device.type == TN_DEVICE_CPU && fits_type;
}

// Of a value that is sound.
bool fits(const Argument& argument, const tn_value& value, bool numbers_as_tensors) {
  if (value.kind == TN_KIND_NONE) return argument.optional;
  if (value.kind == TN_KIND_STRING && argument.or_text) return true;
  if (argument.list) return list_fits(argument, value);
  if (argument.is_dynamic && value.kind == TN_KIND_TENSOR)
    return stands_for_number(argument, value);
  const bool is_number =
      value.kind == TN_KIND_INT || value.kind == TN_KIND_FLOAT || value.kind == TN_KIND_BOOL;
  switch (argument.type) {
    case Type::kTensor:
      return value.kind == TN_KIND_TENSOR || (numbers_as_tensors && is_number && !argument.written);
    case Type::kInt:
      return value.kind == TN_KIND_INT;
    case Type::kFloat:
      return value.kind == TN_KIND_FLOAT || value.kind == TN_KIND_INT;
    case Type::kBool:
      return value.kind == TN_KIND_BOOL;
    case Type::kNumber:
      return is_number;
    case Type::kString:
      return value.kind == TN_KIND_STRING;
    case Type::kDtype:
      return value.kind == TN_KIND_DTYPE;
    case Type::kDevice:
      return value.kind == TN_KIND_DEVICE;
    case Type::kExpression:
      return value.kind == TN_KIND_EXPRESSION;
    case Type::kObject:
      return value.kind == TN_KIND_OBJECT;
  }
  return false;
}

bool has_memory(const tn_value& list) { return list.count == 0 || list.as.ints != nullptr; }

// The bytes up to the NUL are as many as `count`. Reads no further than the NUL, whatever count is.
bool is_as_long_as_it_says(const tn_value& string) {
  return string.as.string != nullptr &&
         ::strnlen(string.as.string, size_t{string.count} + 1) == string.count;
}

bool is_there(tn_device device) {
  const DeviceType* type = device_type(device.type);
  return type != nullptr && device.index >= 0 && device.index < type->count();
}

// "None at [1]" where a list of the right kind has a hole, else what the value is.
std::string found_text(const Argument& argument, const tn_value& value) {
  const bool is_tensors = value.kind == TN_KIND_TENSORS && argument.type == Type::kTensor;
  const bool is_objects = value.kind == TN_KIND_OBJECTS && argument.type == Type::kObject;
  if (argument.list && (is_tensors || is_objects) && has_hole(value)) {
    uint32_t i = 0;
    while (value.as.tensors[i] != nullptr) ++i;
    return fmt::format("{} with None at [{}]", value_kind_name(value), i);
  }
  if (argument.is_dynamic && value.kind == TN_KIND_TENSOR && value.as.tensor != nullptr) {
    return fmt::format("a Tensor that stands for no such number: {}", tensor_text(value.as.tensor));
  }
  return value_kind_name(value);
}

}  // namespace

bool has_hole(const tn_value& value) {
  if (value.kind == TN_KIND_OBJECTS && value.as.objects != nullptr) {
    return std::find(value.as.objects, value.as.objects + value.count, nullptr) !=
           value.as.objects + value.count;
  }
  if (value.kind != TN_KIND_TENSORS || value.as.tensors == nullptr) return false;
  return std::find(value.as.tensors, value.as.tensors + value.count, nullptr) !=
         value.as.tensors + value.count;
}

bool is_sound(const tn_value& value) {
  switch (value.kind) {
    case TN_KIND_NONE:
    case TN_KIND_INT:
    case TN_KIND_FLOAT:
      return true;
    case TN_KIND_BOOL:
      return value.as.i == 0 || value.as.i == 1;
    case TN_KIND_TENSOR:
      return value.as.tensor != nullptr;
    case TN_KIND_TENSORS:
    case TN_KIND_OBJECTS:
    case TN_KIND_INTS:
    case TN_KIND_FLOATS:
      return has_memory(value);
    case TN_KIND_STRINGS:
      return has_memory(value) && std::find(value.as.strings, value.as.strings + value.count,
                                            nullptr) == value.as.strings + value.count;
    case TN_KIND_STRING:
      return is_as_long_as_it_says(value);
    case TN_KIND_DTYPE:
      return is_known_dtype(value.as.dtype);
    case TN_KIND_DEVICE:
      return is_there(value.as.device);
    case TN_KIND_EXPRESSION:
      return value.as.expression != nullptr;
    case TN_KIND_OBJECT:
      return value.as.object != nullptr;
    default:
      return false;  // those of kernels, and what is no kind
  }
}

const char* type_name(Type type) {
  switch (type) {
    case Type::kTensor:
      return "Tensor";
    case Type::kInt:
      return "int";
    case Type::kFloat:
      return "float";
    case Type::kBool:
      return "bool";
    case Type::kNumber:
      return "number";
    case Type::kString:
      return "str";
    case Type::kDtype:
      return "dtype";
    case Type::kDevice:
      return "device";
    case Type::kExpression:
      return "expression";
    case Type::kObject:
      return "object";
  }
  return "unknown";
}

std::string argument_type_text(const Argument& argument) {
  std::string text = type_name(argument.type);
  if (argument.alias != 0)
    text += fmt::format("({}{})", argument.alias, argument.written ? "!" : "");
  if (argument.optional_entries) text += "?";
  if (argument.list) text += "[]";
  if (argument.optional) text += "?";
  if (argument.or_text) text += "|str";
  return text;
}

std::string value_kind_name(const tn_value& value) {
  const auto list = [&](const char* one, const char* many) {
    return fmt::format("list of {} {}{}", value.count, value.count == 1 ? one : many,
                       has_memory(value) ? "" : " that is NULL");
  };
  switch (value.kind) {
    case TN_KIND_NONE:
      return "None";
    case TN_KIND_TENSOR:
      return value.as.tensor == nullptr ? "Tensor that is NULL" : "Tensor";
    case TN_KIND_TENSORS:
      return list("Tensor", "Tensors");
    case TN_KIND_INT:
      return fmt::format("int {}", value.as.i);
    case TN_KIND_INTS:
      return list("int", "ints");
    case TN_KIND_FLOAT:
      return fmt::format("float {}", float_text(value.as.f));
    case TN_KIND_FLOATS:
      return list("float", "floats");
    case TN_KIND_BOOL:
      if (!is_sound(value)) return fmt::format("bool {}, which is neither 0 nor 1", value.as.i);
      return value.as.i != 0 ? "bool True" : "bool False";
    case TN_KIND_DTYPE:
      if (!is_known_dtype(value.as.dtype))
        return fmt::format("dtype {}, which is none", value.as.dtype);
      return fmt::format("dtype {}", dtype_name(value.as.dtype));
    case TN_KIND_DEVICE:
      return is_sound(value) ? device_text(value.as.device)
                             : device_text(value.as.device) + ", which is not there";
    case TN_KIND_STRING:
      if (value.as.string == nullptr) return "str that is NULL";
      if (!is_sound(value)) {
        return fmt::format("str of {} bytes in front of a zero byte, which says that it has {}",
                           std::strlen(value.as.string), value.count);
      }
      return fmt::format("str {}", quoted({value.as.string, std::min<size_t>(value.count, 40)}));
    case TN_KIND_STRINGS:
      return list("str", "strs") +
             (has_memory(value) && !is_sound(value) ? " of which one is NULL" : "");
    case TN_KIND_EXPRESSION:
      return value.as.expression == nullptr ? "expression that is NULL" : "expression";
    case TN_KIND_OBJECT:
      return value.as.object == nullptr ? "object that is NULL" : "object";
    case TN_KIND_OBJECTS:
      return list("object", "objects");
    case TN_KIND_LOOP:
      return "loop";
    case TN_KIND_REDUCTION:
      return "reduction";
    default:
      return fmt::format("value of unknown kind {}", value.kind);
  }
}

std::string schema_text(const Schema& schema) {
  std::string text = schema.name + "(";
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    text += (i == 0 ? "" : ", ") + argument_text(schema.arguments[i]);
  }
  text += ")";
  if (!schema.has_returns) return text;
  if (schema.returns.size() == 1 && schema.returns[0].name.empty()) {
    return text + " -> " + argument_text(schema.returns[0]);
  }
  text += " -> (";
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    text += (i == 0 ? "" : ", ") + argument_text(schema.returns[i]);
  }
  return text + ")";
}

int Schema::find(std::string_view argument) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument) return static_cast<int>(i);
  }
  return -1;
}

Schema Schema::clone() const {
  Schema copy;
  copy.name = name;
  copy.has_returns = has_returns;
  copy.arguments = arguments;
  copy.returns = returns;
  const auto keep_string = [&](const char* string, size_t size) {
    copy.strings.push_back(std::make_unique<std::string>(string, size));
    return copy.strings.back()->c_str();
  };
  for (Argument& argument : copy.arguments) {
    tn_value& value = argument.default_value;
    if (value.kind == TN_KIND_STRING) {
      value.as.string = keep_string(value.as.string, value.count);
    } else if (value.count == 0) {
      continue;
    } else if (value.kind == TN_KIND_INTS) {
      copy.int_lists.emplace_back(value.as.ints, value.as.ints + value.count);
      value.as.ints = copy.int_lists.back().data();
    } else if (value.kind == TN_KIND_FLOATS) {
      copy.float_lists.emplace_back(value.as.floats, value.as.floats + value.count);
      value.as.floats = copy.float_lists.back().data();
    } else if (value.kind == TN_KIND_STRINGS) {
      std::vector<const char*> list(value.as.strings, value.as.strings + value.count);
      for (const char*& entry : list) entry = keep_string(entry, std::strlen(entry));
      copy.string_lists.push_back(std::move(list));
      value.as.strings = copy.string_lists.back().data();
    }
  }
  return copy;
}

Status check_value_closely(const Schema& schema, const Argument& argument, const tn_value& value,
                           bool numbers_as_tensors) {
  if (is_sound(value) && fits(argument, value, numbers_as_tensors)) return nullptr;
  if (value.kind == TN_KIND_DEVICE && argument.type == Type::kDevice && !argument.list) {
    StatusHolder refused(check_device(value.as.device));
    return error(refused.get()->code, "{}: {}", schema.name, refused.get()->message);
  }
  return invalid("{}: argument '{}' must be {}, got {}", schema.name, argument.name,
                 argument_type_text(argument), found_text(argument, value));
}

Status check_doc(const std::string& what, const char* doc, const char* group) {
  constexpr size_t kMost = 1000;
  if (doc != nullptr) {
    const std::string_view line = doc;
    if (line.empty() || line.size() > kMost) {
      return invalid("{}: its line of documentation has {} bytes, expected 1 to {}", what,
                     line.size(), kMost);
    }
    if (!messages::is_visible(line)) {
      return invalid("{}: its documentation is not one line of printable UTF-8: {}", what,
                     printable(line));
    }
  }
  if (group != nullptr) {
    const std::string_view name = group;
    const bool fits =
        !name.empty() &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
    if (!fits) {
      return invalid("{}: its group is '{}', expected lower case letters, digits and '_'", what,
                     printable(name));
    }
  }
  return nullptr;
}

}  // namespace tenon
