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

  Spans find(const std::string& text) const {
    UErrorCode status = U_ZERO_ERROR;
    const icu::UnicodeString wide = icu::UnicodeString::fromUTF8(text);
    const std::unique_ptr<icu::RegexMatcher> matcher(pattern_->matcher(wide, status));
    check(status);
    matcher->setTimeLimit(kMostMilliseconds, status);
    matcher->setStackLimit(kMostStack, status);
    Follower follower(text);
    Spans spans;
    size_t end = 0;
    while (matcher->find(status) && U_SUCCESS(status)) {
      const size_t from = follower.bytes_at(matcher->start(status));
      const size_t to = follower.bytes_at(matcher->end(status));
      if (from == to && from == end && !spans.empty()) continue;  // of nothing, behind a match
      if (from > end) spans.push_back({end, from, false});
      spans.push_back({from, to, true});
      end = to;
    }
    check(status);
    if (end < text.size()) spans.push_back({end, text.size(), false});
    return spans;
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

Spans Pattern::find(const std::string& text) const {
  if (text.empty()) return {{0, 0, false}};
  if (regex_) return regex_->find(text);
  Spans spans;
  size_t end = 0;
  for (size_t at = text.find(text_); at != std::string::npos; at = text.find(text_, end)) {
    if (at > end) spans.push_back({end, at, false});
    end = at + text_.size();
    spans.push_back({at, end, true});
  }
  if (end < text.size()) spans.push_back({end, text.size(), false});
  return spans;
}

std::string Pattern::replaced(const std::string& text, std::string_view with) const {
  std::string out;
  for (const Span& span : find(text)) {
    if (span.match) {
      out += with;
    } else {
      out.append(text, span.begin, span.end - span.begin);
    }
  }
  return out;
}

}  // namespace tenon::tokenizers
