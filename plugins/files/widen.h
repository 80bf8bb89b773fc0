// Unsigned integers that Tenon has no dtype for: those of 16 bits become int32, of 32 bits int64, and of
// 64 bits int64 as well, where each value fits. Used by the readers of npy and safetensors.
#pragma once

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

}  // namespace tenon::files
