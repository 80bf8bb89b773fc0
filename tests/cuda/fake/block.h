// The threads of a block. Those of a BLOCK_KERNEL are fibers, and run in turn from one meeting to the
// next: all threads of the block meet at `meet`, lanes of a warp where they exchange values. What
// would hang a GPU, or give it values of nobody, ends the process: a barrier that not all threads
// reach, or that they reach at several places, and an exchange whose mask does not name exactly the
// lanes that come.
#pragma once

#include <memory>
#include <vector>

#include "compiled.h"
#include "fiber.h"

namespace fake {

class Block {
 public:
  explicit Block(Machine& machine) : machine_(machine) {}

  // `order` has the numbers of all threads, in the order in which they take turns.
  void run(const Entry& entry, const void* parameters, const std::vector<unsigned>& order);
  // Of the current thread.
  void meet(Line line);
  void meet_lanes(const WarpCall& call);

 private:
  enum State { kReady, kAtBarrier, kAmongLanes, kDone };
  struct Thread {
    Fiber fiber;
    State state;
    Line line;             // of the barrier
    const WarpCall* call;  // lies on the fiber's stack
  };

  static void body();
  void wait(State state);
  // Let those go on who met. False: there are none.
  bool release_lanes();
  bool release_lanes(unsigned first, unsigned thread);
  bool release_all();
  void exchange(unsigned first, const WarpCall& call);
  [[noreturn]] void fail(unsigned thread, const char* what);

  Machine& machine_;
  const Entry* entry_ = nullptr;
  const void* parameters_ = nullptr;
  std::vector<std::unique_ptr<Thread>> threads_;
  unsigned n_ = 0;  // threads of the block
  bool runs_fibers_ = false;
};

}  // namespace fake
