// The rule which defaults are positional and which are named is in docs/face.md.
#include "face.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

namespace tenon::cli {
namespace {

// "max_pool2d" to "MaxPool2d".
std::string as_class(std::string_view name) {
  std::string text;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') text += upper ? char(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return text;
}
// Layers are classes already.
std::string options_name(std::string_view name) { return as_class(name) + "Options"; }

// The results of a schema, "Tensor values" each.
std::vector<std::string_view> results_of(const FaceEntry& entry) {
  const std::string_view results = entry.schema.results;
  if (!results.starts_with('(')) return {results};
  return parts_of(results.substr(1, results.size() - 2));
}
// Their names, where all are tensors that have one by which C++ can call a function.
std::vector<std::string> result_names(const FaceEntry& entry) {
  constexpr std::string_view kTensor = "Tensor ";
  std::vector<std::string> names;
  for (const std::string_view part : results_of(entry)) {
    const std::string name(part.starts_with(kTensor) ? part.substr(kTensor.size()) : "");
    // A std::tuple, as which they are given too, has a swap of its own.
    if (name.empty() || name == "swap" || is_keyword(name)) return {};
    names.push_back(name);
  }
  if (entry.kind != FaceEntry::Kind::op || names.size() < 2) return {};
  return names;
}

// A number of a default in C++.
std::string number_text(const std::string& text) {
  constexpr const char* kLimits = "std::numeric_limits<double>::";
  if (text == "inf" || text == "-inf")
    return std::string(text == "inf" ? "" : "-") + kLimits + "infinity()";
  if (text == "nan") return std::string(kLimits) + "quiet_NaN()";
  return text == "9223372036854775807" ? "INT64_MAX" : text;
}

// A default's text in C++: None and [] are {}, a list of one number is that number.
std::string default_text(const FaceArgument& argument, const std::string& prefix) {
  const std::string& text = argument.fallback;
  if (text == "None" || text == "[]") return "{}";
  if (text == "True" || text == "False") return text == "True" ? "true" : "false";
  if (argument.type.starts_with("dtype")) return prefix + (text == "bool" ? "bool_" : text);
  if (text.front() != '[') return number_text(text);
  std::string list;
  std::istringstream items(text.substr(1, text.size() - 2));
  for (std::string item; std::getline(items >> std::ws, item, ',');)
    list += (list.empty() ? "" : ", ") + number_text(item);
  return list.find(',') == std::string::npos ? list : "{" + list + "}";
}

bool is_dtype_or_device(const FaceArgument& argument) {
  return argument.type.starts_with("dtype") || argument.type.starts_with("device");
}

std::string joined_values(const std::vector<std::string>& values, std::string_view separator) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : separator.data()) + value;
  return text;
}

}  // namespace

// Where the parts of a parameter list end: required ones, optional tensors behind them, and
// defaults that are positional; what follows is named.
struct FaceWriter::Shape {
  size_t required, tensors, positional, all;
  // All that is not required has a name, too, in an op that takes some by position.
  bool by_name_too = false;

  explicit Shape(const FaceEntry& entry) {
    const auto& arguments = entry.schema.arguments;
    const auto is_tensor = [&](size_t i) { return arguments[i].type == "Tensor?"; };
    all = arguments.size();
    required = 0;
    while (required < all && arguments[required].fallback.empty()) ++required;
    tensors = required;
    if (entry.kind !=
        FaceEntry::Kind::op) {  // by_place writes what takes the others by their places
      positional = required;
      return;
    }
    while (tensors < all && is_tensor(tensors)) ++tensors;
    size_t counted = all;
    while (counted > required && is_dtype_or_device(arguments[counted - 1])) --counted;
    const bool few = counted - required <= 2 || counted - std::min(tensors, counted) <= 1;
    positional = entry.method || few ? all : tensors;
    by_name_too = required > 0 && positional > required;
  }
};

std::string FaceWriter::type(const FaceEntry& entry, const FaceArgument& argument) const {
  const std::string& t = argument.type;
  if (t == "Tensor" || (t == "Tensor?" && entry.operands)) {
    return entry.operands && !argument.written ? prefix_ + "Operand"
                                               : "const " + prefix_ + "Tensor&";
  }
  if (t == "Tensor?") return "const " + prefix_ + "Tensor&";
  if (takes_params(entry) && &argument == &entry.schema.arguments[0])
    return prefix_.empty() ? "const Params&" : "const " + prefix_ + "optim::Params&";
  if (t.starts_with("Tensor")) return "const " + prefix_ + "Tensors&";
  if (t == "int[]|str") return "const " + prefix_ + "IntsOrText&";
  if (t.starts_with("int[]")) return prefix_ + "Ints";
  if (t.starts_with("float[]")) return prefix_ + "Floats";
  if (t == "str") return prefix_ + "TextRef";
  if (t == "bool") return prefix_ + "Bool";
  if (t == "object[]") return "const std::vector<" + prefix_ + "Object>&";
  if (t.starts_with("object")) return "const " + prefix_ + "Object&";
  return member(entry, argument);
}

// What owns such a value.
std::string FaceWriter::member(const FaceEntry& entry, const FaceArgument& argument) const {
  const std::string& t = argument.type;
  if (t.ends_with("?") &&
      (t == "int?" || t == "float?" || t == "bool?" || t == "number?" || t == "str?")) {
    FaceArgument one = argument;
    one.type.pop_back();
    return "std::optional<" + member(entry, one) + ">";
  }
  if (t == "int") return prefix_ + "Int";
  if (t == "float") return prefix_ + "Float";
  if (t == "bool") return "bool";
  if (t == "number") return prefix_ + "Number";
  if (t == "str") return "std::string";
  if (t == "str[]") return "std::vector<std::string>";
  if (t.starts_with("dtype")) return prefix_ + "Dtype";
  if (t.starts_with("device")) return prefix_ + "Device";
  if (t == "int[]|str") return prefix_ + "IntsOrText";
  if (t.starts_with("int[]")) return prefix_ + "KeptInts";
  if (t.starts_with("float[]")) return prefix_ + "KeptFloats";
  if (t == "Tensor" || t == "Tensor?")
    return prefix_ + (entry.operands && !argument.written ? "KeptOperand" : "Tensor");
  if (t.starts_with("Tensor")) return "std::vector<" + prefix_ + "Tensor>";
  if (t == "object[]") return "std::vector<" + prefix_ + "Object>";
  return prefix_ + "Object";
}

std::string FaceWriter::result(const FaceEntry& entry) const {
  if (entry.kind == FaceEntry::Kind::layer) return prefix_ + "Object";
  if (entry.kind == FaceEntry::Kind::optimizer)
    return prefix_.empty() ? "Optimizer" : prefix_ + "optim::Optimizer";
  const std::string& results = entry.schema.results;
  if (results == "()") return "void";
  const auto one = [&](std::string_view text) {
    return text.substr(0, text.find(' ')).ends_with("[]") ? "std::vector<" + prefix_ + "Tensor>"
                                                          : prefix_ + "Tensor";
  };
  if (results.front() != '(') return one(results);
  if (const std::string name = results_struct(entry); names_results_ && !name.empty())
    return "results::" + name;
  std::vector<std::string> types;
  for (const std::string_view part : results_of(entry)) types.push_back(one(part));
  if (types.size() == 1) return types[0];
  return "std::tuple<" + joined_values(types, ", ") + ">";
}

std::string FaceWriter::results_struct(const FaceEntry& entry) {
  std::string name;
  for (const std::string& each : result_names(entry)) name += as_class(each);
  return name;
}
std::string FaceWriter::definition_of_results(const FaceEntry& entry) const {
  const std::vector<std::string> names = result_names(entry);
  std::string text = fmt::format(
      "struct {} : {}detail::NamedResults<{}> {{\n  using NamedResults::NamedResults;\n",
      results_struct(entry), prefix_, names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("  {}Tensor {}() const {{ return std::get<{}>(*this); }}\n", prefix_,
                        names[i], i);
  }
  return text + "};\n";
}

std::string FaceWriter::parameters(const FaceEntry& entry, size_t first, size_t last,
                                   bool defaults) const {
  std::vector<std::string> list;
  for (size_t i = first; i < last; ++i) list.push_back(parameter(entry, i, defaults));
  return joined_values(list, ", ");
}

std::string FaceWriter::parameter(const FaceEntry& entry, size_t i, bool with_default) const {
  const FaceArgument& argument = entry.schema.arguments[i];
  const std::string its_type = type(entry, argument);
  std::string text = its_type + " " + argument.name;
  if (!with_default || argument.fallback.empty()) return text;
  const bool is_operand = its_type == prefix_ + "Operand" && argument.fallback == "None";
  return text + " = " + (is_operand ? prefix_ + "none" : default_text(argument, prefix_));
}

// With options by name where `by_name`.
std::string FaceWriter::call(const FaceEntry& entry, const std::vector<std::string>& values,
                             bool by_name) const {
  if (takes_params(entry)) {
    const std::vector<std::string> others(values.begin() + 1, values.end());
    return fmt::format("return {0}.made(\"{1}\", {{{0}.first(){2}{3}}});", values[0],
                       entry.schema.name, others.empty() ? "" : ", ", joined_values(others, ", "));
  }
  const std::string list = "{" + joined_values(values, ", ") + "}";
  if (entry.kind == FaceEntry::Kind::op) {
    const std::string called = fmt::format("{0}detail::call<{1}>({0}detail::op<\"{2}\">, {3})",
                                           prefix_, result(entry), entry.op, list);
    if (!by_name || !makes_a_tensor(entry)) return "return " + called + ";";
    return fmt::format("return {}detail::with_requires_grad({}, options.requires_grad);", prefix_,
                       called);
  }
  const std::string made =
      fmt::format("{}Object::create(\"{}\", {})", prefix_, entry.schema.name, list);
  if (entry.kind == FaceEntry::Kind::layer) return "return " + made + ";";
  return "return " + result(entry) + "(" + made + ");";
}

// Is this an optimizer whose first argument is what it trains?
bool FaceWriter::takes_params(const FaceEntry& entry) {
  return entry.kind == FaceEntry::Kind::optimizer && !entry.schema.arguments.empty() &&
         entry.schema.arguments[0].type == "Tensor[]";
}

// Options that are those of any new tensor have one type, which x.options() gives.
FaceWriter::FaceWriter(std::string prefix, bool names_results)
    : prefix_(std::move(prefix)), names_results_(names_results) {
  known_options_.emplace_back(fmt::format("  {0}Dtype dtype = {{}};\n  {0}Device device = {{}};\n"
                                          "  bool requires_grad = false;\n",
                                          prefix_),
                              prefix_ + "TensorOptions");
}

// Does an op make a new tensor, of this dtype and on this device? It may ask for its gradient, too.
bool FaceWriter::makes_a_tensor(const FaceEntry& entry) {
  const auto& arguments = entry.schema.arguments;
  const size_t n = arguments.size();
  return entry.kind == FaceEntry::Kind::op && n >= 2 &&
         arguments[n - 2].type.starts_with("dtype") &&
         arguments[n - 1].type.starts_with("device") && entry.schema.results == "Tensor";
}

// The struct of the arguments from `first` on.
std::string FaceWriter::options(std::string* its_name, const FaceEntry& entry, size_t first) {
  std::string members;
  for (size_t i = first; i < entry.schema.arguments.size(); ++i) {
    const FaceArgument& argument = entry.schema.arguments[i];
    const std::string its_member = member(entry, argument);
    const bool is_operand = its_member.ends_with("Operand");
    members += fmt::format("  {} {} = {};\n", its_member, argument.name,
                           is_operand ? prefix_ + "none" : default_text(argument, prefix_));
  }
  if (makes_a_tensor(entry)) members += "  bool requires_grad = false;\n";
  std::string& name = *its_name;
  if (std::ranges::any_of(known_options_, [&](const auto& known) {
        return known.second == name && known.first != members;
      })) {  // of a form in place that takes others
    name.insert(name.size() - std::string_view("Options").size(), "InPlace");
  }
  std::string& written = options_of_[entry.schema.name];
  for (const auto& [known, other] : known_options_) {
    if (known != members) continue;
    written = other;  // of a form in place it has the name already
    return name == other ? "" : fmt::format("using {} = {};\n", name, other);
  }
  known_options_.emplace_back(members, name);
  written = name;
  return fmt::format(
      "struct {0} {{\n  [[no_unique_address]] {1}detail::ByName by_name = "
      "{1}detail::ByName();\n{2}}};\n",
      name, prefix_, members);
}

// A function of the entry's name, whose body is one return; of an optimizer a constructor of its class.
std::string FaceWriter::definition(const FaceEntry& entry, std::string_view before,
                                   const std::string& list, const std::string& body) const {
  const std::string name = spelled(entry.schema.name);
  if (entry.kind != FaceEntry::Kind::optimizer)
    return fmt::format("{}{} {}({}) {{ {} }}\n", before, result(entry), name, list, body);
  constexpr std::string_view kReturn = "return ";
  const std::string made = body.substr(kReturn.size(), body.size() - kReturn.size() - 1);
  return fmt::format("  explicit {}({}) : Optimizer({}) {{}}\n", name, list, made);
}

// An optimizer is a class, so that a program may declare one: optim::SGD optimizer(parameters, 0.1). Without
// arguments it is None, as a member is until it is assigned.
std::string FaceWriter::optimizer_class(const FaceEntry& entry) {
  const Shape shape(entry);
  const auto& arguments = entry.schema.arguments;
  std::string text, struct_name = options_name(entry.schema.name);
  std::vector<std::string> values;
  for (size_t i = 0; i < shape.all; ++i)
    values.push_back((i < shape.positional ? "" : "options.") + arguments[i].name);
  const bool has_options = shape.positional < shape.all;
  if (has_options) text += options(&struct_name, entry, shape.positional);
  const std::string name = spelled(entry.schema.name);
  text += fmt::format("class {0} : public {1} {{\n public:\n", name, result(entry));
  if (shape.positional > 0) text += fmt::format("  {}() = default;\n", name);
  std::string list = parameters(entry, 0, shape.positional, true);
  if (has_options)
    list += std::string(list.empty() ? "" : ", ") + "const " + struct_name + "& options = {}";
  text += definition(entry, "", list, call(entry, values, true));
  if (has_options) text += by_place(entry, struct_name);
  return text + "};\n";
}

std::string FaceWriter::functions(const FaceEntry& entry) {
  const Shape shape(entry);
  const auto& arguments = entry.schema.arguments;
  const std::string name = spelled(entry.schema.name);
  std::string text;
  if (entry.doc != last_doc_) text += comment_lines(entry.doc);
  last_doc_ = entry.doc;
  if (entry.kind == FaceEntry::Kind::optimizer) return text + optimizer_class(entry);
  const auto function = [&](const std::string& list, const std::string& body) {
    text += definition(entry, "inline ", list, body);
  };
  const auto with = [](std::string list, std::string_view more) {
    return list + (list.empty() || more.empty() ? "" : ", ") + std::string(more);
  };
  std::vector<std::string> values;
  for (size_t i = 0; i < shape.all; ++i)
    values.push_back((i < shape.positional ? "" : "options.") + arguments[i].name);

  std::string struct_name = options_name(entry.schema.name);
  if (shape.positional < shape.all) {
    text += options(&struct_name, entry, shape.by_name_too ? shape.required : shape.positional);
    // What the options have, too, stands in one of the two.
    for (size_t i = shape.required; i < shape.positional; ++i) {
      values[i] = fmt::format("{0}detail::one_of(\"{1}\", \"{2}\", {2}, options.{2})", prefix_,
                              entry.schema.name, arguments[i].name);
    }
    function(with(parameters(entry, 0, shape.positional, true),
                  "const " + struct_name + "& options = {}"),
             call(entry, values, true));
    text += by_place(entry, struct_name);
    if (!shape.by_name_too) return text;
    text += behind_tensors(entry, struct_name);
  } else {
    if (entry.plain < shape.all) {
      // A call without the options of variants brings no defaults, which the host would look at.
      const auto plain = static_cast<ptrdiff_t>(entry.plain);
      function(parameters(entry, 0, entry.plain, true),
               call(entry, {values.begin(), values.begin() + plain}));
      function(with(parameters(entry, 0, entry.plain + 1, false),
                    parameters(entry, entry.plain + 1, shape.all, true)),
               call(entry, values));
    } else {
      function(parameters(entry, 0, shape.all, true), call(entry, values));
    }
    if (has_separate_sizes(entry, 0)) {
      text += fmt::format("{} {{ return {}({}Ints({}...)); }}\n", separate_sizes(entry, 0, name),
                          name, prefix_, arguments[0].name);
    }
    if (!shape.by_name_too) return text;
    text += options(&struct_name, entry, shape.required);
    text += behind_tensors(entry, struct_name);
  }
  // {} stands for a list, for None or for no tensor: it makes options only where no other function
  // takes it, since this one is a template.
  text += fmt::format("template <std::same_as<{0}> O = {0}>\n", struct_name);
  function(named_parameters(entry, 0, "O"),
           call(entry, named_values(entry, arguments[0].name), true));
  return text;
}

// The function whose options stand by their places: the first of them is of a type that is deduced, so
// that braces are the options by name.
std::string FaceWriter::by_place(const FaceEntry& entry, const std::string& options) const {
  const auto& arguments = entry.schema.arguments;
  const size_t first = Shape(entry).positional;
  std::string its_type = type(entry, arguments[first]);
  if (its_type.starts_with("const ")) its_type = its_type.substr(6, its_type.size() - 7);  // and &
  std::string deduced = "P";
  while (std::ranges::any_of(arguments, [&](const auto& one) { return one.name == deduced; }))
    deduced += "1";
  std::vector<std::string> list = {"const " + deduced + "& " + arguments[first].name}, values;
  if (first > 0) list.insert(list.begin(), parameters(entry, 0, first, false));
  for (size_t i = first + 1; i < arguments.size(); ++i) list.push_back(parameter(entry, i, true));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i].name;
    values.push_back(i == first ? its_type + "(" + name + ")" : name);
  }
  const char* indent = entry.kind == FaceEntry::Kind::optimizer ? "  " : "";
  return fmt::format("{}template <{}detail::Placed<{}> {}>\n", indent, prefix_, its_type, deduced) +
         definition(entry, "", joined_values(list, ", "), call(entry, values)) +
         named_behind_placed(entry, options);
}

// The function that takes options by name behind one or more by their places: LSTM(6, 5, 2, {.bias = false}).
// The type of each place behind the first is deduced; of braces it is the options. Steps of optimizers,
// whose callers name what they give, have none.
std::string FaceWriter::named_behind_placed(const FaceEntry& entry,
                                            const std::string& options) const {
  const Shape shape(entry);
  const auto& arguments = entry.schema.arguments;
  const size_t first = shape.positional;
  const size_t before =
      shape.by_name_too ? first - shape.required : 0;  // options with these places
  const size_t n_members = 1 + before + arguments.size() - first + (makes_a_tensor(entry) ? 1 : 0);
  constexpr size_t kMostFields = 16;  // of fields.hpp
  if (arguments.size() < first + 2 || entry.schema.results == "()" || n_members > kMostFields)
    return "";
  std::string kind = "P";
  while (
      std::ranges::any_of(arguments, [&](const auto& one) { return one.name.starts_with(kind); }))
    kind += "_";
  std::vector<std::string> types, list, values, placed;
  if (first > 0) list.push_back(parameters(entry, 0, first, false));
  for (size_t i = 0; i < first; ++i) values.push_back(arguments[i].name);
  for (size_t i = first; i < arguments.size(); ++i) {
    const std::string type = kind + std::to_string(i - first + 1);
    std::string option = member(entry, arguments[i]);
    if (option == "bool") option = prefix_ + "Bool";  // which takes no number
    types.push_back(i == first ? fmt::format("{}detail::Placed<{}> {}", prefix_, option, type)
                               : fmt::format("{0}detail::PlacedOr<{1}, {2}> {3} = {2}", prefix_,
                                             option, options, type));
    list.push_back(fmt::format("const {}& {}", type, arguments[i].name));
    if (i > first + 1) list.back() += fmt::format(" = {}detail::unset<{}>()", prefix_, type);
    placed.push_back(arguments[i].name);
  }
  values.push_back(fmt::format("{}detail::behind<{}, {}, {}>(\"{}\", {})", prefix_, options,
                               n_members, 1 + before, entry.schema.name,
                               joined_values(placed, ", ")));
  const char* indent = entry.kind == FaceEntry::Kind::optimizer ? "  " : "";
  const std::string name = spelled(entry.schema.name);
  const std::string passed = joined_values(values, ", ");
  const std::string head = fmt::format("{}template <{}>\n", indent, joined_values(types, ", "));
  if (entry.kind == FaceEntry::Kind::optimizer)
    return head + fmt::format("  explicit {0}({1}) : {0}({2}) {{}}\n", name,
                              joined_values(list, ", "), passed);
  return head + definition(entry, "", joined_values(list, ", "),
                           fmt::format("return {}({});", name, passed));
}

// The first number of optional tensors behind which options by name need a function of their own, and the
// number behind the last: layer_norm(x, 3, w, {.eps = 1e-6}) and layer_norm(x, 3, w, b, {.eps = 1e-6}).
std::pair<size_t, size_t> FaceWriter::tensors_before_options(const FaceEntry& entry) {
  const Shape shape(entry);
  const size_t none_left =
      std::min(shape.positional == shape.all ? shape.tensors + 1 : shape.tensors, shape.all);
  return {shape.required + 1, entry.operands ? 0 : none_left};
}

// The functions that take some optional tensors by their places and all other options by name.
std::string FaceWriter::behind_tensors(const FaceEntry& entry, const std::string& options) const {
  const auto [first, last] = tensors_before_options(entry);
  std::string text;
  for (size_t n = first; n < last; ++n) {
    text += fmt::format("template <std::same_as<{0}> O = {0}>\n", options);
    text += definition(
        entry, "inline ", parameters(entry, 0, n, false) + ", const O& options",
        call(entry, values_behind_tensors(entry, entry.schema.arguments[0].name, n), true));
  }
  return text;
}
std::vector<std::string> FaceWriter::values_behind_tensors(const FaceEntry& entry,
                                                           const std::string& first,
                                                           size_t n) const {
  std::vector<std::string> values = named_values(entry, first);
  for (size_t i = Shape(entry).required; i < n; ++i) {
    values[i] = fmt::format("{0}detail::one_of(\"{1}\", \"{2}\", {2}, options.{2})", prefix_,
                            entry.schema.name, entry.schema.arguments[i].name);
  }
  return values;
}

// Is the argument at `place` of an op the last, a list of sizes or dimensions? Then these may stand
// without braces: x.reshape(3, 4). Place 0 is that of a function, zeros(3, 4), where a dtype and a device
// may follow, for which there are the defaults; place 1 that of a method.
bool FaceWriter::has_separate_sizes(const FaceEntry& entry, size_t place) const {
  const auto& arguments = entry.schema.arguments;
  if (entry.kind != FaceEntry::Kind::op || arguments.size() <= place ||
      arguments[place].type != "int[]" || !arguments[place].fallback.empty())
    return false;
  const auto next = arguments.begin() + ptrdiff_t(place) + 1;
  return place > 0 ? next == arguments.end()
                   : std::all_of(next, arguments.end(), is_dtype_or_device);
}
// `name`(sizes...), without what follows it.
std::string FaceWriter::separate_sizes(const FaceEntry& entry, size_t place,
                                       const std::string& name) const {
  return fmt::format(
      "template <{}detail::WholeNumber... N>\nrequires(sizeof...(N) > 1) {} {}(N... {})", prefix_,
      result(entry), name, entry.schema.arguments[place].name);
}

// What is required from `first` on, and options of this type.
std::string FaceWriter::named_parameters(const FaceEntry& entry, size_t first,
                                         const std::string& options_type) const {
  const std::string list = parameters(entry, first, Shape(entry).required, false);
  return fmt::format("{}{}const {}& options", list, list.empty() ? "" : ", ", options_type);
}
// The values of these; the first one, where it is required, is called `first`.
std::vector<std::string> FaceWriter::named_values(const FaceEntry& entry,
                                                  const std::string& first) const {
  const auto& arguments = entry.schema.arguments;
  const Shape shape(entry);
  std::vector<std::string> values;
  for (size_t i = 0; i < shape.all; ++i) {
    const bool is_option = i >= shape.required;
    values.push_back((is_option ? "options." : "") +
                     (i == 0 && !is_option ? first : arguments[i].name));
  }
  return values;
}

std::string FaceWriter::options_of(const FaceEntry& entry) const {
  const auto found = options_of_.find(entry.schema.name);
  return Shape(entry).by_name_too && found != options_of_.end() ? found->second : "";
}

}  // namespace tenon::cli
