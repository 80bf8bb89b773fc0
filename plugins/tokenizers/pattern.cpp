#include "pattern.h"

#include <utility>

#include <unicode/regex.h>
#include <unicode/unistr.h>

#include "regex_syntax.h"
#include "text.h"

namespace tenon::tokenizers {
namespace {

using files::printable;
using files::raise;

constexpr int32_t kMostMilliseconds = 10000;
constexpr int32_t kMostStack = 64 << 20;

// Follows a text in UTF-8 up to places of the same text in UTF-16.
class Follower {
 public:
  explicit Follower(std::string_view text) : text_(text) {}
  size_t bytes_at(int32_t units) {
    while (units_ < units) units_ += next_character(text_, &bytes_) > 0xffff ? 2 : 1;
    return bytes_;
  }

 private:
  std::string_view text_;
  size_t bytes_ = 0;
  int32_t units_ = 0;
};

}  // namespace

class Pattern::Regex {
 public:
  Regex(const std::string& source, const Fields& fields) : source_(source), place_(fields.place()) {
    UErrorCode status = U_ZERO_ERROR;
    UParseError where{};
    pattern_.reset(
        icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(icu_syntax(source, fields)),
                                   UREGEX_MULTILINE | UREGEX_UNIX_LINES, where, status));
    if (U_FAILURE(status)) {
      fields.refuse("the regular expression '{}' cannot be read: {}", printable(source),
                    u_errorName(status));
    }
  }

  // Matches of nothing right behind another match are none.
  void each_match(const std::string& text, const OnMatch& f) const {
    UErrorCode status = U_ZERO_ERROR;
    const icu::UnicodeString wide = icu::UnicodeString::fromUTF8(text);
    const std::unique_ptr<icu::RegexMatcher> matcher(pattern_->matcher(wide, status));
    check(status);
    matcher->setTimeLimit(kMostMilliseconds, status);
    matcher->setStackLimit(kMostStack, status);
    Follower follower(text);
    size_t end = std::string::npos;
    while (matcher->find(status) && U_SUCCESS(status)) {
      const size_t from = follower.bytes_at(matcher->start(status));
      const size_t to = follower.bytes_at(matcher->end(status));
      if (from == to && from == end) continue;
      f(from, to);
      end = to;
    }
    check(status);
  }

 private:
  void check(UErrorCode status) const {
    if (U_SUCCESS(status)) return;
    const bool limit = status == U_REGEX_TIME_OUT || status == U_REGEX_STACK_OVERFLOW;
    raise(TN_UNSUPPORTED, "{}: the regular expression '{}' {}: {}", place_, printable(source_),
          limit ? "takes too long for this text" : "fails", u_errorName(status));
  }

  std::string source_, place_;
  std::unique_ptr<const icu::RegexPattern> pattern_;
};

Pattern Pattern::read(Fields* fields, const std::string& name) {
  Fields inner = fields->object(name);
  Pattern pattern;
  if (inner.has("Regex")) {
    pattern.regex_ = std::make_shared<const Regex>(inner.text("Regex"), inner);
  } else {
    pattern.text_ = inner.text("String");
    if (pattern.text_.empty()) inner.refuse("an empty text as a pattern is not supported");
  }
  inner.finish();
  return pattern;
}

void Pattern::each_match(const std::string& text, const OnMatch& f) const {
  if (text.empty()) return;
  if (regex_) return regex_->each_match(text, f);
  size_t end = 0;
  for (size_t at = text.find(text_); at != std::string::npos; at = text.find(text_, end)) {
    end = at + text_.size();
    f(at, end);
  }
}

Spans Pattern::find(const std::string& text) const {
  Spans spans;
  size_t done = 0;
  each_match(text, [&](size_t begin, size_t end) {
    if (begin > done) spans.push_back({done, begin, false});
    spans.push_back({begin, end, true});
    done = end;
  });
  if (done < text.size()) spans.push_back({done, text.size(), false});
  return spans;
}

std::string Pattern::replaced(const std::string& text, std::string_view with) const {
  std::string out;
  size_t done = 0;
  each_match(text, [&](size_t begin, size_t end) {
    out.append(text, done, begin - done).append(with);
    expect_bearable(out.size());
    done = end;
  });
  return out.append(text, done);
}

}  // namespace tenon::tokenizers
