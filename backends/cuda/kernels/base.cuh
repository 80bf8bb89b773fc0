// What every kernel text includes: elements of each dtype, conversions as CAST of abi.h has them,
// the loop over operands, and the one way to memory, `at`. NVRTC compiles it for a GPU; the tests
// compile it as host C++, with tests/cuda/fake/shim.h in front, which defines what the first section does.
#pragma once

#if defined(__CUDACC_RTC__)
#define DEVICE __device__ __forceinline__
#define SHARED __shared__
// A kernel takes one struct. The threads of a BLOCK_KERNEL meet at `meet`, those of a KERNEL never.
#define KERNEL(name, Parameters, p) \
  extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ Parameters p)
#define BLOCK_KERNEL KERNEL
#define ROLLED _Pragma("unroll 1")  // before a loop that, unrolled, would need many registers
// For threads with many values: all registers may be used, where else some spill for more blocks.
#define WIDE_BLOCK_KERNEL(name, Parameters, p) \
  extern "C" __global__ void __launch_bounds__(256, 1) name(const __grid_constant__ Parameters p)
// A BLOCK_KERNEL whose threads keep much in registers, of type Value. Without the 3, blocks of a
// multiprocessor at least, ptxas would rather spill than leave a place for a block empty.
#define ROW_KERNEL(name, Parameters, p)                                         \
  extern "C" __global__ void __launch_bounds__(256, sizeof(Value) == 8 ? 1 : 3) \
      name(const __grid_constant__ Parameters p)

DEVICE void meet() { __syncthreads(); }

// Lanes of a warp exchange values of four or eight bytes. `mask` names the lanes that come, a bit for
// each: no other may call, all of these must, and a value is taken from one of them. Past the end of a
// warp a lane gets its own value. This orders no memory: what goes through SHARED needs `meet`.
template <class T>
DEVICE T shuffle_from(unsigned mask, T value, int lane) {
  return __shfl_sync(mask, value, lane);
}
template <class T>
DEVICE T shuffle_down(unsigned mask, T value, int step) {
  return __shfl_down_sync(mask, value, static_cast<unsigned>(step));
}
template <class T>
DEVICE T shuffle_up(unsigned mask, T value, int step) {
  return __shfl_up_sync(mask, value, static_cast<unsigned>(step));
}
template <class T>
DEVICE T shuffle_xor(unsigned mask, T value, int bits) {
  return __shfl_xor_sync(mask, value, bits);
}
// The lanes of which this is so, a bit for each.
DEVICE unsigned ballot(unsigned mask, bool is_so) { return __ballot_sync(mask, is_so); }

// Element i of a memory of the device. Kernels reach memory in no other way.
template <class T, class I>
DEVICE T& at(void* memory, I i) {
  return static_cast<T*>(memory)[i];
}

DEVICE int count_bits(unsigned bits) { return __popc(bits); }
DEVICE float bits_to_float(unsigned bits) { return __uint_as_float(bits); }
DEVICE double bits_to_double(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
DEVICE float half_to_float(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
DEVICE unsigned short float_to_half(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
DEVICE float bfloat_to_float(unsigned short bits) { return __uint_as_float(unsigned(bits) << 16); }
DEVICE unsigned short float_to_bfloat(float value) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

// An integer that other threads may be changing atomically; one that several threads write, of which one
// stays.
template <class Word>
DEVICE Word read_atomically(void* memory, long long i) {
  return static_cast<volatile Word*>(memory)[i];
}
template <class Word>
DEVICE void write_atomically(void* memory, long long i, Word value) {
  static_cast<volatile Word*>(memory)[i] = value;
}
// Writes `wanted` to the word where it is `expected`, and gives what was there.
template <class Word>
DEVICE Word exchange_if(void* memory, long long i, Word expected, Word wanted) {
  return atomicCAS(static_cast<Word*>(memory) + i, expected, wanted);
}
DEVICE void add_atomically(void* memory, long long i, float value) {
  atomicAdd(static_cast<float*>(memory) + i, value);
}
DEVICE void add_atomically(void* memory, long long i, double value) {
  atomicAdd(static_cast<double*>(memory) + i, value);
}
DEVICE void add_atomically(void* memory, long long i, int value) {
  atomicAdd(static_cast<int*>(memory) + i, value);
}
DEVICE void add_atomically(void* memory, long long i, long long value) {
  atomicAdd(static_cast<unsigned long long*>(memory) + i, static_cast<unsigned long long>(value));
}

// For one thread of each block of a launch: is its block the last that comes here? Then its threads see,
// behind their next meeting, what each other block did before it came: its thread that came here, and
// the others before a meeting with that one. Nobody waits. `arrivals` is an unsigned 0, and is so
// again when the last one has come.
DEVICE bool is_last_to_come(void* arrivals) {
  __threadfence();
  const unsigned others = gridDim.x * gridDim.y - 1;
  const bool is_last = atomicInc(static_cast<unsigned*>(arrivals), others) == others;
  __threadfence();
  return is_last;
}
#endif

// ---- Elements and registers

// As they lie in memory. Others are float, double, long long, int, short, signed char and
// unsigned char. Registers are float, double, long long and bool.
struct Half {
  unsigned short bits;
};
struct BFloat {
  unsigned short bits;
};
struct Bool {
  unsigned char bits;  // anything but 0 is true
};

template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;

DEVICE float widen(float x) { return x; }
DEVICE double widen(double x) { return x; }
DEVICE float widen(Half x) { return half_to_float(x.bits); }
DEVICE float widen(BFloat x) { return bfloat_to_float(x.bits); }
DEVICE bool widen(Bool x) { return x.bits != 0; }
DEVICE bool widen(bool x) { return x; }
DEVICE long long widen(long long x) { return x; }
DEVICE long long widen(int x) { return x; }
DEVICE long long widen(short x) { return x; }
DEVICE long long widen(signed char x) { return x; }
DEVICE long long widen(unsigned char x) { return x; }

constexpr long long kLeastInteger = -0x7FFFFFFFFFFFFFFFll - 1;

// Toward zero; NaN and what does not fit give the least integer.
DEVICE long long truncate(float x) {
  return x >= -0x1p63f && x < 0x1p63f ? static_cast<long long>(x) : kLeastInteger;
}
DEVICE long long truncate(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? static_cast<long long>(x) : kLeastInteger;
}
DEVICE long long truncate(long long x) { return x; }
DEVICE long long truncate(bool x) { return x; }

// A register as an element of E, or as another register.
template <class E, class R>
DEVICE E narrow(R x) {
  if constexpr (same<E, Half>) {
    return {float_to_half(static_cast<float>(x))};
  } else if constexpr (same<E, BFloat>) {
    return {float_to_bfloat(static_cast<float>(x))};
  } else if constexpr (same<E, Bool>) {
    return {static_cast<unsigned char>(x != R(0))};
  } else if constexpr (same<E, bool>) {
    return x != R(0);
  } else if constexpr (same<E, float> || same<E, double>) {
    return static_cast<E>(x);
  } else {
    return static_cast<E>(truncate(x));
  }
}

// ---- Loops

// A parameter or constant as a kernel reads it.
union Scalar {
  float f;
  double d;
  long long i;
  void* p;
};

// Several elements that lie in one piece and are read at once.
template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  T v[n];
};

// `i` over [0, n), shared out among all threads of the launch. I may be int where n is at most 2^30.
#define EACH(I, i, n)                                                         \
  ROLLED for (I i = static_cast<I>(blockIdx.x) * static_cast<I>(blockDim.x) + \
                    static_cast<I>(threadIdx.x);                              \
              i < static_cast<I>(n); i += static_cast<I>(gridDim.x) * static_cast<I>(blockDim.x))

template <class I>
struct Quotient {
  I quotient, rest;
};
DEVICE Quotient<int> divide(int a, int b) {
  const unsigned quotient = static_cast<unsigned>(a) / static_cast<unsigned>(b);
  return {static_cast<int>(quotient), a - static_cast<int>(quotient) * b};
}
DEVICE Quotient<long long> divide(long long a, long long b) {
  const long long quotient = a / b;
  return {quotient, a - quotient * b};
}

// Where each of N operands is at one index of a loop, in elements.
template <class I, int N>
struct Offsets {
  I at[N];
};

// N operands over at most D dimensions, the last of which moves fastest; I is int or long long. The
// host writes it as it stands here (Parameters in launch.h).
template <class I_, int N_, int D_, int P>
struct Loop {
  using I = I_;
  static constexpr int N = N_, D = D_;
  void* data[N];
  Scalar scalars[P];
  I sizes[D];
  I strides[N][D];
  I n, ndim;
};

// Adds to `to` where index i of the dimensions [first, last) lies.
template <class L, class I, int N>
DEVICE void move(const L& loop, I i, I first, I last, Offsets<I, N>& to) {
  for (I d = last - 1; d > first; --d) {
    const Quotient<I> q = divide(i, loop.sizes[d]);
    for (int k = 0; k < N; ++k) to.at[k] += q.rest * loop.strides[k][d];
    i = q.quotient;
  }
  if (last > first) {
    for (int k = 0; k < N; ++k) to.at[k] += i * loop.strides[k][first];
  }
}

template <class L>
DEVICE Offsets<typename L::I, L::N> offsets(const L& loop, typename L::I i) {
  Offsets<typename L::I, L::N> to = {};
  move(loop, i, static_cast<typename L::I>(0), loop.ndim, to);
  return to;
}
