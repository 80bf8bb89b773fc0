#include "text_data.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "text.h"

namespace tenon::cli {

namespace fs = std::filesystem;

Vocabulary::Vocabulary(std::string_view text) {
  bool there[256] = {};
  for (const char c : text) there[static_cast<unsigned char>(c)] = true;
  for (int c = 0; c < 256; ++c) {
    if (there[c]) characters_.push_back(static_cast<char>(c));
  }
  index_all();
}

Vocabulary Vocabulary::from_tensor(const Tensor& tensor) {
  Vocabulary vocabulary;
  if (tensor.dtype() != uint8 || tensor.dim() != 1 || tensor.numel() == 0) {
    fail(fmt::format("the vocabulary is {} [{}], expected uint8 of one dimension",
                     tensor.dtype().name(), fmt::join(tensor.sizes(), ", ")));
  }
  for (const uint8_t c : tensor.to_vector<uint8_t>()) {
    if (!vocabulary.characters_.empty() &&
        static_cast<uint8_t>(vocabulary.characters_.back()) >= c) {
      fail("the vocabulary is not sorted");
    }
    vocabulary.characters_.push_back(static_cast<char>(c));
  }
  vocabulary.index_all();
  return vocabulary;
}

Tensor Vocabulary::to_tensor() const {
  return Tensor::from(std::vector<uint8_t>(characters_.begin(), characters_.end()));
}

void Vocabulary::index_all() {
  indices_.assign(256, -1);
  for (size_t i = 0; i < characters_.size(); ++i) {
    indices_[static_cast<unsigned char>(characters_[i])] = static_cast<int16_t>(i);
  }
}

std::string quoted(char character) {
  const auto code = static_cast<unsigned char>(character);
  if (character == '\n') return "'\\n'";
  if (code < 0x20 || code >= 0x7f) return fmt::format("'\\x{:02x}'", code);
  return fmt::format("'{}'", character);
}

TextData::TextData(std::string_view text, const Vocabulary& vocabulary, int64_t context)
    : context_(context) {
  indices_.reserve(text.size());
  for (const char c : text) indices_.push_back(static_cast<uint8_t>(vocabulary.index(c)));
}

std::pair<Tensor, Tensor> TextData::at(const std::vector<int64_t>& places) const {
  const auto n = static_cast<int64_t>(places.size());
  std::vector<int64_t> x, y;
  x.reserve(static_cast<size_t>(n * context_));
  y.reserve(x.capacity());
  for (const int64_t place : places) {
    const auto first = indices_.begin() + place;
    x.insert(x.end(), first, first + context_);
    y.insert(y.end(), first + 1, first + 1 + context_);
  }
  return {Tensor::from(x, {n, context_}), Tensor::from(y)};
}

std::vector<std::string> first_text_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      std::set<std::string> files;
      fs::directory_iterator entry(path, error);
      for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        // A link would be a text that is there twice.
        std::error_code ignored;
        if (fs::is_regular_file(entry->symlink_status(ignored))) files.insert(entry->path());
      }
      if (error) fail(fmt::format("{}: cannot be read: {}", shown(path), error.message()));
      return {files.begin(), files.end()};
    }
    if (fs::exists(path, error)) return {path};
  }
  fail(fmt::format("there is no file or folder {}", shown(joined(paths, " or "))), TN_NOT_FOUND);
}

std::string read_first_text(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& file : first_text_files(paths)) text += read_text(file);
  return text;
}

}  // namespace tenon::cli
