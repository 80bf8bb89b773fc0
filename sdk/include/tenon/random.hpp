// What random ops draw from: one sequence for the process, or generators of one's own. Philox,
// counter based (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). Random ops are
// in ops/random.hpp.
//
//   tn::Generator generator(7);
//   {
//     tn::GeneratorGuard guard(generator);
//     tn::Tensor noise = tn::randn({2, 3});  // PyTorch: torch.randn(2, 3, generator=generator)
//   }
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

// These three are of the sequence that this thread draws from: that of the process, which all
// threads share, or that of the innermost GeneratorGuard.
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

// A sequence of random numbers of its own, the same on every device and machine. A copy goes on by
// itself. Used by one thread at a time.
class Generator {
 public:
  explicit Generator(uint64_t seed = 0) : state_{seed, 0} {}
  // Goes on from there: torch.random.fork_rng is a guard of a Generator of random_state().
  explicit Generator(RandomState state) : state_{state.seed, state.offset} {}
  // Starts the sequence of `seed` from its beginning.
  Generator& manual_seed(uint64_t seed) {
    state_ = {seed, 0};
    return *this;
  }
  uint64_t initial_seed() const { return state_.seed; }
  RandomState get_state() const { return {state_.seed, state_.offset}; }
  Generator& set_state(RandomState state) {
    state_ = {state.seed, state.offset};
    return *this;
  }

 private:
  friend class GeneratorGuard;
  tn_random_state state_;
};

// Until the end of the scope the random ops of this thread draw from `generator`, which outlives
// it; those of other threads do not. Around the call of a compiled function it counts as for every
// other call; a compiled function that opens one itself runs eagerly.
class [[nodiscard]] GeneratorGuard {
 public:
  explicit GeneratorGuard(Generator& generator)
      : before_(detail::api.random->use(&generator.state_)) {}
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;
  ~GeneratorGuard() { detail::api.random->use(before_); }

 private:
  tn_random_state* before_;
};

}  // namespace v0
}  // namespace tenon
