#include "text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tenon/base.hpp>
#include <tenon/disk.hpp>

namespace tenon::cli {
namespace {

size_t columns_of(std::string_view utf8) {
  return static_cast<size_t>(
      std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

// Its text has a path in it, as the user wrote it.
void raise_if(const disk::Problem& problem) {
  if (problem) fail(messages::escaped(problem.text), problem.code);
}

}  // namespace

std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

std::string read_text(const std::string& path, uint64_t most) {
  disk::Input file;
  std::string text;
  disk::Problem problem = file.open(path);
  if (!problem) problem = file.read_all(&text, std::min(most, disk::host_memory()));
  raise_if(problem);
  return text;
}

void write_text(const std::string& path, std::string_view text) {
  disk::Output file;
  disk::Problem problem = file.open(path);
  if (!problem) problem = file.write(text.data(), text.size());
  if (!problem) problem = file.commit();
  raise_if(problem);
}

Table::Table(std::vector<std::string> header, std::vector<size_t> right)
    : right_(std::move(right)) {
  if (!header.empty()) rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = messages::escaped(cell);
  rows_.push_back(std::move(row));
}

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
