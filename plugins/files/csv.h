// Tables in CSV text (RFC 4180). Knows files, numbers and texts, no tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::files {

struct CsvFormat {
  bool header = false;   // the first line holds the names of the columns
  char separator = ',';  // between fields
};

// A file, packed by gzip or not, of rows of as many fields each. Spaces around fields, CRLF, a
// byte-order mark and empty lines at the end are taken. A field may have quotes around it, within
// which separators, line ends and doubled quotes are text. Errors (Error) name path, line and column.
// Immutable, and so safe to read from several threads.
class CsvTable {
 public:
  // Refuses what has no rows, a row of fewer or more fields than the first, an empty line, and a
  // quote that is not closed or has text behind it.
  explicit CsvTable(const std::string& path, const CsvFormat& format = {});

  int64_t rows() const { return static_cast<int64_t>(rows_.size()); }
  int64_t columns() const { return columns_; }
  // The number of a column: from the end where negative, or of a name in the header.
  int64_t column(int64_t number) const;
  int64_t column(const std::string& name) const;

  // Calls `take(row, value)` for a column whose fields are finite numbers. What is missing - an empty
  // field, NA, N/A, NaN, nan, null, NULL or ? - is `missing`, or refused where there is none.
  using TakeNumber = std::function<void(int64_t row, double value)>;
  // The fields of a row as they are without their quotes.
  using TakeText = std::function<void(int64_t row, const std::string& text)>;
  struct Reader {
    int64_t column = 0;
    TakeNumber number;  // one of the two
    TakeText text;
    std::optional<double> missing;
  };
  // One pass over the file: each row, and in a row each of the readers by their columns.
  void read(std::vector<Reader> readers) const;

  // Where a row begins in the file, from 1.
  int64_t line(int64_t row) const;
  // Whether the first row has a number there, which says what the column is.
  bool is_number(int64_t column) const;
  // An Error about a field: "path:line: column 3: what".
  [[noreturn]] void refuse(int64_t row, int64_t column, const std::string& what) const;

 private:
  struct Field;
  struct Row {
    size_t begin;
    uint32_t line;  // from 1
  };

  Field field_at(size_t begin, uint32_t line, int64_t column) const;
  int64_t fields_of_row(size_t& at, uint32_t& line) const;
  bool is_blank(size_t begin, size_t end) const;
  double number_of(const Field& field, const Row& row, int64_t column,
                   const std::optional<double>& missing) const;
  [[noreturn]] void refuse_at(uint32_t line, int64_t column, const std::string& what) const;

  std::string path_;
  CsvFormat format_;
  std::string text_;
  std::vector<Row> rows_;
  int64_t columns_ = 0;
  std::vector<std::string> names_;  // of the header
};

}  // namespace tenon::files
