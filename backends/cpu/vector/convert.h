// Elements between memory of any dtype and the four register types; the halves' formats.
#pragma once

#include "tenon/dtype_table.hpp"
#include "vector/arith.h"
#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

template <typename To, typename From>
TENON_INLINE To bits_of(From x) {
  return __builtin_bit_cast(To, x);
}

// Giesen's conversions: multiplication by 2^112 makes subnormals right, an addition rounds them.
TENON_INLINE float half_to_float(uint16_t h) {
  const uint32_t magnitude = static_cast<uint32_t>(h & 0x7fff) << 13;
  const uint32_t finite = bits_of<uint32_t>(bits_of<float>(magnitude) * 0x1p112f);
  const uint32_t bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : finite;
  return bits_of<float>(bits | static_cast<uint32_t>(h & 0x8000) << 16);
}

TENON_INLINE uint16_t float_to_half(float x) {
  const uint32_t all = bits_of<uint32_t>(x);
  const uint32_t bits = all & 0x7fffffffu;
  const uint32_t big = bits > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const uint32_t small = bits_of<uint32_t>(bits_of<float>(bits) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (bits + 0xc8000fffu + (bits >> 13 & 1)) >> 13;
  const uint32_t h = bits >= 0x47800000u ? big : bits < 0x38800000u ? small : normal;
  return static_cast<uint16_t>(h | (all >> 16 & 0x8000u));
}

TENON_INLINE float bfloat_to_float(uint16_t b) {
  return bits_of<float>(static_cast<uint32_t>(b) << 16);
}
TENON_INLINE uint16_t float_to_bfloat(float x) {
  const uint32_t bits = bits_of<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u | (bits >> 16 & 0x8000u)
                                                                  : rounded);
}

// Element: how a dtype lies in memory. Wide: the register type that holds all its values.
// Integers are as the table of dtypes says.
template <tn_dtype D>
struct Format {
  using Element = dtype_table::Element<D>;
  using Wide = int64_t;
  static TENON_INLINE Wide widen(Element x) { return x; }
  static TENON_INLINE Element narrow(Wide x) { return static_cast<Element>(x); }
};
#define TENON_FORMAT(dtype, element, wide, widened, narrowed)       \
  template <>                                                       \
  struct Format<dtype> {                                            \
    using Element = element;                                        \
    using Wide = wide;                                              \
    static TENON_INLINE wide widen(element x) { return widened; }   \
    static TENON_INLINE element narrow(wide x) { return narrowed; } \
  };
TENON_FORMAT(TN_FLOAT32, float, float, x, x)
TENON_FORMAT(TN_FLOAT64, double, double, x, x)
TENON_FORMAT(TN_FLOAT16, uint16_t, float, half_to_float(x), float_to_half(x))
TENON_FORMAT(TN_BFLOAT16, uint16_t, float, bfloat_to_float(x), float_to_bfloat(x))
TENON_FORMAT(TN_BOOL, uint8_t, uint8_t, x != 0, x)

// uint8_t is the bool register: anything becomes bool by != 0.
template <typename To, typename From>
TENON_INLINE To convert(From x) {
  if constexpr (__is_same(To, uint8_t)) {
    return x != 0;
  } else {
    return static_cast<To>(x);
  }
}

// Integers of at most 4 bytes become floats at once: for 8 bytes some processors have no instruction.
template <tn_dtype D, typename R>
TENON_INLINE R read_as(typename Format<D>::Element x) {
  constexpr bool is_short =
      __is_same(typename Format<D>::Wide, int64_t) && sizeof(typename Format<D>::Element) <= 4;
  if constexpr (is_short && (__is_same(R, float) || __is_same(R, double))) {
    return static_cast<R>(x);
  } else {
    return convert<R>(Format<D>::widen(x));
  }
}
template <tn_dtype D, typename R>
TENON_INLINE typename Format<D>::Element write_as(R x) {
  return Format<D>::narrow(convert<typename Format<D>::Wide>(x));
}

#if defined(__F16C__)
TENON_INLINE void widen_halves(float* d, const uint16_t* s, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(d + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s + i))));
  }
  for (; i < n; ++i) {
    d[i] = _cvtsh_ss(s[i]);
  }
}
TENON_INLINE void narrow_halves(uint16_t* d, const float* s, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(d + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(s + i), _MM_FROUND_TO_NEAREST_INT));
  }
  for (; i < n; ++i) {
    d[i] = _cvtss_sh(s[i], _MM_FROUND_TO_NEAREST_INT);
  }
}
#endif

template <tn_dtype D, typename R>
void load_dense(const Cell* cells, const Step& step, int64_t n) {
  using Element = typename Format<D>::Element;
  R* d = at<R>(cells, step.d);
  const Element* s = at<Element>(cells, step.a);
#if defined(__F16C__)
  if constexpr (D == TN_FLOAT16 && __is_same(R, float)) {
    return widen_halves(d, s, n);
  }
#endif
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    d[i] = read_as<D, R>(s[i]);
  }
}

template <tn_dtype D, typename R>
void load_strided(const Cell* cells, const Step& step, int64_t n) {
  using Element = typename Format<D>::Element;
  R* d = at<R>(cells, step.d);
  const Element* s = at<Element>(cells, step.a);
  const int64_t stride = cells[step.b].i;
  int64_t i = 0;
  for (; i + 4 <= n;
       i += 4) {  // of one at a time it depends on the loop's address how long it takes
    d[i] = read_as<D, R>(s[0]);
    d[i + 1] = read_as<D, R>(s[stride]);
    d[i + 2] = read_as<D, R>(s[2 * stride]);
    d[i + 3] = read_as<D, R>(s[3 * stride]);
    s += 4 * stride;
  }
  for (; i < n; ++i, s += stride) {
    d[i] = read_as<D, R>(*s);
  }
}

template <typename R, tn_dtype D>
void store_dense(const Cell* cells, const Step& step, int64_t n) {
  using Element = typename Format<D>::Element;
  Element* d = at<Element>(cells, step.d);
  const R* s = at<R>(cells, step.a);
#if defined(__F16C__)
  if constexpr (D == TN_FLOAT16 && __is_same(R, float)) {
    return narrow_halves(d, s, n);
  }
#endif
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    d[i] = write_as<D, R>(s[i]);
  }
}

template <typename R, tn_dtype D>
void store_strided(const Cell* cells, const Step& step, int64_t n) {
  using Element = typename Format<D>::Element;
  Element* d = at<Element>(cells, step.d);
  const R* s = at<R>(cells, step.a);
  const int64_t stride = cells[step.b].i;
  for (int64_t i = 0; i < n; ++i) {
    d[i * stride] = write_as<D, R>(s[i]);
  }
}

// TN_I_CAST: the value as the dtype has it, in the register type that holds the dtype.
template <typename R, tn_dtype D>
void cast(const Cell* cells, const Step& step, int64_t n) {
  using Wide = typename Format<D>::Wide;
  Wide* d = at<Wide>(cells, step.d);
  const R* s = at<R>(cells, step.a);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    d[i] = Format<D>::widen(write_as<D, R>(s[i]));
  }
}

// One element of each of several rows, which lie `stride` elements apart, n times. What is written
// behind the last is less than a vector.
template <typename T>
void spread_rows(void* to, const void* from, int64_t stride, int64_t n, int64_t rows) {
  T* d = static_cast<T*>(to);
  const T* s = static_cast<const T*>(from);
  for (int64_t i = 0; i < rows; ++i, d += n) {
    const Vec<T> v = broadcast(s[i * stride]);
    for (int64_t j = 0; j < n; j += kLanes<T>) {
      store(d + j, v);
    }
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
