// Matrix products of few columns on one thread, for AVX-512, whose 32 registers hold a block of so
// many columns. Panels of `a` would serve a panel or two of b, so its rows are read where they lie,
// and b's columns of much depth stay in the second cache.
#pragma once

#if defined(__AVX512F__)

#include "vector/gemm_micro.h"
#include "vector/gemm_pack.h"
#include "vector/gemm_thin.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kNarrowDepth = 512, kNarrowBlockRows = 192;

template <typename T>
int64_t narrow_scratch(int64_t n, int64_t k) {
  return smaller(k, kNarrowDepth) * (up_to(n, kPanel<T>) + kRows) * static_cast<int64_t>(sizeof(T));
}

// Where a block of the product is: its rows and its place in the sums.
struct NarrowBlock {
  int64_t row, rows, p0, depth;
};

// The rows of a block against some columns, R rows at a time; those that are left are packed into
// `edge`.
template <typename T, int R, int V>
void narrow_rows(const GemmArgs& g, const NarrowBlock& block, const T* b, int64_t j, T* edge,
                 const Finish<T>& f) {
  const int64_t depth = block.depth, b_panel = depth * kPanel<T>;
  const T* const a = static_cast<const T*>(g.a) + block.row * g.a_row + block.p0;
  T* const c = static_cast<T*>(g.c) + block.row * g.c_row + j;
  const int64_t columns = smaller(g.n - j, V * kLanes<T>), whole = block.rows / R * R;
  for (int64_t i = 0; i < whole; i += R) {
    micro<T, R, V, false>(depth, {a + i * g.a_row, b, g.a_row, kPanel<T>, b_panel}, c + i * g.c_row,
                          g.c_row, R, columns, f);
  }
  if (whole < block.rows) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t i = 0; i < R; ++i) {
        edge[p * R + i] = whole + i < block.rows ? a[(whole + i) * g.a_row + p] : T(0);
      }
    }
    micro<T, R, V>(depth, {edge, b, 0, kPanel<T>, b_panel}, c + whole * g.c_row, g.c_row,
                   block.rows - whole, columns, f);
  }
}

// Rows of `a` and of c are dense.
template <tn_dtype D, typename T>
void gemm_narrow(const GemmArgs& g) {
  constexpr int64_t w = kLanes<T>;
  T* const b = reinterpret_cast<T*>(g.scratch);
  T* const edge = b + smaller(g.k, kNarrowDepth) * up_to(g.n, kPanel<T>);
  T bias[kNarrowColumns];
  for (int64_t j = 0; g.bias && j < g.n; ++j) {
    bias[j] = static_cast<const T*>(g.bias)[j * g.bias_stride];
  }
  NarrowBlock at = {};
  do {  // once for k = 0 too
    at.depth = smaller(g.k - at.p0, kNarrowDepth);
    pack_panels<D, T, kPanel<T>>(b, g.b, at.p0 * g.b_row, g.b_column, g.b_row, g.n, at.depth,
                                 [](int64_t) { return kPanel<T>; });
    for (at.row = 0; at.row < g.m; at.row += kNarrowBlockRows) {
      at.rows = smaller(g.m - at.row, kNarrowBlockRows);
      for (int64_t j = 0; j < g.n; j += 2 * kPanel<T>) {
        const Finish<T> f = {at.p0 == 0, at.p0 + at.depth == g.k, g.relu,
                             g.bias ? bias + j : nullptr};
        const T* const columns = b + j * at.depth;
        const int64_t left = g.n - j;
        if (left > 3 * w) {
          narrow_rows<T, 6, 4>(g, at, columns, j, edge, f);
        } else if (left > 2 * w) {
          narrow_rows<T, 8, 3>(g, at, columns, j, edge, f);
        } else if (left > w) {
          narrow_rows<T, 12, 2>(g, at, columns, j, edge, f);
        } else {
          narrow_rows<T, 12, 1>(g, at, columns, j, edge, f);
        }
      }
    }
    at.p0 += at.depth;
  } while (at.p0 < g.k);
}

}  // namespace
}  // namespace tenon::cpu_backend
#endif
