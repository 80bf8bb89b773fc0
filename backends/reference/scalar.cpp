// Conversions between dtypes.
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernel.h"

namespace ref {

// Toward zero. What does not fit (NaN too) is undefined in C++; here it is what x86 gives.
static int64_t truncate(double value) {
  return value >= -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MIN;
}

template <class T>
static T narrow(Register value, tn_dtype from) {
  if (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (from == TN_FLOAT32) return static_cast<T>(truncate(value.f));
    if (from == TN_FLOAT64) return static_cast<T>(truncate(value.d));
  }
  if (from == TN_FLOAT32) return static_cast<T>(value.f);
  if (from == TN_FLOAT64) return static_cast<T>(value.d);
  return static_cast<T>(value.i);
}

template <class T>
static Register widen(T value) {
  if constexpr (std::is_same_v<T, double>) return {.d = value};
  if constexpr (std::is_integral_v<T>) return {.i = value};
  return {.f = static_cast<float>(value)};
}

tn_dtype register_type(tn_dtype dtype) {
  if (dtype == TN_FLOAT16 || dtype == TN_BFLOAT16) return TN_FLOAT32;
  return dtype == TN_INT32 || dtype == TN_UINT8 ? TN_INT64 : dtype;
}

Register cast(Register value, tn_dtype from, tn_dtype to) {
  return with_type(to, [&](auto t) { return widen(narrow<decltype(t)>(value, from)); });
}

Register View::load(tn_dtype type) const {
  const Register value = with_type(dtype, [&](auto x) {
    // A bool that is neither 0 nor 1 (poison) is no bool to C++.
    if constexpr (std::is_same_v<decltype(x), bool>) return widen(*at != 0);
    std::memcpy(&x, at, sizeof(x));
    return widen(x);
  });
  return cast(value, register_type(dtype), type);
}

void View::store(Register value, tn_dtype type) const {
  with_type(dtype, [&](auto t) {
    t = narrow<decltype(t)>(value, type);
    std::memcpy(at, &t, sizeof(t));
  });
}

Half::operator float() const {
  const uint32_t magnitude = (bits & 0x7FFFu) << 13;
  const bool finite = magnitude < 0x7C00u << 13;  // 2^112: the biases of the exponents differ so
  const float value = finite ? std::bit_cast<float>(magnitude) * 0x1p112f
                             : std::bit_cast<float>(magnitude | 0x7F800000u);
  return bits & 0x8000u ? -value : value;
}

Half::Half(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = all & 0x7FFFFFFFu;
  uint32_t half;
  if (magnitude > 0x7F800000u) {
    half = 0x7E00u;  // NaN
  } else if (magnitude >= std::bit_cast<uint32_t>(65520.0f)) {
    half = 0x7C00u;  // rounds to inf
  } else if (magnitude < std::bit_cast<uint32_t>(0x1p-14f)) {
    // A subnormal half: the last bit of 0.5f is worth 2^-24, so the addition rounds there.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  } else {
    half = (magnitude + 0xFFFu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
  }
  bits = static_cast<uint16_t>(half | (all >> 16 & 0x8000u));
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

BFloat16::BFloat16(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = all + 0x7FFFu + (all >> 16 & 1u);
  bits = static_cast<uint16_t>((std::isnan(value) ? all | 0x400000u : rounded) >> 16);
}

}  // namespace ref
