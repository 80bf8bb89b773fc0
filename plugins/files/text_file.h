// Texts in files: UTF-8, packed by gzip or not. Knows files, no tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::files {

// A whole text, and where its lines begin. A byte-order mark is left out. Errors (Error) name path and
// line: what is no UTF-8, and a zero byte, which would end the strings of others. Safe to read from
// several threads.
class TextReader {
 public:
  explicit TextReader(const std::string& path);

  const std::string& text() const { return text_; }
  int64_t lines() const { return static_cast<int64_t>(begins_.size()); }
  // Without what ends it, \n or \r\n. TN_INVALID_ARGUMENT where there is none.
  std::string_view line(int64_t index) const;

 private:
  std::string path_, text_;
  std::vector<size_t> begins_;
};

}  // namespace tenon::files
