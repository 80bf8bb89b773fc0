// Fails the n-th allocation of host memory that Tenon itself asks for, and counts those that live.
// failing_memory.cpp takes the place of malloc and operator new in the program that links it.
//
// Tenon's own are those whose nearest caller, the C and C++ libraries and fmt passed over, is
// Tenon: libtenon.so, its plugins, and the program, in which the face is compiled. What others ask
// for never fails here: libgomp and libdnnl for their own use, and the loader for the memory of
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace failing_memory {

inline constexpr uint64_t kNever = ~uint64_t{0};

// From now on Tenon's allocations are counted from 0; number `first`, and `n` in all, fail. On any
// thread.
void arm(uint64_t first, uint64_t n = 1);
// No more fail or are counted. Gives how many there were.
uint64_t disarm();
// Did one fail since arm()?
bool failed();

// What Tenon allocated between arm() and disarm(), and lives.
uint64_t n_live();
// Where the last one that failed was asked for, as far as symbols tell: "libtenon.so+0x1234 ...".
std::string last_failure();
// The places of what was allocated since `mark()` and lives, a line each.
void mark();
std::string live_since_mark();

}  // namespace failing_memory
