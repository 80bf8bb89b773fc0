// The structs of abi.h and their fields, read from its text, so that no list of them can fall
// behind.
#pragma once

#include <cctype>
#include <regex>
#include <string>
#include <vector>

namespace tenon::testing {

struct AbiStruct {
  std::string kind;  // "struct" or "union"
  std::string name;
  std::vector<std::string> fields;
};

inline std::string without_comments(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "/*") == 0) {
      at = text.find("*/", at + 2);
      at = at == std::string::npos ? text.size() : at + 2;
    } else {
      out += text[at++];
    }
  }
  return out;
}

// The index behind the brace that closes the one before `at`.
inline size_t behind_brace(const std::string& text, size_t at) {
  for (int depth = 1; depth > 0 && at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
  }
  return at;
}

inline std::string last_word(std::string text) {
  text = text.substr(0, text.find('['));
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  while (!text.empty() && !is_word(text.back())) text.pop_back();
  size_t begin = text.size();
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  return text.substr(begin);
}

// The names that one declaration of a struct's body declares.
inline std::vector<std::string> declared(const std::string& declaration) {
  std::smatch match;
  static const std::regex pointer(R"(\(\*\s*(\w+)\s*\)\s*\()");
  if (std::regex_search(declaration, match, pointer)) return {match[1]};
  std::vector<std::string> names;
  size_t begin = declaration.rfind('}');  // of a nameless union
  begin = begin == std::string::npos ? 0 : begin;
  while (begin <= declaration.size()) {
    const size_t end = std::min(declaration.find(',', begin), declaration.size());
    const std::string name = last_word(declaration.substr(begin, end - begin));
    if (!name.empty()) names.push_back(name);
    begin = end + 1;
  }
  return names;
}

inline std::vector<AbiStruct> abi_structs(const std::string& header) {
  const std::string text = without_comments(header);
  std::vector<AbiStruct> structs;
  static const std::regex opening(R"((struct|union)\s+(\w+)\s*\{)");
  for (std::sregex_iterator at(text.begin(), text.end(), opening), end; at != end; ++at) {
    AbiStruct found{(*at)[1], (*at)[2], {}};
    const size_t begin = static_cast<size_t>(at->position() + at->length());
    const std::string body = text.substr(begin, behind_brace(text, begin) - 1 - begin);
    std::string declaration;
    for (size_t i = 0; i < body.size(); ++i) {
      if (body[i] == '{') {
        const size_t close = behind_brace(body, i + 1);
        declaration += "{}";
        i = close - 1;
      } else if (body[i] == ';') {
        for (const std::string& name : declared(declaration)) found.fields.push_back(name);
        declaration.clear();
      } else {
        declaration += body[i];
      }
    }
    structs.push_back(std::move(found));
  }
  return structs;
}

// A C program that prints each struct's name and size, and each field's name, offset and size.
inline std::string layout_program(const std::vector<AbiStruct>& structs) {
  std::string program = "#include <stdio.h>\n#include \"tenon/abi.h\"\nint main(void) {\n";
  for (const AbiStruct& s : structs) {
    const std::string type = s.kind + " " + s.name;
    program += "  printf(\"" + s.name + " %zu\\n\", sizeof(" + type + "));\n";
    for (const std::string& field : s.fields) {
      program += "  printf(\"  " + field + " %zu %zu\\n\", offsetof(" + type + ", " + field +
                 "), sizeof(((" + type + "*)0)->" + field + "));\n";
    }
  }
  return program + "  return 0;\n}\n";
}

}  // namespace tenon::testing
