// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), several
// counters at a time.
#pragma once

#include <cstdint>

#include "vector/lanes.h"

namespace tenon::cpu_backend {
namespace {

using PhiloxLanes = Vec<uint64_t>;  // of each 64 bits the lower half counts
// Vectors whose rounds go on at the same time: a product takes longer than what else is in a round.
constexpr int kPhiloxVectors = 4;
constexpr int kPhiloxCounters = kPhiloxVectors * kLanes<uint64_t>;

TENON_INLINE PhiloxLanes product_of_halves(PhiloxLanes a, PhiloxLanes b) {
#if defined(__AVX512F__)
  return PhiloxLanes(_mm512_maskz_mul_epu32(0xFF, __m512i(a), __m512i(b)));
#elif defined(__AVX2__)
  return PhiloxLanes(_mm256_mul_epu32(__m256i(a), __m256i(b)));
#elif defined(__x86_64__)
  return PhiloxLanes(_mm_mul_epu32(__m128i(a), __m128i(b)));
#else
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}

// Writes the four words of each of kPhiloxCounters counters.
void philox_block(uint32_t* out, uint64_t first, uint64_t seed, uint64_t offset) {
  PhiloxLanes x0[kPhiloxVectors], x1[kPhiloxVectors], x2[kPhiloxVectors], x3[kPhiloxVectors];
  PhiloxLanes counter;
  for (int i = 0; i < kLanes<uint64_t>; ++i) counter[i] = first + static_cast<uint64_t>(i);
#pragma GCC unroll 4
  for (int v = 0; v < kPhiloxVectors; ++v) {
    x0[v] = counter;
    x1[v] = counter >> 32;
    x2[v] = broadcast(offset);
    x3[v] = broadcast(offset >> 32);
    counter += kLanes<uint64_t>;
  }
  const PhiloxLanes factor0 = broadcast(uint64_t{0xD2511F53u}),
                    factor1 = broadcast(uint64_t{0xCD9E8D57u});
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const PhiloxLanes keys0 = broadcast(uint64_t{key0}), keys1 = broadcast(uint64_t{key1});
#pragma GCC unroll 4
    for (int v = 0; v < kPhiloxVectors; ++v) {
      const PhiloxLanes p0 = product_of_halves(factor0, x0[v]);
      const PhiloxLanes p1 = product_of_halves(factor1, x2[v]);
      x0[v] = (p1 >> 32) ^ x1[v] ^ keys0;
      x2[v] = (p0 >> 32) ^ x3[v] ^ keys1;
      x1[v] = p1;
      x3[v] = p0;
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
#pragma GCC unroll 4
  for (int v = 0; v < kPhiloxVectors; ++v) {
    const PhiloxLanes front = (x0[v] & 0xFFFFFFFFu) | x1[v] << 32,
                      back = (x2[v] & 0xFFFFFFFFu) | x3[v] << 32;
    uint32_t* const to = out + 4 * v * kLanes<uint64_t>;
    for (int i = 0; i < kLanes<uint64_t>; ++i) {
      const uint64_t words[2] = {front[i], back[i]};
      __builtin_memcpy(to + 4 * i, words, sizeof words);
    }
  }
}

void philox(uint32_t* out, int64_t first, int64_t count, uint64_t seed, uint64_t offset) {
  uint32_t block[4 * kPhiloxCounters];
  for (int64_t i = 0; i < count; i += kPhiloxCounters) {
    const bool whole = count - i >= kPhiloxCounters;
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
