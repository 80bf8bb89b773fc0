// Schemas as the registry prints them.
#include "fuzz.h"

namespace fuzz {
namespace {

// Splits at commas outside of brackets and quotes.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (!quoted) depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && !quoted && depth == 0) {
      parts.push_back(part);
      part.clear();
    } else if (!part.empty() || c != ' ') {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

Parameter parse_parameter(std::string text) {
  Parameter p;
  const size_t equals = text.find('=');
  if (equals != std::string::npos) {
    p.has_default = true;
    p.default_text = text.substr(equals + 1);
    text.resize(equals);
  }
  const size_t space = text.rfind(' ');
  if (space != std::string::npos) {
    p.name = text.substr(space + 1);
    text.resize(space);
  }
  if (text.starts_with("dynamic ")) text = text.substr(8);
  const size_t end = text.find_first_of("([?");
  p.type = text.substr(0, end);
  const std::string rest = end == std::string::npos ? "" : text.substr(end);
  const size_t list = rest.find("[]");
  p.list = list != std::string::npos;
  p.optional_entries = p.list && list > 0 && rest[list - 1] == '?';
  p.optional = rest.ends_with('?');
  return p;
}

}  // namespace

Signature parse_signature(const std::string& schema) {
  Signature s;
  const size_t open = schema.find('(');
  s.name = schema.substr(0, open);
  size_t close = open, depth = 0;
  bool quoted = false;
  for (; close < schema.size(); ++close) {
    if (schema[close] == '"' && schema[close - 1] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (schema[close] == '(') ++depth;
    if (schema[close] == ')' && --depth == 0) break;
  }
  for (const std::string& part : split(schema.substr(open + 1, close - open - 1)))
    s.parameters.push_back(parse_parameter(part));
  const size_t arrow = schema.find("-> ", close);
  if (arrow == std::string::npos) return s;
  const std::string results = schema.substr(arrow + 3);
  s.n_results = results.starts_with('(') ? split(results.substr(1, results.size() - 2)).size() : 1;
  return s;
}

}  // namespace fuzz
