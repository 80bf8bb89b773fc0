// Sums of weighted elements of a plane at places that a grid names: what sampling an image comes to.
#pragma once

#include "vector/lanes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

// A place within the border, and how it moves with x, which is `slope` inside.
TENON_INLINE void bound_place(float* x, float* slope, float last) {
  const float given = *x;
  *slope = ((given > 0) & (given < last)) ? *slope : 0;
  *x = given > 0 ? (given < last ? given : last) : 0;  // what is no number goes to the first
}

// Beyond twice the span, where rare places lie.
TENON_INLINE void mirror_far_place(float* x, float* slope, const SampleAxis& axis) {
  const float from_low = *x - axis.low, distance = __builtin_fabsf(from_low);
  const float rest = __builtin_fmodf(distance, axis.span);
  const bool turns = __builtin_fmodf(__builtin_floorf(distance / axis.span), 2.f) != 0;
  *slope = turns != (from_low < 0) ? -*slope : *slope;
  *x = turns ? axis.span - rest + axis.low : rest + axis.low;
  bound_place(x, slope, static_cast<float>(axis.size - 1));
}

// Places within the border, and how they move, as the axis has it.
void bound_places(float* x, float* slope, const SampleAxis& axis, int64_t n) {
  const float last = static_cast<float>(axis.size - 1);
  if (axis.border == SampleBorder::zeros) return;
  if (axis.border == SampleBorder::border) {
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) bound_place(&x[i], &slope[i], last);
    return;
  }
  const float span = axis.span, low = axis.low;
  if (span == 0) {
    for (int64_t i = 0; i < n; ++i) x[i] = slope[i] = 0;
    return;
  }
  float given[kSamplePlaces], given_slope[kSamplePlaces];
  int any_far = 0;
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    given[i] = x[i];
    given_slope[i] = slope[i];
    const float from_low = x[i] - low, distance = __builtin_fabsf(from_low);
    const int turns = distance >= span, is_left = from_low < 0;
    any_far |= distance >= 2 * span;
    float place = turns ? span - (distance - span) + low : distance + low;
    float moves = turns != is_left ? -slope[i] : slope[i];
    bound_place(&place, &moves, last);
    x[i] = place;
    slope[i] = moves;
  }
  for (int64_t i = 0; any_far && i < n; ++i) {
    if (!(__builtin_fabsf(given[i] - low) >= 2 * span)) continue;
    x[i] = given[i];
    slope[i] = given_slope[i];
    mirror_far_place(&x[i], &slope[i], axis);
  }
}

// Where the elements of an axis are. The compiler makes vectors of loops over copies of these numbers alone,
// since others might change in between.
struct SampleRange {
  int32_t size, step;
  float end;
  explicit SampleRange(const SampleAxis& axis)
      : size(axis.size), step(axis.step), end(static_cast<float>(axis.size + 1)) {}
  // Whether x becomes an int32_t. Elsewhere nothing is taken, and -2 stands for it, which is outside.
  TENON_INLINE float near(float x) const {
    return (x > -2.f ? x : -2.f) < end ? (x > -2.f ? x : -2.f) : -2.f;
  }
  TENON_INLINE int32_t element(int32_t i) const {
    const int32_t is_inside = static_cast<uint32_t>(i) < static_cast<uint32_t>(size) ? -1 : 0;
    return (i * step & is_inside) | (kNoElement & ~is_inside);
  }
};
// Of numbers below 2^22 in magnitude.
TENON_INLINE int32_t whole_below(float x) {
  const auto whole = static_cast<int32_t>(x);
  return whole - (static_cast<float>(whole) > x ? 1 : 0);
}

void take_nearest(SampleAxisTaps* taps, const SampleAxis& axis, const float* x, int64_t n) {
  constexpr float kWhole = 0x1.8p23f;  // whose neighbours are 1 apart: to the even one of two
  const SampleRange range(axis);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const float nearest = (range.near(x[i]) + kWhole) - kWhole;
    taps->at[0][i] = range.element(static_cast<int32_t>(nearest));
  }
}

void take_two(SampleAxisTaps* taps, const SampleAxis& axis, const float* x, int64_t n) {
  const SampleRange range(axis);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const int32_t below = whole_below(range.near(x[i]));
    const float part = x[i] - static_cast<float>(below);
    taps->at[0][i] = range.element(below);
    taps->at[1][i] = range.element(below + 1);
    taps->weight[0][i] = 1 - part;
    taps->weight[1][i] = part;
    taps->dweight[0][i] = -1;
    taps->dweight[1][i] = 1;
    taps->is_inner[i] =
        static_cast<uint32_t>(below) < static_cast<uint32_t>(range.size - 1) ? -1 : 0;
  }
}

// Keys' cubic of slope -0.75, at distances up to 1 and up to 2, and its slopes.
TENON_INLINE float cubic_near(float x) { return (1.25f * x - 2.25f) * x * x + 1; }
TENON_INLINE float cubic_far(float x) { return ((-0.75f * x + 3.75f) * x - 6) * x + 3; }
TENON_INLINE float cubic_near_slope(float x) { return (3.75f * x - 4.5f) * x; }
TENON_INLINE float cubic_far_slope(float x) { return (-2.25f * x + 7.5f) * x - 6; }

void take_four(SampleAxisTaps* taps, const SampleAxis& axis, const float* x, int64_t n) {
  float below[kSamplePlaces];
  const SampleRange range(axis);
  const float last_inner = static_cast<float>(axis.size - 2);
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    below[i] = __builtin_floorf(x[i]);
    const float part = x[i] - below[i];
    taps->weight[0][i] = cubic_far(1 + part);
    taps->weight[1][i] = cubic_near(part);
    taps->weight[2][i] = cubic_near(1 - part);
    taps->weight[3][i] = cubic_far(2 - part);
    taps->dweight[0][i] = cubic_far_slope(1 + part);
    taps->dweight[1][i] = cubic_near_slope(part);
    taps->dweight[2][i] = -cubic_near_slope(1 - part);
    taps->dweight[3][i] = -cubic_far_slope(2 - part);
    taps->is_inner[i] = (below[i] >= 1 ? below[i] : last_inner) < last_inner ? -1 : 0;
  }
  for (int k = 0; k < 4; ++k) {
    float place[kSamplePlaces], unused[kSamplePlaces] = {};
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) place[i] = below[i] + static_cast<float>(k - 1);
    bound_places(place, unused, axis, n);
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      taps->at[k][i] = range.element(static_cast<int32_t>(range.near(place[i])));
    }
  }
}

void sample_axis(SampleAxisTaps* taps, const SampleAxis& axis, const float* grid, int64_t n) {
  float place[kSamplePlaces];
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    place[i] = (grid[2 * i] + 1) * axis.scale;
    taps->slope[i] = 1;
  }
  // In a loop of its own the subtraction is not joined with the product: rounded otherwise, a place in the
  // middle between two elements would be on another side than the op's meaning has it.
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) place[i] -= axis.shift;
  if (axis.taps == 4) return take_four(taps, axis, place, n);  // each tap is bounded for itself
  bound_places(place, taps->slope, axis, n);
  axis.taps == 1 ? take_nearest(taps, axis, place, n) : take_two(taps, axis, place, n);
}

// The taps of n places of a grid.
void sample_taps(SampleTaps* t, const SampleAxis& down, const SampleAxis& across, const float* grid,
                 int64_t n) {
  sample_axis(&t->across, across, grid, n);
  sample_axis(&t->down, down, grid + 1, n);
  t->taps = across.taps;
  t->row = down.step;
  t->n_edges = 0;
  if (across.taps == 1) {
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const int32_t at = t->down.at[0][i] + t->across.at[0][i];
      t->is_inner[i] = at >= 0 ? -1 : 0;
      t->first[i] = at >= 0 ? at : 0;
    }
  } else {
    TENON_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const int32_t inner = t->across.is_inner[i] & t->down.is_inner[i];
      t->is_inner[i] = inner;
      t->first[i] = (t->down.at[0][i] + t->across.at[0][i]) & inner;
    }
    int64_t n_edges = 0;  // without a branch that nobody can foresee
    for (int64_t i = 0; i < n; ++i) {
      t->edges[n_edges] = static_cast<int32_t>(i);
      n_edges += t->is_inner[i] + 1;
    }
    t->n_edges = n_edges;
  }
  for (int64_t i = n; i % 4 != 0; ++i) t->first[i] = 0;
}

// Four floats; with the vectors of an instruction set it would be more, but what counts is the loads.
typedef float Quad __attribute__((vector_size(16)));
typedef Quad UnalignedQuad __attribute__((aligned(4), may_alias));
TENON_INLINE Quad load_quad(const float* p) { return *reinterpret_cast<const UnalignedQuad*>(p); }
TENON_INLINE void store_quad(float* p, Quad v) { *reinterpret_cast<UnalignedQuad*>(p) = v; }

// The two floats at a and the two at b.
TENON_INLINE Quad load_pairs(const float* a, const float* b) {
  typedef double TwoPairs __attribute__((vector_size(16)));
  double first, second;
  __builtin_memcpy(&first, a, sizeof first);
  __builtin_memcpy(&second, b, sizeof second);
  return (Quad)(TwoPairs){first, second};
}

// Of four inner places, from the i-th: elements[u] has those of the u-th column of a row.
template <int taps>
TENON_INLINE void load_columns(Quad* elements, const float* row, const int32_t* first) {
  if constexpr (taps == 2) {
    const Quad ab = load_pairs(row + first[0], row + first[1]);
    const Quad cd = load_pairs(row + first[2], row + first[3]);
    elements[0] = __builtin_shufflevector(ab, cd, 0, 2, 4, 6);
    elements[1] = __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
  } else {
    const Quad a = load_quad(row + first[0]), b = load_quad(row + first[1]);
    const Quad c = load_quad(row + first[2]), d = load_quad(row + first[3]);
    const Quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Quad ab_behind = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Quad cd_behind = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    elements[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    elements[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    elements[2] = __builtin_shufflevector(ab_behind, cd_behind, 0, 1, 4, 5);
    elements[3] = __builtin_shufflevector(ab_behind, cd_behind, 2, 3, 6, 7);
  }
}

// 0 outside, also where an element of the plane is infinite or NaN. A place that is no number has weights
// that are none, and gives NaN.
TENON_INLINE float sample_edge(const float* plane, const SampleTaps& t, int64_t i) {
  float sum = 0;
  for (int v = 0; v < t.taps; ++v) {
    for (int u = 0; u < t.taps; ++u) {
      const int32_t at = t.down.at[v][i] + t.across.at[u][i];
      const float down = t.down.weight[v][i], across = t.across.weight[u][i];
      sum += at >= 0 ? plane[at] * (down * across) : 0 * down * across;
    }
  }
  return sum;
}

// Of four places from the i-th.
template <int taps>
TENON_INLINE Quad sample_quad(const float* plane, int64_t i, const SampleTaps& t) {
  if constexpr (taps == 1) {
    typedef int32_t Mask __attribute__((vector_size(16)));
    const int32_t *const at = t.first + i, *const inner = t.is_inner + i;
    const Quad elements = {plane[at[0]], plane[at[1]], plane[at[2]], plane[at[3]]};
    return (Quad)((Mask)elements & Mask{inner[0], inner[1], inner[2], inner[3]});
  } else {
    Quad sum = {};
    for (int v = 0; v < taps; ++v) {
      Quad elements[taps];
      load_columns<taps>(elements, plane + v * t.row, t.first + i);
      Quad of_row = elements[0] * load_quad(t.across.weight[0] + i);
      for (int u = 1; u < taps; ++u) of_row += elements[u] * load_quad(t.across.weight[u] + i);
      sum += of_row * load_quad(t.down.weight[v] + i);
    }
    return sum;
  }
}

template <int taps>
TENON_INLINE void sample_by(float* y, const float* plane, int64_t n, const SampleTaps& t) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) store_quad(y + i, sample_quad<taps>(plane, i, t));
  if (i < n) {
    const Quad last = sample_quad<taps>(plane, i, t);
    for (int64_t k = 0; i + k < n; ++k) y[i + k] = last[k];
  }
}

// y[i] = the sum of the plane's elements at the taps of place i, by their weights.
void sample(float* y, const float* plane, int64_t n, const SampleTaps& t) {
  if (t.taps == 1) return sample_by<1>(y, plane, n, t);
  if (t.n_edges < n) {  // else the plane may be too small for so many taps
    t.taps == 2 ? sample_by<2>(y, plane, n, t) : sample_by<4>(y, plane, n, t);
  }
  for (int64_t k = 0; k < t.n_edges; ++k) y[t.edges[k]] = sample_edge(plane, t, t.edges[k]);
}

template <int taps>
TENON_INLINE void sample_dx_by(float* dplane, const float* g, int64_t n, const SampleTaps& t) {
  for (int64_t i = 0; i < n; ++i) {
    if (t.is_inner[i] == 0) continue;
    float* row = dplane + t.first[i];
    float of_columns[taps];
    for (int u = 0; u < taps; ++u) of_columns[u] = g[i] * t.across.weight[u][i];
    for (int v = 0; v < taps; ++v, row += t.row) {
      const float of_row = t.down.weight[v][i];
      for (int u = 0; u < taps; ++u) row[u] += of_columns[u] * of_row;
    }
  }
}

// dplane[tap] += g[i] by its weight, of the taps of each place i.
void sample_dx(float* dplane, const float* g, int64_t n, const SampleTaps& t) {
  if (t.taps == 1) {
    for (int64_t i = 0; i < n; ++i) {
      if (t.is_inner[i] != 0) dplane[t.first[i]] += g[i];
    }
    return;
  }
  t.taps == 2 ? sample_dx_by<2>(dplane, g, n, t) : sample_dx_by<4>(dplane, g, n, t);
  for (int64_t k = 0; k < t.n_edges; ++k) {
    const int32_t i = t.edges[k];
    for (int v = 0; v < t.taps; ++v) {
      for (int u = 0; u < t.taps; ++u) {
        const int32_t at = t.down.at[v][i] + t.across.at[u][i];
        if (at >= 0) dplane[at] += g[i] * (t.down.weight[v][i] * t.across.weight[u][i]);
      }
    }
  }
}

// Of four places from the i-th: the slopes across and down.
template <int taps>
TENON_INLINE void slopes_of_quad(Quad* slopes, const float* plane, int64_t i, const SampleTaps& t) {
  slopes[0] = slopes[1] = Quad{};
  for (int v = 0; v < taps; ++v) {
    Quad elements[taps], value = {}, slope = {};
    load_columns<taps>(elements, plane + v * t.row, t.first + i);
    for (int u = 0; u < taps; ++u) {
      value += elements[u] * load_quad(t.across.weight[u] + i);
      slope += elements[u] * load_quad(t.across.dweight[u] + i);
    }
    slopes[0] += slope * load_quad(t.down.weight[v] + i);
    slopes[1] += value * load_quad(t.down.dweight[v] + i);
  }
}

template <int taps>
TENON_INLINE void sample_slopes_by(float* dacross, float* ddown, const float* g, const float* plane,
                                   int64_t n, const SampleTaps& t) {
  float across[kSamplePlaces], down[kSamplePlaces];
  for (int64_t i = 0; i < n; i += 4) {
    Quad slopes[2];
    slopes_of_quad<taps>(slopes, plane, i, t);
    store_quad(across + i, slopes[0]);
    store_quad(down + i, slopes[1]);
  }
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    const bool is_inner = t.is_inner[i] != 0;
    const float of_across = g[i] * across[i], of_down = g[i] * down[i];
    dacross[i] += is_inner ? of_across : 0;
    ddown[i] += is_inner ? of_down : 0;
  }
}

// dacross[i] += g[i] dy/dx, ddown[i] += g[i] dy/dy of place i, where y is sample()'s of 2 or 4 taps.
void sample_slopes(float* dacross, float* ddown, const float* g, const float* plane, int64_t n,
                   const SampleTaps& t) {
  if (t.n_edges < n) {
    t.taps == 2 ? sample_slopes_by<2>(dacross, ddown, g, plane, n, t)
                : sample_slopes_by<4>(dacross, ddown, g, plane, n, t);
  }
  for (int64_t k = 0; k < t.n_edges; ++k) {
    const int32_t i = t.edges[k];
    float along_across = 0, along_down = 0;
    for (int v = 0; v < t.taps; ++v) {
      for (int u = 0; u < t.taps; ++u) {
        const int32_t at = t.down.at[v][i] + t.across.at[u][i];
        const float element = at < 0 ? 0.f : plane[at];
        along_across += element * t.across.dweight[u][i] * t.down.weight[v][i];
        along_down += element * t.across.weight[u][i] * t.down.dweight[v][i];
      }
    }
    dacross[i] += g[i] * along_across;
    ddown[i] += g[i] * along_down;
  }
}

}  // namespace
}  // namespace tenon::cpu_backend
