// What shim.h needs of the runtime of a library of texts.
#pragma once

#include "compiled.h"

namespace fake {

extern const Entry* entries;

// A thread sees the same all its life.
[[gnu::const]] Triple grid_dim();
[[gnu::const]] Triple block_dim();
[[gnu::const]] Triple block_index();
[[gnu::const]] Triple thread_index();

// Where the memory of the device at this address can be touched. Ends the process where it is not
// aligned, or does not lie in a live block.
void* reach(char* address, size_t bytes, size_t alignment);

void meet(Line line);
void meet_lanes(const WarpCall& call);

// The current thread came to where the blocks of a launch are counted.
void come(bool is_last);

// Touches meanwhile are one atomic operation.
void set_atomic(bool is_atomic);
struct Atomic {
  Atomic() { set_atomic(true); }
  ~Atomic() { set_atomic(false); }
};

}  // namespace fake
