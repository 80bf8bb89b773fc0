#include "text.h"

#include <unicode/uchar.h>

#include "file.h"

namespace tenon::tokenizers {
namespace {

bool in(Character c, uint32_t categories) { return (U_GET_GC_MASK(c) & categories) != 0; }

bool is_of_unicode(Character c, int version) {
  UVersionInfo age;
  u_charAge(c, age);
  return age[0] <= version;
}

}  // namespace

void expect_bearable(size_t bytes) {
  if (bytes > kMostNormalized) {
    files::raise(TN_UNSUPPORTED, "the tokenizer makes more than {} bytes of the text",
                 kMostNormalized);
  }
}

void append(std::string* text, Character c) {
  char bytes[U8_MAX_LENGTH];
  size_t n = 0;
  U8_APPEND_UNSAFE(bytes, n, c);
  text->append(bytes, n);
}

size_t first_invalid(std::string_view text) {
  const char* bytes = text.data();
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t at = 0; at < size;) {
    const int64_t before = at;
    Character c = 0;
    U8_NEXT(bytes, at, size, c);
    if (c < 0) return static_cast<size_t>(before);
  }
  return std::string_view::npos;
}

bool is_space(Character c) { return u_isUWhiteSpace(c) != 0; }
bool is_letter(Character c) { return in(c, U_GC_L_MASK); }
bool is_numeric(Character c) { return in(c, U_GC_N_MASK); }
bool is_word(Character c) {
  return in(c, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) ||
         u_hasBinaryProperty(c, UCHAR_ALPHABETIC) != 0 ||
         u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL) != 0;
}

bool is_ideograph(Character c) {
  constexpr Character kRanges[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                      {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                      {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
  for (const auto& range : kRanges) {
    if (c >= range[0] && c <= range[1]) return true;
  }
  return false;
}

bool is_punctuation(Character c) {
  if (c < 0x80) return in(c, U_GC_P_MASK | U_GC_S_MASK);
  return in(c, U_GC_P_MASK) && is_of_unicode(c, 8);
}
bool is_control(Character c) {
  return in(c, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK) && is_of_unicode(c, 8);
}
bool is_mark(Character c) { return in(c, U_GC_M_MASK) && is_of_unicode(c, 9); }
bool is_mark_without_width(Character c) { return in(c, U_GC_MN_MASK) && is_of_unicode(c, 8); }

void append_lower(std::string* text, Character c) {
  append(text, u_tolower(c));
  if (c == 0x130) append(text, 0x307);  // the dot of the capital I stays
}

}  // namespace tenon::tokenizers
