// Vectors of the instruction set that this file is compiled for, in GCC's vector extension, with
// loads and stores of parts. For the files of vector/ only, which are compiled several times with
// different flags: everything here has internal linkage, and no template or inline function of the
// standard library may be used, for the linker would merge it with that of the other parts of the
// plugin and a processor could meet instructions it does not have.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Independent iterations: an operand is either the destination at the same elements, or elsewhere.
#if defined(__clang__)
#define TENON_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TENON_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define TENON_INLINE __attribute__((always_inline)) inline

namespace tenon::cpu_backend {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
  typedef T unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <typename T>
using Vec = typename VectorOf<T>::type;
template <typename T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

TENON_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
TENON_INLINE int64_t up_to(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

template <typename T>
TENON_INLINE Vec<T> load(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
}
template <typename T>
TENON_INLINE void store(T* p, Vec<T> v) {
  *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = v;
}
template <typename T>
TENON_INLINE Vec<T> broadcast(T x) {
  return x - Vec<T>{};  // exact, and keeps the sign of zero
}

// Elements [0, n) of p, 0 < n <= lanes, and `fill` behind them.
TENON_INLINE Vec<float> load_part(const float* p, int64_t n, float fill) {
#if defined(__AVX512F__)
  return _mm512_mask_loadu_ps(_mm512_set1_ps(fill), static_cast<__mmask16>((1u << n) - 1), p);
#elif defined(__AVX2__)
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lanes);
  return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, mask),
                          _mm256_castsi256_ps(mask));
#else
  Vec<float> v = broadcast(fill);
  for (int64_t i = 0; i < n; ++i) {
    v[i] = p[i];
  }
  return v;
#endif
}

TENON_INLINE Vec<double> load_part(const double* p, int64_t n, double fill) {
#if defined(__AVX512F__)
  return _mm512_mask_loadu_pd(_mm512_set1_pd(fill), static_cast<__mmask8>((1u << n) - 1), p);
#elif defined(__AVX2__)
  const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  return _mm256_blendv_pd(_mm256_set1_pd(fill), _mm256_maskload_pd(p, mask),
                          _mm256_castsi256_pd(mask));
#else
  Vec<double> v = broadcast(fill);
  for (int64_t i = 0; i < n; ++i) {
    v[i] = p[i];
  }
  return v;
#endif
}

TENON_INLINE void store_part(float* p, int64_t n, Vec<float> v) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), v);
#else
  for (int64_t i = 0; i < n; ++i) {
    p[i] = v[i];
  }
#endif
}

TENON_INLINE void store_part(double* p, int64_t n, Vec<double> v) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << n) - 1), v);
#else
  for (int64_t i = 0; i < n; ++i) {
    p[i] = v[i];
  }
#endif
}

}  // namespace
}  // namespace tenon::cpu_backend
