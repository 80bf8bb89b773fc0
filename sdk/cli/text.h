// Text for people: the nearest known name, tables with aligned columns. Used by every command;
// knows nothing of Tenon.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli {

// "; did you mean 'epochs'?" where one of `known` is near to `name`, else "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

std::string joined(const std::vector<std::string>& items, std::string_view separator = ", ");

// Whole contents of a file; a tenon::Error that names it when it cannot be read.
std::string read_text(const std::string& path);

// Rows of cells under a header, columns two spaces apart, no spaces at the end of a line. The
// header row is empty for none. Columns in `right` are aligned to the right.
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
