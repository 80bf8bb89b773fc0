#include "memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace fake {
namespace {

constexpr uint64_t kPoison = 0xFFFB'FFFB'FFFB'FFFB;
constexpr uint64_t kAlignment = 256;
static_assert(kAlignment == Range::kGranule);
constexpr uint64_t kGuard = 256;  // bytes of poison behind each block, besides what rounding leaves

char* public_base = nullptr;
char* view_base = nullptr;
uint64_t bytes_of_arena = 0;
uint16_t* valid = nullptr;  // of each granule of all arenas: how many bytes of it are live

struct Arena {
  std::mutex mutex;
  std::map<uint64_t, uint64_t> blocks;  // live ones: offset to the bytes that were asked for
  uint64_t touched = 0;                 // from here on, memory was never given out
  uint64_t used = 0;
};
Arena* const arenas = new Arena[kDevices + 1];

[[noreturn]] void die(const char* what, const void* at) {
  std::fprintf(stderr, "fake driver: %s at %p\n", what, at);
  std::abort();
}

// Remapping 0 bytes of shared memory maps it a second time (mremap(2)).
void map_memory() {
  static std::once_flag once;
  std::call_once(once, [] {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
    bytes_of_arena = std::min(pages / 4 * page, uint64_t{64} << 30) / 4096 * 4096;
    const uint64_t bytes = (kDevices + 1) * bytes_of_arena;
    void* seen = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void* hidden = seen == MAP_FAILED ? MAP_FAILED : mremap(seen, 0, bytes, MREMAP_MAYMOVE);
    if (hidden == MAP_FAILED || mprotect(hidden, bytes, PROT_NONE) != 0)
      die("cannot map its memory twice", seen);
    void* table = mmap(nullptr, bytes / kAlignment * sizeof *valid, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) die("cannot map what it knows of its memory", seen);
    valid = static_cast<uint16_t*>(table);
    public_base = static_cast<char*>(hidden);
    view_base = static_cast<char*>(seen);
  });
}

char* base_of(int arena) {
  map_memory();
  char* base = arena == kPinned ? view_base : public_base;
  return base + static_cast<uint64_t>(arena) * bytes_of_arena;
}

char* view_of(int arena, uint64_t offset) {
  return view_base + static_cast<uint64_t>(arena) * bytes_of_arena + offset;
}

uint64_t padded(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment + kGuard;
}

void poison(int arena, uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; at += 8) std::memcpy(view_of(arena, at), &kPoison, 8);
}

void check(int arena, uint64_t begin, uint64_t end) {
  const auto* expected = reinterpret_cast<const char*>(&kPoison);
  for (uint64_t at = begin; at < std::min(end, arenas[arena].touched); ++at) {
    if (*view_of(arena, at) != expected[at % 8])
      die("an overrun or a write after free was found", base_of(arena) + at);
  }
}

// For kernels, which ask at each touch.
void note(int arena, uint64_t begin, uint64_t bytes, bool is_live) {
  uint16_t* granule = valid + (static_cast<uint64_t>(arena) * bytes_of_arena + begin) / kAlignment;
  for (uint64_t at = 0; at < bytes; at += kAlignment)
    *granule++ = is_live ? static_cast<uint16_t>(std::min(kAlignment, bytes - at)) : 0;
}

}  // namespace

char* allocate(int number, uint64_t bytes) {
  char* base = base_of(number);
  Arena& arena = arenas[number];
  const std::lock_guard lock(arena.mutex);
  if (bytes > bytes_of_arena - kAlignment - kGuard) return nullptr;
  uint64_t offset = 0;
  for (const auto& [begin, length] : arena.blocks) {
    if (begin - offset >= padded(bytes)) break;
    offset = begin + padded(length);
  }
  const uint64_t end = offset + padded(bytes);
  if (end > bytes_of_arena) return nullptr;
  check(number, offset, end);
  poison(number, offset, end);
  arena.touched = std::max(arena.touched, end);
  arena.blocks[offset] = bytes;
  note(number, offset, bytes, true);
  arena.used += bytes;
  return base + offset;
}

bool release(int number, const char* memory) {
  const char* base = base_of(number);
  Arena& arena = arenas[number];
  const std::lock_guard lock(arena.mutex);
  const auto offset = static_cast<uint64_t>(memory - base);
  const auto block = arena.blocks.find(offset);
  if (block == arena.blocks.end()) return false;
  const uint64_t end = offset + padded(block->second);
  check(number, offset + block->second, end);
  poison(number, offset, end);
  note(number, offset, block->second, false);
  arena.used -= block->second;
  arena.blocks.erase(block);
  return true;
}

int arena_of(const void* memory) {
  map_memory();
  for (int arena = 0; arena <= kPinned; ++arena) {
    const uintptr_t begin = begin_of(arena), at = reinterpret_cast<uintptr_t>(memory);
    if (at >= begin && at < begin + bytes_of_arena) return arena;
  }
  return -1;
}

bool is_live(int number, const void* memory, uint64_t bytes) {
  if (arena_of(memory) != number) return false;
  Arena& arena = arenas[number];
  const std::lock_guard lock(arena.mutex);
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(memory) - base_of(number));
  auto block = arena.blocks.upper_bound(offset);
  if (block == arena.blocks.begin()) return false;
  --block;
  return offset + bytes <= block->first + block->second;
}

char* view(const void* memory) {
  const int arena = arena_of(memory);
  if (arena < 0) die("an address that is no memory of a device", memory);
  return arena == kPinned ? static_cast<char*>(const_cast<void*>(memory))
                          : static_cast<char*>(const_cast<void*>(memory)) + distance();
}

uint64_t capacity() {
  map_memory();
  return bytes_of_arena;
}
uint64_t used(int arena) {
  const std::lock_guard lock(arenas[arena].mutex);
  return arenas[arena].used;
}
std::string living_memory() {
  std::string text;
  for (int k = 0; k <= kPinned; ++k) {
    const std::lock_guard lock(arenas[k].mutex);
    text += std::to_string(arenas[k].blocks.size()) + " blocks of " +
            (k == kPinned ? "pinned memory" : "device " + std::to_string(k)) + "\n";
  }
  return text;
}
uintptr_t begin_of(int arena) { return reinterpret_cast<uintptr_t>(base_of(arena)); }
Range range_of(int arena) {
  const uintptr_t begin = begin_of(arena);
  return {begin, bytes_of_arena, arena == kPinned ? 0 : distance(),
          valid + static_cast<uint64_t>(arena) * bytes_of_arena / kAlignment};
}
ptrdiff_t distance() {
  map_memory();
  return view_base - public_base;
}
char* view_of_all() {
  map_memory();
  return view_base;
}
uint64_t bytes_of_all() {
  map_memory();
  return (kDevices + 1) * bytes_of_arena;
}

std::string place_text(const void* memory) {
  const int number = arena_of(memory);
  if (number < 0) return "in no arena";
  Arena& arena = arenas[number];
  const std::lock_guard lock(arena.mutex);
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(memory) - base_of(number));
  const auto behind = arena.blocks.upper_bound(offset);
  if (behind == arena.blocks.begin()) return "before all live blocks";
  const auto& [begin, bytes] = *std::prev(behind);
  const std::string block = " a live block of " + std::to_string(bytes);
  if (offset < begin + bytes) return "at byte " + std::to_string(offset - begin) + " of" + block;
  return std::to_string(offset - begin - bytes) + " bytes behind" + block;
}

}  // namespace fake
