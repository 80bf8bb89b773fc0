// Numbers that Tenon has no dtype for. Unsigned integers of 16 bits become int32, of 32 bits int64, and of
// 64 bits int64 as well, where each value fits; floats of 8 bits become float32. Used by the readers of
// npy and safetensors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "file.h"

namespace tenon::files {

// Unsigned integers From, which lie in the last bytes of n integers To, become these.
template <class From, class To>
void widen(uint8_t* memory, uint64_t n) {
  const uint8_t* from = memory + n * (sizeof(To) - sizeof(From));
  for (uint64_t i = 0; i < n; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    const To wide = value;
    std::memcpy(memory + i * sizeof(To), &wide, sizeof(To));
  }
}

// n unsigned integers of 2, 4 or 8 bytes, which lie in the last bytes of `memory`, become those of their
// dtype. An Error, which `name` begins, where one is beyond int64. Those of one byte stay.
inline void widen_unsigned(const std::string& name, void* memory, uint64_t element_bytes,
                           uint64_t n) {
  auto* values = static_cast<uint8_t*>(memory);
  if (element_bytes == 2) widen<uint16_t, int32_t>(values, n);
  if (element_bytes == 4) widen<uint32_t, int64_t>(values, n);
  for (uint64_t i = 0; element_bytes == 8 && i < n; ++i) {
    if (values[i * 8 + 7] < 0x80) continue;
    raise(TN_UNSUPPORTED, "{}: value {} is 2^63 or more, and int64 ends before it", name, i);
  }
}

// A float of 8 bits with this many bits behind the point (OFP8: Micikevicius and others,
// arXiv:2209.05433). E5M2, with 2 of them, has infinities as IEEE's floats have; E4M3, with 3, has none,
// and NaN where all bits but the sign are 1.
inline float float_of_8_bits(uint8_t bits, int mantissa_bits) {
  const int exponent = (bits & 0x7f) >> mantissa_bits, most = 0x7f >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1), bias = most / 2;
  const float sign = (bits & 0x80) != 0 ? -1.f : 1.f;
  if (mantissa_bits == 2 && exponent == most && mantissa == 0) return sign * INFINITY;
  if (mantissa_bits == 2 ? exponent == most : (bits & 0x7f) == 0x7f) return NAN;
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  return sign * std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - bias - mantissa_bits);
}

// n such floats, which lie in the last bytes of `memory`, become float32.
inline void widen_float8(void* memory, int mantissa_bits, uint64_t n) {
  float table[256];
  for (int bits = 0; bits < 256; ++bits)
    table[bits] = float_of_8_bits(static_cast<uint8_t>(bits), mantissa_bits);
  auto* const values = static_cast<uint8_t*>(memory);
  const uint8_t* const from = values + n * (sizeof(float) - 1);
  for (uint64_t i = 0; i < n; ++i) {
    const float value = table[from[i]];
    std::memcpy(values + i * sizeof(float), &value, sizeof(float));
  }
}

}  // namespace tenon::files
