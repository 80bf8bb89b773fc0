// Facts about dtypes, as the core asks for them: the table of tenon/dtype_table.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tenon/dtype_table.hpp"

namespace tenon {

using dtype_table::is_float;
using dtype_table::is_half;
using dtype_table::item_size;  // 0 for what is no dtype
using dtype_table::Kind;

// Of known dtypes: a byte each, for the call path.
inline constexpr std::array<uint8_t, TN_N_DTYPES> kItemSize = [] {
  std::array<uint8_t, TN_N_DTYPES> sizes{};
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype)
    sizes[static_cast<size_t>(dtype)] = dtype_table::kRows[dtype].bytes;
  return sizes;
}();

inline bool is_known_dtype(tn_dtype dtype) { return dtype_table::is_known(dtype); }
inline Kind kind_of(tn_dtype dtype) { return dtype_table::kRows[dtype].kind; }
// The version of the instruction set that brought it.
inline uint32_t instruction_set_of(tn_dtype dtype) {
  return dtype_table::kRows[dtype].instruction_set;
}

const char* dtype_name(tn_dtype dtype);           // "float32"; "unknown" for others
tn_dtype dtype_from_name(std::string_view name);  // TN_DTYPE_NONE: none of that name

}  // namespace tenon
