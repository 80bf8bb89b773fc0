// The CSV reader: one pass over the text, std::from_chars per field.
#include "csv.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "bytes.h"

namespace tenon::files {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Spreadsheets put quotes around each field (RFC 4180); a number in them has no comma.
std::string_view unquoted(std::string_view field) {
  const bool quoted = field.size() > 1 && field.front() == '"' && field.back() == '"';
  return quoted ? trimmed(field.substr(1, field.size() - 2)) : field;
}

class Parser {
 public:
  Parser(const std::string& path, std::string_view text) : path_(path), text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
    const size_t end = text_.find_last_not_of(" \t\r\n");
    text_ = text_.substr(0, end == std::string_view::npos ? 0 : end + 1);
  }

  Table parse(bool header) {
    if (header) next_line();
    while (!text_.empty()) {
      row(next_line());
    }
    if (table_.rows == 0) {
      raise(TN_DATA_LOSS, "{}: has no rows", path_);
    }
    return std::move(table_);
  }

 private:
  std::string_view next_line() {
    ++line_;
    const size_t end = text_.find('\n');
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    return line;
  }

  void row(std::string_view line) {
    if (trimmed(line).empty()) {
      raise(TN_DATA_LOSS, "{}:{}: the line is empty", path_, line_);
    }
    int64_t columns = 0;
    while (true) {
      const size_t comma = line.find(',');
      table_.values.push_back(number(trimmed(line.substr(0, comma)), ++columns));
      if (comma == std::string_view::npos) break;
      line.remove_prefix(comma + 1);
    }
    if (table_.rows == 0) {
      table_.columns = columns;
    } else if (columns != table_.columns) {
      raise(TN_DATA_LOSS, "{}:{}: {} numbers, line {} has {}", path_, line_, columns,
            table_.lines[0], table_.columns);
    }
    ++table_.rows;
    table_.lines.push_back(line_);
  }

  double number(std::string_view field, int64_t column) const {
    std::string_view digits = unquoted(field);
    if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
      raise(TN_DATA_LOSS, "{}:{}: column {}: '{}' is not a number{}", path_, line_, column,
            printable(field),
            error == std::errc::result_out_of_range ? " that a double can hold" : "");
    }
    return value;
  }

  const std::string& path_;
  std::string_view text_;
  uint32_t line_ = 0;
  Table table_;
};

}  // namespace

Table read_csv(const std::string& path, bool header) {
  const std::string text = Bytes(path).read_all();
  return Parser(path, text).parse(header);
}

}  // namespace tenon::files
