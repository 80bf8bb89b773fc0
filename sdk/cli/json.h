// JSON that knows its lines, for errors that say where: a tree with a line number in each value,
// and a reader of objects that refuses what nobody asked for. Used for the files that users write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli {

struct JsonMember;

struct Json {
  enum class Kind { kNull, kBool, kInt, kFloat, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  int line = 0;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;   // of integers too
  std::string text;  // of strings; of numbers with a fraction or beyond int64, as they are written
  std::vector<Json> items;
  std::vector<JsonMember> members;  // in the file's order

  const char* kind_name() const;  // "a number", for messages
};

struct JsonMember {
  std::string name;
  int line = 0;
  Json value;
};

// Parses the file, of at most 64 MiB. Errors name file and line: bad syntax, a name twice in one
// object, more than 64 levels, a number that no double holds, a NUL within a string (C strings
// would end there).
Json read_json(const std::string& file);
Json parse_json(std::string_view text, const std::string& file);

// On one line, the members of objects by their names: one text for what says the same.
std::string text_of(const Json& json);

// Throws a tenon::Error "file:line: message".
[[noreturn]] void fail_at(const std::string& file, int line, const std::string& message);

// The members of an object, asked for by name. `what` is what the object is, for messages ("data").
// finish() refuses members that were not asked for and names the nearest that was.
class Fields {
 public:
  Fields(const std::string& file, const Json& object, std::string what);

  // NULL where it is absent; require: an error then.
  const JsonMember* find(const std::string& name);
  const JsonMember& require(const std::string& name);

  std::string string(const std::string& name);
  int64_t integer(const std::string& name, int64_t low, int64_t high);
  int64_t integer(const std::string& name, int64_t low, int64_t high, int64_t absent);
  double number(const std::string& name, double low, double high, double absent);
  double positive(const std::string& name, double high, double absent);  // more than 0
  bool boolean(const std::string& name, bool absent);

  void finish() const;

 private:
  int64_t checked_integer(const JsonMember& member, int64_t low, int64_t high) const;
  [[noreturn]] void wrong(const JsonMember& member, const std::string& expected) const;

  const std::string& file_;
  const Json& object_;
  std::string what_;
  std::vector<std::string> known_;
};

}  // namespace tenon::cli
