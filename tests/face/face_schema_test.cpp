// Each line of the face (sdk/include/tenon/ops/*.hpp) agrees with the schema of its op: names,
// order, types and defaults of the arguments. The lines are read from the headers as text, the
// schemas from the registry.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "ops_support.h"

namespace {

std::string trimmed(const std::string& text) {
  size_t first = text.find_first_not_of(' ');
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// At commas outside of brackets.
std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> all;
  std::string part;
  int depth = 0;
  for (char c : list) {
    if (c == '{' || c == '[' || c == '(' || c == '<') ++depth;
    if (c == '}' || c == ']' || c == ')' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      all.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) all.push_back(trimmed(part));
  return all;
}

struct Argument {
  std::string type, name, fallback;  // fallback: the default's text, or empty
};

Argument split_argument(const std::string& text) {
  Argument a;
  size_t equals = text.find('=');
  std::string head = trimmed(text.substr(0, equals));
  if (equals != text.npos) a.fallback = trimmed(text.substr(equals + 1));
  size_t space = head.rfind(' ');
  a.type = trimmed(head.substr(0, space));
  a.name = trimmed(head.substr(space + 1));
  return a;
}

// What the face writes for a type of the schema language.
std::vector<std::string> face_types(std::string type) {
  type = std::regex_replace(type, std::regex("^dynamic "), "");
  type = std::regex_replace(type, std::regex(R"(\([a-z]!?\))"), "");
  static const std::map<std::string, std::vector<std::string>> types = {
      {"Tensor", {"const Tensor&", "Operand"}},
      {"Tensor?", {"const Tensor&"}},
      {"Tensor[]", {"const Tensors&"}},
      {"int", {"int64_t"}},
      {"int?", {"std::optional<int64_t>"}},
      {"float?", {"std::optional<double>"}},
      {"float", {"double"}},
      {"float?", {"std::optional<double>"}},
      {"bool", {"bool"}},
      {"number", {"Number"}},
      {"int?", {"std::optional<int64_t>"}},
      {"Tensor?[]", {"const Tensors&"}},
      {"int[]", {"Ints"}},
      {"float[]", {"Floats"}},
      {"dtype", {"Dtype"}},
      {"dtype?", {"Dtype"}},
      {"device?", {"Device"}},
      {"str", {"const char*"}}};
  auto found = types.find(type);
  return found == types.end() ? std::vector<std::string>{} : found->second;
}

// Defaults as values: None and [] are {} in C++, a list of one number is that number (Ints takes
// it), numbers compare as numbers.
bool same_default(const std::string& schema, const std::string& face) {
  if (schema.empty() || face.empty()) return schema.empty() && face.empty();
  if (schema == "None" || schema == "[]") return face == "{}";
  if (schema.front() == '[') return same_default(schema.substr(1, schema.size() - 2), face);
  if (schema == "True" || schema == "False") return face == (schema == "True" ? "true" : "false");
  if (face == "INT64_MAX") return schema == std::to_string(INT64_MAX);
  if (schema.front() == '"') return schema == face;
  char* end = nullptr;
  double a = std::strtod(schema.c_str(), &end);
  if (*end != 0) return schema == face;
  return a == std::strtod(face.c_str(), &end) && *end == 0;
}

// What the face writes for results: void, Tensor, std::vector<Tensor>, or a tuple of Tensors.
std::string face_result(const std::string& results) {
  if (results == "()") return "void";
  if (results.front() != '(') {
    return results.size() > 2 && results.substr(results.size() - 2) == "[]" ? "std::vector<Tensor>"
                                                                            : "Tensor";
  }
  std::string tuple = "Tensor";
  for (size_t i = 1; i < parts(results.substr(1, results.size() - 2)).size(); ++i)
    tuple += ", Tensor";
  return "std::tuple<" + tuple + ">";
}

std::string arguments_of(const std::string& schema) {
  size_t open = schema.find('('), arrow = schema.rfind(" -> ");
  return schema.substr(open + 1, schema.rfind(')', arrow) - open - 1);
}

TEST(Face, EachLineAgreesWithItsOpsSchema) {
  load_all();
  std::map<std::string, std::string> schemas;
  for (const auto& op : nlohmann::json::parse(tn::ops_json())) {
    std::string name = op["name"];
    if (name.rfind("ops.", 0) == 0) schemas[name.substr(4)] = op["schema"];
  }
  ASSERT_GT(schemas.size(), 50u);
  const char* source = std::getenv("TENON_SOURCE_DIR");
  ASSERT_NE(source, nullptr);

  std::map<std::string, int> lines;
  const std::regex form(
      R"re(^inline ([\w:<>, ]+) (\w+)\((.*)\) \{ return detail::call<([\w:<>, ]+)>\(detail::op<"(\w+)">(.*)\); \}.*$)re");
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(source) + "/sdk/include/tenon/ops")) {
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      if (line.find("detail::op<") == line.npos) continue;
      SCOPED_TRACE(file.path().filename().string() + ": " + line);
      std::smatch match;
      ASSERT_TRUE(std::regex_match(line, match, form))
          << "not of the one form that lines of ops have";
      std::string name = match[5];
      ++lines[name];
      // An overload calls a part of its op.
      EXPECT_TRUE(match[2] == name || name[0] == '_') << "the function bears its op's name";
      ASSERT_TRUE(schemas.count(name)) << "no op is named so";
      const std::string& schema = schemas[name];
      SCOPED_TRACE(schema);
      EXPECT_EQ(match[1], match[4]);
      EXPECT_EQ(match[1], face_result(schema.substr(schema.rfind(" -> ") + 4)));

      std::vector<std::string> expected = parts(arguments_of(schema)), written = parts(match[3]);
      std::vector<std::string> passed =
          parts(match[6].str().empty() ? "" : match[6].str().substr(1));
      ASSERT_EQ(written.size(), expected.size());
      ASSERT_EQ(passed.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        Argument a = split_argument(expected[i]), b = split_argument(written[i]);
        EXPECT_EQ(b.name, a.name);
        EXPECT_EQ(passed[i], a.name);
        std::vector<std::string> types = face_types(a.type);
        EXPECT_NE(std::find(types.begin(), types.end(), b.type), types.end())
            << a.type << " as " << b.type;
        EXPECT_TRUE(same_default(a.fallback, b.fallback))
            << a.name << "=" << a.fallback << " as " << b.fallback;
      }
    }
  }
  for (const auto& [name, count] : lines) EXPECT_EQ(count, 1) << name;
  // And every public op of the pack has a line; `empty` is spelled out, to skip the call.
  for (const auto& [name, schema] : schemas) {
    EXPECT_TRUE(lines.count(name) || name[0] == '_' || name == "empty") << schema;
  }
}

}  // namespace
