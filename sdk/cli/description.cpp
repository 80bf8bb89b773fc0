#include "description.h"

#include <fmt/format.h>

#include "text.h"

namespace tenon::cli {
namespace {

// Ints where all are; the factory's schema decides whether they are floats.
Description::Value list_of(const std::string& file, const std::string& factory,
                           const JsonMember& option) {
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (const Json& item : option.value.items) {
    if (item.kind != Json::Kind::kInt && item.kind != Json::Kind::kFloat) {
      fail_at(file, item.line,
              fmt::format("{}: option '{}': a list of numbers is expected, this is {}",
                          printable(factory), printable(option.name), item.kind_name()));
    }
    if (item.kind == Json::Kind::kInt) ints.push_back(item.integer);
    floats.push_back(item.real);
  }
  if (ints.size() == floats.size()) return ints;
  return floats;
}

Description::Value value_of(const std::string& file, const std::string& factory,
                            const JsonMember& option) {
  const Json& json = option.value;
  switch (json.kind) {
    case Json::Kind::kNull:
      return none;
    case Json::Kind::kBool:
      return json.boolean;
    case Json::Kind::kInt:
      return json.integer;
    case Json::Kind::kFloat:
      return json.real;
    case Json::Kind::kString:
      return json.text;
    case Json::Kind::kArray:
      return list_of(file, factory, option);
    case Json::Kind::kObject:
      break;
  }
  fail_at(file, option.line,
          fmt::format("{}: option '{}' is {}", printable(factory), printable(option.name),
                      json.kind_name()));
}

}  // namespace

Description read_description(const std::string& file, const Json& json, const std::string& kind,
                             const std::string& skipped) {
  Fields fields(file, json, kind);
  Description description;
  description.name = fields.string(kind);
  description.where = place_at(file, fields.require(kind).line);
  for (const JsonMember& member : json.members) {
    if (member.name == kind || member.name == skipped) continue;
    description.options.push_back(
        {member.name, value_of(file, description.name, member), place_at(file, member.line)});
  }
  return description;
}

std::string place_at(const std::string& file, int line) {
  return fmt::format("{}:{}", shown(file), line);
}

}  // namespace tenon::cli
