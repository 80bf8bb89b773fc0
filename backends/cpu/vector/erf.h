// erf and erfc on vectors, in float32 at most 4 ulp; libmvec's look coefficients up lane by lane, and
// take five times as long. The polynomials are minimax in the relative error of the result, by
// Lawson's weighted least squares over values of 40 digits.
#pragma once

#include "vector/exp.h"

namespace tenon::cpu_backend {
namespace {

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
    const Vec<float> a = at_most(magnitude(x), 4);  // from where on erf is 1
    Vec<float> far = broadcast(kFar[7]);
    for (int i = 7; i-- > 0;) far = far * a + kFar[i];
    far = 1.0f - Exp::of(-far);
    return a < 0.93f ? erf_near_0(x) : x < 0 ? -far : far;
  }
  static TENON_INLINE Vec<double> of(Vec<double> x) { return LibmErf::of(x); }
};

// What the rounding of a * a left.
TENON_INLINE Vec<float> rest_of_square(Vec<float> a, Vec<float> square) {
#if defined(__AVX512F__)
  return _mm512_fmsub_ps(a, a, square);
#elif defined(__AVX2__)
  return _mm256_fmsub_ps(a, a, square);
#else
  const Vec<float> upper = (Vec<float>)((Bits)a & ~0xFFF);  // its square is exact
  return (upper * upper - square) + (a - upper) * (a + upper);
#endif
}

// (1 + 2 x) exp(x * x) erfc(x), which is nearly constant, in (x - 2) / (x + 2) (the form of
// Shepherd and Laframboise, Math. Comp. 36, 1981); and 2 - erfc(-x) for negative x.
TENON_INLINE Vec<float> erfc_anywhere(Vec<float> x) {
  constexpr float kScaled[] = {1.27697837f,     -0.0927639827f,  -0.166031465f,  0.164055422f,
                               -0.0542038828f,  -0.00806014333f, 0.00863009784f, 0.00131330988f,
                               -0.00122800237f, -0.000399449607f};
  const Vec<float> a = at_most(magnitude(x), 10.2f);  // from where on erfc is 0
  const Vec<float> t = (a - 2.0f) / (a + 2.0f);
  Vec<float> scaled = broadcast(kScaled[9]);
  for (int i = 9; i-- > 0;) scaled = scaled * t + kScaled[i];
  const Vec<float> square = a * a;
  const Vec<float> y = scaled / (1.0f + 2.0f * a) * exp_of_sum(-square, -rest_of_square(a, square));
  return a < 0.5f ? 1.0f - erf_near_0(x) : x < 0 ? 2.0f - y : y;
}

#if defined(__AVX512F__)
#define TENON_ERFC_TABLE 1

// Where nearly all arguments are, erfc(|x|) is a polynomial of degree 5 around the nearest of 32
// places. A table of 32 lies in two registers, and one instruction looks 16 coefficients up in it.
struct ErfcTable {
  static constexpr int kPlaces = 32, kDegree = 5;
  static constexpr float kStep = 0.09375f, kEnd = (kPlaces - 1) * kStep;  // exact
  alignas(64) float coefficients[kDegree + 1][kPlaces] = {};

  constexpr ErfcTable() {
    for (int i = 0; i < kPlaces; ++i) {
      double series[kDegree + 3] = {};
      expand(i * static_cast<double>(kStep), series);
      // z^6 and z^7 for z from -1 to 1, but for their share of Chebyshev's T6 and T7.
      const double h = kStep / 2.0, h2 = h * h, sixth = series[6] * h2 / 32,
                   seventh = series[7] * h2 / 64;
      series[0] += sixth * h2 * h2;
      series[1] += seventh * h2 * h2 * 7;
      series[2] -= sixth * h2 * 18;
      series[3] -= seventh * h2 * 56;
      series[4] += sixth * 48;
      series[5] += seventh * 112;
      for (int k = 0; k <= kDegree; ++k) coefficients[k][i] = static_cast<float>(series[k]);
    }
  }

  // Taylor's series of erfc around c, up to the seventh power.
  static constexpr void expand(double c, double* series) {
    constexpr double kSlope = 1.1283791670955125739;  // 2 / sqrt(pi)
    double power = 1, growth = 1;                     // growth: exp(c * c)
    for (int k = 1; k < 60; ++k) growth += power *= c * c / k;
    double term = c, sum = c;  // erf(c) = 2 / sqrt(pi) exp(-c * c) (c + 2 c^3 / 3 + 4 c^5 / 15 ..)
    for (int k = 1; k < 60; ++k) sum += term *= 2 * c * c / (2 * k + 1);
    series[0] = 1 - kSlope * sum / growth;
    double before = 0, slope = -kSlope / growth;  // exp(-(c + d)^2) by powers of d
    for (int k = 0; k < kDegree + 2; ++k) {
      series[k + 1] = slope / (k + 1);
      const double next = (-2 * c * slope - 2 * before) / (k + 1);
      before = slope;
      slope = next;
    }
  }
};
constexpr ErfcTable kErfcTable;

// For |x| below kEnd.
TENON_INLINE Vec<float> erfc_by_table(Vec<float> x) {
  constexpr float kRound = 12582912;  // as in exp_of_sum: n is in the last bits of the sum
  const Vec<float> a = magnitude(x);
  const Vec<float> places = a * (1 / ErfcTable::kStep) + kRound;
  const Vec<float> d = a - (places - kRound) * ErfcTable::kStep;
  const auto coefficient = [&](int k) {
    const float* const row = kErfcTable.coefficients[k];
    return (Vec<float>)_mm512_permutex2var_ps(load(row), (__m512i)places, load(row + 16));
  };
  Vec<float> y = coefficient(ErfcTable::kDegree);
  for (int k = ErfcTable::kDegree; k-- > 0;) y = y * d + coefficient(k);
  return x < 0 ? 2.0f - y : y;
}

// Is there an element that erfc_by_table does not take?
TENON_INLINE bool is_beyond_table(Vec<float> x) {
  return _mm512_cmp_ps_mask(magnitude(x), broadcast(ErfcTable::kEnd), _CMP_NLT_UQ) != 0;
}
#endif

// Which of the two an element meets depends on itself alone, and not on its neighbours.
struct Erfc {
  static TENON_INLINE Vec<float> of(Vec<float> x) {
#if defined(TENON_ERFC_TABLE)
    return magnitude(x) < ErfcTable::kEnd ? erfc_by_table(x) : erfc_anywhere(x);
#else
    return erfc_anywhere(x);
#endif
  }
  static TENON_INLINE Vec<double> of(Vec<double> x) { return LibmErfc::of(x); }
};

}  // namespace
}  // namespace tenon::cpu_backend
