#include "fields.h"

#include <algorithm>
#include <utility>

#include "text.h"

namespace tenon::tokenizers {

using files::printable;
using files::raise;
using nlohmann::json;

namespace {

std::string shown(const json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

bool is_whole(const json& value, int64_t least, int64_t most) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return false;
  return value.get<int64_t>() >= least && value.get<int64_t>() <= most;
}

}  // namespace

Fields::Fields(const json& value, std::string file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)) {
  if (!value.is_object()) {
    raise(TN_DATA_LOSS, "{}: is {}, expected an object", place(), shown(value));
  }
}

std::string Fields::place(const std::string& name) const {
  const std::string path = path_ + (path_.empty() || name.empty() ? "" : ".") + name;
  return path.empty() ? file_ : file_ + ": " + path;
}

const json* Fields::find(const std::string& name) {
  known_.push_back(name);
  const auto at = value_->find(name);
  return at == value_->end() || at->is_null() ? nullptr : &*at;
}

void Fields::wrong(const std::string& name, const json& value, const char* expected) const {
  raise(TN_DATA_LOSS, "{}: is {}, expected {}", place(name), shown(value), expected);
}

bool Fields::has(const std::string& name) { return find(name) != nullptr; }

const json& Fields::value(const std::string& name) {
  const json* found = find(name);
  if (found == nullptr) raise(TN_DATA_LOSS, "{}: the field '{}' is missing", place(), name);
  return *found;
}

std::string Fields::text(const std::string& name) {
  const json& found = value(name);
  if (!found.is_string()) wrong(name, found, "a text");
  return found.get<std::string>();
}
std::string Fields::text(const std::string& name, const std::string& otherwise) {
  return has(name) ? text(name) : otherwise;
}

int32_t Fields::character(const std::string& name) {
  const std::string found = text(name);
  size_t at = 0;
  const Character c = found.empty() ? 0 : next_character(found, &at);
  if (found.empty() || at != found.size()) wrong(name, *value_->find(name), "one character");
  return c;
}

bool Fields::flag(const std::string& name) {
  const json& found = value(name);
  if (!found.is_boolean()) wrong(name, found, "true or false");
  return found.get<bool>();
}
bool Fields::flag(const std::string& name, bool otherwise) {
  return has(name) ? flag(name) : otherwise;
}

int64_t Fields::number(const std::string& name, int64_t least, int64_t most) {
  const json& found = value(name);
  if (!is_whole(found, least, most)) {
    wrong(name, found, fmt::format("a number from {} to {}", least, most).c_str());
  }
  return found.get<int64_t>();
}
double Fields::real(const std::string& name) {
  const json& found = value(name);
  if (!found.is_number()) wrong(name, found, "a number");
  return found.get<double>();
}

Fields Fields::object(const std::string& name) {
  return {value(name), file_, path_ + (path_.empty() ? "" : ".") + name};
}

std::vector<Fields> Fields::objects(const std::string& name) {
  const json& found = value(name);
  if (!found.is_array()) wrong(name, found, "a list");
  std::vector<Fields> list;
  for (const json& item : found) {
    list.emplace_back(
        item, file_, fmt::format("{}{}{}[{}]", path_, path_.empty() ? "" : ".", name, list.size()));
  }
  return list;
}

std::vector<int64_t> Fields::numbers(const std::string& name, int64_t least, int64_t most) {
  const json& found = value(name);
  if (!found.is_array()) wrong(name, found, "a list of numbers");
  std::vector<int64_t> list;
  for (const json& item : found) {
    if (!is_whole(item, least, most)) {
      wrong(fmt::format("{}[{}]", name, list.size()), item,
            fmt::format("a number from {} to {}", least, most).c_str());
    }
    list.push_back(item.get<int64_t>());
  }
  return list;
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> list;
  for (const auto& item : value_->items()) list.push_back(item.key());
  return list;
}

void Fields::finish() const {
  for (const auto& item : value_->items()) {
    if (std::ranges::find(known_, item.key()) != known_.end()) continue;
    refuse("the field '{}' is not supported", printable(item.key()));
  }
}

void Fields::refuse_type(std::string_view what, std::string_view allowed) const {
  refuse("the type '{}' is not supported; there are {}", printable(what), allowed);
}

}  // namespace tenon::tokenizers
