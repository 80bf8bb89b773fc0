// Powers on vectors. libmvec's pow takes vectors that have a negative base apart, lane by lane, which
// costs five times as much: here the magnitude is raised, and the sign put back. Exponents that are
// products, quotients or roots are computed as such.
#pragma once

#include "vector/math.h"

namespace tenon::cpu_backend {
namespace {

template <typename T>
struct IntegerOf;
template <>
struct IntegerOf<float> {
  using type = int32_t;
};
template <>
struct IntegerOf<double> {
  using type = int64_t;
};

struct Power {
  static TENON_INLINE Vec<float> of(Vec<float> x, Vec<float> y) { return raised<float>(x, y); }
  static TENON_INLINE Vec<double> of(Vec<double> x, Vec<double> y) { return raised<double>(x, y); }

 private:
  template <typename T>
  static TENON_INLINE Vec<T> raised(Vec<T> x, Vec<T> y) {
    using V = Vec<T>;
    using Integer = typename IntegerOf<T>::type;
    typedef typename VectorOf<Integer>::type Integers;
    constexpr Integer kSign = Integer(1) << (sizeof(T) * 8 - 1);
    constexpr T kFar = sizeof(T) == 4 ? T(0x1p30) : T(0x1p62);  // whole and even from there on
    const Integers sign = (Integers)x & kSign;
    V result = Pow::of((V)((Integers)x ^ sign), y);
    V near = y > kFar ? broadcast(kFar) : y;
    near = near < -kFar ? broadcast(-kFar) : near;
    const Integers whole = __builtin_convertvector(near, Integers);
    const Integers is_whole = __builtin_convertvector(whole, V) == near;  // of NaN none
    const Integers is_odd = is_whole & -(whole & 1);
    result = (V)((Integers)result ^ (sign & is_odd));
    // Of negative numbers only the infinite one has powers with a fraction.
    const Integers has_none = (x < 0) & (x != -broadcast(T(__builtin_inf()))) & ~is_whole;
    return has_none ? broadcast(T(__builtin_nan(""))) : result;
  }
};

// d[i] = f(a[i])
template <typename T, typename F>
TENON_INLINE void each_power(T* d, const T* a, int64_t n, F f) {
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    d[i] = f(a[i]);
  }
}

// Those of one exponent that need no logarithm; false: it is another.
template <typename T>
bool simple_power(T* d, const T* a, T exponent, int64_t n) {
  // As pow has it the root of -0 is 0, and that of -inf is inf.
  const auto root = [](T x) -> T {
    const T y = sizeof(T) == 4 ? T(__builtin_sqrtf(float(x + 0))) : T(__builtin_sqrt(x + 0));
    return x == -T(__builtin_inf()) ? T(__builtin_inf()) : y;
  };
  if (exponent == 1) {
    each_power(d, a, n, [](T x) { return x; });
  } else if (exponent == 2) {
    each_power(d, a, n, [](T x) { return x * x; });
  } else if (exponent == 3) {
    each_power(d, a, n, [](T x) { return x * x * x; });
  } else if (exponent == 4) {
    each_power(d, a, n, [](T x) { return (x * x) * (x * x); });
  } else if (exponent == -1) {
    each_power(d, a, n, [](T x) { return 1 / x; });
  } else if (exponent == -2) {
    each_power(d, a, n, [](T x) { return (1 / x) * (1 / x); });  // x * x may be too large
  } else if (exponent == T(0.5)) {
    each_power(d, a, n, [&](T x) { return root(x); });
  } else if (exponent == T(-0.5)) {
    each_power(d, a, n, [&](T x) { return 1 / root(x); });
  } else {
    return false;
  }
  return true;
}

}  // namespace
}  // namespace tenon::cpu_backend
