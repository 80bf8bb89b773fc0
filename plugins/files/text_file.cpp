#include "text_file.h"

#include <algorithm>

#include "bytes.h"

namespace tenon::files {

TextReader::TextReader(const std::string& path) : path_(path), text_(Bytes(path).read_all()) {
  if (text_.starts_with("\xef\xbb\xbf")) text_.erase(0, 3);
  for (size_t at = 0; at < text_.size();) {
    begins_.push_back(at);
    const size_t end = std::min(text_.find('\n', at), text_.size());
    while (at < end) {
      uint32_t code = 0;
      const size_t bytes = messages::first_character(std::string_view(text_).substr(at), &code);
      if (bytes == 0 || code == 0) {
        raise(TN_DATA_LOSS, "{}:{}: byte {} of the line is {:02x}, {}", path, begins_.size(),
              at - begins_.back(), static_cast<uint8_t>(text_[at]),
              bytes == 0 ? "which is no UTF-8" : "and no text has zeros");
      }
      at += bytes;
    }
    at = end + 1;
  }
}

std::string_view TextReader::line(int64_t index) const {
  if (index < 0 || index >= lines()) {
    raise(TN_INVALID_ARGUMENT, "{}: line {} of {}, counted from 0", path_, index, lines());
  }
  const size_t begin = begins_[static_cast<size_t>(index)];
  std::string_view line = std::string_view(text_).substr(begin);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace tenon::files
