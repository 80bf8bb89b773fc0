// Tokens and their ids. Immutable and thread-safe once made. A file cannot make its hash slow: it
// goes by numbers that are drawn when the program starts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tokenizers {

// Texts one behind the other.
class StringTable {
 public:
  void add(std::string_view text) {
    bytes_ += text;
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string bytes_;
  std::vector<uint32_t> ends_;
};

class Vocabulary {
 public:
  Vocabulary() = default;
  // ids[i] is that of tokens[i]. Throws, naming `place`, where a token or an id is there twice.
  Vocabulary(StringTable tokens, std::vector<int64_t> ids, const std::string& place);

  size_t size() const { return tokens_.size(); }
  size_t longest() const { return longest_; }  // bytes
  // The id of the longest token that `text` begins with, of more than `least` bytes and whole
  // characters, and its bytes; -1 without one. Takes time for each byte of it once.
  int64_t find_longest(std::string_view text, size_t least, size_t* bytes) const;
  int64_t find(std::string_view token) const;            // its id, or -1
  bool token(int64_t id, std::string_view* text) const;  // false where there is none

 private:
  size_t slot_of(std::string_view token, uint64_t hash) const;

  StringTable tokens_;
  std::vector<int64_t> ids_;
  std::vector<uint32_t> slots_;  // a token's index and 1, 0 where free; a power of two of them
  std::vector<uint32_t> by_id_;  // indices
  size_t longest_ = 0;
};

// Two ids that become one: its place in the order of merges, and what they become.
struct Merge {
  uint64_t pair = 0;
  uint32_t rank = 0, id = 0;
};

class MergeTable {
 public:
  explicit MergeTable(size_t n = 0);
  static uint64_t pair_of(uint64_t left, uint64_t right) { return left << 32 | right; }
  // A pair that is there already gets the new rank.
  void set(const Merge& merge);
  const Merge* find(uint64_t left, uint64_t right) const;

 private:
  size_t slot_of(uint64_t pair) const;

  std::vector<Merge> slots_;
  std::vector<bool> used_;
};

}  // namespace tenon::tokenizers
