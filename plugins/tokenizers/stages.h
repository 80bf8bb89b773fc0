// The stages that a tokenizer.json names by "type": a text is normalized, cut into pieces, each of
// which the model turns into ids; and ids become text again. Each reads its own object of the file
// and throws where something in it is not supported. All are immutable and thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document.h"
#include "fields.h"
#include "pieces.h"
#include "vocabulary.h"

namespace tenon::tokenizers {

using Ids = std::vector<int64_t>;

using Normalizer = std::function<void(std::string*)>;
Normalizer read_normalizer(Fields fields);

using PreTokenizer = std::function<void(Pieces*)>;
PreTokenizer read_pre_tokenizer(Fields fields);

// Tokens to parts of a text, which belong one behind the other.
using Decoder = std::function<void(std::vector<std::string>*)>;
Decoder read_decoder(Fields fields);

class Model {
 public:
  explicit Model(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~Model() = default;
  // The ids of a piece, behind those that are there.
  virtual void tokenize(std::string_view piece, Ids* ids) const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};
// The object "model", whose vocabulary and merges the document has.
std::unique_ptr<Model> read_model(Fields fields, Document* document);
std::unique_ptr<Model> read_bpe(Fields fields, Document* document);         // bpe.cpp
std::unique_ptr<Model> read_word_piece(Fields fields, Document* document);  // words.cpp
std::unique_ptr<Model> read_word_level(Fields fields, Document* document);
// Refuses a prefix or suffix that would make each look-up long. (words.cpp)
void expect_short(const Fields& fields, const char* name, const std::string& text);

// The bytes of `text`, each as the visible character that GPT-2's vocabulary has for it, and back;
// what has another character stays as it is. (pre_tokenizers.cpp, decoders.cpp)
std::string bytes_as_characters(std::string_view text);

// How Metaspace writes the blank that a text does not begin with.
enum class PrependScheme { kAlways, kFirst, kNever };
PrependScheme read_prepend_scheme(Fields* fields);

}  // namespace tenon::tokenizers
