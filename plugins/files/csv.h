// Tables of numbers in CSV text. Knows files and numbers, no tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::files {

struct Table {
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<double> values;   // row-major
  std::vector<uint32_t> lines;  // of each row in the file, from 1
};

// Reads a file, packed by gzip or not, of finite numbers between commas, a row per line, the same number in each. Spaces
// around numbers, CRLF, a byte-order mark and empty lines at the end are taken; `header` skips the
// first line. Errors (Error) name path, line and column: a line that is short, long or empty, a
// field that is no number, a file without rows.
Table read_csv(const std::string& path, bool header);

}  // namespace tenon::files
