// Dtypes as values: tenon::float32, promotion, sets of dtypes for kernels. Nothing here touches
// tensors.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tenon/base.hpp"
#include "tenon/dtype_table.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// The type of a tensor's elements. Default: none, which means "as it is" where a dtype is optional.
struct Dtype {
  tn_dtype value = TN_DTYPE_NONE;

  constexpr bool operator==(const Dtype&) const = default;
  constexpr explicit operator bool() const { return value != TN_DTYPE_NONE; }
  constexpr bool is_float() const { return dtype_table::is_float(value); }
  constexpr bool is_half() const { return dtype_table::is_half(value); }
  // Bytes of an element.
  constexpr int64_t itemsize() const { return dtype_table::item_size(value); }
  const char* name() const { return detail::api.tensor->dtype_name(value); }
  // By name ("float32"); an Error when there is none of that name.
  static Dtype parse(const std::string& name) {
    Dtype dtype{detail::api.tensor->dtype_from_name(name.c_str())};
    if (!dtype) fail("no dtype is named '" + name + "'", TN_NOT_FOUND);
    return dtype;
  }
};

// float32, float64, float16, bfloat16, int64, int32, int16, int8, uint8 and bool_.
#define TENON_DTYPE_CONSTANT(number, constant, ...) inline constexpr Dtype constant{number};
TENON_DTYPES(TENON_DTYPE_CONSTANT)
#undef TENON_DTYPE_CONSTANT

// What a dtype of floats can hold: finfo(float16).max. An Error for other dtypes.
struct finfo {
  int bits;                // of an element
  double eps;              // the distance from 1 to the next greater number
  double max, min;         // the greatest finite number, and the lowest
  double smallest_normal;  // the smallest positive normal number
  double tiny;             // the same, by NumPy's older name
  double resolution;       // 10^-n, where n decimal digits always survive
  explicit finfo(Dtype dtype) {
    if (!dtype.is_float())
      fail(std::string("finfo: the dtype is ") + dtype.name() + ", expected one of floats");
    const dtype_table::Row& row = dtype_table::kRows[dtype.value];
    bits = 8 * row.bytes;
    eps = std::ldexp(1, 1 - row.digits);
    max = std::ldexp(2 - eps, row.exponent - 1);
    min = -max;
    smallest_normal = tiny = std::ldexp(1, 2 - row.exponent);
    resolution = std::pow(10, -std::floor((row.digits - 1) * std::log10(2)));
  }
};
// What a dtype of integers can hold: iinfo(int8).max. An Error for other dtypes.
struct iinfo {
  int bits;  // of an element
  int64_t max, min;
  explicit iinfo(Dtype dtype) {
    if (!dtype || (dtype_table::kInts >> dtype.value & 1) == 0)
      fail(std::string("iinfo: the dtype is ") + dtype.name() + ", expected one of integers");
    const dtype_table::Row& row = dtype_table::kRows[dtype.value];
    bits = 8 * row.bytes;
    max = int64_t((uint64_t(1) << row.digits) - 1);
    min = row.is_signed ? -max - 1 : 0;
  }
};

// PyTorch's promotion, of tensors with dimensions.
inline Dtype promote(Dtype a, Dtype b) { return {detail::api.tensor->promote(a.value, b.value)}; }
inline Dtype promote_types(Dtype a, Dtype b) { return promote(a, b); }

// Whether an op in place may give `to` what promotion makes `from`: no float becomes an integer,
// and nothing but a bool becomes one.
constexpr bool can_cast(Dtype from, Dtype to) {
  return (from.value == TN_BOOL || to.value != TN_BOOL) && (!from.is_float() || to.is_float());
}

// A set of dtypes: `float32 | float64`.
struct Dtypes {
  uint32_t bits = 0;
  constexpr Dtypes() = default;
  constexpr explicit Dtypes(uint32_t b) : bits(b) {}
  constexpr Dtypes(Dtype dtype) : bits(TN_DTYPE_BIT(dtype.value)) {}
  constexpr bool has(Dtype dtype) const { return (bits >> dtype.value & 1) != 0; }
};
constexpr Dtypes operator|(Dtypes a, Dtypes b) { return Dtypes(a.bits | b.bits); }

// By libtorch's names.
inline constexpr Dtype kFloat64 = float64, kDouble = float64, kFloat32 = float32, kFloat = float32,
                       kFloat16 = float16, kHalf = float16, kBFloat16 = bfloat16, kInt64 = int64,
                       kLong = int64, kInt32 = int32, kInt = int32, kInt16 = int16, kShort = int16,
                       kInt8 = int8, kChar = int8, kUInt8 = uint8, kByte = uint8, kBool = bool_;

inline constexpr Dtypes floats = Dtypes(float32) | float64;
inline constexpr Dtypes all_floats{dtype_table::kFloats};
inline constexpr Dtypes integers{dtype_table::kInts};

namespace detail {
template <typename U>
constexpr tn_dtype find_dtype() {
  if (std::is_integral_v<U> && sizeof(U) == 8) return TN_INT64;
  if (std::is_integral_v<U> && sizeof(U) == 4) return TN_INT32;
#define TENON_DTYPE_OF(number, constant, name, Element, ...) \
  if (std::is_same_v<U, Element>) return number;
  TENON_DTYPES(TENON_DTYPE_OF)
#undef TENON_DTYPE_OF
  return TN_DTYPE_NONE;
}
}  // namespace detail

// The dtype whose elements a T of C++ is. Integers of 4 and 8 bytes are taken by their size, since
// C++ has several of each.
template <typename T>
constexpr Dtype dtype_of() {
  constexpr tn_dtype dtype = detail::find_dtype<std::remove_cv_t<T>>();
  static_assert(dtype != TN_DTYPE_NONE, "no dtype has elements of this type");
  return {dtype};
}

}  // namespace v0
}  // namespace tenon
