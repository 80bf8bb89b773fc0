// The half dtypes as types of C++, as they lie in memory: they are computed in float32 and rounded
// to nearest even. For backends and libtenon.so. Needs nothing of the host.
#pragma once

#include <bit>
#include <cstdint>

namespace tenon::halves {

// IEEE binary16.
struct Float16 {
  uint16_t bits;

  Float16() = default;
  explicit Float16(float value) {
    const auto all = std::bit_cast<uint32_t>(value);
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
  operator float() const {
    const uint32_t magnitude = (bits & 0x7FFFu) << 13;
    const bool finite = magnitude < 0x7C00u << 13;  // 2^112: the biases of the exponents differ so
    const float value = finite ? std::bit_cast<float>(magnitude) * 0x1p112f
                               : std::bit_cast<float>(magnitude | 0x7F800000u);
    return bits & 0x8000u ? -value : value;
  }
};

// The upper half of a float32.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const auto all = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = all + 0x7FFFu + (all >> 16 & 1u);
    bits = static_cast<uint16_t>((value != value ? all | 0x400000u : rounded) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

}  // namespace tenon::halves
