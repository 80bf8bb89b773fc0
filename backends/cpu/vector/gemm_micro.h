// The inner loop of matrix products: a block of the result in registers.
#pragma once

#include "vector/gemm_pack.h"
#include "vector/lanes.h"

namespace tenon::cpu_backend {
namespace {

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

// Where a micro kernel reads: `a` is a panel, or R dense rows that lie a_row apart; rows of b lie
// b_row apart, and vectors behind a panel's b_panel behind it.
template <typename T>
struct Operands {
  const T *a, *b;
  int64_t a_row = 0, b_row = kPanel<T>, b_panel = 0;
};

// c[R, V vectors]; `rows` and `columns` of it are stored.
template <typename T, int R, int V, bool kPanelOfA = true>
void micro(int64_t depth, const Operands<T>& from, T* c, int64_t c_row, int64_t rows,
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
  if (!f.first) {  // old sums come while the new ones are computed
    for (int i = 0; i < R && i < rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        __builtin_prefetch(c + i * c_row + v * w, 1);
      }
    }
  }
  const T *a = from.a, *b = from.b;
  const T* fours[(R + 3) / 4];  // dense rows of a in fours, which one register's multiples reach
  for (int i = 0; i < R; i += 4) {
    fours[i / 4] = a + i * from.a_row;
  }
  for (int64_t p = 0; p < depth; ++p) {
    Vec<T> y[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      y[v] = load(b + v / kVectors * from.b_panel + v % kVectors * w);
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        sum[i][v] += (kPanelOfA ? a[i] : fours[i / 4][i % 4 * from.a_row]) * y[v];
      }
    }
    a += R;
#pragma GCC unroll 4
    for (int i = 0; i < R; i += 4) {
      ++fours[i / 4];
    }
    b += from.b_row;
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

}  // namespace
}  // namespace tenon::cpu_backend
