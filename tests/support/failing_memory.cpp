// malloc and operator new of the program. They go on to those of the C library.
#include "failing_memory.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace failing_memory {
namespace {

// ---- Whose an address is

// between: a library that allocates for whoever calls it
enum class Owner { kTenon, kOther, kBetween };

struct Segment {
  uintptr_t begin, end;
  Owner owner;
  uintptr_t base;
  char name[64];
};
constexpr size_t kMaxSegments = 512;
Segment segments[kMaxSegments];
std::atomic<size_t> n_segments{0};
uintptr_t atexit_begin = 0;  // of the function that registers destructors of thread_local objects

Owner owner_by_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  if (*name == '\0' || std::strstr(name, "tenon") != nullptr ||
      std::strstr(path, "/tenon/plugins/") != nullptr) {
    return Owner::kTenon;
  }
  for (const char* between :
       {"libc.so", "libstdc++", "libfmt", "libgcc_s", "libm.so", "libgtest"}) {
    if (std::strncmp(name, between, std::strlen(between)) == 0) return Owner::kBetween;
  }
  return Owner::kOther;
}

int note_library(dl_phdr_info* info, size_t, void*) {
  size_t n = n_segments.load(std::memory_order_relaxed);
  for (int i = 0; i < info->dlpi_phnum && n < kMaxSegments; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    Segment& s = segments[n++];
    s = {begin, begin + header.p_memsz, owner_by_name(info->dlpi_name), info->dlpi_addr, {}};
    const char* slash = std::strrchr(info->dlpi_name, '/');
    std::snprintf(s.name, sizeof s.name, "%s", slash != nullptr ? slash + 1 : info->dlpi_name);
  }
  n_segments.store(n, std::memory_order_release);
  return 0;
}

void find_libraries() {
  n_segments.store(0);
  dl_iterate_phdr(note_library, nullptr);
  atexit_begin = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl"));
}

const Segment* segment_of(uintptr_t address) {
  const size_t n = n_segments.load(std::memory_order_acquire);
  for (size_t i = 0; i < n; ++i) {
    if (address >= segments[i].begin && address < segments[i].end) return &segments[i];
  }
  return nullptr;
}

constexpr size_t kFrames = 12;
struct Trace {
  uintptr_t frames[kFrames];
  size_t n;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* given) {
  auto* trace = static_cast<Trace*>(given);
  trace->frames[trace->n++] = _Unwind_GetIP(context);
  return trace->n < kFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::string text_of(const Trace& trace) {
  std::string text;
  for (size_t i = 0; i < trace.n; ++i) {
    char line[128];
    const Segment* s = segment_of(trace.frames[i]);
    std::snprintf(line, sizeof line, "%s%s+0x%zx", i > 0 ? " " : "",
                  s == nullptr       ? "?"
                  : *s->name == '\0' ? "program"
                                     : s->name,
                  s == nullptr ? trace.frames[i] : trace.frames[i] - s->base);
    text += line;
  }
  return text;
}

// ---- What lives: a table by address, in memory of its own

struct Block {
  uintptr_t address;
  uint64_t number;  // since the start
  Block* next;
  Trace trace;
};
constexpr size_t kBlocks = 1 << 17, kBuckets = 1 << 16;
Block blocks[kBlocks];
Block* buckets[kBuckets];
Block* free_blocks = nullptr;
size_t n_blocks = 0;  // ever taken from `blocks`
uint64_t n_noted = 0, mark_number = 0;
std::atomic<uint64_t> live{0};
std::atomic_flag lock = ATOMIC_FLAG_INIT;

struct Lock {
  Lock() {
    while (lock.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Lock() { lock.clear(std::memory_order_release); }
};

Block** bucket_of(uintptr_t address) {
  return &buckets[(address >> 4) * 0x9E3779B97F4A7C15u >> 48];
}

[[maybe_unused]] void note(void* memory, const Trace& trace) {
  const Lock guard;
  Block* block = free_blocks;
  if (block != nullptr) {
    free_blocks = block->next;
  } else if (n_blocks < kBlocks) {
    block = &blocks[n_blocks++];
  } else {
    return;
  }
  Block** bucket = bucket_of(reinterpret_cast<uintptr_t>(memory));
  *block = {reinterpret_cast<uintptr_t>(memory), n_noted++, *bucket, trace};
  *bucket = block;
  live.fetch_add(1, std::memory_order_relaxed);
}

[[maybe_unused]] void forget(void* memory) {
  if (live.load(std::memory_order_relaxed) == 0 || memory == nullptr) return;
  const Lock guard;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  for (Block** at = bucket_of(address); *at != nullptr; at = &(*at)->next) {
    if ((*at)->address != address) continue;
    Block* block = *at;
    *at = block->next;
    block->next = free_blocks;
    free_blocks = block;
    live.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
}

// ---- Failing

std::atomic<bool> watching{false};
std::atomic<bool> armed{false};
std::atomic<uint64_t> counter{0}, fail_from{kNever}, fail_until{0};
std::atomic<bool> any_failed{false};
Trace failure;
thread_local bool inside = false;

struct Inside {
  Inside() { inside = true; }
  ~Inside() { inside = false; }
};

// Is this Tenon's own allocation? Fills the trace.
[[maybe_unused]] bool is_own(uintptr_t caller, Trace* trace) {
  const Segment* near = segment_of(caller);
  if (near == nullptr || near->owner == Owner::kOther) return false;
  _Unwind_Backtrace(note_frame, trace);
  bool seen = near->owner == Owner::kTenon;
  size_t first = 0;
  while (first < trace->n && trace->frames[first] != caller) ++first;
  for (size_t i = first; i < trace->n && !seen; ++i) {
    const uintptr_t at = trace->frames[i];
    // The C library ends the process where it finds no memory to register a destructor of a thread.
    if (at >= atexit_begin && at < atexit_begin + 256) return false;
    const Segment* s = segment_of(at);
    if (s == nullptr || s->owner == Owner::kOther) return false;
    seen = s->owner == Owner::kTenon;
  }
  return seen;
}

// `allocate` unless it is this one's turn to fail; NULL then.
template <typename Allocate>
void* get(uintptr_t caller, const Allocate& allocate) {
  if (!watching.load(std::memory_order_acquire) || inside) return allocate();
  const Inside guard;
  Trace trace{};
  if (!is_own(caller, &trace)) return allocate();
  if (armed.load(std::memory_order_acquire)) {
    const uint64_t number = counter.fetch_add(1);
    if (number >= fail_from.load() && number < fail_until.load()) {
      failure = trace;
      any_failed.store(true);
      errno = ENOMEM;
      return nullptr;
    }
  }
  void* memory = allocate();
  if (memory != nullptr) note(memory, trace);
  return memory;
}

}  // namespace

void arm(uint64_t first, uint64_t n) {
  const Inside guard;
  find_libraries();
  counter.store(0);
  fail_from.store(first);
  fail_until.store(n > kNever - first ? kNever : first + n);
  any_failed.store(false);
  watching.store(true, std::memory_order_release);
  armed.store(true, std::memory_order_release);
}

uint64_t disarm() {
  armed.store(false, std::memory_order_release);
  watching.store(false, std::memory_order_release);
  return counter.load();
}

bool failed() { return any_failed.load(); }
uint64_t n_live() { return live.load(); }
std::string last_failure() {
  const Inside guard;
  return text_of(failure);
}
void mark() { mark_number = n_noted; }
std::string live_since_mark() {
  const Inside guard;
  std::string text;
  for (Block* bucket : buckets) {
    for (Block* b = bucket; b != nullptr; b = b->next) {
      if (b->number >= mark_number) text += "  " + text_of(b->trace) + "\n";
    }
  }
  return text;
}

}  // namespace failing_memory

#ifndef TENON_SANITIZE  // a sanitizer has an allocator of its own, which cannot be replaced

#define EXPORTED __attribute__((visibility("default")))
#define CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

namespace fm = failing_memory;

extern "C" {
EXPORTED void* malloc(size_t bytes) {
  return fm::get(CALLER, [=] { return __libc_malloc(bytes); });
}
EXPORTED void* calloc(size_t n, size_t bytes) {
  return fm::get(CALLER, [=] { return __libc_calloc(n, bytes); });
}
EXPORTED void* realloc(void* memory, size_t bytes) {
  return fm::get(CALLER, [=] {
    fm::forget(memory);
    return __libc_realloc(memory, bytes);
  });
}
EXPORTED void* memalign(size_t alignment, size_t bytes) {
  return fm::get(CALLER, [=] { return __libc_memalign(alignment, bytes); });
}
EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) {
  return fm::get(CALLER, [=] { return __libc_memalign(alignment, bytes); });
}
EXPORTED int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  void* got = fm::get(CALLER, [=] { return __libc_memalign(alignment, bytes); });
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}
EXPORTED void free(void* memory) {
  fm::forget(memory);
  __libc_free(memory);
}
}

namespace {
void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

#define PLAIN [=] { return __libc_malloc(bytes != 0 ? bytes : 1); }
#define ALIGNED \
  [=] { return __libc_memalign(static_cast<size_t>(alignment), bytes != 0 ? bytes : 1); }
EXPORTED void* operator new(size_t bytes) { return or_throw(fm::get(CALLER, PLAIN)); }
EXPORTED void* operator new[](size_t bytes) { return or_throw(fm::get(CALLER, PLAIN)); }
EXPORTED void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return fm::get(CALLER, PLAIN);
}
EXPORTED void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return fm::get(CALLER, PLAIN);
}
EXPORTED void* operator new(size_t bytes, std::align_val_t alignment) {
  return or_throw(fm::get(CALLER, ALIGNED));
}
EXPORTED void* operator new[](size_t bytes, std::align_val_t alignment) {
  return or_throw(fm::get(CALLER, ALIGNED));
}
EXPORTED void* operator new(size_t bytes, std::align_val_t alignment,
                            const std::nothrow_t&) noexcept {
  return fm::get(CALLER, ALIGNED);
}
EXPORTED void* operator new[](size_t bytes, std::align_val_t alignment,
                              const std::nothrow_t&) noexcept {
  return fm::get(CALLER, ALIGNED);
}
EXPORTED void operator delete(void* memory) noexcept { free(memory); }
EXPORTED void operator delete[](void* memory) noexcept { free(memory); }
EXPORTED void operator delete(void* memory, size_t) noexcept { free(memory); }
EXPORTED void operator delete[](void* memory, size_t) noexcept { free(memory); }
EXPORTED void operator delete(void* memory, std::align_val_t) noexcept { free(memory); }
EXPORTED void operator delete[](void* memory, std::align_val_t) noexcept { free(memory); }
EXPORTED void operator delete(void* memory, size_t, std::align_val_t) noexcept { free(memory); }
EXPORTED void operator delete[](void* memory, size_t, std::align_val_t) noexcept { free(memory); }
EXPORTED void operator delete(void* memory, const std::nothrow_t&) noexcept { free(memory); }
EXPORTED void operator delete[](void* memory, const std::nothrow_t&) noexcept { free(memory); }
EXPORTED void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  free(memory);
}
EXPORTED void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  free(memory);
}

#endif
