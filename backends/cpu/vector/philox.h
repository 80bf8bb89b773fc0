// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), several
// counters at a time.
#pragma once

#include <cstdint>

namespace tenon::cpu_backend {
namespace {

constexpr int kPhiloxLanes = 16;

// Writes kPhiloxLanes * 4 words.
void philox_block(uint32_t* out, uint64_t first, uint64_t seed, uint64_t offset) {
  uint32_t x0[kPhiloxLanes], x1[kPhiloxLanes], x2[kPhiloxLanes], x3[kPhiloxLanes];
  for (int i = 0; i < kPhiloxLanes; ++i) {
    x0[i] = static_cast<uint32_t>(first + i);
    x1[i] = static_cast<uint32_t>((first + i) >> 32);
    x2[i] = static_cast<uint32_t>(offset);
    x3[i] = static_cast<uint32_t>(offset >> 32);
  }
  uint32_t key0 = static_cast<uint32_t>(seed);
  uint32_t key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kPhiloxLanes; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * x0[i];
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * x2[i];
      x0[i] = static_cast<uint32_t>(p1 >> 32) ^ x1[i] ^ key0;
      x2[i] = static_cast<uint32_t>(p0 >> 32) ^ x3[i] ^ key1;
      x1[i] = static_cast<uint32_t>(p1);
      x3[i] = static_cast<uint32_t>(p0);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (int i = 0; i < kPhiloxLanes; ++i) {
    out[4 * i] = x0[i];
    out[4 * i + 1] = x1[i];
    out[4 * i + 2] = x2[i];
    out[4 * i + 3] = x3[i];
  }
}

void philox(uint32_t* out, int64_t first, int64_t count, uint64_t seed, uint64_t offset) {
  uint32_t block[4 * kPhiloxLanes];
  for (int64_t i = 0; i < count; i += kPhiloxLanes) {
    const bool whole = count - i >= kPhiloxLanes;
    philox_block(whole ? out + 4 * i : block, static_cast<uint64_t>(first + i), seed, offset);
    if (!whole) {
      for (int64_t j = 0; j < 4 * (count - i); ++j) {
        out[4 * i + j] = block[j];
      }
    }
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
