// What the fake driver and kernel texts that were compiled for the host know of each other. Such a
// library has the entries of its texts, and gets the machine that they run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fake {

struct Triple {
  unsigned x, y, z;
};

// One kernel runs at a time, and one of its threads.
struct Machine {
  Triple grid, block, block_index, thread_index;
  uintptr_t begin, end;                // the memory of the device, as the host knows its addresses
  ptrdiff_t distance;                  // from there to where it can be touched
  uintptr_t pinned_begin, pinned_end;  // memory of the host that kernels may touch
  void (*meet)();                      // the threads of a block wait for each other
  void (*fail)(const char* what, const void* address);  // ends the process
};

struct Entry {
  uint64_t text;  // hash_of
  const char* kernel;
  size_t bytes;                         // of its struct
  void (*run)(const void* parameters);  // one thread of it
  bool meets;                           // its threads do, at `meet`
  const Entry* next;
};

// FNV-1a.
inline uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

// The one symbol of such a library: takes the machine and gives its entries.
using Attach = const Entry*(Machine*);
inline constexpr char kAttach[] = "tenon_fake_attach";

}  // namespace fake
