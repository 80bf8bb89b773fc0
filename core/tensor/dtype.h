// Facts about dtypes: sizes, names, kinds.
#pragma once

#include <cstdint>
#include <string_view>

#include "tenon/abi.h"

namespace tenon {

inline constexpr uint8_t kItemSize[TN_N_DTYPES] = {4, 8, 2, 2, 8, 4, 1, 1};

inline bool is_known_dtype(tn_dtype dtype) { return dtype >= 0 && dtype < TN_N_DTYPES; }
inline uint32_t item_size(tn_dtype dtype) { return is_known_dtype(dtype) ? kItemSize[dtype] : 0; }
inline bool is_float(tn_dtype dtype) { return dtype >= TN_FLOAT32 && dtype <= TN_BFLOAT16; }
inline bool is_half(tn_dtype dtype) { return dtype == TN_FLOAT16 || dtype == TN_BFLOAT16; }

const char* dtype_name(tn_dtype dtype);           // "float32"; "unknown" for others
tn_dtype dtype_from_name(std::string_view name);  // TN_DTYPE_NONE: none of that name

}  // namespace tenon
