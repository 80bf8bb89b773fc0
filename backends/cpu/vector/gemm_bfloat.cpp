// Matrix products of bfloat16 on one thread, for processors that multiply it themselves: VDPBF16PS
// multiplies two elements along the depth at once and adds both to a sum in float32, so it does
// twice the work of a product of floats. Panels hold such pairs. All else is of the table for
// AVX-512.
#include "vector/convert.h"
#include "vector/gemm_pack.h"
#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// The loops around the micro kernel, as in gemm.h; the depth is counted in pairs.
constexpr int64_t kPairs = 256, kPairRows = 192, kPairColumns = 1024, kPairLanes = 16;
constexpr int64_t kPairPanel = kVectors * kPairLanes;

TENON_INLINE __mmask16 lanes_below(int64_t n) {
  return static_cast<__mmask16>(n >= kPairLanes ? 0xffffu : n <= 0 ? 0u : (1u << n) - 1);
}

// Intrinsics without a mask warn of uninitialized lanes, which there are none of.
constexpr __mmask16 kAll = 0xffff;
TENON_INLINE __m512i widened(__m256i x) { return _mm512_maskz_cvtepu16_epi32(kAll, x); }

TENON_INLINE uint32_t pair_at(const uint16_t* s, int64_t along, bool both) {
  return s[0] | (both ? static_cast<uint32_t>(s[along]) << 16 : 0u);
}

// panel[p * pitch + i] = elements 2 p and 2 p + 1 of line i, for the lines that are there, and zeros
// for those behind them, up to the pitch. An element behind the depth is zero, too, in both operands.
void pack_lines(uint32_t* panel, int64_t pitch, const uint16_t* s, int64_t across, int64_t along,
                int64_t count, int64_t depth) {
  const int64_t pairs = (depth + 1) / 2;
  int64_t i = 0;
  if (along == 1 && across % 2 == 0 && reinterpret_cast<uintptr_t>(s) % sizeof(float) == 0) {
    for (; i + 4 <= count; i += 4) {  // pairs are moved as if they were floats
      pack_four(reinterpret_cast<float*>(panel) + i, pitch,
                reinterpret_cast<const float*>(s + i * across), across / 2, depth / 2);
      for (int64_t j = i; depth % 2 == 1 && j < i + 4; ++j) {
        panel[(pairs - 1) * pitch + j] = s[j * across + depth - 1];
      }
    }
  }
  for (; i < pitch; ++i) {
    for (int64_t p = 0; p < pairs; ++p) {
      const uint16_t* const from = s + i * across + 2 * p * along;
      panel[p * pitch + i] = i < count ? pair_at(from, along, 2 * p + 1 < depth) : 0;
    }
  }
}

// The same for a block of panels whose lines lie side by side: two rows of memory become one.
template <int64_t kPitch, typename Pitch>
TENON_INLINE void pack_side_by_side(uint32_t* block, const uint16_t* s, int64_t along,
                                    int64_t count, int64_t depth, const Pitch& pitch_of) {
  const int64_t pairs = (depth + 1) / 2;
  for (int64_t p = 0; p < pairs; ++p, s += 2 * along) {
    const bool both = 2 * p + 1 < depth;
    for (int64_t i = 0; i < count; i += kPitch) {
      const int64_t pitch = pitch_of(count - i);
      uint32_t* const row = block + i * pairs + p * pitch;
      for (int64_t j = 0; j < pitch; j += kPairLanes) {
        const __mmask16 there = lanes_below(count - i - j);
        const __m512i low = widened(_mm256_maskz_loadu_epi16(there, s + i + j));
        const __m512i high =
            widened(_mm256_maskz_loadu_epi16(both ? there : __mmask16(0), s + along + i + j));
        _mm512_mask_storeu_epi32(row + j, lanes_below(pitch - j),
                                 low | _mm512_maskz_slli_epi32(kAll, high, 16));
      }
    }
  }
}

template <int64_t kPitch, typename Pitch>
TENON_INLINE void pack_pairs(uint32_t* block, const uint16_t* s, int64_t across, int64_t along,
                             int64_t count, int64_t depth, const Pitch& pitch_of) {
  if (across == 1) {
    return pack_side_by_side<kPitch>(block, s, along, count, depth, pitch_of);
  }
  const int64_t pairs = (depth + 1) / 2;
  for (int64_t i = 0; i < count; i += kPitch) {
    pack_lines(block + i * pairs, pitch_of(count - i), s + i * across, across, along,
               smaller(count - i, kPitch), depth);
  }
}

// Where the sums of a micro kernel go: floats that wait for the rest of the depth, or that lie
// elsewhere in c in the end; and at the end rows of c, where its columns are dense.
struct PairSums {
  float* sums;  // of this block's first element
  uint16_t* c;  // likewise, or NULL
  int64_t sums_row, c_row;
  const float* bias;  // or NULL
  bool first, last, relu;
};

template <int R, int V>
void micro_pairs(int64_t pairs, const uint32_t* a, const uint32_t* b, const PairSums& to,
                 int64_t rows, int64_t columns) {
  __m512 sum[R][V];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      sum[i][v] = _mm512_setzero_ps();
    }
  }
  for (int64_t p = 0; p < pairs; ++p, a += R, b += kPairPanel) {
    __m512i y[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      y[v] = _mm512_loadu_si512(b + v * kPairLanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const __m512i x = _mm512_set1_epi32(static_cast<int>(a[i]));
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        sum[i][v] = _mm512_dpbf16_ps(sum[i][v], (__m512bh)x, (__m512bh)y[v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    const __mmask16 there = lanes_below(columns - v * kPairLanes);
    const __m512 bias = to.last && to.bias ? _mm512_maskz_loadu_ps(there, to.bias + v * kPairLanes)
                                           : _mm512_setzero_ps();
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      if (i < rows) {
        float* const sums = to.sums + i * to.sums_row + v * kPairLanes;
        __m512 x = sum[i][v];
        if (!to.first) {
          x += _mm512_maskz_loadu_ps(there, sums);
        }
        if (to.last) {
          x += bias;
          if (to.relu) {
            const __m512 zero = _mm512_setzero_ps();
            x = x < zero ? zero : x;  // NaN stays
          }
        }
        if (to.last && to.c) {
          _mm256_mask_storeu_epi16(to.c + i * to.c_row + v * kPairLanes, there,
                                   (__m256i)_mm512_cvtneps_pbh(x));
        } else {
          _mm512_mask_storeu_ps(sums, there, x);
        }
      }
    }
  }
}

template <int R>
TENON_INLINE void micro_pair_columns(int64_t pairs, const uint32_t* a, const uint32_t* b,
                                     const PairSums& to, int64_t rows, int64_t columns) {
  if (columns <= kPairLanes) {
    micro_pairs<R, 1>(pairs, a, b, to, rows, columns);
  } else {
    micro_pairs<R, kVectors>(pairs, a, b, to, rows, columns);
  }
}

// The scratch: blocks of a and b, the bias, and the sums.
struct PairScratch {
  int64_t a, b, bias, sums, bytes;
  PairScratch(int64_t m, int64_t n, int64_t k) {
    const int64_t pairs = smaller((k + 1) / 2, kPairs);
    a = 0;
    b = up_to(up_to(smaller(m, kPairRows), kRows) * pairs * 4, 64);
    bias = b + up_to(up_to(smaller(n, kPairColumns), kPairPanel) * pairs * 4, 64);
    sums = bias + up_to(up_to(n, kPairPanel) * 4, 64);
    bytes = sums + up_to(m * n * 4, 64);
  }
};

// A block of rows against a block of columns.
TENON_INLINE void multiply_blocks(int64_t pairs, const uint32_t* a, const uint32_t* b, int64_t rows,
                                  int64_t columns, const PairSums& whole) {
  for (int64_t j = 0; j < columns; j += kPairPanel) {
    for (int64_t i = 0; i < rows; i += kRows) {
      PairSums to = whole;
      to.sums += i * to.sums_row + j;
      to.c = to.c ? to.c + i * to.c_row + j : nullptr;
      to.bias = to.bias ? to.bias + j : nullptr;
      const int64_t height = smaller(rows - i, kRows), width = smaller(columns - j, kPairPanel);
      const uint32_t* const x = a + i * pairs;
      const uint32_t* const y = b + j * pairs;
      const int64_t pitch = panel_rows(height);
      if (pitch == 4) {
        micro_pair_columns<4>(pairs, x, y, to, height, width);
      } else if (pitch == 8) {
        micro_pair_columns<8>(pairs, x, y, to, height, width);
      } else {
        micro_pair_columns<12>(pairs, x, y, to, height, width);
      }
    }
  }
}

void gemm_bfloat(const GemmArgs& g) {
  const PairScratch at(g.m, g.n, g.k);
  uint32_t* const a_block = reinterpret_cast<uint32_t*>(g.scratch + at.a);
  uint32_t* const b_block = reinterpret_cast<uint32_t*>(g.scratch + at.b);
  float* const bias = reinterpret_cast<float*>(g.scratch + at.bias);
  float* const sums = reinterpret_cast<float*>(g.scratch + at.sums);
  const uint16_t* const a = static_cast<const uint16_t*>(g.a);
  const uint16_t* const b = static_cast<const uint16_t*>(g.b);
  uint16_t* const c = static_cast<uint16_t*>(g.c);
  const bool dense = g.c_column == 1;
  for (int64_t j = 0; g.bias && j < g.n; ++j) {
    bias[j] = bfloat_to_float(static_cast<const uint16_t*>(g.bias)[j * g.bias_stride]);
  }
  for (int64_t j0 = 0; j0 < g.n; j0 += kPairColumns) {
    const int64_t columns = smaller(g.n - j0, kPairColumns);
    int64_t p0 = 0;
    do {  // once for k = 0 too: the sums are zero then
      const int64_t depth = smaller(g.k - p0, 2 * kPairs), pairs = (depth + 1) / 2;
      pack_pairs<kPairPanel>(b_block, b + j0 * g.b_column + p0 * g.b_row, g.b_column, g.b_row,
                             columns, depth, [](int64_t) { return kPairPanel; });
      for (int64_t i0 = 0; i0 < g.m; i0 += kPairRows) {
        const int64_t rows = smaller(g.m - i0, kPairRows);
        pack_pairs<kRows>(a_block, a + i0 * g.a_row + p0 * g.a_column, g.a_row, g.a_column, rows,
                          depth, panel_rows);
        multiply_blocks(
            pairs, a_block, b_block, rows, columns,
            {sums + i0 * g.n + j0, dense ? c + i0 * g.c_row + j0 : nullptr, g.n, g.c_row,
             g.bias ? bias + j0 : nullptr, p0 == 0, p0 + depth == g.k, g.relu});
      }
      p0 += depth;
    } while (p0 < g.k);
  }
  for (int64_t i = 0; !dense && i < g.m; ++i) {
    for (int64_t j = 0; j < g.n; ++j) {
      c[i * g.c_row + j * g.c_column] = float_to_bfloat(sums[i * g.n + j]);
    }
  }
}

int64_t scratch(int64_t m, int64_t n, int64_t k) { return PairScratch(m, n, k).bytes; }

}  // namespace

constinit const BfloatFunctions kBfloatFunctions = {gemm_bfloat, scratch};

}  // namespace tenon::cpu_backend
