// A small text of JSON as a tree. Its own, since to give up one of the library's takes memory, and
// where there is none the process ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct JsonTree {
  enum class Kind { kObject, kList, kText, kOther };  // kOther: null, true, false, a number

  Kind kind = Kind::kOther;
  std::string name;                // of a field of an object
  std::string text;                // of kText; of kOther as in the file
  std::vector<JsonTree> children;  // the fields of an object or the items of a list, in order

  // The field of that name; null where there is none.
  const JsonTree* find(std::string_view field) const;
};

// Of two fields of one name the last. Gives what is wrong and where, nothing where all is well.
[[nodiscard]] std::string read_json(const std::string& text, JsonTree* tree);

}  // namespace tenon
