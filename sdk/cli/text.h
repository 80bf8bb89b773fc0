// Text for people: names that a message quotes, tables with aligned columns; and whole files. Used
// by every command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/messages.hpp>

namespace tenon::cli {

using messages::did_you_mean;
using messages::printable;  // for names and values that a message quotes

// A path as a message shows it: on one line, and whole where a message can hold it.
inline std::string shown(std::string_view path) {
  return printable(path, messages::kMostOfMessage);
}

std::string joined(const std::vector<std::string>& items, std::string_view separator = ", ");

// Whole contents of a regular file; a tenon::Error that names it when it cannot be read. A file
// that users write is at most kMostWritten bytes.
inline constexpr uint64_t kMostWritten = uint64_t{64} << 20;
std::string read_text(const std::string& path, uint64_t most = UINT64_MAX);
// The file is there whole when this returns; an Error that names it, and nothing changed,
// otherwise.
void write_text(const std::string& path, std::string_view text);

// Rows of cells under a header, columns two spaces apart, no spaces at the end of a line. The
// header row is empty for none. Columns in `right` are aligned to the right. What cannot be seen in
// a cell is escaped.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::vector<size_t> right = {});
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> right_;
};

}  // namespace tenon::cli
