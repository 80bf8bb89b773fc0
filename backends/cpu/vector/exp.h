// exp on vectors, at most 1.1 ulp: in float32, where the instruction set can multiply and add at
// once, a series in the loop that wants it. A call of libmvec costs as much again, since it keeps
// no register.
#pragma once

#include "vector/math.h"

namespace tenon::cpu_backend {
namespace {

typedef VectorOf<int32_t>::type Bits;

#if defined(__AVX512F__)
// GCC 12 warns of uninitialized values in the header of those without a mask.
constexpr __mmask16 kAllLanes = 0xFFFF;
#endif

// The lesser of limit and x, or the greater. NaN as x stays.
template <bool kLesser>
TENON_INLINE Vec<float> bounded(Vec<float> x, float limit) {
  const Vec<float> bound = broadcast(limit);
#if defined(__AVX512F__)
  return kLesser ? _mm512_maskz_min_ps(kAllLanes, bound, x)
                 : _mm512_maskz_max_ps(kAllLanes, bound, x);
#elif defined(__AVX2__)
  return kLesser ? _mm256_min_ps(bound, x) : _mm256_max_ps(bound, x);
#else
  return (kLesser ? x > bound : x < bound) ? bound : x;
#endif
}
TENON_INLINE Vec<float> at_most(Vec<float> x, float limit) { return bounded<true>(x, limit); }
TENON_INLINE Vec<float> at_least(Vec<float> x, float limit) { return bounded<false>(x, limit); }

TENON_INLINE Vec<float> magnitude(Vec<float> x) { return (Vec<float>)((Bits)x & 0x7FFFFFFF); }

// x 2^n for whole n, rounded once: the result may be denormal, or too large for a float32.
TENON_INLINE Vec<float> times_power_of_2(Vec<float> x, Vec<float> n) {
#if defined(__AVX512F__)
  return _mm512_maskz_scalef_ps(kAllLanes, x, n);
#else
  const Bits all = __builtin_convertvector(n, Bits), half = all >> 1;
  return x * (Vec<float>)((half + 127) << 23) * (Vec<float>)((all - half + 127) << 23);
#endif
}

// x / ln(2), rounded.
TENON_INLINE Vec<float> whole_powers_of_2(Vec<float> x) {
  constexpr float kRound = 12582912;  // 1.5 * 2^23: the sum has no fraction
  return (x * 1.44269504f + kRound) - kRound;
}
constexpr float kLn2Upper = 0.693359375f, kLn2Lower = -0.000212194440f;  // n kLn2Upper is exact

// 2^n exp(r), |r| up to ln(2) / 2. The polynomial is minimax in the relative error, by Lawson's
// weighted least squares over values of 40 digits.
TENON_INLINE Vec<float> exp_of_parts(Vec<float> n, Vec<float> r) {
  constexpr float kSeries[] = {
      1, 1.00000003f, 0.499999942f, 0.166664309f, 0.0416680040f, 0.00837418472f, 0.00138436196f};
  Vec<float> series = broadcast(kSeries[6]);
  for (int i = 6; i-- > 0;) series = series * r + kSeries[i];
  return times_power_of_2(series, n);
}

// exp(x + y), x from -105 to 89, y small.
TENON_INLINE Vec<float> exp_of_sum(Vec<float> x, Vec<float> y) {
  const Vec<float> n = whole_powers_of_2(x);
  return exp_of_parts(n, (x - n * kLn2Upper) + (y - n * kLn2Lower));
}

struct Exp {
  static TENON_INLINE Vec<float> of(Vec<float> x) {
#if defined(__AVX2__)
    x = at_least(at_most(x, 89), -105);  // farther out the result is 0, or infinity
    const Vec<float> n = whole_powers_of_2(x);
    return exp_of_parts(n, (x - n * kLn2Upper) - n * kLn2Lower);
#else
    return LibmExp::of(x);
#endif
  }
  static TENON_INLINE Vec<double> of(Vec<double> x) { return LibmExp::of(x); }
};

}  // namespace
}  // namespace tenon::cpu_backend
