// What the indices of a text to write on stand for: its characters, or the tokens of a tokenizer. Used by
// training_data.cpp, training_text.cpp and generate.cpp. A character is a byte, so that every file is a
// text and none has a character that the vocabulary of its model could not tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/tensor.hpp>
#include <tenon/tokenizer.hpp>

namespace tenon::cli {

class Vocabulary {
 public:
  Vocabulary() = default;
  // The characters that a text has, sorted.
  static Vocabulary of_characters(std::string_view text);
  // Of a tokenizer.json file. An Error names it.
  static Vocabulary of_tokenizer(const std::string& path);

  // What is saved beside weights: uint8 [n], under a name. What was loaded encodes and decodes no tokens;
  // an Error says what is wrong with it.
  const char* name() const { return of_tokens_ ? kTokens : kCharacters; }
  Tensor to_tensor() const;
  static Vocabulary from_tensor(std::string_view name, const Tensor& tensor);
  static constexpr const char *kCharacters = "vocabulary", *kTokens = "tokens";

  bool of_tokens() const { return of_tokens_; }
  const char* unit() const { return of_tokens_ ? "tokens" : "characters"; }
  // Indices are below it.
  int64_t size() const {
    return static_cast<int64_t>(of_tokens_ ? tokens_.size() : characters_.size());
  }
  // Of tokens: some ids of a file may stand for none.
  bool has(int64_t index) const {
    return !of_tokens_ || tokens_[static_cast<size_t>(index)].has_value();
  }
  const std::string& characters() const { return characters_; }
  // -1 for a character that is not there.
  int64_t index(char character) const {
    return indices_.empty() ? -1 : indices_[static_cast<unsigned char>(character)];
  }
  // Of tokens, without what a tokenizer adds at the ends. An Error where the text is no UTF-8.
  std::vector<int64_t> encode(const std::string& text) const;
  std::string decode(const std::vector<int64_t>& ids) const { return tokenizer_->decode(ids); }

  // What `here` has and `there` has not, for a message: "other characters"; "": they are the same.
  static std::string difference(const Vocabulary& there, const Vocabulary& here);

 private:
  void index_all();

  bool of_tokens_ = false;
  std::string characters_;
  std::vector<int16_t> indices_;  // of each of the 256
  std::vector<std::optional<std::string>> tokens_;
  std::optional<Tokenizer> tokenizer_;
};

// "'a'", "'\n'", "'\xe4'": for messages.
std::string quoted(char character);

}  // namespace tenon::cli
