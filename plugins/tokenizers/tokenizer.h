// A whole tokenizer of a tokenizer.json file: text to ids and back. Immutable and thread-safe.
// Errors (Error) name the file. Knows no tensors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "added_tokens.h"
#include "document.h"
#include "lengths.h"
#include "post_processor.h"
#include "stages.h"

namespace tenon::tokenizers {

struct EncodeOptions {
  bool adds_special_tokens = true;
  int64_t max_length = 0;  // 0: as the file says
  bool pads = true;        // as the file says
};

class Tokenizer {
 public:
  // Refuses what is not supported in the file, by name.
  explicit Tokenizer(const std::string& path) : Tokenizer(path, read_document(path)) {}
  Tokenizer(const std::string& path, Document document);

  // second: null for one text. Truncated and filled up as the file says.
  Encoding encode(std::string_view text, const std::string_view* second,
                  const EncodeOptions& options = {}) const;
  // An id that stands for no token is an error.
  std::string decode(const Ids& ids, bool skips_special_tokens) const;

  size_t vocab_size(bool with_added_tokens) const;
  int64_t token_to_id(std::string_view token) const;  // -1 where there is none
  std::string id_to_token(int64_t id) const;
  const std::optional<Padding>& padding() const { return padding_; }

 private:
  Ids ids_of(std::string_view text) const;
  bool find_token(int64_t id, std::string* token, bool* special) const;

  std::string path_;
  std::unique_ptr<Model> model_;
  Normalizer normalizer_;       // empty: none
  PreTokenizer pre_tokenizer_;  // empty: none
  Decoder decoder_;             // empty: tokens with blanks between them
  PostProcessor post_processor_;
  AddedTokens added_tokens_;
  std::optional<Truncation> truncation_;
  std::optional<Padding> padding_;
};

}  // namespace tenon::tokenizers
