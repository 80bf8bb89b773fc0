// Tables in CSV text (RFC 4180). Knows files, numbers and texts, no tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenon::files {

struct CsvFormat {
  bool header = false;   // the first line holds the names of the columns
  char separator = ',';  // between fields
};

// A file, packed by gzip or not, of rows of as many fields each. Spaces around fields, CRLF, a
// byte-order mark and empty lines are taken. A field may have quotes around it, within
// which separators, line ends and doubled quotes are text. Errors (Error) name path, line and column.
// Immutable, and so safe to read from several threads.
class CsvTable {
 public:
  // Refuses what has no rows, a row of fewer or more fields than the first, and a quote
  // that is not closed or has text behind it.
  explicit CsvTable(const std::string& path, const CsvFormat& format = {});

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  // The number of a column: from the end where negative, or of a name in the header.
  int64_t column(int64_t number) const;
  int64_t column(const std::string& name) const;

  // What is made of each column.
  enum class Kind : uint8_t { kSkipped, kNumber, kText };
  struct Reading {
    std::vector<Kind> kinds;  // of all columns
    // Finite numbers. What is missing (is_missing) is `missing`, or refused where there is none.
    std::function<void(int64_t row, int64_t column, double value)> number = {};
    std::optional<double> missing = {};
    bool may_be_missing = true;  // by that option, which the message names
    // Fields as they are without their quotes; one with a zero byte is refused.
    std::function<void(int64_t row, int64_t column, const std::string& text)> text = {};
  };
  // One pass over the file: each row, and in a row each column that is not skipped.
  void read(const Reading& reading) const;
  // An empty field, NA, N/A, NaN, nan, null, NULL or ?: what programs write for a value that is not
  // there.
  static bool is_missing(std::string_view text);

  // Where a row begins in the file, from 1. Walks to it.
  int64_t line(int64_t row) const;
  // The first field of a column, which says what the column is; and whether it is a number.
  std::string first(int64_t column) const;
  bool is_number(int64_t column) const;
  // An Error about a field: "path:line: column 3: what".
  [[noreturn]] void refuse(int64_t row, int64_t column, const std::string& what) const;

 private:
  struct Field;
  struct Place {  // of a row
    size_t at = 0;
    uint32_t line = 1;
  };

  Field field_at(size_t begin, uint32_t line, int64_t column) const;
  int64_t fields_of_row(Place* place) const;
  Place next_row(Place place) const;
  void read_header(Place* place);
  bool is_blank(size_t begin, size_t end) const;
  double number_of(const Field& field, uint32_t line, int64_t column,
                   const std::optional<double>& missing, bool may_be_missing) const;
  [[noreturn]] void refuse_at(uint32_t line, int64_t column, const std::string& what) const;

  std::string path_;
  CsvFormat format_;
  std::string text_;
  Place first_row_;
  int64_t rows_ = 0, columns_ = 0;
  std::vector<std::string> names_;                    // of the header
  std::unordered_map<std::string, int64_t> numbers_;  // of the names; -1 where several are one
};

}  // namespace tenon::files
