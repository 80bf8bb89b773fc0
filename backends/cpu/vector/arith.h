// The scalar meanings of the program's instructions, and the loops that apply them to n elements.
#pragma once

#include "vector/erf.h"
#include "vector/lanes.h"
#include "vector/math.h"
#include "vector/power.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

template <typename T>
constexpr bool kIsFloat = false;
template <>
constexpr bool kIsFloat<float> = true;
template <>
constexpr bool kIsFloat<double> = true;

// Integer arithmetic wraps, so it is done unsigned.
template <typename T>
TENON_INLINE auto wrapping(T x) {
  if constexpr (kIsFloat<T>) {
    return x;
  } else {
    return static_cast<uint64_t>(x);
  }
}

TENON_INLINE float fmod_of(float a, float b) { return __builtin_fmodf(a, b); }
TENON_INLINE double fmod_of(double a, double b) { return __builtin_fmod(a, b); }
TENON_INLINE float floor_of(float x) { return __builtin_floorf(x); }
TENON_INLINE double floor_of(double x) { return __builtin_floor(x); }
TENON_INLINE float copysign_of(float x, float s) { return __builtin_copysignf(x, s); }
TENON_INLINE double copysign_of(double x, double s) { return __builtin_copysign(x, s); }

// ---- one operand

#define TENON_FLOAT_UNARY(Name, f32, f64)                   \
  struct Name {                                             \
    static TENON_INLINE float of(float x) { return f32; }   \
    static TENON_INLINE double of(double x) { return f64; } \
  };
TENON_FLOAT_UNARY(Floor, __builtin_floorf(x), __builtin_floor(x))
TENON_FLOAT_UNARY(Ceil, __builtin_ceilf(x), __builtin_ceil(x))
TENON_FLOAT_UNARY(Round, __builtin_rintf(x), __builtin_rint(x))
TENON_FLOAT_UNARY(Trunc, __builtin_truncf(x), __builtin_trunc(x))
TENON_FLOAT_UNARY(Sqrt, __builtin_sqrtf(x), __builtin_sqrt(x))

struct Neg {
  template <typename T>
  static TENON_INLINE T of(T x) {
    if constexpr (kIsFloat<T>) {
      return -x;
    } else {
      return static_cast<T>(0 - wrapping(x));
    }
  }
};
struct Abs {
  static TENON_INLINE float of(float x) { return __builtin_fabsf(x); }
  static TENON_INLINE double of(double x) { return __builtin_fabs(x); }
  static TENON_INLINE int64_t of(int64_t x) { return x < 0 ? Neg::of(x) : x; }
};
struct Sign {
  template <typename T>
  static TENON_INLINE T of(T x) {
    return static_cast<T>((x > 0 ? T(1) : T(0)) - (x < 0 ? T(1) : T(0)));  // +0 for -0 and NaN
  }
};
struct Not {
  static TENON_INLINE int64_t of(int64_t x) { return ~x; }
  static TENON_INLINE uint8_t of(uint8_t x) { return x == 0; }
};
struct IsNan {
  template <typename T>
  static TENON_INLINE uint8_t of(T x) {
    return x != x;
  }
};
struct IsInf {
  template <typename T>
  static TENON_INLINE uint8_t of(T x) {
    return Abs::of(x) == static_cast<T>(__builtin_inf());
  }
};
struct Move {
  template <typename T>
  static TENON_INLINE T of(T x) {
    return x;
  }
};

// ---- two operands

struct Add {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};
struct Sub {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return static_cast<T>(wrapping(a) - wrapping(b));
  }
};
struct Mul {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};
struct Div {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return a / b;
  }
};
struct Fmod {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    if constexpr (kIsFloat<T>) {
      return fmod_of(a, b);
    } else {
      return b == 0 || b == -1 ? 0 : a % b;
    }
  }
  template <typename T>
  static TENON_INLINE T of_rest(T r, T, T) {
    return r;
  }
};
// Exact, as Python's: the remainder by fmod, moved to the sign of b.
struct Rem {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return of_rest(Fmod::of(a, b), a, b);
  }
  template <typename T>
  static TENON_INLINE T of_rest(T r, T, T b) {
    return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  }
};
struct FloorDiv {
  static TENON_INLINE int64_t of(int64_t a, int64_t b) {
    if (b == 0) {
      return 0;
    }
    if (b == -1) {
      return Neg::of(a);
    }
    const int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
  }
  // The quotient that fits the exact remainder: floor(a / b) may be one too many where a / b rounds
  // up to an integer.
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    if (b == 0) {
      return a / b;
    }
    return of_rest(fmod_of(a, b), a, b);
  }
  // b is not 0.
  template <typename T>
  static TENON_INLINE T of_rest(T r, T a, T b) {
    T q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) {
      q -= 1;
    }
    if (q == 0) {
      return copysign_of(T(0), a / b);
    }
    const T floor = floor_of(q);
    return q - floor > T(0.5) ? floor + 1 : floor;
  }
};
struct IntPow {
  static TENON_INLINE int64_t of(int64_t base, int64_t exponent) {
    if (exponent < 0) {
      return base == 1 ? 1 : base != -1 ? 0 : exponent % 2 == 0 ? 1 : -1;
    }
    uint64_t power = 1;
    uint64_t square = static_cast<uint64_t>(base);
    for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
      power *= e & 1 ? square : 1;
      square *= square;
    }
    return static_cast<int64_t>(power);
  }
};
struct Min {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
struct Max {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct And {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static TENON_INLINE T of(T a, T b) {
    return a ^ b;
  }
};
struct Shl {
  static TENON_INLINE int64_t of(int64_t a, int64_t b) {
    return b < 0 || b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << (b & 63));
  }
};
struct Shr {
  static TENON_INLINE int64_t of(int64_t a, int64_t b) { return a >> (b < 0 || b > 63 ? 63 : b); }
};

#define TENON_COMPARISON(Name, op)             \
  struct Name {                                \
    template <typename T>                      \
    static TENON_INLINE uint8_t of(T a, T b) { \
      return a op b;                           \
    }                                          \
  };
TENON_COMPARISON(Eq, ==)
TENON_COMPARISON(Ne, !=)
TENON_COMPARISON(Lt, <)
TENON_COMPARISON(Le, <=)
TENON_COMPARISON(Gt, >)
TENON_COMPARISON(Ge, >=)

// ---- loops

template <typename T>
TENON_INLINE T* at(const Cell* cells, uint16_t cell) {
  return reinterpret_cast<T*>(cells[cell].p);
}

template <typename F, typename T, typename R = T>
void unary(const Cell* cells, const Step& step, int64_t n) {
  R* d = at<R>(cells, step.d);
  const T* a = at<T>(cells, step.a);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    d[i] = F::of(a[i]);
  }
}

template <typename F, typename T>
void unary_math(const Cell* cells, const Step& step, int64_t n) {
  T* d = at<T>(cells, step.d);
  const T* a = at<T>(cells, step.a);
  constexpr int64_t w = kLanes<T>;
  int64_t i = 0;
  for (; i + w <= n; i += w) {
    store(d + i, F::of(load(a + i)));
  }
  if (i < n) {
    store_part(d + i, n - i, F::of(load_part(a + i, n - i, a[n - 1])));
  }
}

#if defined(TENON_ERFC_TABLE)
// The few vectors with an element that the table does not have are noted, since the operand may be
// the destination, and come afterwards.
inline void erfc_f32(const Cell* cells, const Step& step, int64_t n) {
  float* d = at<float>(cells, step.d);
  const float* a = at<float>(cells, step.a);
  constexpr int64_t w = kLanes<float>, kBlock = 32 * w;
  for (; n > 0; n -= kBlock, d += kBlock, a += kBlock) {
    Vec<float> far[32];
    int64_t places[32];
    int n_far = 0;
    const int64_t whole = n < kBlock ? n / w * w : kBlock;
    for (int64_t i = 0; i < whole; i += w) {
      const Vec<float> x = load(a + i);
      store(d + i, erfc_by_table(x));
      if (is_beyond_table(x)) [[unlikely]] {
        far[n_far] = x;
        places[n_far++] = i;
      }
    }
    if (const int64_t rest = n - whole; whole < kBlock && rest > 0) {
      store_part(d + whole, rest, Erfc::of(load_part(a + whole, rest, 0)));
    }
    for (int k = 0; k < n_far; ++k) {
      store(d + places[k], Erfc::of(far[k]));
    }
  }
}
#else
inline void erfc_f32(const Cell* cells, const Step& step, int64_t n) {
  return unary_math<Erfc, float>(cells, step, n);
}
#endif

template <typename F, typename T, typename R, bool kVaryA, bool kVaryB>
void binary(const Cell* cells, const Step& step, int64_t n) {
  R* d = at<R>(cells, step.d);
  const T* a = at<T>(cells, step.a);
  const T* b = at<T>(cells, step.b);
  const T a0 = *a;
  const T b0 = *b;
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    d[i] = F::of(kVaryA ? a[i] : a0, kVaryB ? b[i] : b0);
  }
}

// 1 / b where b and that are powers of two that are not subnormal, else 0.
TENON_INLINE float exact_inverse(float b) {
  const auto bits = __builtin_bit_cast(uint32_t, b);
  const uint32_t exponent = bits >> 23 & 255;
  return (bits & 0x7fffff) == 0 && exponent >= 1 && exponent <= 253 ? 1 / b : 0;
}
TENON_INLINE double exact_inverse(double b) {
  const auto bits = __builtin_bit_cast(uint64_t, b);
  const uint64_t exponent = bits >> 52 & 2047;
  return (bits & 0xfffffffffffff) == 0 && exponent >= 1 && exponent <= 2045 ? 1 / b : 0;
}
// A quotient takes five times as long as a product, which has the same bits where the inverse is exact.
template <typename T>
void divide_by_scalar(const Cell* cells, const Step& step, int64_t n) {
  const T inverse = exact_inverse(*at<T>(cells, step.b));
  if (inverse == 0) return binary<Div, T, T, true, false>(cells, step, n);
  T* d = at<T>(cells, step.d);
  const T* a = at<T>(cells, step.a);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    d[i] = a[i] * inverse;
  }
}

// What a whole quotient leaves, as fmod has it, where it is one of the numbers that T, or double for
// float, tells from their neighbours: then the product and the difference are exact, and the
// quotient, rounded, is at most one too many. fmod itself divides bit by bit.
#if defined(__FMA__)
constexpr bool kDoublesLeaveRests = true;
#else
constexpr bool kDoublesLeaveRests = false;
#endif
template <typename T>
constexpr T kMostQuotient = kIsFloat<T> && sizeof(T) == 4 ? T(1 << 28) : T(int64_t{1} << 50);

TENON_INLINE float rest_of(float a, float b) {
  const double x = __builtin_fabsf(a), y = __builtin_fabsf(b);
  const double r = x - __builtin_trunc(x / y) * y;
  return copysign_of(static_cast<float>(r < 0 ? r + y : r), a);
}
TENON_INLINE double rest_of(double a, double b) {
  const double x = __builtin_fabs(a), y = __builtin_fabs(b);
  const double r = __builtin_fma(-__builtin_trunc(x / y), y, x);
  return copysign_of(r < 0 ? r + y : r, a);
}

template <typename F, typename T>
void binary_by_quotient(const Cell* cells, const Step& step, int64_t n) {
  T* d = at<T>(cells, step.d);
  const T* a = at<T>(cells, step.a);
  const T* b = at<T>(cells, step.b);
  int64_t others = 0;  // also infinities, NaN and divisors of 0
  for (int64_t i = 0; i < n; ++i) {
    const T x = Abs::of(a[i]), y = Abs::of(b[i]);
    others += !(x < y * kMostQuotient<T>) || y == static_cast<T>(__builtin_inf());
  }
  if (others > 0) {
    return binary<F, T, T, true, true>(cells, step, n);
  }
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    d[i] = F::of_rest(rest_of(a[i], b[i]), a[i], b[i]);
  }
}

template <typename F, typename T>
void binary_math(const Cell* cells, const Step& step, int64_t n) {
  T* d = at<T>(cells, step.d);
  const T* a = at<T>(cells, step.a);
  const T* b = at<T>(cells, step.b);
  constexpr int64_t w = kLanes<T>;
  int64_t i = 0;
  for (; i + w <= n; i += w) {
    store(d + i, F::of(load(a + i), load(b + i)));
  }
  if (i < n) {
    const int64_t rest = n - i;
    store_part(d + i, rest,
               F::of(load_part(a + i, rest, a[n - 1]), load_part(b + i, rest, b[n - 1])));
  }
}

template <typename T>
void power_by_scalar(const Cell* cells, const Step& step, int64_t n) {
  T* d = at<T>(cells, step.d);
  const T* a = at<T>(cells, step.a);
  const T exponent = *at<T>(cells, step.b);
  if (simple_power(d, a, exponent, n)) return;
  constexpr int64_t w = kLanes<T>;
  int64_t i = 0;
  for (; i + w <= n; i += w) {
    store(d + i, Power::of(load(a + i), broadcast(exponent)));
  }
  if (i < n) {
    store_part(d + i, n - i, Power::of(load_part(a + i, n - i, a[n - 1]), broadcast(exponent)));
  }
}

template <typename T, bool kVaryB, bool kVaryC>
void select(const Cell* cells, const Step& step, int64_t n) {
  T* d = at<T>(cells, step.d);
  const uint8_t* condition = at<uint8_t>(cells, step.a);
  const T* b = at<T>(cells, step.b);
  const T* c = at<T>(cells, step.c);
  const T b0 = *b;
  const T c0 = *c;
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const T x = kVaryB ? b[i] : b0;
    const T y = kVaryC ? c[i] : c0;
    d[i] = condition[i] ? x : y;
  }
}

template <typename T>
void splat(const Cell* cells, const Step& step, int64_t n) {
  T* d = at<T>(cells, step.d);
  const T value = *at<T>(cells, step.a);
  for (int64_t i = 0; i < n; ++i) {
    d[i] = value;
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
