// What kernels/base.cuh takes from CUDA, as host C++: so the texts of kernels are compiled as they
// are. A thread of a kernel is a call of a function, shared memory is a variable of the process, and
// memory of the device is reached through the fake driver's second mapping, within live blocks.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>

#include "runtime.h"
#include "tenon/halves.hpp"

namespace fake {

struct Registered {
  Entry entry;
  Registered(uint64_t text, const char* kernel, size_t bytes, void (*run)(const void*), bool meets)
      : entry{text, kernel, bytes, run, meets, entries} {
    entries = &entry;
  }
};

inline int lane() { return static_cast<int>(thread_index().x % 32); }

}  // namespace fake

#define gridDim (fake::grid_dim())
#define blockDim (fake::block_dim())
#define blockIdx (fake::block_index())
#define threadIdx (fake::thread_index())

// As in NVRTC, and so that no call moves values which the compiler does not tell of.
#define DEVICE inline __attribute__((always_inline))
#define SHARED static
#define FAKE_KERNEL(name, Parameters, p, meets)                                                  \
  static void name(const Parameters& p);                                                         \
  static const fake::Registered name##_registered(                                               \
      TENON_TEXT, #name, sizeof(Parameters),                                                     \
      [](const void* parameters) { name(*static_cast<const Parameters*>(parameters)); }, meets); \
  static void name(const Parameters& p)
#define KERNEL(name, Parameters, p) FAKE_KERNEL(name, Parameters, p, false)
#define BLOCK_KERNEL(name, Parameters, p) FAKE_KERNEL(name, Parameters, p, true)
#define WIDE_BLOCK_KERNEL BLOCK_KERNEL
#define ROLLED
#define ROW_KERNEL BLOCK_KERNEL

#define FAKE_HERE \
  { __builtin_FILE(), __builtin_LINE() }

DEVICE void meet(fake::Line here = FAKE_HERE) { fake::meet(here); }

template <class T>
DEVICE T fake_shuffle(unsigned mask, T value, int source, fake::Line here) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "as of __shfl_sync");
  fake::meet_lanes({fake::WarpCall::kShuffle, mask, source, &value, sizeof(T), here});
  return value;
}
template <class T>
DEVICE T shuffle_from(unsigned mask, T value, int lane, fake::Line here = FAKE_HERE) {
  return fake_shuffle(mask, value, lane % 32, here);
}
template <class T>
DEVICE T shuffle_down(unsigned mask, T value, int step, fake::Line here = FAKE_HERE) {
  const int source = fake::lane() + step;
  return fake_shuffle(mask, value, source < 32 ? source : fake::lane(), here);
}
template <class T>
DEVICE T shuffle_up(unsigned mask, T value, int step, fake::Line here = FAKE_HERE) {
  const int source = fake::lane() - step;
  return fake_shuffle(mask, value, source >= 0 ? source : fake::lane(), here);
}
template <class T>
DEVICE T shuffle_xor(unsigned mask, T value, int bits, fake::Line here = FAKE_HERE) {
  return fake_shuffle(mask, value, (fake::lane() ^ bits) % 32, here);
}
DEVICE unsigned ballot(unsigned mask, bool is_so, fake::Line here = FAKE_HERE) {
  unsigned bits = is_so;
  fake::meet_lanes({fake::WarpCall::kBallot, mask, 0, &bits, sizeof bits, here});
  return bits;
}

template <class T, class I>
DEVICE T& at(void* memory, I i) {
  return *static_cast<T*>(fake::reach(
      static_cast<char*>(memory) + static_cast<long long>(i) * static_cast<long long>(sizeof(T)),
      sizeof(T), alignof(T)));
}

DEVICE int count_bits(unsigned bits) { return std::popcount(bits); }
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

// One thread of one kernel runs at a time, so a touch is atomic if it is said to be.
template <class Word>
DEVICE Word read_atomically(void* memory, long long i) {
  const fake::Atomic touches;
  return at<Word>(memory, i);
}
template <class Word>
DEVICE void write_atomically(void* memory, long long i, Word value) {
  const fake::Atomic touches;
  at<Word>(memory, i) = value;
}
template <class Word>
DEVICE Word exchange_if(void* memory, long long i, Word expected, Word wanted) {
  const fake::Atomic touches;
  Word& word = at<Word>(memory, i);
  const Word old = word;
  if (old == expected) word = wanted;
  return old;
}
template <class T>
DEVICE void add_atomically(void* memory, long long i, T value) {
  const fake::Atomic touches;
  at<T>(memory, i) += value;
}
DEVICE bool is_last_to_come(void* arrivals) {
  const unsigned others = gridDim.x * gridDim.y - 1;
  bool is_last = false;
  {
    const fake::Atomic touches;
    unsigned& n = at<unsigned>(arrivals, 0);
    is_last = n == others;
    n = n >= others ? 0 : n + 1;
  }
  fake::come(is_last);
  return is_last;
}
template <>
DEVICE void add_atomically(void* memory, long long i, int value) {
  const fake::Atomic touches;
  at<unsigned>(memory, i) += static_cast<unsigned>(value);
}
template <>
DEVICE void add_atomically(void* memory, long long i, long long value) {
  const fake::Atomic touches;
  at<unsigned long long>(memory, i) += static_cast<unsigned long long>(value);
}
