#include "random/philox.h"

#include <mutex>
#include <utility>

#include "base/hot_thread_local.h"

namespace tenon {
namespace {

std::mutex mutex;
RandomState state_of_process{0, 0};
TN_HOT constinit thread_local RandomState* state_of_thread = nullptr;  // null: the process'

// Calls `use` with the state that this thread draws from.
template <typename F>
RandomState with_state(F use) {
  if (state_of_thread != nullptr) return use(*state_of_thread);
  std::lock_guard lock(mutex);
  return use(state_of_process);
}

}  // namespace

RandomState random_state() {
  return with_state([](const RandomState& state) { return state; });
}

void set_random_state(RandomState next) {
  with_state([&](RandomState& state) { return state = next; });
}

RandomState next_random_state(uint64_t calls) {
  return with_state([&](RandomState& state) {
    return RandomState{state.seed, std::exchange(state.offset, state.offset + calls)};
  });
}

RandomState* use_random_state(RandomState* own) { return std::exchange(state_of_thread, own); }

}  // namespace tenon
