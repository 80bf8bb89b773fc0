#include "object/value.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "object/object.h"
#include "tensor/device.h"
#include "tensor/tensor.h"

namespace tenon {
namespace {

// The shortest text that reads back as the same double, with a ".0" where Python has one.
std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

template <typename T, typename Text>
std::string list_text(const T* entries, uint32_t n, Text text) {
  std::string out = "[";
  for (uint32_t i = 0; i < n; ++i) {
    if (i != 0) out += ", ";
    out += text(entries[i]);
  }
  return out + "]";
}

std::string tensor_or_none(const tn_tensor* tensor) {
  return tensor == nullptr ? "None" : tensor_text(tensor);
}
std::string object_or_none(const tn_object* object) {
  return object == nullptr ? "None" : object->type;
}

}  // namespace

void widen_number(const Argument& argument, tn_value* value) {
  if (argument.type != Type::kFloat) return;
  if (value->kind == TN_KIND_INTS && value->count == 0)
    value->kind = TN_KIND_FLOATS;  // "[]" of a parsed file
  if (value->kind == TN_KIND_INT) {
    value->as.f = static_cast<double>(value->as.i);
    value->kind = TN_KIND_FLOAT;
  }
}

Status BoundArguments::bind(std::string_view what, const Schema& schema, const tn_value* args,
                            uint32_t n) {
  size_ = static_cast<uint32_t>(schema.arguments.size());
  if (n > size_) {
    return invalid("{}: {} arguments given, at most {} taken: {}", what, n, size_,
                   schema_text(schema));
  }
  if (size_ > kInline) {
    heap_.resize(size_);
    values_ = heap_.data();
  }
  for (uint32_t i = 0; i < size_; ++i) {
    const Argument& argument = schema.arguments[i];
    if (i >= n) {
      if (!argument.has_default) {
        return invalid("{}: argument '{}' is missing: {}", what, argument.name,
                       schema_text(schema));
      }
      values_[i] = argument.default_value;
    } else {
      TN_TRY(check_value(schema, argument, args[i], /*numbers_as_tensors=*/false));
      values_[i] = args[i];
    }
    widen_number(argument, &values_[i]);
  }
  return nullptr;
}

std::string value_text(const tn_value& value) {
  const auto quoted = [](const char* text) { return fmt::format("'{}'", printable(text)); };
  switch (value.kind) {
    case TN_KIND_NONE:
      return "None";
    case TN_KIND_TENSOR:
      return tensor_or_none(value.as.tensor);
    case TN_KIND_TENSORS:
      return list_text(value.as.tensors, value.count, tensor_or_none);
    case TN_KIND_INT:
      return fmt::format("{}", value.as.i);
    case TN_KIND_INTS:
      return list_text(value.as.ints, value.count, [](int64_t i) { return fmt::format("{}", i); });
    case TN_KIND_FLOAT:
      return float_text(value.as.f);
    case TN_KIND_FLOATS:
      return list_text(value.as.floats, value.count, float_text);
    case TN_KIND_BOOL:
      return value.as.i != 0 ? "True" : "False";
    case TN_KIND_DTYPE:
      return dtype_name(value.as.dtype);
    case TN_KIND_DEVICE:
      return device_text(value.as.device);
    case TN_KIND_STRING:
      return fmt::format("'{}'", printable({value.as.string, value.count}));
    case TN_KIND_STRINGS:
      return list_text(value.as.strings, value.count, quoted);
    case TN_KIND_OBJECT:
      return object_or_none(value.as.object);
    case TN_KIND_OBJECTS:
      return list_text(value.as.objects, value.count, object_or_none);
    default:
      return fmt::format("a value of kind {}", value.kind);
  }
}

}  // namespace tenon
