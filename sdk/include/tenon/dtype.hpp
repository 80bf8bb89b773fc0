// Dtypes as values: tenon::float32, promotion, sets of dtypes for kernels. Nothing here touches
// tensors.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// The type of a tensor's elements. Default: none, which means "as it is" where a dtype is optional.
struct Dtype {
  tn_dtype value = TN_DTYPE_NONE;

  constexpr bool operator==(const Dtype&) const = default;
  constexpr explicit operator bool() const { return value != TN_DTYPE_NONE; }
  constexpr bool is_float() const { return value >= TN_FLOAT32 && value <= TN_BFLOAT16; }
  constexpr bool is_half() const { return value == TN_FLOAT16 || value == TN_BFLOAT16; }
  // Bytes of an element.
  constexpr int64_t itemsize() const {
    constexpr int8_t sizes[] = {4, 8, 2, 2, 8, 4, 1, 1, 1, 2, 8, 16};
    return value < 0 || value > TN_COMPLEX128 ? 0 : sizes[value];
  }
  const char* name() const { return detail::api.tensor->dtype_name(value); }
  // By name ("float32"); an Error when there is none of that name.
  static Dtype parse(const std::string& name) {
    Dtype dtype{detail::api.tensor->dtype_from_name(name.c_str())};
    if (!dtype) fail("no dtype is named '" + name + "'", TN_NOT_FOUND);
    return dtype;
  }
};

inline constexpr Dtype float32{TN_FLOAT32};
inline constexpr Dtype float64{TN_FLOAT64};
inline constexpr Dtype float16{TN_FLOAT16};
inline constexpr Dtype bfloat16{TN_BFLOAT16};
inline constexpr Dtype int64{TN_INT64};
inline constexpr Dtype int32{TN_INT32};
inline constexpr Dtype uint8{TN_UINT8};
inline constexpr Dtype bool_{TN_BOOL};

// PyTorch's promotion, of tensors with dimensions.
inline Dtype promote(Dtype a, Dtype b) { return {detail::api.tensor->promote(a.value, b.value)}; }

// A set of dtypes: `float32 | float64`.
struct Dtypes {
  uint32_t bits = 0;
  constexpr Dtypes() = default;
  constexpr explicit Dtypes(uint32_t b) : bits(b) {}
  constexpr Dtypes(Dtype dtype) : bits(TN_DTYPE_BIT(dtype.value)) {}
  constexpr bool has(Dtype dtype) const { return (bits >> dtype.value & 1) != 0; }
};
constexpr Dtypes operator|(Dtypes a, Dtypes b) { return Dtypes(a.bits | b.bits); }

inline constexpr Dtypes floats = Dtypes(float32) | float64;
inline constexpr Dtypes all_floats = floats | float16 | bfloat16;
inline constexpr Dtypes integers = Dtypes(int64) | int32 | uint8;

// The dtype whose elements a T of C++ is.
template <typename T>
constexpr Dtype dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>) {
    return bool_;
  } else if constexpr (std::is_same_v<U, float>) {
    return float32;
  } else if constexpr (std::is_same_v<U, double>) {
    return float64;
  } else if constexpr (std::is_integral_v<U> && sizeof(U) == 8) {
    return int64;
  } else if constexpr (std::is_integral_v<U> && sizeof(U) == 4) {
    return int32;
  } else {
    static_assert(std::is_same_v<U, uint8_t>, "no dtype has elements of this type");
    return uint8;
  }
}

}  // namespace v0
}  // namespace tenon
