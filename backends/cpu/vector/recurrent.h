// Steps of recurrent nets in float32: products with a matrix that is packed once for all steps, and
// rows of the cells, forward and backward.
#pragma once

#include "vector/exp.h"
#include "vector/gemm.h"
#include "vector/norm.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// ---- Products ----

int64_t packed_floats(int64_t n, int64_t k) { return up_to(n, kPanel<float>) * k; }

// b [k, n] in panels, a block of depth behind the other.
void pack_for_steps(float* to, const float* b, int64_t b_row, int64_t b_column, int64_t n,
                    int64_t k) {
  const int64_t most = block_depth(k);
  for (int64_t p0 = 0; p0 < k; p0 += most) {
    pack_panels<TN_FLOAT32, float, kPanel<float>>(to + p0 * up_to(n, kPanel<float>), b, p0 * b_row,
                                                  b_column, b_row, n, smaller(k - p0, most),
                                                  [](int64_t) { return kPanel<float>; });
  }
}

// The scratch of multiply_packed: rows that are no whole panel, packed.
int64_t step_scratch_floats(int64_t k) { return kRows * block_depth(k); }

// The rows of the next panel, of those that are left. A step has few rows: if all panels were as
// high as can be, the last one would often have too few rows to keep the processor busy.
TENON_INLINE int64_t next_rows(int64_t left) {
  const int64_t panels = (left + kRows - 1) / kRows;
  return up_to((left + panels - 1) / panels, 4);
}

// A panel of rows that are read where they lie, by a panel of the matrix.
TENON_INLINE void micro_step(int64_t rows, int64_t depth, const Operands<float>& from, float* c,
                             int64_t c_row, int64_t columns, const Finish<float>& f) {
  if (rows == 4) {
    micro<float, 4, kVectors, false>(depth, from, c, c_row, rows, columns, f);
  }
#if defined(__AVX512F__)
  else if (rows == 8) {
    micro<float, 8, kVectors, false>(depth, from, c, c_row, rows, columns, f);
  } else {
    micro<float, 12, kVectors, false>(depth, from, c, c_row, rows, columns, f);
  }
#endif
}

void multiply_packed(const StepProduct& s) {
  const int64_t width = up_to(s.n, kPanel<float>), most = block_depth(s.k);
  for (int64_t p0 = 0; p0 < s.k; p0 += most) {
    const int64_t depth = smaller(s.k - p0, most);
    const Finish<float> f = {p0 == 0 && !s.adds, p0 + depth == s.k, false, nullptr};
    for (int64_t i0 = 0; i0 < s.m; i0 += kBlockRows) {
      const int64_t rows = smaller(s.m - i0, kBlockRows), left = rows % 4;
      const float* const a = s.a + i0 * s.a_row + p0;
      for (int64_t j = 0; j < s.n; j += kPanel<float>) {
        const float* const b = s.packed + p0 * width + j * depth;
        const int64_t columns = smaller(s.n - j, kPanel<float>);
        float* const c = s.c + i0 * s.c_row + j;
        for (int64_t i = 0; i < rows - left; i += next_rows(rows - left - i)) {
          micro_step(next_rows(rows - left - i), depth, {a + i * s.a_row, b, s.a_row},
                     c + i * s.c_row, s.c_row, columns, f);
        }
        if (left == 0) continue;
        const int64_t i = rows - left;
        if (j == 0) {
          pack_panel<TN_FLOAT32, float>(s.scratch, 4, a, i * s.a_row, s.a_row, 1, left, depth);
        }
        micro_any<float>(depth, {s.scratch, b}, c + i * s.c_row, s.c_row, left, columns, f);
      }
    }
  }
}

// ---- Cells ----

TENON_INLINE Vec<float> sigmoid_of(Vec<float> x) { return 1 / (1 + Exp::of(-x)); }

// By exp, which near 0 leaves few digits; there by the series.
TENON_INLINE Vec<float> tanh_of(Vec<float> x) {
  constexpr float kSeries[] = {1,           -0.333333333f, 0.133333333f, -0.05396825f,
                               0.02186949f, -0.008863236f};
  const Vec<float> square = x * x;
  Vec<float> series = broadcast(kSeries[5]);
  for (int i = 5; i-- > 0;) series = series * square + kSeries[i];
  const Vec<float> wide = 1 - 2 / (Exp::of(x + x) + 1);
  return magnitude(x) < 0.3f ? x * series : wide;
}

void lstm_row(const LstmRow& r, int64_t n) {
  each_vector(0, n, [&](int64_t j, int64_t w) {
    const Vec<float> i = sigmoid_of(load_n(r.gates + j, w));
    const Vec<float> f = sigmoid_of(load_n(r.gates + n + j, w));
    const Vec<float> g = tanh_of(load_n(r.gates + 2 * n + j, w));
    const Vec<float> o = sigmoid_of(load_n(r.gates + 3 * n + j, w));
    const Vec<float> c = f * load_n(r.c + j, w) + i * g;
    store_n(r.next_c + j, w, c);
    store_n(r.h + j, w, o * tanh_of(c));
    if (!r.keeps) return;
    store_n(r.gates + j, w, i);
    store_n(r.gates + n + j, w, f);
    store_n(r.gates + 2 * n + j, w, g);
    store_n(r.gates + 3 * n + j, w, o);
  });
}

void lstm_row_dx(const LstmRowGradient& r, int64_t n) {
  each_vector(0, n, [&](int64_t j, int64_t w) {
    const Vec<float> i = load_n(r.gates + j, w), f = load_n(r.gates + n + j, w);
    const Vec<float> g = load_n(r.gates + 2 * n + j, w), o = load_n(r.gates + 3 * n + j, w);
    Vec<float> dh = load_n(r.dh + j, w);
    if (r.dy) dh += load_n(r.dy + j, w);
    const Vec<float> tanh_c = tanh_of(load_n(r.next_c + j, w));
    const Vec<float> dc = load_n(r.dc + j, w) + dh * o * (1 - tanh_c * tanh_c);
    store_n(r.d + j, w, dc * g * i * (1 - i));
    store_n(r.d + n + j, w, dc * load_n(r.c + j, w) * f * (1 - f));
    store_n(r.d + 2 * n + j, w, dc * i * (1 - g * g));
    store_n(r.d + 3 * n + j, w, dh * tanh_c * o * (1 - o));
    store_n(r.dc + j, w, dc * f);
  });
}

// x: r, z, n of the input; then what is kept.
void gru_row(const GruRow& row, int64_t n) {
  each_vector(0, n, [&](int64_t j, int64_t w) {
    const Vec<float> hidden = load_n(row.hidden + 2 * n + j, w);
    const Vec<float> r = sigmoid_of(load_n(row.x + j, w) + load_n(row.hidden + j, w));
    const Vec<float> z = sigmoid_of(load_n(row.x + n + j, w) + load_n(row.hidden + n + j, w));
    const Vec<float> fresh = tanh_of(load_n(row.x + 2 * n + j, w) + r * hidden);
    store_n(row.next + j, w, fresh + z * (load_n(row.h + j, w) - fresh));
    store_n(row.x + j, w, r);
    store_n(row.x + n + j, w, z);
    store_n(row.x + 2 * n + j, w, fresh);
    store_n(row.x + 3 * n + j, w, hidden);
  });
}

void gru_row_dx(const GruRowGradient& row, int64_t n) {
  each_vector(0, n, [&](int64_t j, int64_t w) {
    const Vec<float> r = load_n(row.kept + j, w), z = load_n(row.kept + n + j, w);
    const Vec<float> fresh = load_n(row.kept + 2 * n + j, w);
    Vec<float> dh = load_n(row.dh + j, w);
    if (row.dy) dh += load_n(row.dy + j, w);
    const Vec<float> dn = dh * (1 - z) * (1 - fresh * fresh);
    const Vec<float> dr = dn * load_n(row.kept + 3 * n + j, w) * r * (1 - r);
    const Vec<float> dz = dh * (load_n(row.h + j, w) - fresh) * z * (1 - z);
    float* const both[] = {row.dx, row.dhidden};
    for (float* const d : both) {
      store_n(d + j, w, dr);
      store_n(d + n + j, w, dz);
    }
    store_n(row.dx + 2 * n + j, w, dn);
    store_n(row.dhidden + 2 * n + j, w, dn * r);
    store_n(row.dh + j, w, dh * z);
  });
}

constexpr RecurrentFunctions kRecurrentFunctions = {
    packed_floats, pack_for_steps, step_scratch_floats, multiply_packed, lstm_row,
    lstm_row_dx,   gru_row,        gru_row_dx};

}  // namespace
}  // namespace tenon::cpu_backend
