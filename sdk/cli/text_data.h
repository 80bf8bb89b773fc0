// A text as training data: its vocabulary, and windows of it as tensors of indices. Used by
// training.cpp and generate.cpp. A character is a byte, so that every file is a text and none
// has a character that the vocabulary of its model could not tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenon/tensor.hpp>

namespace tenon::cli {

// The characters that a text has, sorted; an index stands for each.
class Vocabulary {
 public:
  Vocabulary() = default;
  explicit Vocabulary(std::string_view text);
  // As it is saved beside weights: uint8 [n]. An Error says what is wrong with what was loaded.
  static Vocabulary from_tensor(const Tensor& tensor);
  Tensor to_tensor() const;

  int64_t size() const { return static_cast<int64_t>(characters_.size()); }
  const std::string& characters() const { return characters_; }
  // -1 for a character that is not there.
  int64_t index(char character) const {
    return indices_.empty() ? -1 : indices_[static_cast<unsigned char>(character)];
  }

 private:
  void index_all();

  std::string characters_;
  std::vector<int16_t> indices_;  // of each of the 256
};

// "'a'", "'\n'", "'\xe4'": for messages.
std::string quoted(char character);

// Windows x [n, context] of a text and what follows each of their characters, y [n * context].
class TextData {
 public:
  TextData() = default;
  TextData(std::string_view text, const Vocabulary& vocabulary, int64_t context);

  // Places where a window with its last target can begin.
  int64_t places() const { return static_cast<int64_t>(indices_.size()) - context_; }
  // Windows side by side that the text is divided into; a remainder is left out.
  int64_t windows() const { return (static_cast<int64_t>(indices_.size()) - 1) / context_; }

  std::pair<Tensor, Tensor> at(const std::vector<int64_t>& places) const;

 private:
  std::vector<uint8_t> indices_;
  int64_t context_ = 1;
};

// The files of the first of these paths that exists: a file, or the regular files of a folder, by
// name.
std::vector<std::string> first_text_files(const std::vector<std::string>& paths);
// Their text, one after the other.
std::string read_first_text(const std::vector<std::string>& paths);

}  // namespace tenon::cli
