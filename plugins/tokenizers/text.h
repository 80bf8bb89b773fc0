// Text as tokenizers see it: UTF-8 that was checked once, its characters, and their classes by ICU's
// tables. Used by all parts of the plugin; knows no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <unicode/utf8.h>

namespace tenon::tokenizers {

using Character = UChar32;  // a code point

// What a file may make of a text by replacing and adding.
inline constexpr size_t kMostNormalized = size_t{256} << 20;  // bytes
void expect_bearable(size_t bytes);                           // throws above

// The character at `*at`, which moves behind it. The text is UTF-8, and `*at` the place of one.
inline Character next_character(std::string_view text, size_t* at) {
  Character c = 0;
  U8_NEXT_UNSAFE(text.data(), *at, c);
  return c;
}

void append(std::string* text, Character c);

// Where `text` is no UTF-8; npos where it is.
size_t first_invalid(std::string_view text);

// `text` with f(character) appended for each; f is void(Character, std::string* out).
template <typename F>
std::string mapped(std::string_view text, F f) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) f(next_character(text, &at), &out);
  return out;
}

bool is_space(Character c);      // White_Space
bool is_letter(Character c);     // category L
bool is_numeric(Character c);    // category N
bool is_word(Character c);       // \w of Unicode's regular expressions (UTS #18, Annex C)
bool is_ideograph(Character c);  // of the blocks that BERT sets apart

// These four go by the tables of the crates that the format's own library uses, which are of Unicode
// 8 (2015) and, for is_mark, 9: what is younger belongs to no class. (Eight characters changed
// theirs since: U+166D, U+1734, U+1885, U+1886, U+1CF2, U+1CF3, U+A9BD, U+111C9. Here they have the
// new one.)
bool is_punctuation(Character c);         // category P, and ASCII's symbols
bool is_control(Character c);             // categories Cc, Cf, Co
bool is_mark(Character c);                // category M
bool is_mark_without_width(Character c);  // category Mn

// To lower case, each character by itself.
void append_lower(std::string* text, Character c);

}  // namespace tenon::tokenizers
