// The place of a parser in the text of a schema: skips blanks, takes characters and words, words
// the refusals. For parse_schema and parse_default only.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/characters.h"
#include "base/status.h"
#include "schema/schema.h"

namespace tenon {

struct Cursor {
  explicit Cursor(std::string_view text) : text_(text) {}

  template <typename... Args>
  Status refuse(size_t at, fmt::format_string<Args...> format, Args&&... args) {
    std::string shown(text_.substr(0, 80));
    if (text_.size() > shown.size()) shown += "...";
    return invalid("schema '{}': column {}: {}", shown, at + 1,
                   fmt::format(format, std::forward<Args>(args)...));
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    skip();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::string found() {
    skip();
    if (at_ == text_.size()) return "the end";
    return fmt::format("'{}'", text_[at_]);
  }
  Status expect(char c, std::string_view what = {}) {
    if (take(c)) return nullptr;
    if (what.empty()) return refuse(at_, "expected '{}', found {}", c, found());
    return refuse(at_, "expected {}, found {}", what, found());
  }

  std::string_view word(bool dots) {
    skip();
    const auto goes_on = [&](char c) { return goes_on_in_name(c) || (dots && c == '.'); };
    const std::string_view rest = text_.substr(at_);
    size_t size = 0;
    if (!rest.empty() && is_letter(rest[0])) {
      while (size < rest.size() && goes_on(rest[size])) ++size;
    }
    at_ += size;
    return rest.substr(0, size);
  }

  Status name(bool dots, std::string_view what, std::string* name) {
    const std::string_view text = word(dots);
    if (text.empty()) return refuse(at_, "expected {}, found {}", what, found());
    *name = text;
    return nullptr;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// The default of `argument`, of its type; lists and strings are kept by `schema`.
[[nodiscard]] Status parse_default(Cursor& cursor, Schema* schema, Argument* argument);

}  // namespace tenon
