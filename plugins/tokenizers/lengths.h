// How long encodings are: cut to a length that a model takes, or filled up to one. As a file says, or
// as a caller does. Immutable.
#pragma once

#include <optional>

#include "post_processor.h"

namespace tenon::tokenizers {

enum class CutStrategy { kLongestFirst, kOnlyFirst, kOnlySecond };

struct Truncation {
  int64_t max_length = 0;
  bool left = false;  // cuts at the beginning
  CutStrategy strategy = CutStrategy::kLongestFirst;

  // Cuts the texts, so that they and `added` ids have at most max_length. second: null for one text.
  void cut(Ids* first, Ids* second, size_t added) const;
};
Truncation read_truncation(Fields fields);

struct Padding {
  int64_t fixed = -1;  // -1: the longest of a batch
  int64_t multiple = 0;
  bool left = false;  // fills at the beginning
  int64_t id = 0, type = 0;

  int64_t length(int64_t longest) const;
  void fill(Encoding* encoding, int64_t length) const;
};
Padding read_padding(Fields fields);

}  // namespace tenon::tokenizers
