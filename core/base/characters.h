// The characters of names and numbers, in schemas and in formulas.
#pragma once

#include <array>

namespace tenon {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// By a table: loading the standard pack asks this of a hundred thousand characters.
inline constexpr std::array<bool, 256> kGoesOnInName = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 128; ++c) {
    table[c] = is_letter(static_cast<char>(c)) || is_digit(static_cast<char>(c));
  }
  return table;
}();
constexpr bool goes_on_in_name(char c) { return kGoesOnInName[static_cast<unsigned char>(c)]; }

}  // namespace tenon
