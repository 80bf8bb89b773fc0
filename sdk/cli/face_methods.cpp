// Ops as methods of Tensor: which forms a method has, their declarations and definitions.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "face.h"

namespace tenon::cli {

// Of a class that is not there yet where methods are declared, so that it can have no default.
bool FaceWriter::is_incomplete(const FaceEntry& entry, size_t i) const {
  const std::string its_type = type(entry, entry.schema.arguments[i]);
  return its_type == "Operand" || its_type == "Number" || its_type == "const Tensor&";
}

// How many arguments each form of a method takes, the shortest first: all of them; none of the
// options of variants, as functions have it; and those before each one that cannot have its default.
std::vector<size_t> FaceWriter::method_forms(const FaceEntry& entry) const {
  const auto& arguments = entry.schema.arguments;
  std::vector<size_t> forms = {arguments.size()};
  for (size_t i = arguments.size() - 1; i > 0 && !arguments[i].fallback.empty(); --i) {
    // A number that comes first is what the method is about, as the least of clamp.
    const bool may_be_left_out = i > 1 || type(entry, arguments[i]) == "const Tensor&";
    if (is_incomplete(entry, i) && may_be_left_out) forms.insert(forms.begin(), i);
  }
  if (entry.plain < forms.front()) forms.insert(forms.begin(), entry.plain);
  return forms;
}

std::string FaceWriter::method_declaration(const FaceEntry& entry) const {
  std::string text;
  size_t shorter = 0;  // the arguments of the form before, which have their defaults there
  for (const size_t n : method_forms(entry)) {
    std::vector<std::string> list;
    for (size_t i = 1; i < n; ++i) {
      const bool tells_forms_apart = i < shorter || i == entry.plain;
      list.push_back(parameter(entry, i, !tells_forms_apart && !is_incomplete(entry, i)));
    }
    text += fmt::format("  {} {}({}) const;\n", result(entry), spelled(entry.schema.name),
                        fmt::join(list, ", "));
    shorter = n;
  }
  if (const std::string options = options_of(entry); !options.empty()) {
    text += fmt::format("  template <std::same_as<{0}> O = {0}>\n  {1} {2}({3}) const;\n", options,
                        result(entry), spelled(entry.schema.name), named_parameters(entry, 1, "O"));
    const auto [first, last] = tensors_before_options(entry);
    for (size_t n = first; n < last; ++n) {
      text += fmt::format(
          "  template <std::same_as<{0}> O = {0}>\n  {1} {2}({3}, const O& options) const;\n",
          options, result(entry), spelled(entry.schema.name), parameters(entry, 1, n, false));
    }
  }
  if (has_separate_sizes(entry, 1))
    text += separate_sizes(entry, 1, spelled(entry.schema.name)) + " const;\n";
  return text;
}

std::string FaceWriter::method_definition(const FaceEntry& entry) const {
  std::string text;
  for (const size_t n : method_forms(entry)) {
    std::vector<std::string> values = {"self()"};
    for (size_t i = 1; i < n; ++i) values.push_back(entry.schema.arguments[i].name);
    text += fmt::format("inline {} TensorMethods::{}({}) const {{ {} }}\n", result(entry),
                        spelled(entry.schema.name), parameters(entry, 1, n, false),
                        call(entry, values));
  }
  if (const std::string options = options_of(entry); !options.empty()) {
    text += fmt::format(
        "template <std::same_as<{}> O>\ninline {} TensorMethods::{}({}) const {{ {} }}\n", options,
        result(entry), spelled(entry.schema.name), named_parameters(entry, 1, "O"),
        call(entry, named_values(entry, "self()")));
    const auto [first, last] = tensors_before_options(entry);
    for (size_t n = first; n < last; ++n) {
      text += fmt::format(
          "template <std::same_as<{}> O>\ninline {} TensorMethods::{}({}, const O& options) const "
          "{{ {} }}\n",
          options, result(entry), spelled(entry.schema.name), parameters(entry, 1, n, false),
          call(entry, values_behind_tensors(entry, "self()", n)));
    }
  }
  if (has_separate_sizes(entry, 1)) {
    const std::string name = spelled(entry.schema.name);
    text += fmt::format("{} const {{ return {}(Ints({}...)); }}\n",
                        separate_sizes(entry, 1, "TensorMethods::" + name), name,
                        entry.schema.arguments[1].name);
  }
  return text;
}

}  // namespace tenon::cli
