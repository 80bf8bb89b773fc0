// JSON as it is written. A tree of a library's takes memory when it is given up, and where there is
// none the process ends; a text does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon {

// In quotes. What is no UTF-8 is shown by U+FFFD.
std::string json_text(std::string_view text);

// Objects and lists, a line for each of their items, indented by 2. A name is given for what stands in an object.
class JsonWriter {
 public:
  void begin_object(std::string_view name = {}) { begin(name, '{'); }
  void begin_list(std::string_view name = {}) { begin(name, '['); }
  void end();  // of the innermost

  void text(std::string_view name, std::string_view value) { put(name, json_text(value)); }
  void text(std::string_view value) { put({}, json_text(value)); }
  void number(std::string_view name, int64_t value) { put(name, std::to_string(value)); }
  void flag(std::string_view name, bool value) { put(name, value ? "true" : "false"); }
  void texts(std::string_view name, const std::vector<std::string>& values);

  std::string take() { return std::move(json_); }

 private:
  void begin(std::string_view name, char bracket);
  void put(std::string_view name, std::string_view value);
  void line();

  std::string json_;
  std::string open_;  // the brackets that are to be closed
};

}  // namespace tenon
