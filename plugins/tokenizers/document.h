// A tokenizer.json file: its vocabulary and its merges in tables, and all else as a tree of JSON of
// bounded depth and size. Knows the syntax alone; fields.h reads the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "vocabulary.h"

namespace tenon::tokenizers {

// A tree of bounded depth. To give up one of the library's takes memory, and where there is none the
// process ends; this one goes from its leaves on.
class Tree {
 public:
  Tree() = default;
  Tree(Tree&&) = default;
  Tree& operator=(Tree&&) = delete;
  ~Tree() { empty(root); }

  nlohmann::json root;

 private:
  static void empty(nlohmann::json& tree) {
    if (!tree.is_structured()) return;
    for (nlohmann::json& child : tree) empty(child);
    tree.clear();
  }
};

struct Document {
  Tree tree;
  bool has_vocab = false, has_merges = false;
  bool vocab_is_list = false;  // as that of Unigram, which is not kept
  StringTable tokens;
  std::vector<int64_t> ids;  // of tokens
  StringTable merges;        // left, right, left, right, ...
};

// Errors (Error) name `path` and the place in the file. At most 128 MiB.
Document read_document(const std::string& path);
// The same of a file's text.
Document parse_document(const std::string& path, std::string_view text);

}  // namespace tenon::tokenizers
