#include "text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include <tenon/base.hpp>

namespace tenon::cli {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

size_t columns_of(std::string_view utf8) {
  return static_cast<size_t>(
      std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  size_t best = std::max<size_t>(2, name.size() / 3) + 1;
  std::string_view nearest;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(lowered(name), lowered(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  // A folder opens, and fails at its first read.
  if (!file || (file.peek(), file.bad())) {
    fail(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)), TN_NOT_FOUND);
  }
  return std::move(text).str();
}

Table::Table(std::vector<std::string> header, std::vector<size_t> right)
    : right_(std::move(right)) {
  if (!header.empty()) rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string Table::text() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - columns_of(row[i]), ' ');
      const bool right = std::ranges::find(right_, i) != right_.end();
      if (i > 0) line += "  ";
      line += right ? space + row[i] : row[i] + space;
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace tenon::cli
