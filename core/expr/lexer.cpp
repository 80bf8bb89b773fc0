// Names, numbers and the symbols of the expression language.
#include "expr/lexer.h"

#include "base/characters.h"

namespace tenon {
namespace {

constexpr std::string_view kPairs[] = {"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
constexpr std::string_view kSingle = "+-*/%<>=&|^~(),!:";

}  // namespace

Token Lexer::next() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' ||
                                (text_[at_] == '\n' && depth_ > 0))) {
    ++at_;
  }
  const size_t begin = at_;
  const auto token = [&](Token::Kind kind) {
    return Token{kind, text_.substr(begin, at_ - begin), begin};
  };
  const auto at_char = [&](auto&& test) { return at_ < text_.size() && test(text_[at_]); };
  if (at_ == text_.size()) return token(Token::kEnd);
  const char c = text_[at_];
  if (c == '\n' || c == ';') {
    ++at_;
    return token(Token::kLineEnd);
  }
  if (is_letter(c)) {
    while (at_char(goes_on_in_name)) ++at_;
    return token(Token::kName);
  }
  if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
    while (at_char([](char d) { return is_digit(d) || d == '.'; })) ++at_;
    if (at_char([](char d) { return d == 'e' || d == 'E'; })) {
      ++at_;
      if (at_char([](char d) { return d == '+' || d == '-'; })) ++at_;
    }
    // "2x" and "1.2.3" are one wrong number, not two tokens.
    while (at_char([](char d) { return goes_on_in_name(d) || d == '.'; })) ++at_;
    return token(Token::kNumber);
  }
  if (c == '\'' || c == '"') {
    const size_t end = text_.find_first_of(c == '"' ? "\"\n" : "'\n", at_ + 1);
    const bool closes = end != text_.npos && text_[end] == c;
    at_ = closes ? end + 1 : at_ + 1;
    return token(closes ? Token::kString : Token::kWrong);
  }
  for (std::string_view pair : kPairs) {
    if (pair[0] != c || at_ + 1 == text_.size() || pair[1] != text_[at_ + 1]) continue;
    at_ += 2;
    return token(Token::kSymbol);
  }
  if (kSingle.find(c) != kSingle.npos) {
    ++at_;
    if (c == '(') ++depth_;
    if (c == ')' && depth_ > 0) --depth_;
    return token(Token::kSymbol);
  }
  ++at_;
  return token(Token::kWrong);
}

}  // namespace tenon
