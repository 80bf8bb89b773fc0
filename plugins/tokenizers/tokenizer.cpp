#include "tokenizer.h"

#include <utility>

#include <fmt/format.h>

#include "text.h"

namespace tenon::tokenizers {

using files::printable;
using files::raise;

namespace {

constexpr size_t kMostText = size_t{64} << 20;

}  // namespace

Tokenizer::Tokenizer(const std::string& path, Document document) : path_(path) {
  Fields fields(document.tree.root, path, "");
  const std::string version = fields.text("version", "1.0");
  if (version != "1.0") {
    fields.refuse("the version '{}' is not supported, only 1.0", printable(version));
  }
  model_ = read_model(fields.object("model"), &document);
  if (fields.has("normalizer")) normalizer_ = read_normalizer(fields.object("normalizer"));
  if (fields.has("pre_tokenizer")) {
    pre_tokenizer_ = read_pre_tokenizer(fields.object("pre_tokenizer"));
  }
  if (fields.has("post_processor")) {
    post_processor_ = read_post_processor(fields.object("post_processor"));
  }
  if (fields.has("decoder")) decoder_ = read_decoder(fields.object("decoder"));
  if (fields.has("added_tokens")) {
    added_tokens_ = AddedTokens(fields.objects("added_tokens"), model_->vocabulary(), normalizer_);
  }
  if (fields.has("truncation")) truncation_ = read_truncation(fields.object("truncation"));
  if (fields.has("padding")) padding_ = read_padding(fields.object("padding"));
  fields.finish();
}

Ids Tokenizer::ids_of(std::string_view text) const {
  if (text.size() > kMostText) {
    raise(TN_INVALID_ARGUMENT, "{}: a text of {} bytes; it may have {}", path_, text.size(),
          kMostText);
  }
  const size_t invalid = first_invalid(text);
  if (invalid != text.npos) {
    raise(TN_INVALID_ARGUMENT, "{}: the text is no UTF-8 at byte {}", path_, invalid);
  }
  Pieces pieces = {{std::string(text), -1, true}};
  added_tokens_.cut_out(&pieces, /*normalized=*/false);
  if (normalizer_) {
    size_t bytes = 0;
    for (Piece& piece : pieces) {
      if (piece.token < 0) normalizer_(&piece.text);
      expect_bearable(bytes += piece.text.size());
    }
  }
  added_tokens_.cut_out(&pieces, /*normalized=*/true);
  if (pre_tokenizer_) pre_tokenizer_(&pieces);
  Ids ids;
  for (const Piece& piece : pieces) {
    if (piece.token >= 0) {
      ids.push_back(piece.token);
    } else if (!piece.text.empty()) {
      model_->tokenize(piece.text, &ids);
    }
  }
  return ids;
}

Encoding Tokenizer::encode(std::string_view text, const std::string_view* second,
                           const EncodeOptions& options) const {
  Ids ids = ids_of(text), others;
  if (second) others = ids_of(*second);
  Ids* other = second ? &others : nullptr;
  std::optional<Truncation> truncation = truncation_;
  if (options.max_length > 0) {
    if (!truncation) truncation.emplace();
    truncation->max_length = options.max_length;
  }
  const bool adds = options.adds_special_tokens;
  if (truncation) truncation->cut(&ids, other, adds ? post_processor_.added(second) : 0);
  Encoding encoding = post_processor_.apply(ids, other, adds);
  if (padding_ && options.pads) {
    padding_->fill(&encoding, padding_->length(static_cast<int64_t>(encoding.ids.size())));
  }
  return encoding;
}

bool Tokenizer::find_token(int64_t id, std::string* token, bool* special) const {
  if (const AddedToken* added = added_tokens_.find(id)) {
    *token = added->form;
    *special = added->special;
    return true;
  }
  std::string_view text;
  if (!model_->vocabulary().token(id, &text)) return false;
  *token = text;
  *special = false;
  return true;
}

std::string Tokenizer::id_to_token(int64_t id) const {
  std::string token;
  bool special = false;
  if (!find_token(id, &token, &special)) {
    raise(TN_NOT_FOUND, "{}: no token has the id {} (there are {})", path_, id, vocab_size(true));
  }
  return token;
}

std::string Tokenizer::decode(const Ids& ids, bool skips_special_tokens) const {
  std::vector<std::string> parts;
  for (const int64_t id : ids) {
    bool special = false;
    std::string token;
    if (!find_token(id, &token, &special)) id_to_token(id);  // which says so
    if (!special || !skips_special_tokens) parts.push_back(std::move(token));
  }
  if (parts.empty()) return "";
  if (decoder_) decoder_(&parts);
  return fmt::format("{}", fmt::join(parts, decoder_ ? "" : " "));
}

size_t Tokenizer::vocab_size(bool with_added_tokens) const {
  const Vocabulary& vocabulary = model_->vocabulary();
  return vocabulary.size() + (with_added_tokens ? added_tokens_.size_beside(vocabulary) : 0);
}

int64_t Tokenizer::token_to_id(std::string_view token) const {
  if (const AddedToken* added = added_tokens_.find(token)) return added->id;
  return model_->vocabulary().find(token);
}

}  // namespace tenon::tokenizers
