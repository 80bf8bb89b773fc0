// Models that look words up: WordPiece (Wu et al., 2016), which takes the longest token that a word
// begins with again and again, and WordLevel, whose tokens are words. The choice of a model by type.
#include <algorithm>

#include "stages.h"
#include "text.h"

namespace tenon::tokenizers {
namespace {

using files::printable;
using files::raise;

constexpr size_t kMostToken = 4096;  // so many bytes are looked at, at each place of a word
constexpr char kModelTypes[] = "BPE, WordPiece, WordLevel";

// The id of a piece that is no token.
class Unknown {
 public:
  Unknown(std::string token, std::string place)
      : token_(std::move(token)), place_(std::move(place)) {}

  int64_t id(const Vocabulary& vocabulary, std::string_view piece) const {
    const int64_t id = vocabulary.find(token_);
    if (id < 0) {
      raise(TN_NOT_FOUND, "{}: '{}' is not in the vocabulary, nor is the unk_token '{}'", place_,
            printable(piece), printable(token_));
    }
    return id;
  }

 private:
  std::string token_, place_;
};

class WordLevel : public Model {
 public:
  WordLevel(Vocabulary vocabulary, Unknown unknown)
      : Model(std::move(vocabulary)), unknown_(std::move(unknown)) {}

  void tokenize(std::string_view piece, Ids* ids) const override {
    const int64_t id = vocabulary().find(piece);
    ids->push_back(id < 0 ? unknown_.id(vocabulary(), piece) : id);
  }

 private:
  Unknown unknown_;
};

class WordPiece : public Model {
 public:
  WordPiece(Vocabulary vocabulary, Unknown unknown, std::string prefix, int64_t most_characters)
      : Model(std::move(vocabulary)),
        unknown_(std::move(unknown)),
        prefix_(std::move(prefix)),
        most_characters_(most_characters) {}

  void tokenize(std::string_view piece, Ids* ids) const override {
    const size_t before = ids->size();
    bool known = characters_of(piece) <= most_characters_;
    for (size_t begin = 0; known && begin < piece.size();) {
      size_t end = begin;
      const int64_t id = longest_from(piece, begin, &end);
      known = id >= 0;
      ids->push_back(id);
      begin = end;
    }
    if (known) return;
    ids->resize(before);
    ids->push_back(unknown_.id(vocabulary(), piece));
  }

 private:
  static int64_t characters_of(std::string_view text) {
    return std::ranges::count_if(text, [](char c) { return !U8_IS_TRAIL(c); });
  }

  // -1 where the piece goes on with no token.
  int64_t longest_from(std::string_view piece, size_t begin, size_t* end) const {
    std::string text = begin > 0 ? prefix_ : "";
    const size_t prefix = text.size();
    text += piece.substr(begin, vocabulary().longest() + U8_MAX_LENGTH);
    size_t bytes = prefix;
    const int64_t id = vocabulary().find_longest(text, prefix, &bytes);
    *end = begin + bytes - prefix;
    return id;
  }

  Unknown unknown_;
  std::string prefix_;
  int64_t most_characters_;
};

Vocabulary vocabulary_of(const Fields& fields, Document* document) {
  if (document->has_merges) fields.refuse("the field 'merges' is not supported");
  return {std::move(document->tokens), std::move(document->ids), fields.place("vocab")};
}

}  // namespace

void expect_short(const Fields& fields, const char* name, const std::string& text) {
  constexpr size_t kMost = 256;
  if (text.size() > kMost)
    fields.refuse("{} has {} bytes, expected at most {}", name, text.size(), kMost);
}

std::unique_ptr<Model> read_word_piece(Fields fields, Document* document) {
  Unknown unknown(fields.text("unk_token"), fields.place());
  const std::string prefix = fields.text("continuing_subword_prefix", "##");
  const int64_t most = fields.number("max_input_chars_per_word", 0, INT64_MAX);
  fields.finish();
  expect_short(fields, "continuing_subword_prefix", prefix);
  Vocabulary vocabulary = vocabulary_of(fields, document);
  if (vocabulary.longest() > kMostToken) {
    fields.refuse("a token has {} bytes; those of WordPiece may have {}", vocabulary.longest(),
                  kMostToken);
  }
  return std::make_unique<WordPiece>(std::move(vocabulary), std::move(unknown), prefix, most);
}

std::unique_ptr<Model> read_word_level(Fields fields, Document* document) {
  Unknown unknown(fields.text("unk_token"), fields.place());
  fields.finish();
  return std::make_unique<WordLevel>(vocabulary_of(fields, document), std::move(unknown));
}

std::unique_ptr<Model> read_model(Fields fields, Document* document) {
  // The first files had no type: merges tell BPE, and the length of words WordPiece.
  std::string type = fields.text("type", "");
  if (type.empty() && document->has_merges) type = "BPE";
  if (type.empty() && fields.has("max_input_chars_per_word")) type = "WordPiece";
  if (type.empty()) fields.refuse("the field 'type' is missing");
  if (type != "BPE" && type != "WordPiece" && type != "WordLevel") {
    fields.refuse_type(type, kModelTypes);
  }
  if (document->vocab_is_list) fields.refuse("vocab is a list, expected an object");
  if (!document->has_vocab) fields.refuse("the field 'vocab' is missing");
  if (type == "BPE") return read_bpe(std::move(fields), document);
  if (type == "WordPiece") return read_word_piece(std::move(fields), document);
  return read_word_level(std::move(fields), document);
}

}  // namespace tenon::tokenizers
