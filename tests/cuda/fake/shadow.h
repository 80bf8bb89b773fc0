// What is known of each byte that several threads of a kernel may touch: who wrote it last, and who
// read it. Two threads race where they touch a byte between the same two meetings of their block and
// one of them writes, or where they are of different blocks of one launch; touches that are atomic
// do not race with each other. Shared memory that is read was written before, by its block.
//
// Blocks run one behind the other, so a number that grows with each block and with each meeting is
// enough to know what was in the same block, and in the same interval.
#pragma once

#include "compiled.h"

namespace fake {

// Shared memory of one library of texts.
Shadow* make_shadow(const void* begin, size_t bytes);

// Is memory of the device watched, too? TENON_FAKE_CUDA_RACES=0: it is not.
bool watches_device();

// A launch begins, a block of it, and what follows a meeting of all its threads.
void begin_launch();
void begin_block(Triple block_index);
void begin_interval();

// The current thread comes to where the blocks of the launch are counted, once. Behind that, and for the other
// threads behind the next meeting, the last block sees what others did before they came: it
// does not race with that.
void come(Machine& machine, bool is_last);

// A touch by the machine's current thread. NULL: of memory of the device.
void touch(Machine& machine, Shadow* shadow, const void* address, size_t bytes, Touch how);

}  // namespace fake
