// The pieces that a text is cut into on its way to the model, and the ways to cut them. What a piece
// was cut at belongs to its neighbours, stands alone, or is left out. Knows no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tokenizers {

struct Piece {
  std::string text;
  int64_t token = -1;  // an added token's id: this piece is done
  bool first = false;  // begins where the whole text begins, whatever a normalizer took away there
};
using Pieces = std::vector<Piece>;

// A part of a text: what was looked for, or what lies between. Spans fill their text in order.
struct Span {
  size_t begin, end;
  bool match;
};
using Spans = std::vector<Span>;

enum class Behavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// The spans that become pieces.
Spans arranged(const Spans& spans, Behavior behavior);

// f(const std::string&) gives the spans of a piece's text. Added tokens stay, empty pieces vanish.
template <typename F>
void cut(Pieces* pieces, Behavior behavior, F f) {
  Pieces out;
  out.reserve(pieces->size());
  for (Piece& piece : *pieces) {
    if (piece.token >= 0) {
      out.push_back(std::move(piece));
      continue;
    }
    if (piece.text.empty()) continue;
    const Spans spans = arranged(f(std::as_const(piece.text)), behavior);
    for (const Span& span : spans) {
      if (span.begin == span.end) continue;
      out.push_back({piece.text.substr(span.begin, span.end - span.begin), -1,
                     piece.first && span.begin == 0});
    }
  }
  *pieces = std::move(out);
}

// Each character of which `is_match` says so is a match of its own.
Spans characters_where(const std::string& text, bool (*is_match)(int32_t));
Spans character_equal(const std::string& text, int32_t c);

}  // namespace tenon::tokenizers
