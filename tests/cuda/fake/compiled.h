// What the fake driver and kernel texts that were compiled for the host know of each other. Such a
// library has the entries of its texts and a runtime (runtime.cpp), which gets the machine that they
// run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fake {

struct Triple {
  unsigned x, y, z;
};

struct Shadow;

enum Touch { kRead, kWrite, kAtomic };

// A place in a text.
struct Line {
  const char* file;
  unsigned line;
  bool operator==(const Line&) const = default;
};

// What a lane brings when lanes of a warp exchange values. The result goes to `value`.
struct WarpCall {
  enum Kind { kShuffle, kBallot } kind;
  unsigned mask;  // the lanes that come
  int source;     // kShuffle: the lane whose value is wanted
  void* value;
  size_t bytes;
  Line line;
};

// A range of addresses of which the first bytes of each granule may be touched.
struct Range {
  static constexpr size_t kGranule = 256;
  uintptr_t begin, bytes;
  ptrdiff_t distance;     // from there to where it can be touched
  const uint16_t* valid;  // of each granule
};

// One kernel runs at a time, and one of its threads.
struct Machine {
  Triple grid, block, block_index, thread_index;
  Range device, pinned;              // memory of the device; of the host, which kernels may touch
  uintptr_t watched, watched_bytes;  // memory of the device whose touches are noted, as touched
  bool is_atomic;                    // touches are
  void (*meet)(Line);                // the threads of a block wait for each other
  void (*meet_lanes)(const WarpCall&);
  void (*come)(bool is_last);  // a block of the launch to its count, by one thread
  void (*fail)(const char* what, const void* address);  // ends the process
  // A library has shared memory in this range. Its shadow is handed to touches of it; theirs of
  // memory of the device is NULL.
  Shadow* (*add_shared)(const void* begin, size_t bytes);
  void (*touch)(Shadow* shared, const void* address, size_t bytes, Touch touch);
};

struct Entry {
  uint64_t text;  // hash_of
  const char* kernel;
  size_t bytes;                         // of its struct
  void (*run)(const void* parameters);  // one thread of it
  bool meets;                           // its threads do, at `meet` and in exchanges of lanes
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
