// The rule which defaults are positional and which are named is in docs/face.md.
#include "face.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include <fmt/format.h>

namespace tenon::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// At commas outside of brackets and strings.
std::vector<std::string_view> parts(std::string_view list) {
  std::vector<std::string_view> all;
  size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '"' && (i == 0 || list[i - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      all.push_back(trimmed(list.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (!trimmed(list.substr(begin)).empty()) all.push_back(trimmed(list.substr(begin)));
  return all;
}

// Names that C++ or the face keeps for itself get an underscore.
std::string spelled(std::string_view name) {
  const bool taken = is_keyword(name) || name == "options" || name == "self";
  return std::string(name) + (taken ? "_" : "");
}

FaceArgument parse_argument(std::string_view text) {
  FaceArgument argument;
  const size_t equals = text.find('=');
  std::string_view head = trimmed(text.substr(0, equals));
  if (equals != text.npos) argument.fallback = trimmed(text.substr(equals + 1));
  constexpr std::string_view kDynamic = "dynamic ";
  if (head.starts_with(kDynamic)) head.remove_prefix(kDynamic.size());
  const size_t space = head.rfind(' ');
  argument.name = spelled(head.substr(space + 1));
  argument.type = head.substr(0, space);
  if (const size_t open = argument.type.find('('); open != std::string::npos) {
    const size_t close = argument.type.find(')', open);
    argument.written = argument.type[close - 1] == '!';
    argument.type.erase(open, close - open + 1);
  }
  return argument;
}

// "max_pool2d" to "MaxPool2dOptions"; layers are so already.
std::string options_name(std::string_view name) {
  std::string text;
  bool upper = true;
  for (const char c : name) {
    if (c != '_') text += upper ? char(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return text + "Options";
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
std::string default_text(const FaceArgument& argument) {
  const std::string& text = argument.fallback;
  if (text == "None" || text == "[]") return "{}";
  if (text == "True" || text == "False") return text == "True" ? "true" : "false";
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

size_t width(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

bool is_keyword(std::string_view name) {
  static constexpr std::string_view kKeywords[] = {
      "alignas",   "alignof",  "and",       "and_eq",    "asm",       "auto",     "bitand",
      "bitor",     "bool",     "break",     "case",      "catch",     "char",     "char8_t",
      "class",     "compl",    "concept",   "const",     "continue",  "decltype", "default",
      "delete",    "do",       "double",    "else",      "enum",      "explicit", "export",
      "extern",    "false",    "float",     "for",       "friend",    "goto",     "if",
      "inline",    "int",      "long",      "mutable",   "namespace", "new",      "noexcept",
      "not",       "not_eq",   "nullptr",   "operator",  "or",        "or_eq",    "private",
      "protected", "public",   "register",  "requires",  "return",    "short",    "signed",
      "sizeof",    "static",   "struct",    "switch",    "template",  "this",     "throw",
      "true",      "try",      "typedef",   "typeid",    "typename",  "union",    "unsigned",
      "using",     "virtual",  "void",      "volatile",  "wchar_t",   "while",    "xor",
      "xor_eq",    "co_await", "constexpr", "consteval", "constinit"};
  return std::ranges::find(kKeywords, name) != std::end(kKeywords);
}

FaceSchema parse_face_schema(std::string_view text) {
  FaceSchema schema;
  const size_t open = text.find('('), arrow = text.rfind(" -> ");
  // A default may be a string that has an arrow in it: what follows the arrow of results has none.
  const bool gives = arrow != text.npos && text.find('"', arrow) == text.npos;
  const size_t close = text.rfind(')', gives ? arrow : text.npos);
  schema.name = text.substr(0, open);
  if (gives) schema.results = text.substr(arrow + 4);
  for (std::string_view part : parts(text.substr(open + 1, close - open - 1)))
    schema.arguments.push_back(parse_argument(part));
  return schema;
}

std::string comment_lines(std::string_view text, std::string_view indent) {
  std::string lines, line;
  const auto flush = [&] {
    lines += fmt::format("{}// {}\n", indent, line);
    line.clear();
  };
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (!line.empty() && width(line) + 1 + width(word) + indent.size() + 3 > 100) flush();
    line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  if (!line.empty()) flush();
  return lines;
}

// Where the parts of a parameter list end: required ones, optional tensors behind them, and
// defaults that are positional; what follows is named.
struct FaceWriter::Shape {
  size_t required, tensors, positional, all;
  // All that is not required has a name, too: the one default of a layer, and those of an op that
  // takes some by position.
  bool by_name_too = false;

  explicit Shape(const FaceEntry& entry) {
    const auto& arguments = entry.schema.arguments;
    const auto is_tensor = [&](size_t i) { return arguments[i].type == "Tensor?"; };
    all = arguments.size();
    required = 0;
    while (required < all && arguments[required].fallback.empty()) ++required;
    tensors = required;
    if (entry.kind != FaceEntry::Kind::op) {
      by_name_too = all - required == 1;
      positional = by_name_too ? all : required;
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
  if (t.starts_with("Tensor")) return "const " + prefix_ + "Tensors&";
  if (t == "int[]|str") return "const " + prefix_ + "IntsOrText&";
  if (t.starts_with("int[]")) return prefix_ + "Ints";
  if (t.starts_with("float[]")) return prefix_ + "Floats";
  if (t == "str") return prefix_ + "TextRef";
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
  std::vector<std::string> types;
  for (std::string_view part : parts(std::string_view(results).substr(1, results.size() - 2)))
    types.push_back(one(part));
  if (types.size() == 1) return types[0];
  return "std::tuple<" + joined_values(types, ", ") + ">";
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
  return text + " = " + (is_operand ? prefix_ + "none" : default_text(argument));
}

std::string FaceWriter::call(const FaceEntry& entry, const std::vector<std::string>& values) const {
  const std::string list = "{" + joined_values(values, ", ") + "}";
  if (entry.kind == FaceEntry::Kind::op) {
    return fmt::format("return {0}detail::call<{1}>({0}detail::op<\"{2}\">, {3});", prefix_,
                       result(entry), entry.op, list);
  }
  const std::string made =
      fmt::format("{}Object::create(\"{}\", {})", prefix_, entry.schema.name, list);
  if (entry.kind == FaceEntry::Kind::layer) return "return " + made + ";";
  return "return " + result(entry) + "(" + made + ");";
}

// The struct of the arguments from `first` on.
std::string FaceWriter::options(std::string* its_name, const FaceEntry& entry, size_t first) {
  std::string members;
  for (size_t i = first; i < entry.schema.arguments.size(); ++i) {
    const FaceArgument& argument = entry.schema.arguments[i];
    const std::string its_member = member(entry, argument);
    const bool is_operand = its_member.ends_with("Operand");
    members += fmt::format("  {} {} = {};\n", its_member, argument.name,
                           is_operand ? prefix_ + "none" : default_text(argument));
  }
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

std::string FaceWriter::functions(const FaceEntry& entry) {
  const Shape shape(entry);
  const auto& arguments = entry.schema.arguments;
  const std::string name = spelled(entry.schema.name), function_result = result(entry);
  std::string text;
  if (entry.doc != last_doc_) text += comment_lines(entry.doc);
  last_doc_ = entry.doc;
  const auto function = [&](const std::string& list, const std::string& body) {
    text += fmt::format("inline {} {}({}) {{ {} }}\n", function_result, name, list, body);
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
             call(entry, values));
    if (!shape.by_name_too) return text;
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
    if (!shape.by_name_too) return text;
    text += options(&struct_name, entry, shape.required);
  }
  // A layer has one default, for which nobody writes {}. Of an op {} stands for a list, for None or
  // for no tensor: it makes options only where no other function takes it, since this one is a
  // template.
  const bool is_op = entry.kind == FaceEntry::Kind::op;
  if (is_op) text += fmt::format("template <std::same_as<{0}> O = {0}>\n", struct_name);
  function(named_parameters(entry, 0, is_op ? "O" : struct_name),
           call(entry, named_values(entry, arguments[0].name)));
  return text;
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

std::string FaceWriter::options_of(const FaceEntry& entry) const {
  const auto found = options_of_.find(entry.schema.name);
  return Shape(entry).by_name_too && found != options_of_.end() ? found->second : "";
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
                        joined_values(list, ", "));
    shorter = n;
  }
  if (const std::string options = options_of(entry); !options.empty()) {
    text += fmt::format("  template <std::same_as<{0}> O = {0}>\n  {1} {2}({3}) const;\n", options,
                        result(entry), spelled(entry.schema.name), named_parameters(entry, 1, "O"));
  }
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
  }
  return text;
}

}  // namespace tenon::cli
