// What kernels/base.cuh takes from CUDA, as host C++: so the texts of kernels are compiled as they
// are. A thread of a kernel is a call of a function, shared memory is a variable of the process, and
// memory of the device is reached through the fake driver's second mapping, within its bounds.
#pragma once

#include <cmath>
#include <cstring>

#include "compiled.h"
#include "tenon/halves.hpp"

namespace fake {

inline Machine* machine = nullptr;
inline const Entry* entries = nullptr;

struct Registered {
  Entry entry;
  Registered(uint64_t text, const char* kernel, size_t bytes, void (*run)(const void*), bool meets)
      : entry{text, kernel, bytes, run, meets, entries} {
    entries = &entry;
  }
};

inline void* reach(char* address, size_t bytes, size_t alignment) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at % alignment != 0) machine->fail("a misaligned address", address);
  if (at >= machine->begin && at + bytes <= machine->end) return address + machine->distance;
  if (at < machine->pinned_begin || at + bytes > machine->pinned_end)
    machine->fail("an address that is no memory of the device", address);
  return address;
}

}  // namespace fake

extern "C" inline __attribute__((visibility("default"), used)) const fake::Entry* tenon_fake_attach(
    fake::Machine* machine) {
  fake::machine = machine;
  return fake::entries;
}

#define gridDim (fake::machine->grid)
#define blockDim (fake::machine->block)
#define blockIdx (fake::machine->block_index)
#define threadIdx (fake::machine->thread_index)

#define DEVICE inline
#define SHARED static
#define FAKE_KERNEL(name, Parameters, p, meets)                                                  \
  static void name(const Parameters& p);                                                         \
  static const fake::Registered name##_registered(                                               \
      TENON_TEXT, #name, sizeof(Parameters),                                                     \
      [](const void* parameters) { name(*static_cast<const Parameters*>(parameters)); }, meets); \
  static void name(const Parameters& p)
#define KERNEL(name, Parameters, p) FAKE_KERNEL(name, Parameters, p, false)
#define BLOCK_KERNEL(name, Parameters, p) FAKE_KERNEL(name, Parameters, p, true)

DEVICE void meet() { fake::machine->meet(); }

template <class T, class I>
DEVICE T& at(void* memory, I i) {
  return *static_cast<T*>(fake::reach(
      static_cast<char*>(memory) + static_cast<long long>(i) * static_cast<long long>(sizeof(T)),
      sizeof(T), alignof(T)));
}

DEVICE float bits_to_float(unsigned bits) { return std::bit_cast<float>(bits); }
DEVICE double bits_to_double(unsigned long long bits) { return std::bit_cast<double>(bits); }
DEVICE float half_to_float(unsigned short bits) {
  tenon::halves::Float16 half;
  half.bits = bits;
  return half;
}
DEVICE unsigned short float_to_half(float value) { return tenon::halves::Float16(value).bits; }
DEVICE float bfloat_to_float(unsigned short bits) {
  tenon::halves::BFloat16 half;
  half.bits = bits;
  return half;
}
DEVICE unsigned short float_to_bfloat(float value) { return tenon::halves::BFloat16(value).bits; }

// One thread of one kernel runs at a time.
template <class Word>
DEVICE Word exchange_if(void* memory, long long i, Word expected, Word wanted) {
  Word& word = at<Word>(memory, i);
  const Word old = word;
  if (old == expected) word = wanted;
  return old;
}
template <class T>
DEVICE void add_atomically(void* memory, long long i, T value) {
  at<T>(memory, i) += value;
}
template <>
DEVICE void add_atomically(void* memory, long long i, int value) {
  at<unsigned>(memory, i) += static_cast<unsigned>(value);
}
template <>
DEVICE void add_atomically(void* memory, long long i, long long value) {
  at<unsigned long long>(memory, i) += static_cast<unsigned long long>(value);
}
