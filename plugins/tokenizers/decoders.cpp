#include <algorithm>
#include <array>

#include <unicode/unistr.h>

#include "pattern.h"
#include "stages.h"
#include "text.h"

namespace tenon::tokenizers {
namespace {

constexpr char kDecoderTypes[] =
    "Sequence, ByteLevel, WordPiece, BPEDecoder, Metaspace, ByteFallback, Fuse, Replace, Strip";
constexpr char kUnreadable[] = "\xef\xbf\xbd";  // U+FFFD

using Parts = std::vector<std::string>;

void replace_all(std::string* text, std::string_view what, std::string_view with) {
  std::string out;
  size_t end = 0;
  for (size_t at = text->find(what); at != text->npos; at = text->find(what, end)) {
    out.append(*text, end, at - end).append(with);
    end = at + what.size();
  }
  *text = out.append(*text, end);
}

// The byte that one of GPT-2's characters stands for, or -1.
int byte_of(Character c) {
  static const std::array<int16_t, 512> table = [] {
    std::array<int16_t, 512> bytes;
    bytes.fill(-1);
    for (int byte = 0; byte < 256; ++byte) {
      const char one = static_cast<char>(byte);
      const std::string character = bytes_as_characters({&one, 1});
      size_t at = 0;
      bytes[static_cast<size_t>(next_character(character, &at))] = static_cast<int16_t>(byte);
    }
    return bytes;
  }();
  return c >= 0 && c < 512 ? table[static_cast<size_t>(c)] : -1;
}

std::string characters_as_bytes(const std::string& token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const int byte = byte_of(next_character(token, &at));
    if (byte < 0) return token;
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

// All parts as one, with U+FFFD where bytes are no UTF-8.
void decode_bytes(Parts* parts) {
  std::string bytes;
  for (const std::string& part : *parts) bytes += characters_as_bytes(part);
  if (first_invalid(bytes) != bytes.npos) {
    std::string valid;
    icu::UnicodeString::fromUTF8(bytes).toUTF8String(valid);
    bytes = std::move(valid);
  }
  *parts = {std::move(bytes)};
}

// What English text has no blank before.
void clean_up(std::string* text) {
  constexpr std::pair<const char*, const char*> kPairs[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [what, with] : kPairs) replace_all(text, what, with);
}

Decoder read_word_piece(Fields* fields) {
  const std::string prefix = fields->text("prefix");
  const bool cleans = fields->flag("cleanup");
  return [=](Parts* parts) {
    for (size_t i = 0; i < parts->size(); ++i) {
      std::string& part = (*parts)[i];
      if (i > 0) part = part.starts_with(prefix) ? part.substr(prefix.size()) : " " + part;
      if (cleans) clean_up(&part);
    }
  };
}

Decoder read_bpe(Fields* fields) {
  const std::string suffix = fields->text("suffix");
  if (suffix.empty()) fields->refuse("an empty suffix is not supported");
  return [=](Parts* parts) {
    for (size_t i = 0; i < parts->size(); ++i) {
      replace_all(&(*parts)[i], suffix, i + 1 == parts->size() ? "" : " ");
    }
  };
}

Decoder read_decoder_metaspace(Fields* fields) {
  const Character replacement = fields->character("replacement");
  const bool prepended = read_prepend_scheme(fields) != PrependScheme::kNever;
  fields->flag("split", true);
  return [=](Parts* parts) {
    for (size_t i = 0; i < parts->size(); ++i) {
      (*parts)[i] = mapped((*parts)[i], [&](Character c, std::string* out) {
        if (c != replacement) {
          append(out, c);
        } else if (i > 0 || !prepended) {
          *out += ' ';
        }
      });
    }
  };
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}
// The byte of "<0x4E>", or -1.
int byte_of_fallback(const std::string& token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return -1;
  const int high = hex(token[3]), low = hex(token[4]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

void decode_fallback(Parts* parts) {
  Parts out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (first_invalid(bytes) == bytes.npos) {
      out.push_back(bytes);
    } else {
      for (size_t i = 0; i < bytes.size(); ++i) out.emplace_back(kUnreadable);
    }
    bytes.clear();
  };
  for (std::string& part : *parts) {
    const int byte = byte_of_fallback(part);
    if (byte >= 0) {
      bytes.push_back(static_cast<char>(byte));
      continue;
    }
    flush();
    out.push_back(std::move(part));
  }
  flush();
  *parts = std::move(out);
}

void fuse(Parts* parts) {
  std::string all;
  for (const std::string& part : *parts) all += part;
  *parts = {std::move(all)};
}

Decoder read_decoder_replace(Fields* fields) {
  const Pattern pattern = Pattern::read(fields, "pattern");
  const std::string content = fields->text("content");
  return [=](Parts* parts) {
    size_t bytes = 0;
    for (std::string& part : *parts) {
      part = pattern.replaced(part, content);
      expect_bearable(bytes += part.size());
    }
  };
}

// Takes at most `start` characters of a kind from the beginning of each part, `stop` from its end.
Decoder read_decoder_strip(Fields* fields) {
  constexpr int64_t kMost = 1 << 20;
  std::string content;
  append(&content, fields->character("content"));
  const int64_t start = fields->number("start", 0, kMost), stop = fields->number("stop", 0, kMost);
  return [=](Parts* parts) {
    for (std::string& part : *parts) {
      std::string_view left = part;
      for (int64_t i = 0; i < start && left.starts_with(content); ++i) {
        left.remove_prefix(content.size());
      }
      for (int64_t i = 0; i < stop && left.ends_with(content); ++i) {
        left.remove_suffix(content.size());
      }
      part = std::string(left);
    }
  };
}

Decoder read_decoder_sequence(Fields* fields) {
  std::vector<Decoder> list;
  for (const Fields& item : fields->objects("decoders")) list.push_back(read_decoder(item));
  return [list = std::move(list)](Parts* parts) {
    for (const Decoder& decoder : list) decoder(parts);
  };
}

Decoder read_decoder_by_type(Fields* fields) {
  const std::string type = fields->type();
  if (type == "Sequence") return read_decoder_sequence(fields);
  if (type == "ByteLevel") {
    for (const char* name : {"add_prefix_space", "trim_offsets", "use_regex"}) fields->skip(name);
    return decode_bytes;
  }
  if (type == "WordPiece") return read_word_piece(fields);
  if (type == "BPEDecoder") return read_bpe(fields);
  if (type == "Metaspace") return read_decoder_metaspace(fields);
  if (type == "ByteFallback") return decode_fallback;
  if (type == "Fuse") return fuse;
  if (type == "Replace") return read_decoder_replace(fields);
  if (type == "Strip") return read_decoder_strip(fields);
  fields->refuse_type(type, kDecoderTypes);
}

}  // namespace

Decoder read_decoder(Fields fields) {
  Decoder decoder = read_decoder_by_type(&fields);
  fields.finish();
  return decoder;
}

}  // namespace tenon::tokenizers
