// A matrix product on one thread: operands packed in panels, widened to the computing type on the
// way, and a micro kernel that keeps a block of the result in registers (Goto and van de Geijn,
// "Anatomy of high-performance matrix multiplication", 2008).
#pragma once

#include "vector/convert.h"
#include "vector/gemm_micro.h"
#include "vector/gemm_narrow.h"
#include "vector/gemm_pack.h"
#include "vector/gemm_thin.h"
#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// Sizes of the loops around a micro kernel: a block's depth, of kDepth or 256 at most, times
// kBlockColumns of b lies in the second or third cache, kBlockRows times that depth of a in the
// second, a panel of b in the first.
constexpr int64_t kDepth = 240, kBlockRows = 192;
// The depth of the blocks of a sum of k. They are of about one depth: each block reads and writes
// all of c, and a short one at the end would not be worth that. 256 is a frequent width, and fits.
TENON_INLINE int64_t block_depth(int64_t k) {
  if (k <= 256) return k;
  const int64_t blocks = (k + kDepth - 1) / kDepth;
  return up_to((k + blocks - 1) / blocks, 4);
}
template <typename T>
constexpr int64_t kBlockColumns = kPanel<T>*(4096 / (kPanel<T> * static_cast<int64_t>(sizeof(T))));

// V by the columns that are left.
template <typename T, int R>
TENON_INLINE void micro_columns(int64_t depth, const Operands<T>& from, T* c, int64_t c_row,
                                int64_t rows, int64_t columns, const Finish<T>& f) {
  if (columns <= kLanes<T>) {
    micro<T, R, 1>(depth, from, c, c_row, rows, columns, f);
  } else {
    micro<T, R, kVectors>(depth, from, c, c_row, rows, columns, f);
  }
}

template <typename T>
TENON_INLINE void micro_any(int64_t depth, const Operands<T>& from, T* c, int64_t c_row,
                            int64_t rows, int64_t columns, const Finish<T>& f) {
  const int64_t pitch = panel_rows(rows);
  if (pitch == 4) {
    micro_columns<T, 4>(depth, from, c, c_row, rows, columns, f);
  }
#if defined(__AVX512F__)
  else if (pitch == 8) {
    micro_columns<T, 8>(depth, from, c, c_row, rows, columns, f);
  } else {
    micro_columns<T, 12>(depth, from, c, c_row, rows, columns, f);
  }
#endif
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
    const int64_t depth = block_depth(k);
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
  const int64_t there = in_place ? columns / kPanel<T> * kPanel<T> : 0;
  pack_panels<D, T, kPanel<T>>(b_block + there * depth, g.b,
                               (j0 + there) * g.b_column + p0 * g.b_row, g.b_column, g.b_row,
                               columns - there, depth, [](int64_t) { return kPanel<T>; });
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
#if defined(__AVX512F__)
    if (g.narrow) {
      return gemm_narrow<D, T>(g);
    }
#endif
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
  const int64_t most = block_depth(g.k);
  for (int64_t j0 = 0; j0 < g.n; j0 += kBlockColumns<T>) {
    const int64_t columns = smaller(g.n - j0, kBlockColumns<T>);
    int64_t p0 = 0;
    do {  // once for k = 0 too: the sums are zero then
      const int64_t depth = smaller(g.k - p0, most);
      pack_b<D>(g, in_place, j0, columns, p0, depth, b_block);
      for (int64_t i0 = 0; i0 < g.m; i0 += kBlockRows) {
        const int64_t rows = smaller(g.m - i0, kBlockRows);
        pack_panels<D, T, kRows>(a_block, g.a, i0 * g.a_row + p0 * g.a_column, g.a_row, g.a_column,
                                 rows, depth, panel_rows);
        for (int64_t j = 0; j < columns; j += kPanel<T>) {
          const int64_t width = smaller(columns - j, kPanel<T>);
          const bool there = in_place && width == kPanel<T>;
          const T* b =
              there ? static_cast<const T*>(g.b) + (j0 + j) + p0 * g.b_row : b_block + j * depth;
          const Finish<T> f = {p0 == 0, p0 + depth == g.k, g.relu,
                               g.bias ? bias + j0 + j : nullptr};
          for (int64_t i = 0; i < rows; i += kRows) {
            micro_any<T>(depth, {a_block + i * depth, b, 0, there ? g.b_row : kPanel<T>},
                         c + (i0 + i) * c_row + j0 + j, c_row, smaller(rows - i, kRows), width, f);
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
