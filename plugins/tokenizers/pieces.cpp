#include "pieces.h"

#include <algorithm>

#include "text.h"

namespace tenon::tokenizers {
namespace {

// A match joins the span before it, unless that is a match, too.
Spans merged_with_previous(const Spans& spans) {
  Spans out;
  bool after_match = false;
  for (const Span& span : spans) {
    if (span.match && !after_match && !out.empty()) {
      out.back().end = span.end;
    } else {
      out.push_back(span);
    }
    after_match = span.match;
  }
  return out;
}

// The same, seen from the end.
Spans merged_with_next(const Spans& spans) {
  Spans out;
  bool before_match = false;
  for (auto at = spans.rbegin(); at != spans.rend(); ++at) {
    if (at->match && !before_match && !out.empty()) {
      out.back().begin = at->begin;
    } else {
      out.push_back(*at);
    }
    before_match = at->match;
  }
  std::ranges::reverse(out);
  return out;
}

Spans contiguous(const Spans& spans) {
  Spans out;
  for (const Span& span : spans) {
    if (!out.empty() && out.back().match == span.match) {
      out.back().end = span.end;
    } else {
      out.push_back(span);
    }
  }
  return out;
}

template <typename F>
Spans find_characters(const std::string& text, F is_match) {
  Spans spans;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const bool match = is_match(next_character(text, &at));
    if (!match && !spans.empty() && !spans.back().match) {
      spans.back().end = at;
    } else {
      spans.push_back({begin, at, match});
    }
  }
  return spans;
}

}  // namespace

Spans arranged(const Spans& spans, Behavior behavior) {
  switch (behavior) {
    case Behavior::kRemoved: {
      Spans out;
      std::ranges::copy_if(spans, std::back_inserter(out), [](const Span& s) { return !s.match; });
      return out;
    }
    case Behavior::kIsolated:
      return spans;
    case Behavior::kMergedWithPrevious:
      return merged_with_previous(spans);
    case Behavior::kMergedWithNext:
      return merged_with_next(spans);
    case Behavior::kContiguous:
      return contiguous(spans);
  }
  return spans;
}

Spans characters_where(const std::string& text, bool (*is_match)(int32_t)) {
  return find_characters(text, is_match);
}
Spans character_equal(const std::string& text, int32_t wanted) {
  return find_characters(text, [wanted](int32_t c) { return c == wanted; });
}

}  // namespace tenon::tokenizers
