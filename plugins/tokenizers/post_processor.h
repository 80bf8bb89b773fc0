// What is put around the ids of one text, or of two: each post processor of the format is a template
// of ids and texts. Immutable.
#pragma once

#include <vector>

#include "stages.h"

namespace tenon::tokenizers {

// Ids and, for each, the number of its text for models that tell two apart.
struct Encoding {
  Ids ids, types;
};

struct TemplatePart {
  int text = -1;  // 0 the first text, 1 the second, -1 the ids
  Ids ids;
  int64_t type = 0;
};

struct PostProcessor {
  std::vector<TemplatePart> single = {{0, {}, 0}};
  std::vector<TemplatePart> pair = {{0, {}, 0}, {1, {}, 1}};

  size_t added(bool is_pair) const;  // ids that are in no text
  // second: null for one text. Without `adds`, only texts.
  Encoding apply(const Ids& first, const Ids* second, bool adds) const;
};

PostProcessor read_post_processor(Fields fields);

}  // namespace tenon::tokenizers
