// Texts as data, by the plugin `files`, and what makes numbers of them. For applications; not part of
// tenon.hpp. tokenizer.hpp has the tokenizers.
//
//   tn::data::TextFolder reviews("reviews");  // reviews/bad/1.txt, reviews/good/7.txt, ...
//   tn::data::DataLoader batches(reviews, {.batch_size = 32, .shuffle = true},
//                                tn::data::TokenCollate(tn::Tokenizer("tokenizer.json")));
//   for (auto [ids, mask, labels] : batches) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/data/class_folder.hpp"
#include "tenon/data/loader.hpp"
#include "tenon/lists.hpp"
#include "tenon/object.hpp"
#include "tenon/tokenizer.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace data {

// A file of UTF-8, packed by gzip or not, without the mark of its byte order. What is no UTF-8, or has
// a zero byte, is an Error that names file and line.
inline std::string load_text(const std::string& path) {
  return Object::create("TextFile", path).invoke<std::string>("text");
}

// The lines of such a file, without what ends them: each is a sample. Copies share the text.
class TextLines {
 public:
  explicit TextLines(const std::string& path)
      : file_(Object::create("TextFile", path)), size_(file_.invoke<int64_t>("size")) {}

  int64_t size() const { return size_; }
  std::string get(int64_t index) const { return file_.invoke<std::string>("line", index); }

 private:
  Object file_;
  int64_t size_;
};

// Each folder in `root` is a class, by name from 0, and its files that end with .txt are the samples,
// by name: the text, and its class. Files are read when they are asked for. Copies share one list.
class TextFolder : public ClassFolder {
 public:
  explicit TextFolder(const std::string& root) : ClassFolder("TextFolder", root) {}

  std::pair<std::string, int64_t> get(int64_t index) const {
    return {folder().invoke<std::string>("text", index), label(index)};
  }
};

// Batches of texts as tokens, for a DataLoader: of texts [input_ids, attention_mask], of texts with a
// label [input_ids, attention_mask, labels]. Ids and mask are int64 [n, length of the longest].
class TokenCollate {
 public:
  explicit TokenCollate(Tokenizer tokenizer, Tokenizer::BatchOptions options = {})
      : tokenizer_(std::move(tokenizer)), options_(options) {}

  std::pair<Tensor, Tensor> operator()(const std::vector<std::string>& texts) const {
    const Tokenizer::Batch batch = tokenizer_.encode_batch(texts, options_);
    return {batch.input_ids, batch.attention_mask};
  }
  struct Labelled {
    Tensor input_ids, attention_mask, labels;
  };
  Labelled operator()(const std::vector<std::pair<std::string, int64_t>>& samples) const {
    std::vector<std::string> texts;
    std::vector<int64_t> labels;
    for (const auto& [text, label] : samples) {
      texts.push_back(text);
      labels.push_back(label);
    }
    const auto [ids, mask] = (*this)(texts);
    return {ids, mask, Tensor::from(labels)};
  }

 private:
  Tokenizer tokenizer_;
  Tokenizer::BatchOptions options_;
};

// Windows of a row of tokens, side by side, for a model that guesses each from those before it: a
// sample is int64 [context], and as many that follow one later. A remainder is left out.
class TokenWindows {
 public:
  TokenWindows(std::vector<int64_t> tokens, int64_t context)
      : tokens_(Tensor::from(tokens)), context_(context) {
    if (context < 1 || int64_t(tokens.size()) <= context) {
      fail(tenon::detail::joined({"TokenWindows: context is ", std::to_string(context), " for ",
                                  std::to_string(tokens.size()),
                                  " tokens, expected 1 or more, and less than these"}));
    }
  }

  int64_t size() const { return (tokens_.numel() - 1) / context_; }
  std::pair<Tensor, Tensor> get(int64_t index) const {
    if (index < 0 || index >= size()) {
      fail(tenon::detail::joined(
          {"TokenWindows: window ", std::to_string(index), " of ", std::to_string(size())}));
    }
    const int64_t* first = tokens_.data<int64_t>() + index * context_;
    return {Tensor::from(std::vector<int64_t>(first, first + context_)),
            Tensor::from(std::vector<int64_t>(first + 1, first + 1 + context_))};
  }

 private:
  Tensor tokens_;
  int64_t context_;
};

}  // namespace data
}  // namespace v0
}  // namespace tenon
