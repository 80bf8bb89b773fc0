#include "object/groups.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "base/text.h"
#include "memory/memory.h"
#include "object/factory.h"
#include "object/invoke.h"
#include "tensor/rows.h"

namespace tenon {
namespace {

constexpr std::string_view kGroupAdded = "group_added";

// Makes the option as the factory's schema wants it, and asks the object itself whether it takes the
// value. What holds tensors or objects is the object's alone.
Status make_option(Object* object, std::string_view name, const tn_value& value, Option* option) {
  tn_value checked = value;
  if (object->factory != nullptr) {
    const Schema& schema = object->factory->schema;
    std::vector<std::string> known;
    const Argument* argument = nullptr;
    for (const Argument& candidate : schema.arguments) {
      if (candidate.type == Type::kTensor || candidate.type == Type::kObject) continue;
      known.push_back(candidate.name);
      if (candidate.name == name) argument = &candidate;
    }
    if (argument == nullptr) {
      return invalid("{} has no option '{}' for its groups{}", object->type, printable(name),
                     did_you_mean(name, known));
    }
    TN_TRY(check_value(schema, *argument, value, /*numbers_as_tensors=*/false));
    widen_number(*argument, &checked);
  }
  option->name = name;
  TN_TRY(OwnedValue::copy(checked, &option->value));
  const std::string check = "check_" + option->name;
  return has_method(object, check) ? invoke(object, check, &checked, 1, nullptr, 0) : nullptr;
}

void put(std::vector<Option>* options, Option option) {
  const auto it = std::find_if(options->begin(), options->end(),
                               [&](const Option& other) { return other.name == option.name; });
  if (it != options->end()) {
    *it = std::move(option);
  } else {
    options->push_back(std::move(option));
  }
}

template <typename Group>  // const or not
auto* find_number(Group* group, std::string_view name) {
  const auto it = std::ranges::find(group->numbers, name, &GroupNumber::name);
  return it != group->numbers.end() ? &*it : nullptr;
}

// The number, or the list of numbers, of an option as the elements of a tensor.
struct Elements {
  tn_dtype dtype;
  const void* data;
  uint64_t count;

  explicit Elements(const tn_value& v) {
    const bool list = v.kind == TN_KIND_INTS || v.kind == TN_KIND_FLOATS;
    dtype = v.kind == TN_KIND_FLOAT || v.kind == TN_KIND_FLOATS ? TN_FLOAT64
            : v.kind == TN_KIND_BOOL                            ? TN_BOOL
                                                                : TN_INT64;
    data = list ? static_cast<const void*>(v.as.ints) : &v.as;
    count = list ? v.count : 1;
  }
  uint64_t bytes() const { return count * kItemSize[dtype]; }
};

Status make_number(const tn_value& value, TensorRef* tensor) {
  const Elements elements(value);
  const auto n = static_cast<int64_t>(elements.count);
  Tensor* made;
  TN_TRY(empty_tensor({&n, elements.count == 1 && value.count == 0 ? size_t{0} : size_t{1}},
                      elements.dtype, kCpu, &made));
  *tensor = TensorRef(made);
  if (elements.bytes() > 0) std::memcpy(made->data, elements.data, elements.bytes());
  return nullptr;
}

// Tensors for the options that the schema calls dynamic.
Status make_numbers(const Object* object, ParameterGroup* group) {
  if (object->factory == nullptr) return nullptr;
  for (const Argument& argument : object->factory->schema.arguments) {
    if (!argument.is_dynamic) continue;
    const auto own = std::ranges::find(group->options, argument.name, &Option::name);
    tn_value value{};
    if (own != group->options.end()) {
      value = own->value.get();
    } else {
      TN_TRY(find_option(object, argument.name, &value));
    }
    GroupNumber& number = group->numbers.emplace_back();
    number.name = argument.name;
    TN_TRY(make_number(value, &number.tensor));
  }
  return nullptr;
}

Status check_parameters(const Object* object, std::span<tn_tensor* const> parameters) {
  std::unordered_set<const tn_tensor*> known;
  for (const ParameterGroup& group : object->groups)
    known.insert(group.borrowed.begin(), group.borrowed.end());
  if (parameters.empty()) return invalid("{}: the list of parameters is empty", object->type);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const tn_tensor* t = parameters[i];
    if (t == nullptr) return invalid("{}: parameter {} is NULL", object->type, i);
    if (is_rows(as_tensor(t)))
      return refuse_rows(fmt::format("{}: parameter {}", object->type, i), as_tensor(t));
    if ((t->flags & TN_TENSOR_LEAF) == 0) {
      return invalid("{}: parameter {} ({}) is not a leaf: a recorded call made it", object->type,
                     i, tensor_text(t));
    }
    if (!is_float(t->dtype)) {
      return invalid("{}: parameter {} ({}) has no float dtype", object->type, i, tensor_text(t));
    }
    if (!known.insert(t).second) {
      return invalid("{}: parameter {} ({}) is in a group already", object->type, i,
                     tensor_text(t));
    }
  }
  return nullptr;
}

}  // namespace

Status add_group(Object* object, std::span<tn_tensor* const> parameters, const char* const* names,
                 const tn_value* values, uint32_t n_options) {
  if (object->kind != TN_OBJECT_OPTIMIZER)
    return invalid("{} is no optimizer: it has no parameter groups", object->type);
  TN_TRY(check_parameters(object, parameters));
  ParameterGroup group;
  for (uint32_t i = 0; i < n_options; ++i) {
    Option option;
    TN_TRY(make_option(object, names[i], values[i], &option));
    put(&group.options, std::move(option));
  }
  TN_TRY(make_numbers(object, &group));
  for (tn_tensor* t : parameters) group.parameters.push_back(TensorRef::retaining(as_tensor(t)));
  group.borrowed.assign(parameters.begin(), parameters.end());
  object->groups.push_back(std::move(group));
  object->note_change();
  if (!has_method(object, kGroupAdded)) return nullptr;
  tn_value index{};
  index.kind = TN_KIND_INT;
  index.as.i = static_cast<int64_t>(object->groups.size()) - 1;
  Status status = invoke(object, kGroupAdded, &index, 1, nullptr, 0);
  if (status != nullptr) object->groups.pop_back();
  return status;
}

Status find_group(const Object* object, uint32_t index, const ParameterGroup** group) {
  object->note_use();
  if (index >= object->groups.size()) {
    return error(TN_NOT_FOUND, "{} has {} parameter groups, none of index {}", object->type,
                 object->groups.size(), index);
  }
  *group = &object->groups[index];
  return nullptr;
}

Status group_option(const Object* object, uint32_t index, std::string_view name,
                    tn_value* borrowed) {
  const ParameterGroup* group = nullptr;
  TN_TRY(find_group(object, index, &group));
  const GroupNumber* number = find_number(group, name);
  if (number != nullptr && (thread_state.modes & kModeRecord) != 0) number->is_constant = true;
  for (const Option& option : group->options) {
    if (option.name == name) {
      *borrowed = option.value.get();
      return nullptr;
    }
  }
  return find_option(object, name, borrowed);
}

Status group_number(const Object* object, uint32_t index, std::string_view name,
                    tn_tensor** borrowed) {
  const ParameterGroup* group = nullptr;
  TN_TRY(find_group(object, index, &group));
  const GroupNumber* number = find_number(group, name);
  if (number == nullptr) {
    tn_value value;
    TN_TRY(group_option(object, index, name, &value));
    return invalid("{}: the option '{}' is not dynamic in its schema", object->type,
                   printable(name));
  }
  *borrowed = number->tensor.get();
  return nullptr;
}

// A dynamic option is written where it lies. What recorded functions took as a constant, or while
// they are recorded, is another one for them.
Status set_group_option(Object* object, uint32_t index, std::string_view name,
                        const tn_value& value) {
  const ParameterGroup* found = nullptr;
  TN_TRY(find_group(object, index, &found));
  ParameterGroup& group = object->groups[index];
  Option option;
  TN_TRY(make_option(object, name, value, &option));
  const tn_value stored = option.value.get();
  const Elements elements(stored);
  GroupNumber* number = find_number(&group, name);
  const bool fits = number != nullptr && elements.dtype == number->tensor->dtype &&
                    elements.count == static_cast<uint64_t>(number->tensor->numel);
  TensorRef other;
  if (number != nullptr && !fits) TN_TRY(make_number(stored, &other));
  put(&group.options, std::move(option));
  if (fits) {
    if (elements.bytes() > 0) std::memcpy(number->tensor->data, elements.data, elements.bytes());
    number->tensor->bump_version();
  } else if (number != nullptr) {
    number->tensor = std::move(other);
  }
  if (!fits || number->is_constant || (thread_state.modes & kModeRecord) != 0)
    object->note_change();
  return nullptr;
}

}  // namespace tenon
