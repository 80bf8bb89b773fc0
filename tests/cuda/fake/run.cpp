// How a kernel is run: block by block, and in a block thread by thread. TENON_FAKE_CUDA_ORDER=seed
// takes both in another order.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "block.h"
#include "kernels.h"
#include "memory.h"
#include "shadow.h"

namespace fake {
namespace {

std::mutex running;
const Entry* current = nullptr;

[[noreturn]] void fail(const char* what, const void* address) {
  const Machine& machine = the_machine();
  const std::string place = address && arena_of(address) >= 0 ? ", " + place_text(address) : "";
  char at[40] = "";
  if (address) std::snprintf(at, sizeof at, ": %p", address);
  std::fprintf(stderr, "fake driver: %s meets %s%s%s (block %u %u, thread %u)\n", current->kernel,
               what, at, place.c_str(), machine.block_index.x, machine.block_index.y,
               machine.thread_index.x);
  std::abort();
}

Block& the_block() {
  static auto& block = *new Block(the_machine());
  return block;
}

// Other orders of threads and blocks, all made from one seed.
class Orders {
 public:
  Orders() {
    const char* seed = std::getenv("TENON_FAKE_CUDA_ORDER");
    if (seed) numbers_.seed(static_cast<unsigned>(std::atoi(seed)));
    shuffles_ = seed != nullptr;
  }
  template <class T>
  std::vector<T> first(T n) {
    std::vector<T> order(n);
    std::iota(order.begin(), order.end(), T{0});
    if (shuffles_) std::shuffle(order.begin(), order.end(), numbers_);
    return order;
  }

 private:
  std::mt19937 numbers_;
  bool shuffles_;
};

void run_block(const Entry& entry, const void* parameters, const std::vector<unsigned>& order) {
  if (entry.meets) return the_block().run(entry, parameters, order);
  for (const unsigned t : order) {
    the_machine().thread_index = {t, 0, 0};
    entry.run(parameters);
  }
}

}  // namespace

Machine& the_machine() {
  static auto& machine =
      *new Machine{.meet = [](Line line) { the_block().meet(line); },
                   .meet_lanes = [](const WarpCall& call) { the_block().meet_lanes(call); },
                   .come = [](bool is_last) { come(the_machine(), is_last); },
                   .fail = fail,
                   .add_shared = make_shadow,
                   .touch = [](Shadow* shadow, const void* address, size_t bytes,
                               Touch how) { touch(the_machine(), shadow, address, bytes, how); }};
  return machine;
}

void run_kernel(const Entry& entry, const void* parameters, Triple grid, Triple threads,
                int device) {
  static auto& orders = *new Orders;
  const std::lock_guard lock(running);
  Machine& machine = the_machine();
  current = &entry;
  machine.grid = grid;
  machine.block = threads;
  machine.device = range_of(device), machine.pinned = range_of(kPinned);
  if (watches_device()) {
    machine.watched = reinterpret_cast<uintptr_t>(view_of_all());
    machine.watched_bytes = bytes_of_all();
  }
  begin_launch();
  const std::vector<unsigned> order = orders.first(threads.x);
  for (const uint64_t block : orders.first(uint64_t{grid.x} * grid.y)) {
    machine.block_index = {static_cast<unsigned>(block % grid.x),
                           static_cast<unsigned>(block / grid.x), 0};
    begin_block(machine.block_index);
    run_block(entry, parameters, order);
  }
}

}  // namespace fake
