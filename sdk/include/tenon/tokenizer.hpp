// Text as the numbers that a model reads, and back: tokenizers of tokenizer.json files, by the plugin
// `tokenizers`. Not part of tenon.hpp.
//
//   tn::Tokenizer tokenizer("tokenizer.json");
//   std::vector<int64_t> ids = tokenizer.encode("a text");
//   auto [input_ids, attention_mask, token_type_ids] = tokenizer.encode_batch(texts);
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// A `str` of the contract ends at its first zero byte, which a text may have: it crosses as the two
// bytes C0 80, which no UTF-8 has.
inline std::string without_zeros(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\0') {
      out += "\xc0\x80";
    } else {
      out += c;
    }
  }
  return out;
}
inline std::string with_zeros(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool zero = text.substr(i).starts_with("\xc0\x80");
    out += zero ? '\0' : text[i];
    i += zero ? 1 : 0;
  }
  return out;
}

}  // namespace detail

// Copies share one tokenizer. Thread-safe. What a file has and Tenon has not is an Error when it is
// read. The ids are those of Hugging Face's library.
class Tokenizer {
 public:
  explicit Tokenizer(const std::string& path) : object_(Object::create("Tokenizer", path)) {}

  struct EncodeOptions {
    bool add_special_tokens = true;
    int64_t max_length = 0;  // cuts the text so that it and what is added fits; 0: as the file says
  };
  // The ids of one text, or of two for models that compare. An Error where a text is no UTF-8.
  std::vector<int64_t> encode(std::string_view text) const { return encode(text, EncodeOptions()); }
  std::vector<int64_t> encode(std::string_view text, EncodeOptions options) const {
    return encoded(text, nullptr, options, true).first;
  }
  // Ids, and for each the number of its text (token type).
  using Encoding = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
  Encoding encode_pair(std::string_view text, std::string_view second) const {
    return encode_pair(text, second, EncodeOptions());
  }
  Encoding encode_pair(std::string_view text, std::string_view second,
                       EncodeOptions options) const {
    return encoded(text, &second, options, true);
  }

  struct Batch {
    Tensor input_ids, attention_mask, token_type_ids;  // int64 [texts, length of the longest]
  };
  struct BatchOptions {
    bool add_special_tokens = true;
    int64_t max_length = 0;         // as above
    std::optional<bool> pad_left;   // fills up at the beginning, for models that write on
    std::optional<int64_t> pad_id;  // otherwise the file's, or that of [PAD], <pad> or <|pad|>
  };
  // Shorter texts are filled up with pad_id, where the attention mask is 0; as the file says, or to
  // the length of the longest.
  Batch encode_batch(const std::vector<std::string>& texts) const {
    return encode_batch(texts, BatchOptions());
  }
  Batch encode_batch(const std::vector<std::string>& texts, BatchOptions options) const {
    std::vector<Encoding> rows;
    size_t longest = 0, shortest = SIZE_MAX;
    for (const std::string& text : texts) {
      rows.push_back(
          encoded(text, nullptr, {options.add_special_tokens, options.max_length}, false));
      longest = std::max(longest, rows.back().first.size());
      shortest = std::min(shortest, rows.back().first.size());
    }
    const std::vector<int64_t> padding = numbers("padding", int64_t(longest));
    const auto length = std::max(longest, size_t(padding[0]));
    const int64_t pad = options.pad_id.value_or(padding[1]);
    const bool left = options.pad_left.value_or(padding[3] != 0);
    if (pad < 0 && shortest < length) {
      fail("encode_batch: the tokenizer has no token to fill shorter texts up with: set pad_id");
    }
    std::vector<int64_t> ids, mask, types;
    for (const auto& [row, row_types] : rows) {
      const size_t n = length - row.size(), before = left ? n : 0;
      const auto append = [&](std::vector<int64_t>* out, const std::vector<int64_t>& values,
                              int64_t fill) {
        out->insert(out->end(), before, fill);
        out->insert(out->end(), values.begin(), values.end());
        out->insert(out->end(), n - before, fill);
      };
      append(&ids, row, pad);
      append(&mask, std::vector<int64_t>(row.size(), 1), 0);
      append(&types, row_types, padding[2]);
    }
    const std::vector<int64_t> shape{int64_t(rows.size()), int64_t(length)};
    return {Tensor::from(ids, shape), Tensor::from(mask, shape), Tensor::from(types, shape)};
  }

  // The text of ids. An Error where an id stands for no token.
  std::string decode(const std::vector<int64_t>& ids, bool skip_special_tokens = true) const {
    return detail::with_zeros(object_.invoke<std::string>("decode", ids, skip_special_tokens));
  }

  // What encode_batch fills up with where nothing else is given; none where the file has no such token.
  std::optional<int64_t> pad_id() const {
    const int64_t id = numbers("padding", int64_t{0})[1];
    return id < 0 ? std::nullopt : std::optional(id);
  }
  int64_t vocab_size(bool with_added_tokens = true) const {
    return object_.invoke<int64_t>("vocab_size", with_added_tokens);
  }
  std::optional<int64_t> token_to_id(std::string_view token) const {
    const int64_t id = object_.invoke<int64_t>("token_to_id", detail::without_zeros(token));
    return id < 0 ? std::nullopt : std::optional(id);
  }
  std::string id_to_token(int64_t id) const {
    return detail::with_zeros(object_.invoke<std::string>("id_to_token", id));
  }

 private:
  template <typename... Args>
  std::vector<int64_t> numbers(const char* method, const Args&... args) const {
    tn_value list = object_.invoke<tn_value>(method, args...);
    const detail::ValueReleaser releaser{list};
    return {list.as.ints, list.as.ints + list.count};
  }
  Encoding encoded(std::string_view text, const std::string_view* second, EncodeOptions options,
                   bool pads) const {
    std::optional<std::string> pair;
    if (second) pair = detail::without_zeros(*second);
    const std::vector<int64_t> both = numbers("encode", detail::without_zeros(text), pair,
                                              options.add_special_tokens, options.max_length, pads);
    const auto middle = both.begin() + int64_t(both.size() / 2);
    return {{both.begin(), middle}, {middle, both.end()}};
  }

  Object object_;
};

}  // namespace v0
}  // namespace tenon
