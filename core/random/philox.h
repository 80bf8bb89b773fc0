// The random state that a thread draws from: a Philox key (seed) and a counter of calls (offset). It
// is that of the process, until the thread uses one of its own. Kernels make the bits; RANDOM_BITS
// in tenon/abi.h says which counter and lane an element has.
#pragma once

#include <cstdint>

#include "tenon/abi.h"

namespace tenon {

using RandomState = tn_random_state;

RandomState random_state();
void set_random_state(RandomState state);
// The state of one call, or of the first of several; what comes then gets the offset behind them.
RandomState next_random_state(uint64_t calls = 1);
// This thread draws from `own`, which is the caller's and used by one thread at a time; null: from
// the state of the process, which is thread-safe. Gives what it drew from before.
RandomState* use_random_state(RandomState* own);

}  // namespace tenon
