#include "random/philox.h"

#include <mutex>
#include <utility>

namespace tenon {
namespace {

std::mutex mutex;
RandomState state{0, 0};

}  // namespace

RandomState random_state() {
  std::lock_guard lock(mutex);
  return state;
}

void set_random_state(RandomState next) {
  std::lock_guard lock(mutex);
  state = next;
}

RandomState next_random_state(uint64_t calls) {
  std::lock_guard lock(mutex);
  return {state.seed, std::exchange(state.offset, state.offset + calls)};
}

}  // namespace tenon
