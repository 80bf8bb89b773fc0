#include "vocabulary.h"

#include <algorithm>

#include <fmt/format.h>

#include "text.h"

namespace tenon::cli {
namespace {

// A token is saved as a byte that says whether it is there, its text, and a zero byte, for which the
// text has C0 80.
constexpr char kThere = '+', kAbsent = '-';

std::string shown_token(const std::optional<std::string>& token) {
  return token ? fmt::format("'{}'", printable(*token)) : "none";
}

}  // namespace

Vocabulary Vocabulary::of_characters(std::string_view text) {
  Vocabulary vocabulary;
  bool there[256] = {};
  for (const char c : text) there[static_cast<unsigned char>(c)] = true;
  for (int c = 0; c < 256; ++c) {
    if (there[c]) vocabulary.characters_.push_back(static_cast<char>(c));
  }
  vocabulary.index_all();
  return vocabulary;
}

// Ids need not be without gaps; far behind the last that would be without any is none.
Vocabulary Vocabulary::of_tokenizer(const std::string& path) {
  Vocabulary vocabulary;
  vocabulary.of_tokens_ = true;
  vocabulary.tokenizer_.emplace(path);
  const int64_t n = vocabulary.tokenizer_->vocab_size();
  int64_t found = 0;
  for (int64_t id = 0; found < n && id < 2 * n + 1024; ++id) {
    auto& token = vocabulary.tokens_.emplace_back();
    try {
      token = vocabulary.tokenizer_->id_to_token(id);
      ++found;
    } catch (const Error& error) {
      if (error.code() != TN_NOT_FOUND) throw;
    }
  }
  while (!vocabulary.tokens_.empty() && !vocabulary.tokens_.back()) vocabulary.tokens_.pop_back();
  if (vocabulary.tokens_.empty()) fail(fmt::format("{}: has no tokens", shown(path)));
  return vocabulary;
}

Tensor Vocabulary::to_tensor() const {
  std::string bytes = characters_;
  for (const auto& token : tokens_) {
    bytes += token ? kThere : kAbsent;
    if (token) bytes += detail::without_zeros(*token);
    bytes += '\0';
  }
  return Tensor::from(std::vector<uint8_t>(bytes.begin(), bytes.end()));
}

Vocabulary Vocabulary::from_tensor(std::string_view name, const Tensor& tensor) {
  Vocabulary vocabulary;
  vocabulary.of_tokens_ = name == kTokens;
  if (tensor.dtype() != uint8 || tensor.dim() != 1 || tensor.numel() == 0) {
    fail(fmt::format("the vocabulary is {} [{}], expected uint8 of one dimension",
                     tensor.dtype().name(), fmt::join(tensor.sizes(), ", ")));
  }
  const std::vector<uint8_t> values = tensor.to_vector<uint8_t>();
  const std::string bytes(values.begin(), values.end());
  if (vocabulary.of_tokens_) {
    for (size_t at = 0; at < bytes.size();) {
      const size_t end = bytes.find('\0', at);
      if (end == bytes.npos || (bytes[at] != kThere && bytes[at] != kAbsent))
        fail("the tokens are not as they were written");
      auto& token = vocabulary.tokens_.emplace_back();
      if (bytes[at] == kThere) token = detail::with_zeros(bytes.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    return vocabulary;
  }
  const auto not_rising = [](char a, char b) {
    return static_cast<unsigned char>(a) >= static_cast<unsigned char>(b);
  };
  if (std::ranges::adjacent_find(bytes, not_rising) != bytes.end())
    fail("the vocabulary is not sorted");
  vocabulary.characters_ = bytes;
  vocabulary.index_all();
  return vocabulary;
}

std::vector<int64_t> Vocabulary::encode(const std::string& text) const {
  // As a batch of one, of which what the file fills up or cuts is known.
  const Tokenizer::Batch batch =
      tokenizer_->encode_batch({text}, {.add_special_tokens = false, .max_length = INT64_MAX});
  const std::vector<int64_t> ids = batch.input_ids.to_vector<int64_t>();
  const std::vector<int64_t> mask = batch.attention_mask.to_vector<int64_t>();
  std::vector<int64_t> own;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (mask[i] == 0) continue;
    if (ids[i] < 0 || ids[i] >= size()) {
      fail(fmt::format("the tokenizer gives the id {}, and its tokens have ids from 0 to {}",
                       ids[i], size() - 1));
    }
    own.push_back(ids[i]);
  }
  return own;
}

std::string Vocabulary::difference(const Vocabulary& there, const Vocabulary& here) {
  if (there.of_tokens_ != here.of_tokens_)
    return fmt::format("{} there and {} here", there.unit(), here.unit());
  if (!there.of_tokens_) return there.characters_ == here.characters_ ? "" : "other characters";
  if (there.size() != here.size()) {
    return fmt::format("another tokenizer: {} tokens there, {} here", there.size(), here.size());
  }
  const auto [a, b] = std::ranges::mismatch(there.tokens_, here.tokens_);
  if (a == there.tokens_.end()) return "";
  return fmt::format("another tokenizer: the token of id {} is {} there, {} here",
                     a - there.tokens_.begin(), shown_token(*a), shown_token(*b));
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

}  // namespace tenon::cli
