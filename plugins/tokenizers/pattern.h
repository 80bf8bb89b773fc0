// What Replace and Split look for: a text, or a regular expression (through ICU).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fields.h"
#include "pieces.h"

namespace tenon::tokenizers {

// Copies share what was compiled. Thread-safe.
class Pattern {
 public:
  using OnMatch = std::function<void(size_t begin, size_t end)>;

  // The field `name` of `fields`: {"String": ..} or {"Regex": ..}.
  static Pattern read(Fields* fields, const std::string& name);

  // Throws where a regular expression takes more than ten seconds or 64 MiB for a text.
  Spans find(const std::string& text) const;
  // Throws where that has more than kMostNormalized bytes.
  std::string replaced(const std::string& text, std::string_view with) const;

 private:
  class Regex;
  void each_match(const std::string& text, const OnMatch& f) const;

  std::string text_;
  std::shared_ptr<const Regex> regex_;  // null: the text
};

}  // namespace tenon::tokenizers
