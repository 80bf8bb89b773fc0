// Size classes of host memory: how a block of a storage and its bytes is rounded, and how many of a
// class a thread keeps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tenon {

inline constexpr uint64_t kHeader = 128;  // of a block: the storage
inline constexpr uint64_t kMaxClassBytes = uint64_t{1} << 20;
inline constexpr uint32_t kClasses = 52;

// Steps of 64 bytes to 512, then four to each doubling.
constexpr uint32_t class_of(uint64_t bytes) {
  const uint64_t below = bytes <= 64 ? 0 : (bytes - 1) / 64;
  if (below < 8) return static_cast<uint32_t>(below);
  const auto width = static_cast<uint32_t>(std::bit_width(below));
  return 8 + (width - 4) * 4 + static_cast<uint32_t>(below >> (width - 3)) - 4;
}

constexpr uint64_t class_bytes(uint32_t c) {
  if (c < 8) return (c + 1) * 64;
  const uint32_t shift = (c - 8) / 4 + 1;
  return (uint64_t{(c - 8) % 4 + 5} << shift) * 64;
}
static_assert(class_of(kMaxClassBytes) == kClasses - 1 &&
              class_bytes(kClasses - 1) == kMaxClassBytes);
static_assert(class_of(513) == 8 && class_bytes(8) == 640 && class_of(640) == 8);

constexpr uint64_t block_bytes(uint32_t c) { return kHeader + class_bytes(c); }

struct ClassTables {
  uint32_t keep[kClasses];   // blocks that a thread keeps
  uint32_t batch[kClasses];  // blocks that it exchanges at once
};
inline constexpr ClassTables kClassTables = [] {
  ClassTables t{};
  for (uint32_t c = 0; c < kClasses; ++c) {
    const uint64_t fit = (uint64_t{1} << 20) / block_bytes(c);
    t.keep[c] = static_cast<uint32_t>(std::clamp<uint64_t>(fit, 2, 4096));
    t.batch[c] = std::clamp<uint32_t>(t.keep[c] / 2, 1, 64);
  }
  return t;
}();

}  // namespace tenon
