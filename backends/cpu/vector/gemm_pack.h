// Panels of operands of a matrix product, in the order in which a micro kernel reads them.
#pragma once

#include "vector/convert.h"
#include "vector/lanes.h"

namespace tenon::cpu_backend {
namespace {

// Rows and vectors of columns of the block of the result that a micro kernel keeps in registers.
#if defined(__AVX512F__)
constexpr int kRows = 12, kVectors = 2;
#elif defined(__AVX2__)
constexpr int kRows = 4, kVectors = 3;
#else
constexpr int kRows = 4, kVectors = 2;
#endif
template <typename T>
constexpr int64_t kPanel = kVectors* kLanes<T>;
template <typename T>
struct Four {
  typedef T type __attribute__((vector_size(4 * sizeof(T))));
  typedef T unaligned __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
};

// d[j * pitch + i] = s[i * stride + j] for i, j < 4.
template <typename T>
TENON_INLINE void transpose_4x4(T* d, int64_t pitch, const T* s, int64_t stride) {
  using V = typename Four<T>::unaligned;
  using W = typename Four<T>::type;
  const W r0 = *reinterpret_cast<const V*>(s);
  const W r1 = *reinterpret_cast<const V*>(s + stride);
  const W r2 = *reinterpret_cast<const V*>(s + 2 * stride);
  const W r3 = *reinterpret_cast<const V*>(s + 3 * stride);
  const W a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const W b = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const W c = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const W e = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  *reinterpret_cast<V*>(d) = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  *reinterpret_cast<V*>(d + pitch) = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  *reinterpret_cast<V*>(d + 2 * pitch) = __builtin_shufflevector(b, e, 0, 1, 4, 5);
  *reinterpret_cast<V*>(d + 3 * pitch) = __builtin_shufflevector(b, e, 2, 3, 6, 7);
}

// The same for j < kTurned, which is a vector of floats where that holds several blocks of 4.
#if defined(__AVX512F__)
constexpr int64_t kTurned = 16;
TENON_INLINE Vec<float> interleave_low(Vec<float> x, Vec<float> y) {
  return __builtin_shufflevector(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
}
TENON_INLINE Vec<float> interleave_high(Vec<float> x, Vec<float> y) {
  return __builtin_shufflevector(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
}
TENON_INLINE Vec<float> pairs_low(Vec<float> x, Vec<float> y) {
  return __builtin_shufflevector(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}
TENON_INLINE Vec<float> pairs_high(Vec<float> x, Vec<float> y) {
  return __builtin_shufflevector(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}
TENON_INLINE void turn(float* d, int64_t pitch, const float* s, int64_t stride) {
  using V = Four<float>::unaligned;
  const Vec<float> r0 = load(s), r1 = load(s + stride), r2 = load(s + 2 * stride),
                   r3 = load(s + 3 * stride);
  const Vec<float> a = interleave_low(r0, r1), b = interleave_high(r0, r1),
                   c = interleave_low(r2, r3), e = interleave_high(r2, r3);
  const Vec<float> columns[4] = {pairs_low(a, c), pairs_high(a, c), pairs_low(b, e),
                                 pairs_high(b, e)};
#pragma GCC unroll 4
  for (int64_t j = 0; j < 4; ++j) {  // its parts are columns j, j + 4, j + 8 and j + 12
    const Vec<float> v = columns[j];
    float* const to = d + j * pitch;
    *reinterpret_cast<V*>(to) = __builtin_shufflevector(v, v, 0, 1, 2, 3);
    *reinterpret_cast<V*>(to + 4 * pitch) = __builtin_shufflevector(v, v, 4, 5, 6, 7);
    *reinterpret_cast<V*>(to + 8 * pitch) = __builtin_shufflevector(v, v, 8, 9, 10, 11);
    *reinterpret_cast<V*>(to + 12 * pitch) = __builtin_shufflevector(v, v, 12, 13, 14, 15);
  }
}
#else
constexpr int64_t kTurned = 4;
TENON_INLINE void turn(float* d, int64_t pitch, const float* s, int64_t stride) {
  transpose_4x4<float>(d, pitch, s, stride);
}
#endif
TENON_INLINE void turn(double* d, int64_t pitch, const double* s, int64_t stride) {
  for (int64_t j = 0; j < kTurned; j += 4) {
    transpose_4x4<double>(d + j * pitch, pitch, s + j, stride);
  }
}

// Four rows of a panel from rows that are dense. Those behind them are asked for meanwhile: each is
// a page of its own, which the processor does not foresee.
template <typename T>
TENON_INLINE void pack_four(T* panel, int64_t pitch, const T* s, int64_t across, int64_t depth) {
  int64_t p = 0;
  for (; p + kTurned <= depth; p += kTurned) {
    for (int64_t i = 4; i < 8; ++i) {
      __builtin_prefetch(s + i * across + p);
    }
    turn(panel + p * pitch, pitch, s + p, across);
  }
  for (; p < depth; ++p) {
    for (int64_t i = 0; i < 4; ++i) {
      panel[p * pitch + i] = s[i * across + p];
    }
  }
}

// Whole panels of rows that are dense across them, a row at a time: a row is several pages from the
// next, and of a panel's part of it a processor would read the rest in vain.
template <tn_dtype D, typename T, int64_t kPitch>
void pack_rows(T* panels, const typename Format<D>::Element* s, int64_t along, int64_t n_panels,
               int64_t depth) {
  constexpr int64_t kAhead = 2, kLine = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t p = 0; p < depth; ++p, s += along) {
    for (int64_t i = 0; i < n_panels; ++i) {
      for (int64_t j = 0; j < kPitch; j += kLine) {
        __builtin_prefetch(s + kAhead * along + i * kPitch + j);
      }
      T* const row = panels + (i * depth + p) * kPitch;
      for (int64_t j = 0; j < kPitch; ++j) {
        row[j] = Format<D>::widen(s[i * kPitch + j]);
      }
    }
  }
}

// panel[p * pitch + i] = s[i * across + p * along] for i < count, p < depth; zeros for i in [count,
// pitch).
template <tn_dtype D, typename T>
void pack_panel(T* panel, int64_t pitch, const void* source, int64_t offset, int64_t across,
                int64_t along, int64_t count, int64_t depth) {
  using Element = typename Format<D>::Element;
  const Element* s = static_cast<const Element*>(source) + offset;
  int64_t i = 0;
  if constexpr (__is_same(Element, T)) {
    for (; along == 1 && i + 4 <= count; i += 4) {
      pack_four(panel + i, pitch, s + i * across, across, depth);
    }
  }
  for (int64_t p = 0; p < depth && i < pitch; ++p) {
    for (int64_t j = i; j < count; ++j) {
      panel[p * pitch + j] = Format<D>::widen(s[j * across + p * along]);
    }
    for (int64_t j = count > i ? count : i; j < pitch; ++j) {
      panel[p * pitch + j] = 0;
    }
  }
}

// Rows of a's panel, of those that are left.
TENON_INLINE int64_t panel_rows(int64_t left) { return left >= kRows ? kRows : (left + 3) / 4 * 4; }

// The panels of a block of `count`.
template <tn_dtype D, typename T, int64_t kPitch, typename Pitch>
TENON_INLINE void pack_panels(T* block, const void* source, int64_t offset, int64_t across,
                              int64_t along, int64_t count, int64_t depth, const Pitch& pitch_of) {
  using Element = typename Format<D>::Element;
  int64_t i = 0;
  if (across == 1) {
    pack_rows<D, T, kPitch>(block, static_cast<const Element*>(source) + offset, along,
                            count / kPitch, depth);
    i = count / kPitch * kPitch;
  }
  for (; i < count; i += kPitch) {
    pack_panel<D, T>(block + i * depth, pitch_of(count - i), source, offset + i * across, across,
                     along, count - i < kPitch ? count - i : kPitch, depth);
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
