// The instructions of programs that C++ has no operator for, each for the register types that it
// comes with. Their meaning is in abi.h; backends/ref/elementwise.cpp says the same in plain C++.
#pragma once
#include "base.cuh"

// ---- Floats

#define UNARY(name)                                       \
  DEVICE float i_##name(float x) { return ::name##f(x); } \
  DEVICE double i_##name(double x) { return ::name(x); }
UNARY(floor)
UNARY(ceil)
UNARY(trunc)
UNARY(sqrt)
UNARY(exp)
UNARY(exp2)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(erf)
UNARY(erfc)
#undef UNARY
DEVICE float i_abs(float x) { return ::fabsf(x); }
DEVICE double i_abs(double x) { return ::fabs(x); }
DEVICE float i_round(float x) { return ::rintf(x); }
DEVICE double i_round(double x) { return ::rint(x); }

#define BINARY(name)                                                  \
  DEVICE float i_##name(float a, float b) { return ::name##f(a, b); } \
  DEVICE double i_##name(double a, double b) { return ::name(a, b); }
BINARY(fmod)
BINARY(pow)
BINARY(atan2)
#undef BINARY

template <class T>
DEVICE bool i_isnan(T x) {
  return x != x;
}
DEVICE bool i_isinf(float x) { return ::fabsf(x) == bits_to_float(0x7F800000u); }
DEVICE bool i_isinf(double x) { return ::fabs(x) == bits_to_double(0x7FF0000000000000ull); }

template <class T>
DEVICE T i_sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}
template <class T>
DEVICE T i_min(T a, T b) {
  return a != a || a < b ? a : b;
}
template <class T>
DEVICE T i_max(T a, T b) {
  return a != a || a > b ? a : b;
}

// ---- Integers, which wrap

using Unsigned = unsigned long long;

DEVICE long long i_add(long long a, long long b) {
  return static_cast<long long>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
}
DEVICE long long i_sub(long long a, long long b) {
  return static_cast<long long>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
}
DEVICE long long i_mul(long long a, long long b) {
  return static_cast<long long>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}
DEVICE long long i_neg(long long a) { return i_sub(0, a); }
DEVICE long long i_abs(long long a) { return a < 0 ? i_neg(a) : a; }

// By 0 all give 0; by -1 the quotient of the least integer wraps.
DEVICE long long i_fmod(long long a, long long b) { return b == 0 || b == -1 ? 0 : a % b; }
DEVICE long long i_pow(long long base, long long exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  long long result = 1;
  for (; exponent > 0; exponent /= 2, base = i_mul(base, base)) {
    if (exponent % 2 == 1) result = i_mul(result, base);
  }
  return result;
}
DEVICE long long i_shl(long long a, long long b) {
  return static_cast<Unsigned>(b) < 64 ? static_cast<long long>(static_cast<Unsigned>(a) << b) : 0;
}
DEVICE long long i_shr(long long a, long long b) {
  return a >> (static_cast<Unsigned>(b) < 64 ? b : 63);
}

// ---- Division that rounds down, on the exact quotient

// Is the quotient that leaves this rest, of the sign of a, one too high?
template <class T>
DEVICE bool too_high(T rest, T b) {
  return rest != 0 && (rest < 0) != (b < 0);
}
template <class T>
DEVICE T i_rem(T a, T b) {
  const T rest = i_fmod(a, b);
  return too_high(rest, b) ? rest + b : rest;
}
DEVICE float nearest(float x) { return ::roundf(x); }
DEVICE double nearest(double x) { return ::round(x); }
template <class T>
DEVICE T i_floordiv(T a, T b) {
  const T rest = i_fmod(a, b);
  return b == 0 ? a / b : nearest((a - rest) / b) - static_cast<T>(too_high(rest, b));
}
template <>
DEVICE long long i_floordiv(long long a, long long b) {
  const long long quotient = b == 0 ? 0 : b == -1 ? i_neg(a) : a / b;
  return quotient - too_high(i_fmod(a, b), b);
}
