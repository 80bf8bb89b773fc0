// Parsing and checking the JSON header of a safetensors file. Used by safetensors.cpp alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "safetensors.h"

namespace tenon::files {

// The entries of `header`, whose offsets are moved by `data_begin`, sorted as they lie in the file
// of `file_bytes`. Throws Error with `path`.
std::vector<TensorEntry> parse_header(const std::string& path, std::string_view header,
                                      uint64_t data_begin, uint64_t file_bytes);

struct DtypeRow {
  const char* name;
  tn_dtype dtype;
  uint64_t bytes;
};
const DtypeRow* find_dtype(std::string_view name);
const DtypeRow* find_dtype(tn_dtype dtype);

}  // namespace tenon::files
