// log, sin and their kin on vectors, at most 4 ulp: the vector functions of glibc's libmvec, which
// x86-64 has for each vector width, or elsewhere the scalar ones of libm. exp.h and erf.h have what
// is computed here.
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

TENON_MATH_1(LibmExp, exp)
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
