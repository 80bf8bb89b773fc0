#include <algorithm>

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/stringpiece.h>

#include "pattern.h"
#include "stages.h"
#include "text.h"

namespace tenon::tokenizers {
namespace {

constexpr char kNormalizerTypes[] =
    "Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, BertNormalizer, Replace, "
    "Prepend, ByteLevel";

using Instance = const icu::Normalizer2* (*)(UErrorCode&);

// One of the four forms of Unicode (UAX #15).
class Form {
 public:
  explicit Form(Instance instance) {
    UErrorCode status = U_ZERO_ERROR;
    form_ = instance(status);
    check(status);
  }
  void operator()(std::string* text) const {
    std::string out;
    icu::StringByteSink<std::string> sink(&out);
    UErrorCode status = U_ZERO_ERROR;
    const icu::StringPiece from(text->data(), static_cast<int32_t>(text->size()));
    form_->normalizeUTF8(0, from, sink, nullptr, status);
    check(status);
    *text = std::move(out);
  }

 private:
  static void check(UErrorCode status) {
    if (U_FAILURE(status)) {
      files::raise(TN_UNSUPPORTED, "a normalizer of ICU fails: {}", u_errorName(status));
    }
  }
  const icu::Normalizer2* form_ = nullptr;  // ICU's own
};

void lower(std::string* text) {
  *text = mapped(*text, [](Character c, std::string* out) { append_lower(out, c); });
}

template <typename F>
void remove_where(std::string* text, F f) {
  *text = mapped(*text, [f](Character c, std::string* out) {
    if (!f(c)) append(out, c);
  });
}

void strip(std::string* text, bool left, bool right) {
  size_t begin = 0, end = 0, at = 0;
  bool inside = false;
  while (at < text->size()) {
    const bool space = is_space(next_character(*text, &at));
    if (!inside && space && left) begin = at;
    inside = inside || !space;
    if (!space) end = at;
  }
  if (!right) end = text->size();
  *text = begin < end ? text->substr(begin, end - begin) : "";
}

// Without control characters, and every space a blank.
void clean(std::string* text) {
  *text = mapped(*text, [](Character c, std::string* out) {
    const bool blank = c == '\t' || c == '\n' || c == '\r';
    if (!blank && (c == 0 || c == 0xfffd || is_control(c))) return;
    append(out, blank || is_space(c) ? ' ' : c);
  });
}

void set_ideographs_apart(std::string* text) {
  *text = mapped(*text, [](Character c, std::string* out) {
    const bool apart = is_ideograph(c);
    if (apart) *out += ' ';
    append(out, c);
    if (apart) *out += ' ';
  });
}

Normalizer read_bert_normalizer(Fields* fields) {
  const bool cleans = fields->flag("clean_text"), apart = fields->flag("handle_chinese_chars"),
             lowers = fields->flag("lowercase"), strips = fields->flag("strip_accents", lowers);
  const Form decomposed(icu::Normalizer2::getNFDInstance);
  return [=](std::string* text) {
    if (cleans) clean(text);
    if (apart) set_ideographs_apart(text);
    if (strips) {
      decomposed(text);
      remove_where(text, is_mark_without_width);
    }
    if (lowers) lower(text);
  };
}

Normalizer read_normalizer_sequence(Fields* fields) {
  std::vector<Normalizer> list;
  for (const Fields& item : fields->objects("normalizers")) list.push_back(read_normalizer(item));
  return [list = std::move(list)](std::string* text) {
    for (const Normalizer& normalizer : list) normalizer(text);
  };
}

Normalizer read_normalizer_replace(Fields* fields) {
  const Pattern pattern = Pattern::read(fields, "pattern");
  const std::string content = fields->text("content");
  return [=](std::string* text) { *text = pattern.replaced(*text, content); };
}

Normalizer read_prepend(Fields* fields) {
  const std::string prefix = fields->text("prepend");
  return [=](std::string* text) {
    if (!text->empty()) text->insert(0, prefix);
  };
}

Normalizer read_normalizer_strip(Fields* fields) {
  const bool left = fields->flag("strip_left"), right = fields->flag("strip_right");
  return [=](std::string* text) { strip(text, left, right); };
}

Normalizer read_normalizer_by_type(Fields* fields) {
  const std::string type = fields->type();
  if (type == "Sequence") return read_normalizer_sequence(fields);
  if (type == "NFC") return Form(icu::Normalizer2::getNFCInstance);
  if (type == "NFD") return Form(icu::Normalizer2::getNFDInstance);
  if (type == "NFKC") return Form(icu::Normalizer2::getNFKCInstance);
  if (type == "NFKD") return Form(icu::Normalizer2::getNFKDInstance);
  if (type == "Lowercase") return lower;
  if (type == "Strip") return read_normalizer_strip(fields);
  if (type == "StripAccents") return [](std::string* text) { remove_where(text, is_mark); };
  if (type == "BertNormalizer") return read_bert_normalizer(fields);
  if (type == "Replace") return read_normalizer_replace(fields);
  if (type == "Prepend") return read_prepend(fields);
  if (type == "ByteLevel") return [](std::string* text) { *text = bytes_as_characters(*text); };
  fields->refuse_type(type, kNormalizerTypes);
}

}  // namespace

Normalizer read_normalizer(Fields fields) {
  Normalizer normalizer = read_normalizer_by_type(&fields);
  fields.finish();
  return normalizer;
}

}  // namespace tenon::tokenizers
