// Normalizations of rows, layer_norm, rms_norm and group_norm, and the gradient of what they take. A
// text states what rows.cuh asks for, with L of y and x, or of dx, g and x; Weight, the elements of
// weight and bias; and kCentered: the mean is taken off, which rms_norm does not do.
#include "rows.cuh"

struct Norm {
  Rows rows;
  void* weight;  // NULL: 1
  void* bias;    // NULL: 0
  void* means;   // Values, one for each row; NULL: nobody wants them, or all are 0
  void* rstds;   // likewise
  Scalar eps;
  // Value i of a row has the weight (row % groups) * n / places + i / places.
  long long groups, places;
  long long packs;  // 1: packs of weights lie as those of rows do
};

// The elements of weight or bias that a tile meets.
DEVICE void read_weights(const Norm& p, void* data, const Row& row, const Place& me, I tile,
                         Value missing, Tile& to) {
  const I places = static_cast<I>(p.places), groups = static_cast<I>(p.groups);
  const I base = groups > 1 ? row.index % groups * (row.n / places) : 0;
#pragma unroll
  for (int k = 0; k < kValues; k += kPack) {
    const I first = row.place(me, tile, k);
    if (!data) {
#pragma unroll
      for (int j = 0; j < kPack; ++j) to.v[k + j] = missing;
    } else if (kPack > 1 && p.packs && first + kPack <= row.n) {
      const auto pack = at<Pack<Weight, kPack>>(data, first / kPack);
#pragma unroll
      for (int j = 0; j < kPack; ++j) to.v[k + j] = static_cast<Value>(widen(pack.v[j]));
    } else {
      I c = places > 1 ? (first > 0 ? first : 0) / places : first;  // and how far into its places
      I rest = places > 1 && first > 0 ? first - c * places : first;
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        if (places > 1 && rest == places) ++c, rest = 0;
        const I i = places > 1 ? c : first + j;
        to.v[k + j] =
            row.has(first + j) ? static_cast<Value>(widen(at<Weight>(data, base + i))) : missing;
        ++rest;
      }
    }
  }
}

#if defined(NORM)
// What is taken off, and the mean of the squares of the rest.
struct Spread {
  Value mean, variance;
};
DEVICE Spread spread_of(const Norm& p, const Row& row, const Place& me, Tile& x) {
  if constexpr (kCentered) {
    SHARED Moments slots[kThreads];
    Moments mine = {};
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      read<1>(p.rows, row, me, tile, 0, x);
      const Moments some = moments_of(x, row.bits(me, tile));
      mine = kHeld ? some : joined(mine, some);
    }
    const Moments all = folded(mine, slots, p.rows, me, Join{});
    return {center(all), variance(all)};
  } else {
    SHARED Value slots[kThreads];
    Sum mine;
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      read<1>(p.rows, row, me, tile, 0, x);
      Tile squares;
#pragma unroll
      for (int k = 0; k < kValues; ++k) squares.v[k] = x.v[k] * x.v[k];
      mine.add(squares);
    }
    return {0, folded(mine.total(), slots, p.rows, me, Plus{}) / static_cast<Value>(p.rows.n)};
  }
}

ROW_KERNEL(normalize, Norm, p) {
  const Place me(p.rows);
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    Tile x;
    const auto [mean, variance] = spread_of(p, row, me, x);
    const Value rstd = inverse_root(variance + number_of(p.eps, Value()));
    if (me.lane == 0 && row.n > 0) {
      if (p.means) at<Value>(p.means, row.index) = mean;
      if (p.rstds) at<Value>(p.rstds, row.index) = rstd;
    }
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      if (!kHeld) read<1>(p.rows, row, me, tile, 0, x);
      Tile weight;
      read_weights(p, p.weight, row, me, tile, 1, weight);
#pragma unroll
      for (int k = 0; k < kValues; ++k) x.v[k] = (x.v[k] - mean) * rstd * weight.v[k];
      if (p.bias) {
        read_weights(p, p.bias, row, me, tile, 0, weight);
#pragma unroll
        for (int k = 0; k < kValues; ++k) x.v[k] += weight.v[k];
      }
      write<0>(p.rows, row, me, tile, x);
    }
  }
}
#elif defined(NORM_BACKWARD)
// h is g times the weights, and off what x is away from the mean.
DEVICE void read_both(const Norm& p, const Row& row, const Place& me, I tile, Value mean, Tile& h,
                      Tile& off) {
  Tile weight;
  read<1>(p.rows, row, me, tile, 0, h);
  read<2>(p.rows, row, me, tile, mean, off);
  read_weights(p, p.weight, row, me, tile, 1, weight);
#pragma unroll
  for (int k = 0; k < kValues; ++k) h.v[k] *= weight.v[k], off.v[k] -= mean;
}

ROW_KERNEL(normalize_backward, Norm, p) {
  SHARED Two slots[kThreads];
  const Place me(p.rows);
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    const Value mean = p.means && row.n > 0 ? at<Value>(p.means, row.index) : 0;
    const Value rstd = row.n > 0 ? at<Value>(p.rstds, row.index) : 0;
    Tile h, off;
    Sum sum, dot;
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      read_both(p, row, me, tile, mean, h, off);
      Tile terms;
#pragma unroll
      for (int k = 0; k < kValues; ++k) terms.v[k] = h.v[k] * off.v[k];
      sum.add(h);
      dot.add(terms);
    }
    const Two all = folded(Two{sum.total(), dot.total()}, slots, p.rows, me, Plus{});
    const Value n = static_cast<Value>(row.n);
    const Value of_x = -all.b * rstd * rstd * rstd / n;
    const Value shift = kCentered ? -all.a * rstd / n : 0;
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      if (!kHeld) read_both(p, row, me, tile, mean, h, off);
#pragma unroll
      for (int k = 0; k < kValues; ++k) h.v[k] = h.v[k] * rstd + off.v[k] * of_x + shift;
      write<0>(p.rows, row, me, tile, h);
    }
  }
}
#endif
#undef NORM
#undef NORM_BACKWARD
#undef EACH_ROWS
