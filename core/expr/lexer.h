// Cuts the text of a formula into tokens, one at a time. A line ends a statement, except within
// parentheses. A string, with its quotes, is for conditions alone (expr/variants.h).
#pragma once

#include <cstddef>
#include <string_view>

namespace tenon {

struct Token {
  enum Kind { kEnd, kLineEnd /* or ';' */, kName, kNumber, kString, kSymbol, kWrong } kind = kEnd;
  std::string_view text;
  size_t at = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;  // of parentheses
};

}  // namespace tenon
