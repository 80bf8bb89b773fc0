// The random state of the process: a Philox key (seed) and a counter of calls (offset). Kernels
// make the bits; RANDOM_BITS in tenon/abi.h says which counter and lane an element has.
#pragma once

#include <cstdint>

namespace tenon {

struct RandomState {
  uint64_t seed;
  uint64_t offset;
};

void seed_random(uint64_t seed);  // also sets the offset to 0
RandomState random_state();
void set_random_state(RandomState state);
// The state of one call; the next call gets the next offset. Thread-safe.
RandomState next_random_state();

}  // namespace tenon
