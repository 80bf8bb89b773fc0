// A matrix product on one thread: operands packed in panels, widened to the computing type on the
// way, and a micro kernel that keeps a block of the result in registers (Goto and van de Geijn,
// "Anatomy of high-performance matrix multiplication", 2008).
#pragma once

#include "vector/convert.h"
#include "vector/gemm_thin.h"
#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// Rows and vectors of columns of the block in registers, and the block sizes of the loops around
// it: kDepth * kBlockColumns of b lies in the second or third cache, kBlockRows * kDepth of a in
// the second, a panel of b in the first.
#if defined(__AVX512F__)
constexpr int kRows = 12, kVectors = 2;
#elif defined(__AVX2__)
constexpr int kRows = 4, kVectors = 3;
#else
constexpr int kRows = 4, kVectors = 2;
#endif
constexpr int64_t kDepth = 240, kBlockRows = 192;
template <typename T>
constexpr int64_t kPanel = kVectors* kLanes<T>;
template <typename T>
constexpr int64_t kBlockColumns = kPanel<T>*(4096 / (kPanel<T> * static_cast<int64_t>(sizeof(T))));

template <typename T>
struct Four {
  typedef T type __attribute__((vector_size(4 * sizeof(T))));
  typedef T unaligned __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
};
template <typename T>
struct Mask;
template <>
struct Mask<float> {
  using type = Four<int32_t>::type;
};
template <>
struct Mask<double> {
  using type = Four<int64_t>::type;
};

// d[j * pitch + i] = s[i * stride + j] for i, j < 4.
template <typename T>
TENON_INLINE void transpose_4x4(T* d, int64_t pitch, const T* s, int64_t stride) {
  using V = typename Four<T>::unaligned;
  using M = typename Mask<T>::type;
  using W = typename Four<T>::type;
  const W r0 = *reinterpret_cast<const V*>(s);
  const W r1 = *reinterpret_cast<const V*>(s + stride);
  const W r2 = *reinterpret_cast<const V*>(s + 2 * stride);
  const W r3 = *reinterpret_cast<const V*>(s + 3 * stride);
  const W a = __builtin_shuffle(r0, r1, M{0, 4, 1, 5});
  const W b = __builtin_shuffle(r0, r1, M{2, 6, 3, 7});
  const W c = __builtin_shuffle(r2, r3, M{0, 4, 1, 5});
  const W e = __builtin_shuffle(r2, r3, M{2, 6, 3, 7});
  *reinterpret_cast<V*>(d) = __builtin_shuffle(a, c, M{0, 1, 4, 5});
  *reinterpret_cast<V*>(d + pitch) = __builtin_shuffle(a, c, M{2, 3, 6, 7});
  *reinterpret_cast<V*>(d + 2 * pitch) = __builtin_shuffle(b, e, M{0, 1, 4, 5});
  *reinterpret_cast<V*>(d + 3 * pitch) = __builtin_shuffle(b, e, M{2, 3, 6, 7});
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
    if (along == 1) {
      for (; i + 4 <= count; i += 4) {
        int64_t p = 0;
        for (; p + 4 <= depth; p += 4) {
          transpose_4x4<T>(panel + p * pitch + i, pitch, s + i * across + p, across);
        }
        for (; p < depth; ++p) {
          for (int64_t j = i; j < i + 4; ++j) {
            panel[p * pitch + j] = s[j * across + p];
          }
        }
      }
    }
  }
  if (across == 1 && count == kPanel<T> && pitch == kPanel<T>) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t j = 0; j < kPanel<T>; ++j) {
        panel[p * kPanel<T> + j] = Format<D>::widen(s[p * along + j]);
      }
    }
    return;
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

// What a micro kernel does with its sums: the first block of depth writes c, the others add to it,
// the last finishes.
template <typename T>
struct Finish {
  bool first, last, relu;
  const T* bias;  // dense, of these columns, or NULL
};

template <typename T>
TENON_INLINE Vec<T> finished(Vec<T> sum, Vec<T> old, Vec<T> bias, const Finish<T>& f) {
  if (!f.first) {
    sum += old;
  }
  if (f.last) {
    sum += bias;
    if (f.relu) {
      const Vec<T> zero = {};
      sum = sum < zero ? zero : sum;  // NaN stays
    }
  }
  return sum;
}

// c[R, V vectors] from a panel of a (pitch R) and rows of b that lie b_row apart. `rows` and
// `columns` of it are stored.
template <typename T, int R, int V>
void micro(int64_t depth, const T* a, const T* b, int64_t b_row, T* c, int64_t c_row, int64_t rows,
           int64_t columns, const Finish<T>& f) {
  constexpr int w = kLanes<T>;
  Vec<T> sum[R][V];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      sum[i][v] = Vec<T>{};
    }
  }
  for (int64_t p = 0; p < depth; ++p) {
    Vec<T> y[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      y[v] = load(b + v * w);
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        sum[i][v] += a[i] * y[v];
      }
    }
    a += R;
    b += b_row;
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const int64_t left = columns - v * w;
    if (left <= 0) {
      break;
    }
    const bool whole = left >= w;
    Vec<T> bias = {};
    if (f.last && f.bias) {
      bias = whole ? load(f.bias + v * w) : load_part(f.bias + v * w, left, T(0));
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      if (i < rows) {
        T* to = c + i * c_row + v * w;
        const Vec<T> none = {};
        if (whole) {
          store(to, finished<T>(sum[i][v], f.first ? none : load(to), bias, f));
        } else {
          store_part(to, left,
                     finished<T>(sum[i][v], f.first ? none : load_part(to, left, T(0)), bias, f));
        }
      }
    }
  }
}

// A row of blocks: the panel of a has R rows; V by the columns that are left.
template <typename T, int R>
TENON_INLINE void micro_columns(int64_t depth, const T* a, const T* b, int64_t b_row, T* c,
                                int64_t c_row, int64_t rows, int64_t columns, const Finish<T>& f) {
  if (columns <= kLanes<T>) {
    micro<T, R, 1>(depth, a, b, b_row, c, c_row, rows, columns, f);
  } else {
    micro<T, R, kVectors>(depth, a, b, b_row, c, c_row, rows, columns, f);
  }
}

template <typename T>
TENON_INLINE int64_t panel_rows(int64_t left) {
  return left >= kRows ? kRows : (left + 3) / 4 * 4;
}

template <typename T>
TENON_INLINE void micro_any(int64_t pitch, int64_t depth, const T* a, const T* b, int64_t b_row,
                            T* c, int64_t c_row, int64_t rows, int64_t columns,
                            const Finish<T>& f) {
  if (pitch == 4) {
    micro_columns<T, 4>(depth, a, b, b_row, c, c_row, rows, columns, f);
  }
#if defined(__AVX512F__)
  else if (pitch == 8) {
    micro_columns<T, 8>(depth, a, b, b_row, c, c_row, rows, columns, f);
  } else {
    micro_columns<T, 12>(depth, a, b, b_row, c, c_row, rows, columns, f);
  }
#endif
}

TENON_INLINE int64_t up_to(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// b is read in place when packing it would cost as much as the product (rows of a in one panel or
// two) and it stays in the second cache, where the strides between its rows do no harm.
template <tn_dtype D, typename T>
TENON_INLINE bool reads_b_in_place(const GemmArgs& g) {
  constexpr int64_t kSecondCache = 1 << 20;
  return __is_same(typename Format<D>::Element, T) && g.b_column == 1 && g.m <= 2 * kRows &&
         g.k * g.n * static_cast<int64_t>(sizeof(T)) <= kSecondCache;
}

// The scratch: a's block, b's block, the bias, and c in the computing type where c itself is of
// another or not dense.
template <typename T>
struct Scratch {
  int64_t a, b, bias, c, bytes;
  Scratch(int64_t m, int64_t n, int64_t k, bool own_c) {
    const int64_t size = sizeof(T);
    const int64_t depth = smaller(k, kDepth);
    a = 0;
    b = up_to(up_to(smaller(m, kBlockRows), kRows) * depth * size, 64);
    bias = b + up_to(up_to(smaller(n, kBlockColumns<T>), kPanel<T>) * depth * size, 64);
    c = bias + up_to(up_to(n, kPanel<T>) * size, 64);
    bytes = c + (own_c ? up_to(m * n * size, 64) : 0);
  }
};

template <tn_dtype D, typename T>
TENON_INLINE void widen_bias(const GemmArgs& g, T* bias) {
  using Element = typename Format<D>::Element;
  for (int64_t j = 0; j < g.n; ++j) {
    bias[j] = Format<D>::widen(static_cast<const Element*>(g.bias)[j * g.bias_stride]);
  }
}

// Writes the result from the scratch, where its rows are dense.
template <tn_dtype D, typename T>
TENON_INLINE void narrow_result(const GemmArgs& g, const T* c) {
  using Element = typename Format<D>::Element;
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t j = 0; j < g.n; ++j) {
      static_cast<Element*>(g.c)[i * g.c_row + j * g.c_column] = Format<D>::narrow(c[i * g.n + j]);
    }
  }
}

// Packs `depth` rows of b from p0 on, `columns` from j0 on: what is read in place only at its edge.
template <tn_dtype D, typename T>
TENON_INLINE void pack_b(const GemmArgs& g, bool in_place, int64_t j0, int64_t columns, int64_t p0,
                         int64_t depth, T* b_block) {
  for (int64_t j = 0; j < columns; j += kPanel<T>) {
    const int64_t width = smaller(columns - j, kPanel<T>);
    if (!in_place || width < kPanel<T>) {
      pack_panel<D, T>(b_block + j * depth, kPanel<T>, g.b, (j0 + j) * g.b_column + p0 * g.b_row,
                       g.b_column, g.b_row, width, depth);
    }
  }
}

template <tn_dtype D, typename T>
void gemm_of(const GemmArgs& g) {
  using Element = typename Format<D>::Element;
  if constexpr (__is_same(Element, T)) {
    if (g.m <= 4 && g.b_row == 1 && g.a_column == 1) {
      return gemm_dots<T>(g);
    }
    if (g.m <= 4 && g.b_column == 1 && g.c_column == 1) {
      return gemm_rows<T>(g);
    }
  }
  const bool own_c = !__is_same(Element, T) || g.c_column != 1;
  const Scratch<T> at(g.m, g.n, g.k, own_c);
  T* const a_block = reinterpret_cast<T*>(g.scratch + at.a);
  T* const b_block = reinterpret_cast<T*>(g.scratch + at.b);
  T* const bias = reinterpret_cast<T*>(g.scratch + at.bias);
  T* const c = own_c ? reinterpret_cast<T*>(g.scratch + at.c) : static_cast<T*>(g.c);
  const int64_t c_row = own_c ? g.n : g.c_row;
  if (g.bias) {
    widen_bias<D>(g, bias);
  }
  const bool in_place = reads_b_in_place<D, T>(g);
  for (int64_t j0 = 0; j0 < g.n; j0 += kBlockColumns<T>) {
    const int64_t columns = smaller(g.n - j0, kBlockColumns<T>);
    int64_t p0 = 0;
    do {  // once for k = 0 too: the sums are zero then
      const int64_t depth = smaller(g.k - p0, kDepth);
      pack_b<D>(g, in_place, j0, columns, p0, depth, b_block);
      for (int64_t i0 = 0; i0 < g.m; i0 += kBlockRows) {
        const int64_t rows = smaller(g.m - i0, kBlockRows);
        for (int64_t i = 0; i < rows; i += kRows) {
          pack_panel<D, T>(a_block + i * depth, panel_rows<T>(rows - i), g.a,
                           (i0 + i) * g.a_row + p0 * g.a_column, g.a_row, g.a_column,
                           smaller(rows - i, kRows), depth);
        }
        for (int64_t j = 0; j < columns; j += kPanel<T>) {
          const int64_t width = smaller(columns - j, kPanel<T>);
          const bool there = in_place && width == kPanel<T>;
          const T* b =
              there ? static_cast<const T*>(g.b) + (j0 + j) + p0 * g.b_row : b_block + j * depth;
          const Finish<T> f = {p0 == 0, p0 + depth == g.k, g.relu,
                               g.bias ? bias + j0 + j : nullptr};
          for (int64_t i = 0; i < rows; i += kRows) {
            micro_any<T>(panel_rows<T>(rows - i), depth, a_block + i * depth, b,
                         there ? g.b_row : kPanel<T>, c + (i0 + i) * c_row + j0 + j, c_row,
                         smaller(rows - i, kRows), width, f);
          }
        }
      }
      p0 += depth;
    } while (p0 < g.k);
  }
  if (own_c) {
    narrow_result<D>(g, c);
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
