// The memory of the fake's devices, and of the host as the driver gives it out (pinned). The host
// knows addresses of a mapping without access, so that its every touch ends the process there and
// then; kernels and copies work through a second mapping, at a constant distance. Whatever lies
// outside of live blocks, and a block when it is given out, holds a poison that is a NaN in every
// float dtype and is looked at when a block is freed: an overrun, a write after free and a use of
// uninitialized memory show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "compiled.h"

namespace fake {

inline constexpr int kDevices = 2;
inline constexpr int kPinned = kDevices;  // the number of the host's arena

// NULL: there is no room.
char* allocate(int arena, uint64_t bytes);
// False: there is no such block.
bool release(int arena, const char* memory);
// Does the range lie within one live block of the arena?
bool is_live(int arena, const void* memory, uint64_t bytes);
// The arena of an address; -1: of none.
int arena_of(const void* memory);
// Where the device's memory can be touched.
char* view(const void* memory);

uint64_t capacity();  // bytes of an arena
uint64_t used(int arena);
// What was not freed: a line an arena.
std::string living_memory();
// The range of an arena's addresses, and which of them are live.
Range range_of(int arena);
uintptr_t begin_of(int arena);
// From the addresses of the devices' arenas to their view, and the view of all arenas.
ptrdiff_t distance();
char* view_of_all();
uint64_t bytes_of_all();
// Where an address lies, in words: "8 bytes behind a live block of 400".
std::string place_text(const void* memory);

}  // namespace fake
