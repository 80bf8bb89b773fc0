#include "object/groups.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "object/factory.h"
#include "object/invoke.h"

namespace tenon {
namespace {

constexpr std::string_view kGroupAdded = "group_added";

// Makes the option as the factory's schema wants it. What holds tensors or objects is the object's
// alone.
Status make_option(const Object* object, std::string_view name, const tn_value& value,
                   Option* option) {
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
  return OwnedValue::copy(checked, &option->value);
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

Status check_parameters(const Object* object, std::span<tn_tensor* const> parameters) {
  std::unordered_set<const tn_tensor*> known;
  for (const ParameterGroup& group : object->groups)
    known.insert(group.borrowed.begin(), group.borrowed.end());
  if (parameters.empty()) return invalid("{}: the list of parameters is empty", object->type);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const tn_tensor* t = parameters[i];
    if (t == nullptr) return invalid("{}: parameter {} is NULL", object->type, i);
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
  for (tn_tensor* t : parameters) group.parameters.push_back(TensorRef::retaining(as_tensor(t)));
  group.borrowed.assign(parameters.begin(), parameters.end());
  object->groups.push_back(std::move(group));
  ++object->changes;
  const bool listens =
      std::any_of(object->methods.begin(), object->methods.end(),
                  [](const auto& method) { return method->schema.name == kGroupAdded; });
  if (!listens) return nullptr;
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
  for (const Option& option : group->options) {
    if (option.name == name) {
      *borrowed = option.value.get();
      return nullptr;
    }
  }
  return find_option(object, name, borrowed);
}

Status set_group_option(Object* object, uint32_t index, std::string_view name,
                        const tn_value& value) {
  const ParameterGroup* group = nullptr;
  TN_TRY(find_group(object, index, &group));
  Option option;
  TN_TRY(make_option(object, name, value, &option));
  put(&object->groups[index].options, std::move(option));
  ++object->changes;
  return nullptr;
}

}  // namespace tenon
