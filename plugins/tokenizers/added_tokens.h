// Tokens that a file adds to its model's vocabulary: they are found in the text before it is
// normalized, or after, and the model never sees them. Immutable and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stages.h"

namespace tenon::tokenizers {

struct AddedToken {
  std::string content;
  std::string form;  // as it is sought, and stands in decoded text: normalized, if it is to be
  int64_t id = 0;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // The list `added_tokens` of the file. Ids of tokens that the vocabulary has are its own.
  AddedTokens(std::vector<Fields> list, const Vocabulary& vocabulary, const Normalizer& normalizer);

  // Cuts the tokens out that are sought as they are, or those that are sought in normalized text.
  void cut_out(Pieces* pieces, bool normalized) const;

  const AddedToken* find(std::string_view content) const;  // null where there is none
  const AddedToken* find(int64_t id) const;
  size_t size_beside(const Vocabulary& vocabulary) const;  // those that it has not

 private:
  // Patterns in order, so that those with a common beginning lie together.
  struct Sought {
    std::string text;
    size_t token;
  };
  using Soughts = std::vector<Sought>;

  size_t longest_at(const Soughts& soughts, std::string_view text, size_t at) const;
  void cut_piece(const Soughts& soughts, const Piece& piece, Pieces* out) const;

  std::vector<AddedToken> tokens_;
  Soughts plain_, normalized_;
  std::unordered_map<int64_t, size_t> by_id_;
  std::vector<size_t> by_content_;
};

}  // namespace tenon::tokenizers
