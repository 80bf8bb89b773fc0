// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011). The number of an element alone decides its counter and lane, so every backend and
// layout gives the same bits.
#include <array>

#include "kernel.h"

namespace ref {

using Bits = std::array<uint32_t, 4>;

static uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
static uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

static Bits philox(Bits counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {high(b) ^ counter[1] ^ key0, low(b), high(a) ^ counter[3] ^ key1, low(a)};
  }
  return counter;
}

tn_status* random_bits(const tn_call* call) {
  const tn_tensor* y = call->outputs[0];
  const tn_tensor* live = call->random->state;  // inside a graph: on the device
  const auto* state = reinterpret_cast<const uint64_t*>(live ? kernel_view(live->data) : nullptr);
  const uint64_t seed = state ? state[0] : call->random->seed;
  const uint64_t offset = state ? state[1] : call->random->offset;
  View to(y);
  Bits bits = {};
  for (int64_t i = 0; i < y->numel; ++i, to.at += 4) {
    const auto block = static_cast<uint64_t>(i / 4);
    if (i % 4 == 0)
      bits = philox({low(block), high(block), low(offset), high(offset)}, low(seed), high(seed));
    to.store({.i = bits[i % 4]}, TN_INT64);
  }
  return nullptr;
}

}  // namespace ref
