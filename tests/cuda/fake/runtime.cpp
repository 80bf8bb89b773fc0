// What compiled texts call: it is part of each library of them. Texts are compiled with
// -fsanitize=thread and -fsanitize=signed-integer-overflow,bounds,object-size,shift, but not linked with the
// runtimes of these: the calls that the compiler adds come here. So each touch of memory that other
// threads may see is known (__tsan_*), and each overflow (__ubsan_*). It is compiled without.
#include "runtime.h"

#include <cstdio>

namespace fake {
namespace {

Machine* machine = nullptr;
Shadow* shared = nullptr;
uintptr_t shared_begin = 0, shared_bytes = 0;

// The variables of this library. Of texts, only those that are SHARED may change.
extern "C" __attribute__((visibility("hidden"))) char __bss_start, _end;

bool is_live(const Range& range, uintptr_t offset, size_t bytes) {
  size_t granule = offset / Range::kGranule, inner = offset % Range::kGranule;
  while (inner + bytes > Range::kGranule) {
    if (range.valid[granule] != Range::kGranule) return false;
    bytes -= Range::kGranule - inner;
    inner = 0;
    ++granule;
  }
  return inner + bytes <= range.valid[granule];
}

inline void touch(const void* address, size_t bytes, Touch how) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at - shared_begin < shared_bytes) {
    machine->touch(shared, address, bytes, how);
  } else if (machine && at - machine->watched < machine->watched_bytes) {
    machine->touch(nullptr, address, bytes, machine->is_atomic ? kAtomic : how);
  }
}

}  // namespace

const Entry* entries = nullptr;

Triple grid_dim() { return machine->grid; }
Triple block_dim() { return machine->block; }
Triple block_index() { return machine->block_index; }
Triple thread_index() { return machine->thread_index; }

void* reach(char* address, size_t bytes, size_t alignment) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at % alignment != 0) machine->fail("a misaligned address", address);
  const bool is_device = at - machine->device.begin < machine->device.bytes;
  const Range& range = is_device ? machine->device : machine->pinned;
  const uintptr_t offset = at - range.begin;
  if (offset >= range.bytes || bytes > range.bytes - offset)
    machine->fail("an address that is no memory of the device", address);
  // An atomic operation on a word may be meant for the part of it that is live.
  if (!is_live(range, offset, machine->is_atomic ? 1 : bytes))
    machine->fail("an address outside of live memory", address);
  return address + range.distance;
}

void meet(Line line) { machine->meet(line); }
void meet_lanes(const WarpCall& call) { machine->meet_lanes(call); }
void come(bool is_last) { machine->come(is_last); }
void set_atomic(bool is_atomic) { machine->is_atomic = is_atomic; }

}  // namespace fake

extern "C" {

__attribute__((visibility("default"))) const fake::Entry* tenon_fake_attach(
    fake::Machine* machine) {
  fake::machine = machine;
  fake::shared_begin = reinterpret_cast<uintptr_t>(&fake::__bss_start);
  fake::shared_bytes = static_cast<uintptr_t>(&fake::_end - &fake::__bss_start);
  fake::shared = machine->add_shared(&fake::__bss_start, fake::shared_bytes);
  return fake::entries;
}

// ---- Touches of memory

void __tsan_read_range(const void* address, size_t bytes) {
  fake::touch(address, bytes, fake::kRead);
}
void __tsan_write_range(const void* address, size_t bytes) {
  fake::touch(address, bytes, fake::kWrite);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define TOUCH(n)                                                                               \
  void __tsan_read##n(const void* address) { fake::touch(address, n, fake::kRead); }           \
  void __tsan_write##n(const void* address) { fake::touch(address, n, fake::kWrite); }         \
  void __tsan_unaligned_read##n(const void* address) { fake::touch(address, n, fake::kRead); } \
  void __tsan_unaligned_write##n(const void* address) { fake::touch(address, n, fake::kWrite); }
TOUCH(1)
TOUCH(2)
TOUCH(4)
TOUCH(8)
TOUCH(16)
#undef TOUCH

// ---- Undefined results

// What the compiler hands over begins with the place in the text.
struct UndefinedAt {
  const char* file;
  uint32_t line, column;
};
static void report(const char* what, const UndefinedAt* at) {
  char text[400];
  std::snprintf(text, sizeof text, "%s at %s:%u", what, at->file, at->line);
  fake::machine->fail(text, nullptr);
}

#define UNDEFINED(name, what, ...) \
  void __ubsan_handle_##name(const UndefinedAt* at, ##__VA_ARGS__) { report(what, at); }
UNDEFINED(add_overflow, "a sum that overflows", void*, void*)
UNDEFINED(sub_overflow, "a difference that overflows", void*, void*)
UNDEFINED(mul_overflow, "a product that overflows", void*, void*)
UNDEFINED(negate_overflow, "a negation that overflows", void*)
UNDEFINED(divrem_overflow, "a division by zero, or one that overflows,", void*, void*)
UNDEFINED(shift_out_of_bounds, "a shift by too much", void*, void*)
UNDEFINED(out_of_bounds, "an index outside of its array", void*)
UNDEFINED(type_mismatch_v1, "an address outside of its variable", void*)
#undef UNDEFINED

}  // extern "C"
