#include "object/describe.h"

#include <algorithm>

#include "object/groups.h"

namespace tenon {
namespace {

// Tensors and objects are shown by where they went: parameters, children.
bool is_printed(const Option& option) {
  const uint32_t kind = option.value.get().kind;
  return kind != TN_KIND_TENSOR && kind != TN_KIND_TENSORS && kind != TN_KIND_OBJECT &&
         kind != TN_KIND_OBJECTS;
}

// As Python writes arguments: a list of one is its number, which stands for all dimensions, more
// are a tuple, an empty one is an option that was left out.
std::string option_text(const tn_value& value) {
  std::string text = value_text(value);
  if (value.kind != TN_KIND_INTS && value.kind != TN_KIND_FLOATS) return text;
  if (value.count == 0) return "None";
  text = text.substr(1, text.size() - 2);
  return value.count == 1 ? text : "(" + text + ")";
}

std::string options_text(const Object* object) {
  std::string text;
  for (const Option& option : object->options) {
    if (!is_printed(option)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", option.name,
                        option_text(option.value.get()));
  }
  return text;
}

// PyTorch's text of an optimizer: its groups, options sorted by name.
std::string describe_optimizer(const Object* object) {
  std::string text = object->type + " (\n";
  for (uint32_t i = 0; i < object->groups.size(); ++i) {
    std::vector<std::string> names;
    for (const Option& option : object->options) {
      if (is_printed(option)) names.push_back(option.name);
    }
    for (const Option& option : object->groups[i].options) {
      if (std::find(names.begin(), names.end(), option.name) == names.end())
        names.push_back(option.name);
    }
    std::sort(names.begin(), names.end());
    text += fmt::format("{}Parameter Group {}\n", i == 0 ? "" : "\n", i);
    for (const std::string& name : names) {
      tn_value value{};
      free_status(group_option(object, i, name, &value));  // it is there
      text += fmt::format("    {}: {}\n", name, option_text(value));
    }
  }
  return text + ")";
}

std::string describe_at(const Object* object, size_t indent) {
  if (object->kind == TN_OBJECT_OPTIMIZER && !object->groups.empty())
    return describe_optimizer(object);
  const std::string options = options_text(object);
  object->tell_members();
  if (object->children.empty()) return fmt::format("{}({})", object->type, options);
  const std::string margin(indent + 2, ' ');
  std::string text = object->type + "(\n";
  if (!options.empty()) text += margin + options + "\n";
  for (const NamedChild& child : object->children) {
    text += fmt::format("{}({}): {}\n", margin, child.name,
                        child.object ? describe_at(child.object.get(), indent + 2) : "None");
  }
  return text + std::string(indent, ' ') + ")";
}

}  // namespace

std::string describe(const Object* object) { return describe_at(object, 0); }

}  // namespace tenon
