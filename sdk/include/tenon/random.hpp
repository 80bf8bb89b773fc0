// The state that all random ops of the process draw from: Philox, counter based. Random ops are in
// ops/random.hpp.
#pragma once

#include <cstdint>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

struct RandomState {
  uint64_t seed;
  uint64_t offset;  // counters used up
  bool operator==(const RandomState&) const = default;
};

// Starts the sequence of `seed` from its beginning.
inline void manual_seed(uint64_t seed) { detail::api.random->seed(seed); }
inline RandomState random_state() {
  RandomState state{};
  detail::api.random->get_state(&state.seed, &state.offset);
  return state;
}
inline void set_random_state(RandomState state) {
  detail::api.random->set_state(state.seed, state.offset);
}

}  // namespace v0
}  // namespace tenon
