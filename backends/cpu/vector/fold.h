// Folds of dense elements to one, rows of logits, and the running sums of reductions. Sums of floats and
// products of doubles keep many partial results, at least a vector's lanes times four, so their
// error grows as that of pairwise summation for the lengths that callers pass (2048 at most; longer
// ones are cut).
#pragma once

#include "vector/arith.h"
#include "vector/lanes.h"

namespace tenon::cpu_backend {
namespace {

template <typename F, typename T>
TENON_INLINE Vec<T> fold_lanes(Vec<T> a, Vec<T> b) {
  if constexpr (__is_same(F, Add)) {
    return a + b;
  } else if constexpr (__is_same(F, Mul)) {
    return a * b;
  } else if constexpr (__is_same(F, Max)) {
    return ((a > b) | (a != a)) ? a : b;
  } else {
    return ((a < b) | (a != a)) ? a : b;
  }
}

template <typename F, typename T>
TENON_INLINE T neutral(const T* x) {
  return __is_same(F, Add) ? T(0) : __is_same(F, Mul) ? T(1) : x[0];
}

// Each lane gets that whose number differs in the bit `by`.
template <int by, typename T>
TENON_INLINE Vec<T> exchanged(Vec<T> v) {
  if constexpr (kLanes<T> == 16) {
    return __builtin_shufflevector(v, v, 0 ^ by, 1 ^ by, 2 ^ by, 3 ^ by, 4 ^ by, 5 ^ by, 6 ^ by,
                                   7 ^ by, 8 ^ by, 9 ^ by, 10 ^ by, 11 ^ by, 12 ^ by, 13 ^ by,
                                   14 ^ by, 15 ^ by);
  } else if constexpr (kLanes<T> == 8) {
    return __builtin_shufflevector(v, v, 0 ^ by, 1 ^ by, 2 ^ by, 3 ^ by, 4 ^ by, 5 ^ by, 6 ^ by,
                                   7 ^ by);
  } else if constexpr (kLanes<T> == 4) {
    return __builtin_shufflevector(v, v, 0 ^ by, 1 ^ by, 2 ^ by, 3 ^ by);
  } else {
    return __builtin_shufflevector(v, v, 0 ^ by, 1 ^ by);
  }
}

// Of elements without NaN, by which an instruction of the processor does it.
template <typename F, typename T>
TENON_INLINE Vec<T> fold_ordered(Vec<T> a, Vec<T> b) {
  if constexpr (__is_same(F, Max)) {
    return a > b ? a : b;
  } else if constexpr (__is_same(F, Min)) {
    return a < b ? a : b;
  } else {
    return fold_lanes<F, T>(a, b);
  }
}
template <typename T>
TENON_INLINE bool has_nan(Vec<T> v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    return _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q) != 0;
  } else {
    return _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q) != 0;
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    return _mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)) != 0;
  } else {
    return _mm256_movemask_pd(_mm256_cmp_pd(v, v, _CMP_UNORD_Q)) != 0;
  }
#else
  for (int i = 0; i < kLanes<T>; ++i) {
    if (v[i] != v[i]) return true;
  }
  return false;
#endif
}

template <typename F, typename T>
TENON_INLINE T fold_across(Vec<T> v) {
  if constexpr (__is_same(F, Max) || __is_same(F, Min)) {
    if (has_nan<T>(v)) return static_cast<T>(__builtin_nan(""));
  }
  if constexpr (kLanes < T >> 8) v = fold_ordered<F, T>(v, exchanged<8, T>(v));
  if constexpr (kLanes < T >> 4) v = fold_ordered<F, T>(v, exchanged<4, T>(v));
  if constexpr (kLanes < T >> 2) v = fold_ordered<F, T>(v, exchanged<2, T>(v));
  return fold_ordered<F, T>(v, exchanged<1, T>(v))[0];
}

// Whether there was a NaN in any of the vectors, two of which are one comparison.
template <typename T>
struct NanSeen {
#if defined(__AVX512F__)
  uint32_t lanes = 0;
  TENON_INLINE void see(Vec<T> a, Vec<T> b) {
    if constexpr (sizeof(T) == 4) {
      lanes |= _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
    } else {
      lanes |= _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q);
    }
  }
  bool any() const { return lanes != 0; }
#else
  decltype(Vec<T>{} != Vec<T>{}) lanes = {};
  TENON_INLINE void see(Vec<T> a, Vec<T> b) { lanes |= (a != a) | (b != b); }
  bool any() const {
    for (int i = 0; i < kLanes<T>; ++i) {
      if (lanes[i] != 0) return true;
    }
    return false;
  }
#endif
};

// The greatest or the least of many: NaN is looked for beside, by fewer instructions than fold_lanes
// has.
template <typename F, typename T>
TENON_INLINE T fold_extreme(const T* x, int64_t n) {
  constexpr int64_t w = kLanes<T>;
  Vec<T> v0 = load(x), v1 = load(x + w), v2 = load(x + 2 * w), v3 = load(x + 3 * w);
  NanSeen<T> nan;
  const auto take = [&](const T* from) {
    const Vec<T> x0 = load(from), x1 = load(from + w), x2 = load(from + 2 * w),
                 x3 = load(from + 3 * w);
    nan.see(x0, x1);
    nan.see(x2, x3);
    v0 = fold_ordered<F, T>(x0, v0);
    v1 = fold_ordered<F, T>(x1, v1);
    v2 = fold_ordered<F, T>(x2, v2);
    v3 = fold_ordered<F, T>(x3, v3);
  };
  for (int64_t i = 0; i + 4 * w <= n; i += 4 * w) take(x + i);
  take(x + n - 4 * w);
  if (nan.any()) return static_cast<T>(__builtin_nan(""));
  return fold_across<F, T>(
      fold_ordered<F, T>(fold_ordered<F, T>(v0, v1), fold_ordered<F, T>(v2, v3)));
}

template <typename F, typename T>
TENON_INLINE T fold_floats(const T* x, int64_t n) {
  constexpr int64_t w = kLanes<T>;
  if constexpr (__is_same(F, Max) || __is_same(F, Min)) {
    if (n >= 4 * w) return fold_extreme<F, T>(x, n);
  }
  const T start = neutral<F>(x);
  int64_t i = 0;
  Vec<T> v0 = broadcast(start);
  if (n >= 4 * w) {
    Vec<T> v1 = v0, v2 = v0, v3 = v0;
    for (; i + 4 * w <= n; i += 4 * w) {
      v0 = fold_lanes<F, T>(v0, load(x + i));
      v1 = fold_lanes<F, T>(v1, load(x + i + w));
      v2 = fold_lanes<F, T>(v2, load(x + i + 2 * w));
      v3 = fold_lanes<F, T>(v3, load(x + i + 3 * w));
    }
    v0 = fold_lanes<F, T>(fold_lanes<F, T>(v0, v1), fold_lanes<F, T>(v2, v3));
  }
  for (; i + w <= n; i += w) {
    v0 = fold_lanes<F, T>(v0, load(x + i));
  }
  if (i < n) {
    v0 = fold_lanes<F, T>(v0, load_part(x + i, n - i, start));
  }
  return fold_across<F, T>(v0);
}

// In double: near 1 products of few factors are all rounded to the same side, since what a float loses of
// (1 + a) (1 + b) is a b.
inline double product(const float* x, int64_t n) {
  constexpr int64_t kSide = 16;
  double products[kSide];
  for (int64_t k = 0; k < kSide; ++k) products[k] = 1;
  int64_t i = 0;
  for (; i + kSide <= n; i += kSide) {
    for (int64_t k = 0; k < kSide; ++k) products[k] *= static_cast<double>(x[i + k]);
  }
  for (int64_t k = 0; i + k < n; ++k) products[k] *= static_cast<double>(x[i + k]);
  for (int64_t step = kSide / 2; step > 0; step /= 2) {
    for (int64_t k = 0; k < step; ++k) products[k] *= products[k + step];
  }
  return products[0];
}

template <typename F, typename T>
double fold(const T* x, int64_t n) {
  if constexpr (__is_same(F, Mul) && sizeof(T) == 4) {
    return product(x, n);
  } else {
    return fold_floats<F, T>(x, n);
  }
}

// Rows of n elements behind each other.
template <typename F, typename T>
void fold_rows(const T* x, int64_t n, int64_t rows, T* results) {
  for (int64_t i = 0; i < rows; ++i) {
    results[i] = static_cast<T>(fold<F, T>(x + i * n, n));
  }
}

template <typename F>
int64_t fold_int(const int64_t* x, int64_t n) {
  int64_t result = neutral<F>(x);
  for (int64_t i = 0; i < n; ++i) {
    result = F::of(result, x[i]);
  }
  return result;
}

template <typename F>
void fold_int_rows(const int64_t* x, int64_t n, int64_t rows, int64_t* results) {
  for (int64_t i = 0; i < rows; ++i) {
    results[i] = fold_int<F>(x + i * n, n);
  }
}

// row = fold(row, each of n_rows rows of x, `stride` elements apart, in their order), of n elements.
template <typename F, typename T>
void fold_columns(T* row, const T* x, int64_t stride, int64_t n_rows, int64_t n) {
  constexpr int64_t w = kLanes<T>;
  int64_t j = 0;
  for (; j + 4 * w <= n; j += 4 * w) {
    Vec<T> v0 = load(row + j), v1 = load(row + j + w), v2 = load(row + j + 2 * w);
    Vec<T> v3 = load(row + j + 3 * w);
    const T* from = x + j;
    for (int64_t i = 0; i < n_rows; ++i, from += stride) {
      v0 = fold_lanes<F, T>(v0, load(from));
      v1 = fold_lanes<F, T>(v1, load(from + w));
      v2 = fold_lanes<F, T>(v2, load(from + 2 * w));
      v3 = fold_lanes<F, T>(v3, load(from + 3 * w));
    }
    store(row + j, v0);
    store(row + j + w, v1);
    store(row + j + 2 * w, v2);
    store(row + j + 3 * w, v3);
  }
  for (; j < n; j += w) {
    const int64_t part = smaller(w, n - j);
    Vec<T> v = load_part(row + j, part, T(0));
    const T* from = x + j;
    for (int64_t i = 0; i < n_rows; ++i, from += stride) {
      v = fold_lanes<F, T>(v, load_part(from, part, T(0)));
    }
    store_part(row + j, part, v);
  }
}

template <typename F>
void fold_int_columns(int64_t* row, const int64_t* x, int64_t stride, int64_t n_rows, int64_t n) {
  for (int64_t i = 0; i < n_rows; ++i, x += stride) {
    TENON_INDEPENDENT
    for (int64_t j = 0; j < n; ++j) {
      row[j] = F::of(row[j], x[j]);
    }
  }
}

// The sums of each of the columns of n elements in rows of `columns`, which divide a vector.
template <typename T>
TENON_INLINE Vec<T> sum_in_lanes(const T* x, int64_t n, int64_t columns) {
  constexpr int64_t w = kLanes<T>;
  Vec<T> v0 = {};
  int64_t i = 0;
  if (n >= 4 * w) {
    Vec<T> v1 = v0, v2 = v0, v3 = v0;
    for (; i + 4 * w <= n; i += 4 * w) {
      v0 += load(x + i);
      v1 += load(x + i + w);
      v2 += load(x + i + 2 * w);
      v3 += load(x + i + 3 * w);
    }
    v0 = (v0 + v1) + (v2 + v3);
  }
  for (; i + w <= n; i += w) v0 += load(x + i);
  if (i < n) v0 += load_part(x + i, n - i, T(0));
  if constexpr (w > 8) v0 = columns <= 8 ? v0 + exchanged<8, T>(v0) : v0;
  if constexpr (w > 4) v0 = columns <= 4 ? v0 + exchanged<4, T>(v0) : v0;
  if constexpr (w > 2) v0 = columns <= 2 ? v0 + exchanged<2, T>(v0) : v0;
  return v0;
}

template <typename T>
void sum_blocks(T* to, int64_t to_stride, const T* x, int64_t stride, int64_t n_rows,
                int64_t n_columns, int64_t count) {
  constexpr int64_t w = kLanes<T>;
  const int64_t n = n_rows * n_columns;
  if (n_columns <= w && w % n_columns == 0) {
    for (int64_t i = 0; i < count; ++i, x += stride, to += to_stride) {
      const Vec<T> sums = sum_in_lanes(x, n, n_columns);
      for (int64_t j = 0; j < n_columns; ++j) to[j] = sums[j];
    }
    return;
  }
  // Some rows make a wide one. A few of these are added in the type itself, their sums in float64.
  constexpr int64_t kWide = 64, kWideRows = 8;
  const int64_t wide = kWide / n_columns * n_columns;
  for (int64_t i = 0; i < count; ++i, x += stride, to += to_stride) {
    double totals[kWide] = {};
    for (int64_t begin = 0; begin < n; begin += kWideRows * wide) {
      const int64_t end = smaller(n, begin + kWideRows * wide);
      T sums[kWide] = {};
      int64_t at = begin;
      for (; at + wide <= end; at += wide) {
        TENON_INDEPENDENT
        for (int64_t j = 0; j < wide; ++j) sums[j] += x[at + j];
      }
      for (int64_t j = 0; at + j < end; ++j) sums[j] += x[at + j];
      TENON_INDEPENDENT
      for (int64_t j = 0; j < wide; ++j) totals[j] += static_cast<double>(sums[j]);
    }
    for (int64_t at = n_columns; at < wide; at += n_columns) {
      for (int64_t j = 0; j < n_columns; ++j) totals[j] += totals[at + j];
    }
    for (int64_t j = 0; j < n_columns; ++j) to[j] = static_cast<T>(totals[j]);
  }
}

void flush_f32(double* sum, const float* x, int64_t n) {
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    sum[i] += x[i];
  }
}

// Neumaier's: the error of each addition, whichever operand is the larger.
void flush_f64(double* sum, double* error, const double* x, int64_t n) {
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const double s = sum[i];
    const double y = x[i];
    const double t = s + y;
    const double lost_y = (s - t) + y;
    const double lost_s = (y - t) + s;
    error[i] += __builtin_fabs(s) >= __builtin_fabs(y) ? lost_y : lost_s;
    sum[i] = t;
  }
}

// log(sum(exp(x - top))) where top is the largest element; NaN where that is not finite: such
// elements have no softmax.
template <typename T>
double log_sum_exp(const T* x, int64_t n, T* largest) {
  constexpr int64_t w = kLanes<T>;
  const T infinity = static_cast<T>(__builtin_inf());
  const T top = fold_floats<Max, T>(x, n);
  *largest = top;
  if (!(top < infinity && top > -infinity)) {
    return __builtin_nan("");
  }
  const Vec<T> shift = broadcast(top);
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += 1024) {
    const int64_t end = n - begin < 1024 ? n : begin + 1024;
    Vec<T> sum = {};
    int64_t i = begin;
    for (; i + w <= end; i += w) {
      sum += Exp::of(load(x + i) - shift);
    }
    if (i < end) {
      const Vec<T> part = Exp::of(load_part(x + i, end - i, top) - shift);
      T lanes[kLanes<T>] = {};
      store_part(lanes, end - i, part);
      sum += load(lanes);
    }
    total += fold_across<Add, T>(sum);
  }
  return __builtin_log(total);
}

// The subtraction of lse in two parts, the first of which is exact for the elements that count: an
// lse of 1000, rounded to float32, would cost the result three digits.
template <typename T>
void exp_minus_lse(T* d, const T* x, double lse, T scale, int64_t n) {
  constexpr int64_t w = kLanes<T>;
  const T high = static_cast<T>(lse);
  const T low = static_cast<T>(lse - high);
  const Vec<T> first = broadcast(high);
  const Vec<T> second = broadcast(low == low ? low : T(0));
  int64_t i = 0;
  for (; i + w <= n; i += w) {
    store(d + i, Exp::of(load(x + i) - first - second) * scale);
  }
  if (i < n) {
    store_part(d + i, n - i, Exp::of(load_part(x + i, n - i, high) - first - second) * scale);
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
