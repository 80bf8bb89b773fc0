// tenon header: the C++ header of a pack's ops, layers and optimizers, from what it registered.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tenon/tenon.hpp>

#include "commands.h"
#include "face.h"
#include "process.h"
#include "text.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;
using OrderedJson = nlohmann::ordered_json;

// What finds an op of the pack: the standard pack's names need no prefix.
constexpr std::string_view kStandardPack = "ops.";
constexpr std::string_view kResultsHeader = "ops/results.hpp";

// A plugin by its id, or by the path of its library, which is loaded behind what it may need.
std::string plugin_id(const std::string& given) {
  const bool is_path = given.find('/') != given.npos || given.ends_with(".so");
  load_all_plugins();
  if (is_path) load_plugin(given.find('/') == given.npos ? "./" + given : given);
  std::vector<std::string> ids;
  const OrderedJson list = OrderedJson::parse(plugins_json());
  for (const OrderedJson& plugin : list.at("plugins")) {
    if (plugin.at("state") != "loaded") continue;
    const std::string id = plugin.at("id"), from = plugin.at("from");
    if (id == given) return id;
    const std::string name = given.substr(given.rfind('/') + 1);
    if (is_path && from.substr(from.rfind('/') + 1) == name) return id;
    ids.push_back(id);
  }
  throw UsageError(fmt::format("header: no plugin '{}' is loaded{} (tenon plugins lists them)",
                               printable(given), did_you_mean(given, ids)));
}

bool has_flag(const OrderedJson& op, const char* flag) {
  const OrderedJson& flags = op.at("flags");
  return std::ranges::find(flags, flag) != flags.end();
}

// The public ops, layers and optimizers of a plugin, in order of registration; those of a group, or
// all.
std::vector<FaceEntry> entries_of(const std::string& id, const std::string& group) {
  std::vector<FaceEntry> entries;
  const auto add = [&](FaceEntry entry, const OrderedJson& from) {
    entry.doc = from.at("doc");
    entry.group = from.at("group");
    if (entry.schema.name.starts_with('_') || (!group.empty() && entry.group != group)) return;
    entries.push_back(std::move(entry));
  };
  for (const OrderedJson& op : OrderedJson::parse(ops_json())) {
    if (op.at("plugin") != id) continue;
    FaceEntry entry{FaceEntry::Kind::op, parse_face_schema(op.at("schema").get<std::string>())};
    const std::string name = op.at("name");
    entry.op = name.starts_with(kStandardPack) ? name.substr(kStandardPack.size()) : name;
    entry.method = has_flag(op, "method");
    const auto tensors = std::ranges::count_if(entry.schema.arguments, [](const FaceArgument& a) {
      return a.type == "Tensor" || a.type == "Tensor?";
    });
    if (op.contains("plain")) entry.plain = op.at("plain");
    entry.operands = (op.at("kind") == "expression" && tensors > 1) || has_flag(op, "numbers");
    add(std::move(entry), op);
  }
  const OrderedJson list = OrderedJson::parse(plugins_json());
  for (const OrderedJson& factory : list.at("factories")) {
    if (factory.at("plugin") != id) continue;
    add({factory.at("kind") == "optimizer" ? FaceEntry::Kind::optimizer : FaceEntry::Kind::layer,
         parse_face_schema(factory.at("schema").get<std::string>())},
        factory);
  }
  if (entries.empty()) {
    throw UsageError(group.empty()
                         ? fmt::format("header: plugin '{}' brings no op, layer or optimizer", id)
                         : fmt::format("header: plugin '{}' brings nothing of the group '{}'", id,
                                       printable(group)));
  }
  return entries;
}

// The namespace that the names are in. Tenon's own has its version inside.
struct Space {
  std::string open, close;
};
Space space_of(const std::string& name) {
  constexpr std::string_view kOwn = "tenon";
  if (name != kOwn && !name.starts_with("tenon::")) {
    return {fmt::format("namespace TENON_HIDDEN {} {{\n", name),
            fmt::format("}}  // namespace {}\n", name)};
  }
  Space space{"namespace tenon {\ninline namespace TENON_HIDDEN v0 {\n",
              "}  // namespace v0\n}  // namespace tenon\n"};
  if (name != kOwn) {
    const std::string inner = name.substr(kOwn.size() + 2);
    space.open += fmt::format("namespace {} {{\n", inner);
    space.close = fmt::format("}}  // namespace {}\n", inner) + space.close;
  }
  return space;
}

std::string assembled(const std::string& about, const std::vector<std::string>& includes,
                      const Space& space, const std::string& body) {
  std::string text = comment_lines(about) + "#pragma once\n\n";
  for (const char* name : {"concepts", "cstdint", "optional", "string", "tuple", "vector"})
    text += fmt::format("#include <{}>\n", name);
  text += "\n";
  for (const std::string& name : includes) text += fmt::format("#include \"tenon/{}\"\n", name);
  return text + "\n// clang-format off\n" + space.open + "\n" + body + "\n" + space.close;
}

// What stands before the face's names in this namespace.
std::string prefix_of(const std::string& space) {
  return space == "tenon" || space.starts_with("tenon::") ? "" : "tenon::";
}

// The structs of what these give that name their results, each once.
std::string result_structs(const FaceWriter& writer, const std::vector<FaceEntry>& entries) {
  std::map<std::string, std::string> structs;
  for (const FaceEntry& entry : entries) {
    if (const std::string name = FaceWriter::results_struct(entry); !name.empty())
      structs.emplace(name, writer.definition_of_results(entry));
  }
  std::string text;
  for (const auto& [name, definition] : structs) text += definition;
  return text.empty() ? "" : "namespace results {\n" + text + "}  // namespace results\n\n";
}

std::string functions_header(const std::string& id, const std::string& group,
                             const std::string& space, const std::vector<FaceEntry>& entries) {
  // The groups of the standard pack have the structs of results in a header of its own. Those of another
  // would each define them, and give tuples instead.
  const bool results_are_included = id == "ops" && !group.empty();
  FaceWriter writer(prefix_of(space), results_are_included || group.empty());
  std::string body = group.empty() ? result_structs(writer, entries) : "";
  std::vector<std::string> includes;
  for (const FaceEntry& entry : entries) {
    body += writer.functions(entry);
    if (results_are_included && !FaceWriter::results_struct(entry).empty() &&
        std::ranges::find(includes, kResultsHeader) == includes.end())
      includes.emplace_back(kResultsHeader);
    const std::string header = entry.kind == FaceEntry::Kind::op      ? "op.hpp"
                               : entry.kind == FaceEntry::Kind::layer ? "object.hpp"
                                                                      : "optim/params.hpp";
    if (std::ranges::find(includes, header) == includes.end()) includes.push_back(header);
  }
  const std::string what = group.empty()
                               ? fmt::format("What the plugin '{}' brings", id)
                               : fmt::format("The group '{}' of the plugin '{}'", group, id);
  return assembled(what + ", written by `tenon header`: changes belong into the plugin.", includes,
                   space_of(space), body);
}

std::string results_header(const std::string& id, const std::string& space,
                           const std::vector<FaceEntry>& entries) {
  return assembled(fmt::format("Results by their names, of the ops of the plugin '{}', written by "
                               "`tenon header`: changes belong into the plugin.",
                               id),
                   {"named_results.hpp"}, space_of(space),
                   result_structs(FaceWriter(prefix_of(space)), entries));
}

// Tensor's methods: their declarations, in a class that Tensor derives from, or their definitions.
std::string methods_header(const std::string& id, const std::vector<FaceEntry>& entries,
                           bool declarations) {
  // Each group has a header, in which its options are.
  std::map<std::string, FaceWriter> writers;
  for (const FaceEntry& entry : entries)
    (void)writers.try_emplace(entry.group, "").first->second.functions(entry);
  std::string body;
  std::set<std::string> structs, results;
  for (const FaceEntry& entry : entries) {
    if (!entry.method) continue;
    if (const std::string name = FaceWriter::results_struct(entry); !name.empty())
      results.insert(name);
    const FaceWriter& writer = writers.at(entry.group);
    if (const std::string name = writer.options_of(entry); !name.empty()) structs.insert(name);
    body += declarations ? writer.method_declaration(entry) : writer.method_definition(entry);
  }
  if (declarations) {
    std::string classes = "class Tensor;\nclass Operand;\nclass Number;\nclass Tensors;\n";
    for (const std::string& name : structs) classes += fmt::format("struct {};\n", name);
    classes += "namespace results {\n";
    for (const std::string& name : results) classes += fmt::format("struct {};\n", name);
    classes += "}  // namespace results\n";
    body = classes + "\nnamespace detail {\n\nclass TensorMethods {\n public:\n" + body +
           "\n protected:\n  const Tensor& self() const;\n};\n\n}  // namespace detail\n";
  } else {
    body = "namespace detail {\n\n" + body + "\n}  // namespace detail\n";
  }
  return assembled(
      fmt::format("{} of the methods of Tensor that are ops of the plugin '{}', written "
                  "by `tenon header`: the text is with the op.",
                  declarations ? "Declarations" : "Definitions", id),
      declarations ? std::vector<std::string>{"lists.hpp"}
                   : std::vector<std::string>{"op.hpp", std::string(kResultsHeader)},
      space_of("tenon"), body);
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, letter) && !is_keyword(name);
}

// The option's, which has to be names with :: between them; without it the plugin's id, as C++ can
// spell it.
std::string namespace_of(const Line& line, const std::string& id) {
  if (!line.has("namespace")) return id == "ops" ? "tenon" : id + (is_keyword(id) ? "_" : "");
  const std::string space = line.get("namespace");
  for (size_t at = 0; at != space.npos;) {
    const size_t end = space.find("::", at);
    if (!is_identifier(std::string_view(space).substr(at, end - at))) {
      throw UsageError(fmt::format(
          "--namespace is '{}', expected a name of C++, or names as in a::b", printable(space)));
    }
    at = end == space.npos ? end : end + 2;
  }
  return space;
}

int run_header(const Line& line) {
  const std::string group = name_of(line, "group"), methods = name_of(line, "methods");
  if (!methods.empty() && line.has("namespace"))
    throw UsageError("--methods is of Tensor's own namespace; expected no --namespace");
  const std::string id = plugin_id(line.get("PLUGIN"));
  const std::string space = namespace_of(line, id);
  if (!methods.empty() && methods != "declarations" && methods != "definitions") {
    throw UsageError(
        fmt::format("--methods is '{}', expected declarations or definitions", printable(methods)));
  }
  const bool results = line.has("results");
  if (results && (!methods.empty() || !group.empty()))
    throw UsageError("--results are of all groups; expected no --group and no --methods");
  const std::vector<FaceEntry> entries = entries_of(id, group);
  if (!methods.empty() && std::ranges::none_of(entries, &FaceEntry::method))
    throw UsageError(fmt::format("plugin '{}' brings no method of Tensor{}", id,
                                 group.empty() ? "" : " in this group"));
  const std::string text = results ? results_header(id, space, entries)
                           : methods.empty()
                               ? functions_header(id, group, space, entries)
                               : methods_header(id, entries, methods == "declarations");
  if (line.has("output")) {
    write_text(path_of(line, "--output"), text);
  } else {
    fmt::print("{}", text);
  }
  return 0;
}

}  // namespace

Command header_command() {
  Command command{"header", "Writes the C++ header of a plugin's ops, layers and optimizers.",
                  "PLUGIN", "id of a plugin that is found, or the path of a library"};
  command.options.add_options()                                                                   //
      ("output,o", po::value<std::string>()->value_name("FILE"), "the header (default: stdout)")  //
      ("namespace", po::value<std::string>()->value_name("NAME"),
       "of the functions (default: the plugin's id)")  //
      ("group", po::value<std::string>()->value_name("NAME"),
       "only what is registered with this group")  //
      ("methods", po::value<std::string>()->value_name("WHAT"),
       "declarations or definitions of Tensor's methods")                                   //
      ("results", "only what ops give that name their results, for the headers of groups")  //
      ("help,h", "this text");
  command.run = run_header;
  return command;
}

}  // namespace tenon::cli
