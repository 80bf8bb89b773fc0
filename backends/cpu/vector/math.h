// exp, log, sin and their kin on vectors, at most 4 ulp: the vector functions of glibc's libmvec,
// which x86-64 has for each vector width, or elsewhere the scalar ones of libm.
#pragma once

#include "vector/lanes.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#define TENON_LIBMVEC 1
#endif

#if defined(TENON_LIBMVEC)
#if defined(__AVX512F__)
#define TENON_MVEC_F32(arity, name) _ZGVeN16##arity##_##name##f
#define TENON_MVEC_F64(arity, name) _ZGVeN8##arity##_##name
#elif defined(__AVX2__)
#define TENON_MVEC_F32(arity, name) _ZGVdN8##arity##_##name##f
#define TENON_MVEC_F64(arity, name) _ZGVdN4##arity##_##name
#else
#define TENON_MVEC_F32(arity, name) _ZGVbN4##arity##_##name##f
#define TENON_MVEC_F64(arity, name) _ZGVbN2##arity##_##name
#endif

#define TENON_MATH_1(Name, name)                                                                  \
  extern "C" tenon::cpu_backend::Vec<float> TENON_MVEC_F32(v,                                     \
                                                           name)(tenon::cpu_backend::Vec<float>); \
  extern "C" tenon::cpu_backend::Vec<double> TENON_MVEC_F64(                                      \
      v, name)(tenon::cpu_backend::Vec<double>);                                                  \
  namespace tenon::cpu_backend {                                                                  \
  namespace {                                                                                     \
  struct Name {                                                                                   \
    static TENON_INLINE Vec<float> of(Vec<float> x) { return TENON_MVEC_F32(v, name)(x); }        \
    static TENON_INLINE Vec<double> of(Vec<double> x) { return TENON_MVEC_F64(v, name)(x); }      \
  };                                                                                              \
  }                                                                                               \
  }
#define TENON_MATH_2(Name, name)                                         \
  extern "C" tenon::cpu_backend::Vec<float> TENON_MVEC_F32(vv, name)(    \
      tenon::cpu_backend::Vec<float>, tenon::cpu_backend::Vec<float>);   \
  extern "C" tenon::cpu_backend::Vec<double> TENON_MVEC_F64(vv, name)(   \
      tenon::cpu_backend::Vec<double>, tenon::cpu_backend::Vec<double>); \
  namespace tenon::cpu_backend {                                         \
  namespace {                                                            \
  struct Name {                                                          \
    static TENON_INLINE Vec<float> of(Vec<float> x, Vec<float> y) {      \
      return TENON_MVEC_F32(vv, name)(x, y);                             \
    }                                                                    \
    static TENON_INLINE Vec<double> of(Vec<double> x, Vec<double> y) {   \
      return TENON_MVEC_F64(vv, name)(x, y);                             \
    }                                                                    \
  };                                                                     \
  }                                                                      \
  }
#else
#define TENON_MATH_1(Name, name)                 \
  namespace tenon::cpu_backend {                 \
  namespace {                                    \
  struct Name {                                  \
    static Vec<float> of(Vec<float> x) {         \
      for (int i = 0; i < kLanes<float>; ++i) {  \
        x[i] = __builtin_##name##f(x[i]);        \
      }                                          \
      return x;                                  \
    }                                            \
    static Vec<double> of(Vec<double> x) {       \
      for (int i = 0; i < kLanes<double>; ++i) { \
        x[i] = __builtin_##name(x[i]);           \
      }                                          \
      return x;                                  \
    }                                            \
  };                                             \
  }                                              \
  }
#define TENON_MATH_2(Name, name)                          \
  namespace tenon::cpu_backend {                          \
  namespace {                                             \
  struct Name {                                           \
    static Vec<float> of(Vec<float> x, Vec<float> y) {    \
      for (int i = 0; i < kLanes<float>; ++i) {           \
        x[i] = __builtin_##name##f(x[i], y[i]);           \
      }                                                   \
      return x;                                           \
    }                                                     \
    static Vec<double> of(Vec<double> x, Vec<double> y) { \
      for (int i = 0; i < kLanes<double>; ++i) {          \
        x[i] = __builtin_##name(x[i], y[i]);              \
      }                                                   \
      return x;                                           \
    }                                                     \
  };                                                      \
  }                                                       \
  }
#endif

TENON_MATH_1(Exp, exp)
TENON_MATH_1(Exp2, exp2)
TENON_MATH_1(Expm1, expm1)
TENON_MATH_1(Log, log)
TENON_MATH_1(Log2, log2)
TENON_MATH_1(Log10, log10)
TENON_MATH_1(Log1p, log1p)
TENON_MATH_1(Sin, sin)
TENON_MATH_1(Cos, cos)
TENON_MATH_1(Tan, tan)
TENON_MATH_1(Asin, asin)
TENON_MATH_1(Acos, acos)
TENON_MATH_1(Atan, atan)
TENON_MATH_1(Sinh, sinh)
TENON_MATH_1(Cosh, cosh)
TENON_MATH_1(Tanh, tanh)
TENON_MATH_1(Asinh, asinh)
TENON_MATH_1(Acosh, acosh)
TENON_MATH_1(Atanh, atanh)
TENON_MATH_1(LibmErf, erf)
TENON_MATH_1(LibmErfc, erfc)
TENON_MATH_2(Pow, pow)
TENON_MATH_2(Atan2, atan2)

namespace tenon::cpu_backend {
namespace {

// libmvec's erff and erfcf look coefficients up lane by lane, and take five times as long as these.
// The polynomials are minimax in the relative error of the result, by Lawson's weighted least
// squares over values of 40 digits.

// erf(x) / x in x * x, up to 0.93.
TENON_INLINE Vec<float> erf_near_0(Vec<float> x) {
  constexpr float kNear[] = {1.12837923f,    -0.376126349f,    0.112836942f,    -0.0268592704f,
                             0.00520063424f, -0.000813743740f, 0.0000834522434f};
  const Vec<float> square = x * x;
  Vec<float> near = broadcast(kNear[6]);
  for (int i = 6; i-- > 0;) near = near * square + kNear[i];
  return near * x;
}

// Farther out by -log(erfc(x)), where only 1 - erf is left to be exact.
struct Erf {
  static TENON_INLINE Vec<float> of(Vec<float> x) {
    constexpr float kFar[] = {-0.000174684493f, 1.12951493f,    0.633346915f,     0.108280092f,
                              -0.0251194276f,   0.00417106319f, -0.000434462680f, 0.0000210950548f};
    const Vec<float> top = broadcast(4.0f);  // from where on erf is 1
    Vec<float> a = x < 0 ? -x : x;
    a = a > top ? top : a;  // NaN stays
    Vec<float> far = broadcast(kFar[7]);
    for (int i = 7; i-- > 0;) far = far * a + kFar[i];
    far = 1.0f - Exp::of(-far);
    return a < 0.93f ? erf_near_0(x) : x < 0 ? -far : far;
  }
  static TENON_INLINE Vec<double> of(Vec<double> x) { return LibmErf::of(x); }
};

// (1 + 2 x) exp(x * x) erfc(x), which is nearly constant, in (x - 2) / (x + 2) (the form of
// Shepherd and Laframboise, Math. Comp. 36, 1981); and 2 - erfc(-x) for negative x.
struct Erfc {
  typedef VectorOf<int32_t>::type Bits;

  // exp(x + y) within 1 ulp, x from -104 to 0, y small: 2^n times Taylor's series of what is left.
  static TENON_INLINE Vec<float> exp_of_sum(Vec<float> x, Vec<float> y) {
    constexpr float kSeries[] = {1,         1,          0.5f,       1 / 6.0f,
                                 1 / 24.0f, 1 / 120.0f, 1 / 720.0f, 1 / 5040.0f};
    constexpr float kRound = 12582912;  // 1.5 * 2^23: the sum has no fraction
    const Vec<float> n = (x * 1.44269504f + kRound) - kRound;
    const Vec<float> r = (x - n * 0.693359375f) + (y + n * 0.000212194440f);  // ln 2 in two parts
    Vec<float> series = broadcast(kSeries[7]);
    for (int i = 7; i-- > 0;) series = series * r + kSeries[i];
    // In two steps, since 2^n may be denormal.
    const Bits all = __builtin_convertvector(n, Bits), half = all >> 1;
    return series * (Vec<float>)((half + 127) << 23) * (Vec<float>)((all - half + 127) << 23);
  }

  static TENON_INLINE Vec<float> of(Vec<float> x) {
    constexpr float kScaled[] = {1.27697837f,     -0.0927639827f,  -0.166031465f,  0.164055422f,
                                 -0.0542038828f,  -0.00806014333f, 0.00863009784f, 0.00131330988f,
                                 -0.00122800237f, -0.000399449607f};
    const Vec<float> top = broadcast(10.2f);  // from where on erfc is 0
    Vec<float> a = x < 0 ? -x : x;
    a = a > top ? top : a;  // NaN stays
    const Vec<float> t = (a - 2.0f) / (a + 2.0f);
    Vec<float> scaled = broadcast(kScaled[9]);
    for (int i = 9; i-- > 0;) scaled = scaled * t + kScaled[i];
    // The square of a, and what its rounding left, from the upper half of a's bits, whose square is
    // exact.
    const Vec<float> square = a * a, upper = (Vec<float>)((Bits)a & ~0xFFF);
    const Vec<float> left = (upper * upper - square) + (a - upper) * (a + upper);
    const Vec<float> y = scaled / (1.0f + 2.0f * a) * exp_of_sum(-square, -left);
    return a < 0.5f ? 1.0f - erf_near_0(x) : x < 0 ? 2.0f - y : y;
  }
  static TENON_INLINE Vec<double> of(Vec<double> x) { return LibmErfc::of(x); }
};

}  // namespace
}  // namespace tenon::cpu_backend
