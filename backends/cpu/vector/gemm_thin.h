// Matrix products of a few rows on one thread, which read b once, where it lies: memory sets their
// speed.
#pragma once

#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// A few rows against rows of b that are dense: b is read once, as it lies, and added to blocks of c
// that stay in the first cache.
template <typename T>
void gemm_rows(const GemmArgs& g) {
  constexpr int w = kLanes<T>;
  constexpr int64_t kBlock = 1024;
  for (int64_t j0 = 0; j0 < g.n; j0 += kBlock) {
    const int64_t columns = smaller(g.n - j0, kBlock);
    for (int64_t p = 0; p == 0 || p < g.k; p += 4) {
      const T* b = static_cast<const T*>(g.b) + p * g.b_row + j0;
      for (int64_t i = 0; i < g.m; ++i) {
        T* c = static_cast<T*>(g.c) + i * g.c_row + j0;
        const T* a = static_cast<const T*>(g.a) + i * g.a_row + p * g.a_column;
        T x[4] = {};
        const T* rows[4];
        for (int64_t t = 0; t < 4; ++t) {
          const bool there = p + t < g.k;
          x[t] = there ? a[t * g.a_column] : T(0);
          rows[t] = there ? b + t * g.b_row : b;
        }
        int64_t j = 0;
        const int64_t n_rows = smaller(g.k - p, 4);
        for (; j + w <= columns && n_rows == 4; j += w) {
          const Vec<T> sum = (load(rows[0] + j) * x[0] + load(rows[1] + j) * x[1]) +
                             (load(rows[2] + j) * x[2] + load(rows[3] + j) * x[3]);
          store(c + j, p == 0 ? sum : load(c + j) + sum);
        }
        for (; j < columns; ++j) {
          T sum = p == 0 ? T(0) : c[j];
          for (int64_t t = 0; t < n_rows; ++t) {
            sum += x[t] * rows[t][j];
          }
          c[j] = sum;
        }
      }
    }
    for (int64_t i = 0; i < g.m && (g.bias || g.relu); ++i) {
      T* c = static_cast<T*>(g.c) + i * g.c_row + j0;
      for (int64_t j = 0; j < columns; ++j) {
        const T sum =
            c[j] + (g.bias ? static_cast<const T*>(g.bias)[(j0 + j) * g.bias_stride] : T(0));
        c[j] = g.relu && sum < 0 ? T(0) : sum;
      }
    }
  }
}

// A few dense rows against dense columns: dot products, four columns at a time.
template <typename T>
void gemm_dots(const GemmArgs& g) {
  constexpr int w = kLanes<T>;
  for (int64_t j = 0; j < g.n; j += 4) {
    const int64_t columns = smaller(g.n - j, 4);
    const T* b[4];
    for (int64_t t = 0; t < 4; ++t) {
      b[t] = static_cast<const T*>(g.b) + (j + smaller(t, columns - 1)) * g.b_column;
    }
    for (int64_t i = 0; i < g.m; ++i) {
      const T* a = static_cast<const T*>(g.a) + i * g.a_row;
      Vec<T> sum[4] = {};
      int64_t p = 0;
      for (; p + w <= g.k; p += w) {
        const Vec<T> x = load(a + p);
#pragma GCC unroll 4
        for (int t = 0; t < 4; ++t) {
          sum[t] += x * load(b[t] + p);
        }
      }
      if (p < g.k) {
        const Vec<T> x = load_part(a + p, g.k - p, T(0));
        for (int t = 0; t < 4; ++t) {
          sum[t] += x * load_part(b[t] + p, g.k - p, T(0));
        }
      }
      for (int64_t t = 0; t < columns; ++t) {
        T lanes[w];
        store(lanes, sum[t]);
        T total = 0;
        for (int lane = 0; lane < w; ++lane) {
          total += lanes[lane];
        }
        if (g.bias) {
          total += static_cast<const T*>(g.bias)[(j + t) * g.bias_stride];
        }
        static_cast<T*>(g.c)[i * g.c_row + (j + t) * g.c_column] =
            g.relu && total < 0 ? T(0) : total;
      }
    }
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
