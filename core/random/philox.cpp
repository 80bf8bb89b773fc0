#include "random/philox.h"

#include <mutex>

namespace tenon {
namespace {

std::mutex mutex;
RandomState state{0, 0};

}  // namespace

void seed_random(uint64_t seed) { set_random_state({seed, 0}); }

RandomState random_state() {
  std::lock_guard lock(mutex);
  return state;
}

void set_random_state(RandomState next) {
  std::lock_guard lock(mutex);
  state = next;
}

RandomState next_random_state() {
  std::lock_guard lock(mutex);
  return {state.seed, state.offset++};
}

}  // namespace tenon
