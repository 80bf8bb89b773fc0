// A text as training data: windows of it as tensors of indices. Used by training_data.cpp,
// training_text.cpp and scores.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tenon/tensor.hpp>

#include "vocabulary.h"

namespace tenon::cli {

// Windows x [n, context] of a text and what follows each of their indices, y [n * context].
class TextData {
 public:
  TextData() = default;
  // Of characters, which are all in the vocabulary.
  TextData(std::string_view text, const Vocabulary& vocabulary, int64_t context);
  // Of tokens.
  TextData(std::vector<int32_t> ids, int64_t context)
      : indices_(std::move(ids)), context_(context) {}

  int64_t size() const;
  // Places where a window with its last target can begin.
  int64_t places() const { return size() - context_; }
  // Windows side by side that the text is divided into; a remainder is left out.
  int64_t windows() const { return (size() - 1) / context_; }

  std::pair<Tensor, Tensor> at(const std::vector<int64_t>& places) const;
  // Of all indices: other ones have another number, most likely.
  uint64_t checksum() const;

 private:
  std::variant<std::vector<uint8_t>, std::vector<int32_t>> indices_;
  int64_t context_ = 1;
};

// A number that depends on each byte, after those that `before` was made of.
uint64_t checksum_of(const void* data, size_t bytes, uint64_t before = 0);

// The files of the first of these paths that exists: a file, or the regular files of a folder, by
// name.
std::vector<std::string> first_text_files(const std::vector<std::string>& paths);

}  // namespace tenon::cli
