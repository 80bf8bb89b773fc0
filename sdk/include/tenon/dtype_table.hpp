// The table of dtypes: each is stated in one row here, and libtenon.so, the C++ face, backends and
// file formats ask this table. Needs abi.h alone, and nothing of the host. What a new dtype touches
// beside its row is in docs/architecture.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tenon/abi.h"
#include "tenon/halves.hpp"

// Calls ROW once for each dtype, by its number:
//   ROW(number, constant of the face, name, C++ type of an element, kind,
//       DLPack's type code, version of the instruction set that brought it)
#define TENON_DTYPES(ROW)                                                \
  ROW(TN_FLOAT32, float32, "float32", float, kFloat, 2, 1)               \
  ROW(TN_FLOAT64, float64, "float64", double, kFloat, 2, 1)              \
  ROW(TN_FLOAT16, float16, "float16", halves::Float16, kFloat, 2, 1)     \
  ROW(TN_BFLOAT16, bfloat16, "bfloat16", halves::BFloat16, kFloat, 4, 1) \
  ROW(TN_INT64, int64, "int64", int64_t, kInt, 0, 1)                     \
  ROW(TN_INT32, int32, "int32", int32_t, kInt, 0, 1)                     \
  ROW(TN_UINT8, uint8, "uint8", uint8_t, kInt, 1, 1)                     \
  ROW(TN_BOOL, bool_, "bool", bool, kBool, 6, 1)                         \
  ROW(TN_INT8, int8, "int8", int8_t, kInt, 0, 2)                         \
  ROW(TN_INT16, int16, "int16", int16_t, kInt, 0, 2)

namespace tenon {
namespace [[gnu::visibility("hidden")]] dtype_table {

// In the order of promotion: of two dtypes the greater kind wins.
enum class Kind : uint8_t { kBool, kInt, kFloat };

struct Row {
  const char* name;
  Kind kind;
  uint8_t bytes;            // of an element
  uint8_t dlpack_code;      // DLDataTypeCode
  uint8_t instruction_set;  // programs that load, store or cast to it need this version
  bool is_signed;
  // It holds the integers below 2^digits, and no number of 2^exponent or more.
  int digits, exponent;
};

template <typename T>
struct Limits {
  static constexpr int digits = std::numeric_limits<T>::digits;
  static constexpr int exponent =
      std::numeric_limits<T>::is_integer ? digits : std::numeric_limits<T>::max_exponent;
  static constexpr bool is_signed = std::numeric_limits<T>::is_signed;
};
template <>
struct Limits<halves::Float16> {
  static constexpr int digits = 11, exponent = 16;
  static constexpr bool is_signed = true;
};
template <>
struct Limits<halves::BFloat16> {
  static constexpr int digits = 8, exponent = 128;
  static constexpr bool is_signed = true;
};

#define TENON_DTYPE_ROW(number, constant, name, Element, kind, dlpack, set) \
  {name,                                                                    \
   Kind::kind,                                                              \
   sizeof(Element),                                                         \
   dlpack,                                                                  \
   set,                                                                     \
   Limits<Element>::is_signed,                                              \
   Limits<Element>::digits,                                                 \
   Limits<Element>::exponent},
inline constexpr Row kRows[] = {TENON_DTYPES(TENON_DTYPE_ROW)};
#undef TENON_DTYPE_ROW
static_assert(sizeof kRows / sizeof kRows[0] == TN_N_DTYPES);

#define TENON_DTYPE_NUMBER(number, ...) number,
inline constexpr tn_dtype kNumbers[] = {TENON_DTYPES(TENON_DTYPE_NUMBER)};
#undef TENON_DTYPE_NUMBER
static_assert([] {
  for (tn_dtype i = 0; i < TN_N_DTYPES; ++i) {
    if (kNumbers[i] != i) return false;
  }
  return true;
}());

// The C++ type of an element. A bool that others wrote may be any byte, and whatever is not 0 is
// true (LOAD in abi.h).
template <tn_dtype D>
struct ElementOf;
#define TENON_DTYPE_ELEMENT(number, constant, name, Element, ...) \
  template <>                                                     \
  struct ElementOf<number> {                                      \
    using type = Element;                                         \
  };
TENON_DTYPES(TENON_DTYPE_ELEMENT)
#undef TENON_DTYPE_ELEMENT
template <tn_dtype D>
using Element = typename ElementOf<D>::type;

constexpr bool is_known(tn_dtype dtype) { return dtype >= 0 && dtype < TN_N_DTYPES; }

// TN_DTYPE_BITs of the dtypes whose row `is` takes.
template <typename Is>
constexpr uint32_t bits_of(Is is) {
  uint32_t bits = 0;
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) {
    if (is(kRows[dtype])) bits |= TN_DTYPE_BIT(dtype);
  }
  return bits;
}
inline constexpr uint32_t kFloats =
    bits_of([](const Row& row) { return row.kind == Kind::kFloat; });
inline constexpr uint32_t kInts = bits_of([](const Row& row) { return row.kind == Kind::kInt; });

// False for what is no dtype, too. The compiler makes one comparison of a range of these.
#define TENON_DTYPE_IS_FLOAT(number, constant, name, Element, kind, ...) \
  (Kind::kind == Kind::kFloat && dtype == (number)) ||
constexpr bool is_float(tn_dtype dtype) { return TENON_DTYPES(TENON_DTYPE_IS_FLOAT) false; }
#undef TENON_DTYPE_IS_FLOAT
#define TENON_DTYPE_IS_HALF(number, constant, name, Element, kind, ...) \
  (Kind::kind == Kind::kFloat && sizeof(Element) == 2 && dtype == (number)) ||
constexpr bool is_half(tn_dtype dtype) { return TENON_DTYPES(TENON_DTYPE_IS_HALF) false; }
#undef TENON_DTYPE_IS_HALF

// The register type that programs compute it in.
constexpr tn_dtype register_type(tn_dtype dtype) {
  if (is_float(dtype)) return dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32;
  return dtype == TN_BOOL ? TN_BOOL : TN_INT64;
}
// Bytes of an element; 0 for what is no dtype.
constexpr uint32_t item_size(tn_dtype dtype) { return is_known(dtype) ? kRows[dtype].bytes : 0; }

// Whether each value of `of` is one of `dtype`, or is rounded to one, as PyTorch's promotion sees
// it: floats hold all integers, and integers hold bools.
constexpr bool holds(tn_dtype dtype, tn_dtype of) {
  const Row &a = kRows[dtype], &b = kRows[of];
  if (a.kind != b.kind) return a.kind > b.kind;
  return a.digits >= b.digits && a.exponent >= b.exponent && (a.is_signed || !b.is_signed);
}

// PyTorch's promotion: of the greater kind the smallest dtype that holds both.
constexpr tn_dtype find_promotion(tn_dtype a, tn_dtype b) {
  const Kind kind = kRows[a].kind > kRows[b].kind ? kRows[a].kind : kRows[b].kind;
  tn_dtype best = TN_DTYPE_NONE;
  for (tn_dtype dtype = 0; dtype < TN_N_DTYPES; ++dtype) {
    if (kRows[dtype].kind != kind || !holds(dtype, a) || !holds(dtype, b)) continue;
    if (best == TN_DTYPE_NONE || kRows[dtype].bytes < kRows[best].bytes) best = dtype;
  }
  return best;
}
inline constexpr auto kPromotions = [] {
  std::array<std::array<int8_t, TN_N_DTYPES>, TN_N_DTYPES> all{};
  for (size_t a = 0; a < TN_N_DTYPES; ++a) {
    for (size_t b = 0; b < TN_N_DTYPES; ++b) {
      all[a][b] =
          static_cast<int8_t>(find_promotion(static_cast<tn_dtype>(a), static_cast<tn_dtype>(b)));
    }
  }
  return all;
}();
constexpr tn_dtype promote(tn_dtype a, tn_dtype b) {
  return kPromotions[static_cast<size_t>(a)][static_cast<size_t>(b)];
}

// The least and the greatest number that a dtype of kind kInt holds.
struct IntRange {
  int64_t least, greatest;
};
constexpr IntRange int_range(tn_dtype dtype) {
  const auto greatest = static_cast<int64_t>(UINT64_MAX >> (64 - kRows[dtype].digits));
  return {kRows[dtype].is_signed ? -greatest - 1 : 0, greatest};
}

// The number as an element of a dtype of kind kInt: it wraps.
constexpr int64_t wrap(tn_dtype dtype, int64_t number) {
  const int unused = 64 - 8 * kRows[dtype].bytes;
  const uint64_t shifted = static_cast<uint64_t>(number) << unused;
  return kRows[dtype].is_signed ? static_cast<int64_t>(shifted) >> unused
                                : static_cast<int64_t>(shifted >> unused);
}

// The greatest finite number, or the last float64 below it where it is none (2^63 - 1).
constexpr double greatest(tn_dtype dtype) {
  const int digits = kRows[dtype].digits < 53 ? kRows[dtype].digits : 53;
  double number = 2 - 2.0 / static_cast<double>(uint64_t{1} << digits);
  for (int i = 1; i < kRows[dtype].exponent; ++i) number *= 2;
  return number;
}
// The least finite number.
constexpr double least(tn_dtype dtype) {
  return kRows[dtype].kind == Kind::kFloat ? -greatest(dtype)
                                           : static_cast<double>(int_range(dtype).least);
}

// What `visit` gives: the dtype as a constant.
template <tn_dtype D>
struct Tag {
  static constexpr tn_dtype dtype = D;
  using Element = dtype_table::Element<D>;
};

// f(Tag<dtype>{}), for a known dtype: how code that is a template over dtypes is chosen.
template <typename F>
constexpr auto visit(tn_dtype dtype, F&& f) {
  switch (dtype) {
#define TENON_DTYPE_CASE(number, ...) \
  case number:                        \
    return f(Tag<number>{});
    TENON_DTYPES(TENON_DTYPE_CASE)
#undef TENON_DTYPE_CASE
    default:
      __builtin_trap();
  }
}

}  // namespace dtype_table
}  // namespace tenon
