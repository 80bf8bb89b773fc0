#include <algorithm>
#include <array>

#include "pattern.h"
#include "stages.h"
#include "text.h"

namespace tenon::tokenizers {
namespace {

constexpr char kPreTokenizerTypes[] =
    "Sequence, ByteLevel, Whitespace, WhitespaceSplit, BertPreTokenizer, Punctuation, Digits, "
    "Split, CharDelimiterSplit, Metaspace";

Behavior read_behavior(Fields* fields, const char* otherwise = nullptr) {
  const std::string name =
      otherwise ? fields->text("behavior", otherwise) : fields->text("behavior");
  constexpr std::pair<const char*, Behavior> kNames[] = {
      {"Removed", Behavior::kRemoved},
      {"Isolated", Behavior::kIsolated},
      {"MergedWithPrevious", Behavior::kMergedWithPrevious},
      {"MergedWithNext", Behavior::kMergedWithNext},
      {"Contiguous", Behavior::kContiguous}};
  for (const auto& [text, behavior] : kNames) {
    if (name == text) return behavior;
  }
  fields->refuse("the behavior '{}' is not supported", files::printable(name));
}

// The end of the characters from `at` on of which `is_in` says so.
template <typename F>
size_t run(const std::string& text, size_t at, F is_in) {
  for (size_t next = at; next < text.size(); at = next) {
    if (!is_in(next_character(text, &next))) break;
  }
  return at;
}

bool is_other(Character c) { return !is_space(c) && !is_letter(c) && !is_numeric(c); }

// The end of GPT-2's piece that begins at `at`:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t end_of_gpt2(const std::string& text, size_t at) {
  for (const char* ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.compare(at, std::char_traits<char>::length(ending), ending) == 0) {
      return at + std::char_traits<char>::length(ending);
    }
  }
  const size_t word = at + (text[at] == ' ' ? 1 : 0);
  for (bool (*is_in)(Character) : {is_letter, is_numeric, is_other}) {
    const size_t end = run(text, word, is_in);
    if (end > word) return end;
  }
  // Spaces, of which the last one stays with what follows.
  const size_t end = run(text, at, is_space);
  if (end == text.size()) return end;
  size_t last = end;
  do {
    --last;
  } while (U8_IS_TRAIL(text[last]));
  return last > at ? last : end;
}

Spans cut_as_gpt2(const std::string& text) {
  Spans spans;
  for (size_t at = 0; at < text.size(); at = spans.back().end) {
    spans.push_back({at, end_of_gpt2(text, at), true});
  }
  return spans;
}

PreTokenizer read_byte_level(Fields* fields) {
  const bool adds_blank = fields->flag("add_prefix_space"), cuts = fields->flag("use_regex", true);
  fields->flag("trim_offsets", true);  // of places in the text, which are not given here
  return [=](Pieces* pieces) {
    for (Piece& piece : *pieces) {
      if (piece.token < 0 && adds_blank && !piece.text.empty() && piece.text[0] != ' ') {
        piece.text.insert(0, 1, ' ');
      }
    }
    if (cuts) cut(pieces, Behavior::kIsolated, cut_as_gpt2);
    for (Piece& piece : *pieces) {
      if (piece.token < 0) piece.text = bytes_as_characters(piece.text);
    }
  };
}

// \w+|[^\w\s]+
Spans cut_at_words(const std::string& text) {
  const auto is_sign = [](Character c) { return !is_word(c) && !is_space(c); };
  Spans spans;
  for (size_t at = 0; at < text.size(); at = spans.back().end) {
    size_t end = run(text, at, is_word);
    if (end == at) end = run(text, at, is_sign);
    if (end > at) {
      spans.push_back({at, end, false});
    } else {
      spans.push_back({at, run(text, at, is_space), true});
    }
  }
  return spans;
}

// Cuts at characters of a class.
PreTokenizer at_characters(Behavior behavior, bool (*is_match)(Character)) {
  return [=](Pieces* pieces) {
    cut(pieces, behavior,
        [&](const std::string& text) { return characters_where(text, is_match); });
  };
}

PreTokenizer read_delimiter(Fields* fields) {
  const Character delimiter = fields->character("delimiter");
  return [=](Pieces* pieces) {
    cut(pieces, Behavior::kRemoved,
        [&](const std::string& text) { return character_equal(text, delimiter); });
  };
}

PreTokenizer read_split(Fields* fields) {
  const Pattern pattern = Pattern::read(fields, "pattern");
  const Behavior behavior = read_behavior(fields);
  const bool invert = fields->flag("invert");
  return [=](Pieces* pieces) {
    cut(pieces, behavior, [&](const std::string& text) {
      Spans spans = pattern.find(text);
      for (Span& span : spans) span.match = span.match != invert;
      return spans;
    });
  };
}

PreTokenizer read_pre_tokenizer_metaspace(Fields* fields) {
  const Character replacement = fields->character("replacement");
  const PrependScheme scheme = read_prepend_scheme(fields);
  const bool cuts = fields->flag("split", true);
  std::string mark;
  append(&mark, replacement);
  return [=](Pieces* pieces) {
    for (Piece& piece : *pieces) {
      if (piece.token >= 0 || piece.text.empty()) continue;
      std::string text;
      for (const char c : piece.text) {
        if (c == ' ') {
          text += mark;
        } else {
          text += c;
        }
      }
      const bool wanted =
          scheme == PrependScheme::kAlways || (scheme == PrependScheme::kFirst && piece.first);
      piece.text = wanted && !text.starts_with(mark) ? mark + text : text;
    }
    if (!cuts) return;
    cut(pieces, Behavior::kMergedWithNext,
        [&](const std::string& text) { return character_equal(text, replacement); });
  };
}

PreTokenizer read_pre_tokenizer_sequence(Fields* fields) {
  std::vector<PreTokenizer> list;
  for (const Fields& item : fields->objects("pretokenizers")) {
    list.push_back(read_pre_tokenizer(item));
  }
  return [list = std::move(list)](Pieces* pieces) {
    for (const PreTokenizer& pre_tokenizer : list) pre_tokenizer(pieces);
  };
}

PreTokenizer bert() {
  const PreTokenizer spaces = at_characters(Behavior::kRemoved, is_space);
  const PreTokenizer signs = at_characters(Behavior::kIsolated, is_punctuation);
  return [=](Pieces* pieces) {
    spaces(pieces);
    signs(pieces);
  };
}

PreTokenizer read_pre_tokenizer_by_type(Fields* fields) {
  const std::string type = fields->type();
  if (type == "Sequence") return read_pre_tokenizer_sequence(fields);
  if (type == "ByteLevel") return read_byte_level(fields);
  if (type == "Whitespace") {
    return [](Pieces* pieces) { cut(pieces, Behavior::kRemoved, cut_at_words); };
  }
  if (type == "WhitespaceSplit") return at_characters(Behavior::kRemoved, is_space);
  if (type == "BertPreTokenizer") return bert();
  if (type == "Punctuation") {
    return at_characters(read_behavior(fields, "Isolated"), is_punctuation);
  }
  if (type == "Digits") {
    const bool each = fields->flag("individual_digits");
    return at_characters(each ? Behavior::kIsolated : Behavior::kContiguous, is_numeric);
  }
  if (type == "Split") return read_split(fields);
  if (type == "CharDelimiterSplit") return read_delimiter(fields);
  if (type == "Metaspace") return read_pre_tokenizer_metaspace(fields);
  fields->refuse_type(type, kPreTokenizerTypes);
}

}  // namespace

std::string bytes_as_characters(std::string_view text) {
  static const auto& table = *new auto([] {
    std::array<std::string, 256> all;
    Character next = 256;  // for bytes that cannot be seen
    for (int byte = 0; byte < 256; ++byte) {
      const bool visible = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
      append(&all[static_cast<size_t>(byte)], visible ? byte : next++);
    }
    return all;
  }());
  std::string out;
  out.reserve(2 * text.size());
  for (const char c : text) out += table[static_cast<uint8_t>(c)];
  return out;
}

PrependScheme read_prepend_scheme(Fields* fields) {
  const bool old = fields->flag("add_prefix_space", true);  // older files have it instead
  const std::string name = fields->text("prepend_scheme", old ? "always" : "never");
  if (name == "always") return PrependScheme::kAlways;
  if (name == "first") return PrependScheme::kFirst;
  if (name == "never") return PrependScheme::kNever;
  fields->refuse("the prepend_scheme '{}' is not supported; there are always, first, never",
                 files::printable(name));
}

PreTokenizer read_pre_tokenizer(Fields fields) {
  PreTokenizer pre_tokenizer = read_pre_tokenizer_by_type(&fields);
  fields.finish();
  return pre_tokenizer;
}

}  // namespace tenon::tokenizers
