#include "regex_syntax.h"

#include <algorithm>
#include <string_view>

#include <unicode/uchar.h>
#include <unicode/uscript.h>

namespace tenon::tokenizers {
namespace {

using files::printable;

// What Oniguruma's \w is in a set, and alone, where digits that are raised belong to it. ICU's has
// the joiners besides.
constexpr char kWordInSet[] = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
constexpr char kWord[] = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u00b2\\u00b3\\u00b9\\u00bc-\\u00be";

constexpr std::string_view kGroups[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"};

class Translator {
 public:
  Translator(const std::string& regex, const Fields& fields) : regex_(regex), fields_(fields) {}

  std::string translated() {
    while (at_ < regex_.size()) {
      const char c = regex_[at_];
      if (c == '\\') {
        escape(/*in_set=*/false);
      } else if (c == '[') {
        set();
      } else if (c == '(') {
        group();
      } else if (c == '}') {
        end_of_count();
      } else {
        out_ += c;
        ++at_;
      }
    }
    return out_;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fields_.refuse("the regular expression '{}': {} is not supported (byte {})", printable(regex_),
                   printable(what), at_);
  }
  bool follows(std::string_view text) const {
    return std::string_view(regex_).substr(at_).starts_with(text);
  }
  void copy(size_t n) {
    out_ += regex_.substr(at_, n);
    at_ += n;
  }

  void group() {
    if (!follows("(?")) return copy(1);
    if (at_ == 0 && follows("(?i)")) return copy(4);
    for (const std::string_view group : kGroups) {
      if (follows(group)) return copy(group.size());
    }
    refuse(std::string_view(regex_).substr(at_, 3));
  }

  // a{2,3}+ repeats the repetition there, and gives nothing back here; a{2}? may be nothing there.
  void end_of_count() {
    const size_t begin = regex_.rfind('{', at_);
    const bool is_range = begin != std::string::npos && regex_.find(',', begin) < at_;
    copy(1);
    if (follows("+") || (follows("?") && !is_range)) refuse("a sign behind {..}");
  }

  void set() {
    copy(1);
    if (follows("^")) copy(1);
    if (follows("]")) refuse("] at the beginning of a set");
    while (at_ < regex_.size() && regex_[at_] != ']') {
      if (follows("[:") || follows("&&") || follows("--")) {
        refuse(std::string_view(regex_).substr(at_, 2));
      }
      if (follows("&[") || follows("-[")) refuse(std::string_view(regex_).substr(at_, 2));
      if (regex_[at_] == '[') {
        if (++depth_ > 8) refuse("a set so deep");
        set();
        --depth_;
      } else if (regex_[at_] == '\\') {
        escape(/*in_set=*/true);
      } else {
        copy(1);
      }
    }
    if (at_ == regex_.size()) refuse("a set without end");
    copy(1);
  }

  void replace(size_t n, const std::string& with) {
    out_ += with;
    at_ += n;
  }

  void escape(bool in_set) {
    if (at_ + 1 == regex_.size()) refuse("\\ at the end");
    const char c = regex_[at_ + 1];
    const auto is_in = [c](std::string_view list) { return list.find(c) != list.npos; };
    if (c == 's') return replace(2, "\\p{White_Space}");
    if (c == 'S') return replace(2, "\\P{White_Space}");
    if (c == 'd') return replace(2, "\\p{Nd}");
    if (c == 'D') return replace(2, "\\P{Nd}");
    const std::string word = in_set ? kWordInSet : kWord;
    if (c == 'w') return replace(2, in_set ? word : "[" + word + "]");
    if (c == 'W') return replace(2, "[^" + word + "]");
    if (c == 'v') return replace(2, "\\x0b");
    if (c == 'p' || c == 'P') return property();
    if (c == 'x' || c == 'u') return number();
    if (is_in("nrtf") || (!in_set && is_in("Az"))) return copy(2);
    if (c > ' ' && c < 0x7f && u_isalnum(c) == 0) return copy(2);
    refuse(std::string_view(regex_).substr(at_, 2));
  }

  // \xHH, \x{H..}, \uHHHH.
  void number() {
    const bool braces = follows("\\x{");
    size_t n = at_ + (braces ? 3 : 2);
    const size_t begin = n;
    while (n < regex_.size() && u_isxdigit(static_cast<uint8_t>(regex_[n])) != 0) {
      if (!braces && n - begin == (regex_[at_ + 1] == 'x' ? 2u : 4u)) break;
      ++n;
    }
    const size_t digits = n - begin;
    const bool good = braces ? digits > 0 && digits <= 6 && n < regex_.size() && regex_[n] == '}'
                             : digits == (regex_[at_ + 1] == 'x' ? 2u : 4u);
    if (!good) refuse("\\x or \\u with other than its digits");
    copy(n - at_ + (braces ? 1 : 0));
  }

  // General categories and scripts, which both know by the same names.
  void property() {
    const size_t end = regex_.find('}', at_);
    if (!follows(regex_.substr(at_, 2) + "{") || end == std::string::npos) refuse("\\p without {");
    std::string name = regex_.substr(at_ + 3, end - at_ - 3);
    bool negated = regex_[at_ + 1] == 'P';
    if (name.starts_with('^')) {
      negated = !negated;
      name.erase(0, 1);
    }
    const auto named = [&](UProperty property) {
      return u_getPropertyValueEnum(property, name.c_str()) != UCHAR_INVALID_CODE;
    };
    const char* kind = name.size() <= 2 && named(UCHAR_GENERAL_CATEGORY_MASK) ? "gc"
                       : name.size() > 2 && named(UCHAR_SCRIPT)               ? "sc"
                                                                              : nullptr;
    if (kind == nullptr) refuse("\\p{" + name + "}");
    replace(end + 1 - at_, fmt::format("\\{}{{{}={}}}", negated ? 'P' : 'p', kind, name));
  }

  const std::string& regex_;
  const Fields& fields_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string out_;
};

}  // namespace

std::string icu_syntax(const std::string& regex, const Fields& fields) {
  return Translator(regex, fields).translated();
}

}  // namespace tenon::tokenizers
