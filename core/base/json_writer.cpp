#include "base/json_writer.h"

#include <nlohmann/json.hpp>

namespace tenon {

std::string json_text(std::string_view text) {
  using Json = nlohmann::json;
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void JsonWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  begin_list(name);
  for (const std::string& value : values) text(value);
  end();
}

void JsonWriter::line() {
  json_ += '\n';
  json_.append(2 * open_.size(), ' ');
}

void JsonWriter::put(std::string_view name, std::string_view value) {
  if (!open_.empty()) {
    if (json_.back() != '{' && json_.back() != '[') json_ += ',';
    line();
  }
  if (!name.empty()) json_ += json_text(name) + ": ";
  json_ += value;
}

void JsonWriter::begin(std::string_view name, char bracket) {
  put(name, std::string_view(&bracket, 1));
  open_ += bracket == '{' ? '}' : ']';
}

void JsonWriter::end() {
  const char bracket = open_.back();
  const bool is_empty = json_.back() == '{' || json_.back() == '[';
  open_.pop_back();
  if (!is_empty) line();
  json_ += bracket;
}

}  // namespace tenon
