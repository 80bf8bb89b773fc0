// Reads a schema as text into what a face is written of.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "face.h"

namespace tenon::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
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

size_t width(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::vector<std::string_view> parts_of(std::string_view list) {
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

std::string spelled(std::string_view name) {
  // Names that the header itself has.
  static constexpr std::string_view kOwn[] = {"options", "self", "by_name", "results", "detail"};
  const bool taken = is_keyword(name) || std::ranges::find(kOwn, name) != std::end(kOwn);
  return std::string(name) + (taken ? "_" : "");
}

bool is_keyword(std::string_view name) {
  static constexpr std::string_view kKeywords =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t"
      " char32_t char8_t class co_await co_return co_yield compl concept const const_cast"
      " consteval constexpr constinit continue decltype default delete do double dynamic_cast"
      " else enum explicit export extern false float for friend goto if inline int long"
      " mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected"
      " public register reinterpret_cast requires return short signed sizeof static"
      " static_assert static_cast struct switch template this thread_local throw true try"
      " typedef typeid typename union unsigned using virtual void volatile wchar_t while xor"
      " xor_eq ";
  return kKeywords.find(fmt::format(" {} ", name)) != kKeywords.npos;
}

FaceSchema parse_face_schema(std::string_view text) {
  FaceSchema schema;
  const size_t open = text.find('('), arrow = text.rfind(" -> ");
  // A default may be a string that has an arrow in it: what follows the arrow of results has none.
  const bool gives = arrow != text.npos && text.find('"', arrow) == text.npos;
  const size_t close = text.rfind(')', gives ? arrow : text.npos);
  schema.name = text.substr(0, open);
  if (gives) schema.results = text.substr(arrow + 4);
  for (std::string_view part : parts_of(text.substr(open + 1, close - open - 1)))
    schema.arguments.push_back(parse_argument(part));
  return schema;
}

std::string comment_lines(std::string_view text, std::string_view indent) {
  std::string lines, line;
  const auto flush = [&] {
    if (line.ends_with('\\')) line += '.';  // else the next line would be a comment, too
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

}  // namespace tenon::cli
