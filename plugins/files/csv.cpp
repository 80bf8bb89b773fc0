// The CSV reader: one pass counts rows and columns, later ones read the columns that are asked for.
// Nothing is kept of a row: a file may have many short ones.
#include "csv.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "bytes.h"

namespace tenon::files {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Whether the magnitude of a number that no double holds is too small for one, not too large.
bool is_below_one(std::string_view text) {
  const size_t end = std::min(text.find_first_of("eE"), text.size());
  int64_t exponent = 0;
  if (end < text.size()) {
    std::string_view digits = text.substr(end + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (result.ec != std::errc()) return digits.starts_with('-');
  }
  const std::string_view mantissa = text.substr(0, end);
  const size_t point = std::min(mantissa.find('.'), end),
               first = std::min(mantissa.find_first_of("123456789"), end);
  // The power of ten of the first digit that is not 0.
  const auto power = static_cast<int64_t>(point) - static_cast<int64_t>(first);
  return power - (first < point ? 1 : 0) + exponent < 0;
}

std::from_chars_result parse(std::string_view text, double& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = result.ptr == text.data() + text.size();
  if (is_whole && result.ec == std::errc::result_out_of_range && is_below_one(text)) {
    value = 0;  // smaller than any that a double can hold
    result.ec = std::errc();
  }
  const bool is_number = is_whole && result.ec != std::errc::invalid_argument;
  if (!is_number || (result.ec == std::errc() && !std::isfinite(value)))
    result.ec = std::errc::invalid_argument;
  return result;
}

}  // namespace

struct CsvTable::Field {
  std::string_view whole;  // with its quotes, without spaces around
  std::string_view text;   // within its quotes; what is doubled there is still doubled
  size_t end = 0;          // where the separator or the line's end stands
  uint32_t line = 0;       // of its end

  bool is_quoted() const { return text.data() != whole.data() || text.size() != whole.size(); }
  std::string value() const {
    if (!is_quoted()) return std::string(text);
    std::string value;
    for (size_t i = 0; i < text.size(); ++i) {
      value += text[i];
      if (text[i] == '"') ++i;  // the second of two
    }
    return value;
  }
};

CsvTable::CsvTable(const std::string& path, const CsvFormat& format)
    : path_(path), format_(format) {
  const auto is_text = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("\"\r\n.+-").find(c) != std::string_view::npos || c == '\0';
  };
  if (is_text(format.separator)) {
    raise(TN_INVALID_ARGUMENT,
          "{}: separator is '{}', which may be part of a field; expected ',', ';', '|' or a tab",
          path, printable(std::string_view(&format.separator, 1)));
  }
  text_ = Bytes(path).read_all();
  if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
    raise(TN_DATA_LOSS, "{}: is UTF-16, expected UTF-8", path_);
  Place place{text_.starts_with("\xef\xbb\xbf") ? size_t{3} : 0, 1};
  place = next_row(place);
  if (format.header && place.at < text_.size()) read_header(&place);
  first_row_ = place = next_row(place);
  for (; place.at < text_.size(); place = next_row(place)) {
    const uint32_t line = place.line;
    const int64_t n = fields_of_row(&place);
    if (rows_++ == 0) columns_ = n;
    if (n != columns_) {
      raise(TN_DATA_LOSS, "{}:{}: {} {}, line {} has {}", path_, line, n,
            n == 1 ? "field" : "fields", first_row_.line, columns_);
    }
  }
  if (rows_ == 0)
    raise(TN_DATA_LOSS, "{}: has no rows{}", path_, format.header ? " behind its header" : "");
  // A line without names may be a remark.
  const auto n_names = static_cast<int64_t>(names_.size());
  if (n_names > 1 && n_names != columns_) {
    raise(TN_DATA_LOSS, "{}: the header has {} names, line {} has {} {}", path_, n_names,
          first_row_.line, columns_, columns_ == 1 ? "field" : "fields");
  }
}

void CsvTable::read_header(Place* place) {
  for (bool is_last = false; !is_last;) {
    const Field field = field_at(place->at, place->line, static_cast<int64_t>(names_.size()));
    names_.push_back(field.value());
    const auto [known, is_new] =
        numbers_.try_emplace(names_.back(), static_cast<int64_t>(names_.size()) - 1);
    if (!is_new) known->second = -1;
    *place = {field.end + 1, field.line};
    is_last = field.end >= text_.size() || text_[field.end] == '\n';
  }
  ++place->line;
}

// Behind empty lines, which are no rows wherever they are.
CsvTable::Place CsvTable::next_row(Place place) const {
  while (place.at < text_.size()) {
    const size_t end = std::min(text_.find('\n', place.at), text_.size());
    if (!is_blank(place.at, end)) break;
    place = {end + 1, place.line + 1};
  }
  return place;
}

// Whether nothing but spaces is there.
bool CsvTable::is_blank(size_t begin, size_t end) const {
  for (size_t i = begin; i < end; ++i) {
    const char c = text_[i];
    if (c == format_.separator || (!is_space(c) && c != '\n')) return false;
  }
  return true;
}

CsvTable::Field CsvTable::field_at(size_t begin, uint32_t line, int64_t column) const {
  const std::string_view text = text_;
  const char separator = format_.separator;
  const auto is_end = [&](size_t i) {
    return i >= text.size() || text[i] == separator || text[i] == '\n';
  };
  const auto skip_blanks = [&](size_t i) {
    while (!is_end(i) && is_space(text[i])) ++i;
    return i;
  };
  Field field{.line = line};
  const size_t first = skip_blanks(begin);
  if (first >= text.size() || text[first] != '"') {
    field.end = first;
    while (!is_end(field.end)) ++field.end;
    field.whole = field.text = trimmed(text.substr(first, field.end - first));
    return field;
  }
  size_t close = text.find('"', first + 1);
  while (close != text.npos && close + 1 < text.size() && text[close + 1] == '"')
    close = text.find('"', close + 2);
  const auto line_from = [&](size_t i) { return text.substr(i, text.find('\n', i) - i); };
  if (close == text.npos) {
    refuse_at(line, column, fmt::format("'{}' has no closing quote", printable(line_from(first))));
  }
  field.whole = text.substr(first, close + 1 - first);
  field.text = text.substr(first + 1, close - first - 1);
  field.line += static_cast<uint32_t>(std::ranges::count(field.text, '\n'));
  field.end = skip_blanks(close + 1);
  if (!is_end(field.end)) {
    size_t end = field.end;
    while (!is_end(end)) ++end;
    refuse_at(line, column,
              fmt::format("'{}' goes on behind its closing quote",
                          printable(trimmed(text.substr(first, end - first)))));
  }
  return field;
}

int64_t CsvTable::fields_of_row(Place* place) const {
  *place = next_row(*place);
  const size_t end = std::min(text_.find('\n', place->at), text_.size());
  const std::string_view whole = std::string_view(text_).substr(place->at, end - place->at);
  if (whole.find('"') == whole.npos) {
    *place = {end + 1, place->line + 1};
    return std::ranges::count(whole, format_.separator) + 1;
  }
  for (int64_t column = 0;; ++column) {
    const Field field = field_at(place->at, place->line, column);
    *place = {field.end + 1, field.line};
    if (field.end < text_.size() && text_[field.end] != '\n') continue;
    ++place->line;
    return column + 1;
  }
}

int64_t CsvTable::column(int64_t number) const {
  const int64_t wrapped = number < 0 ? number + columns_ : number;
  if (wrapped >= 0 && wrapped < columns_) return wrapped;
  raise(TN_INVALID_ARGUMENT, "{}: there is no column {} among its {}", path_, number, columns_);
}

int64_t CsvTable::column(const std::string& name) const {
  if (!format_.header) {
    raise(TN_INVALID_ARGUMENT,
          "{}: there is no column '{}': columns have names where `header` says that the first line "
          "holds them",
          path_, printable(name));
  }
  const auto known = numbers_.find(name);
  if (known == numbers_.end()) {
    raise(TN_INVALID_ARGUMENT, "{}: there is no column '{}'{}; expected one of {}{}", path_,
          printable(name), messages::did_you_mean(name, names_),
          printable(fmt::format("{}", fmt::join(names_, ", ")), 400),
          columns_ > 1 ? "" : fmt::format(" (one column: `separator` is '{}')", format_.separator));
  }
  if (known->second < 0) {
    raise(TN_INVALID_ARGUMENT, "{}: several columns are called '{}', expected the number of one",
          path_, printable(name));
  }
  if (static_cast<int64_t>(names_.size()) != columns_) {
    raise(TN_DATA_LOSS, "{}: the header has {} names, line {} has {} fields", path_, names_.size(),
          first_row_.line, columns_);
  }
  return known->second;
}

bool CsvTable::is_missing(std::string_view text) {
  constexpr std::string_view kMissing[] = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"};
  return std::ranges::find(kMissing, text) != std::end(kMissing);
}

int64_t CsvTable::line(int64_t row) const {
  if (row < 0 || row >= rows_) raise(TN_INVALID_ARGUMENT, "{}: row {} of {}", path_, row, rows_);
  Place place = first_row_;
  for (int64_t i = 0; i < row; ++i) fields_of_row(&place);
  return next_row(place).line;
}

double CsvTable::number_of(const Field& field, uint32_t line, int64_t column,
                           const std::optional<double>& missing, bool may_be_missing) const {
  const std::string_view text = trimmed(field.text);
  double value = 0;
  const std::from_chars_result result = parse(text, value);
  if (result.ec == std::errc()) return value;
  const bool is_absent = is_missing(text);
  if (is_absent && missing) return *missing;
  const char* hint = "";
  if (result.ec == std::errc::result_out_of_range) {
    hint = " that a double can hold";
  } else if (is_absent) {
    hint = may_be_missing ? "; `missing` is a number to take instead"
                          : "; what is learned must be there";
  } else if (line == first_row_.line && !format_.header) {
    hint = "; `header` says that the first line holds names";
  }
  refuse_at(line, column, fmt::format("'{}' is not a number{}", printable(field.whole), hint));
}

void CsvTable::read(const Reading& reading) const {
  int64_t n_read = columns_;  // of each row, up to the last that is not skipped
  while (n_read > 0 && reading.kinds[static_cast<size_t>(n_read) - 1] == Kind::kSkipped) --n_read;
  if (n_read == 0) return;
  Place row = first_row_;
  for (int64_t index = 0; index < rows_; ++index) {
    row = next_row(row);
    Place place = row;
    for (int64_t column = 0; column < n_read; ++column) {
      const Field field = field_at(place.at, place.line, column);
      place = {field.end + 1, field.line};
      const Kind kind = reading.kinds[static_cast<size_t>(column)];
      if (kind == Kind::kNumber) {
        reading.number(index, column,
                       number_of(field, row.line, column, reading.missing, reading.may_be_missing));
      } else if (kind == Kind::kText) {
        if (field.text.find('\0') != field.text.npos)
          refuse_at(row.line, column, fmt::format("'{}' has a zero byte", printable(field.whole)));
        reading.text(index, column, field.value());
      }
    }
    if (n_read == columns_) {
      row = {place.at, place.line + 1};
    } else {
      fields_of_row(&row);
    }
  }
}

std::string CsvTable::first(int64_t column) const {
  Place place = first_row_;
  Field field;
  for (int64_t i = 0; i <= column; ++i) {
    field = field_at(place.at, place.line, i);
    place = {field.end + 1, field.line};
  }
  return field.value();
}

bool CsvTable::is_number(int64_t column) const {
  double value = 0;
  return parse(trimmed(first(column)), value).ec != std::errc::invalid_argument;
}

void CsvTable::refuse(int64_t row, int64_t column, const std::string& what) const {
  refuse_at(static_cast<uint32_t>(line(row)), column, what);
}

void CsvTable::refuse_at(uint32_t line, int64_t column, const std::string& what) const {
  const auto place = static_cast<size_t>(column);
  const bool has_name = names_.size() > 1 && place < names_.size();
  const std::string name = has_name ? fmt::format(" ({})", printable(names_[place])) : "";
  raise(TN_DATA_LOSS, "{}:{}: column {}{}: {}", path_, line, column + 1, name, what);
}

}  // namespace tenon::files
