// The fields of an object in a tokenizer.json, each by its kind, with errors that say the file and
// the place in it. A field that nobody asked for is refused, so that nothing in a file is ignored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "file.h"

namespace tenon::tokenizers {

class Fields {
 public:
  // The object at `path` ("model", or "" for the whole) of the file. The value outlives this.
  Fields(const nlohmann::json& value, std::string file, std::string path);

  // "FILE: PATH", and that of a field.
  std::string place(const std::string& name = "") const;
  // The field "type". What there is by that name reads its own fields, then calls finish.
  std::string type() { return text("type"); }

  bool has(const std::string& name);  // there, and not null
  std::string text(const std::string& name);
  std::string text(const std::string& name, const std::string& otherwise);
  int32_t character(const std::string& name);  // a text of one
  bool flag(const std::string& name);
  bool flag(const std::string& name, bool otherwise);
  int64_t number(const std::string& name, int64_t least, int64_t most);
  double real(const std::string& name);
  Fields object(const std::string& name);
  std::vector<Fields> objects(const std::string& name);  // of a list
  std::vector<int64_t> numbers(const std::string& name, int64_t least, int64_t most);
  // A field that may be anything, and one of which nothing depends here.
  const nlohmann::json& value(const std::string& name);
  void skip(const std::string& name) { known_.push_back(name); }
  // The names of what is there, for objects whose names are data.
  std::vector<std::string> names() const;

  // Refuses fields that were never asked for.
  void finish() const;
  // "FILE: PLACE: what", as an Error.
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    files::raise(TN_UNSUPPORTED, "{}: {}", place(),
                 fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void refuse_type(std::string_view what, std::string_view allowed) const;

 private:
  const nlohmann::json* find(const std::string& name);
  [[noreturn]] void wrong(const std::string& name, const nlohmann::json& value,
                          const char* expected) const;

  const nlohmann::json* value_;
  std::string file_, path_;
  std::vector<std::string> known_;
};

}  // namespace tenon::tokenizers
