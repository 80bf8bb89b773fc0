// The random state of the process: a Philox key (seed) and a counter of calls (offset). Kernels
// make the bits; RANDOM_BITS in tenon/abi.h says which counter and lane an element has.
#pragma once

#include <cstdint>

namespace tenon {

struct RandomState {
  uint64_t seed;
  uint64_t offset;
};

RandomState random_state();
void set_random_state(RandomState state);
// The state of one call, or of the first of several; what comes then gets the offset behind them.
// Thread-safe.
RandomState next_random_state(uint64_t calls = 1);

}  // namespace tenon
