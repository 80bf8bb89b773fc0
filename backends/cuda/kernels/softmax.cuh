// softmax and log_softmax along a dimension, and their gradients. A text states kLog; what rows.cuh
// asks for, with L of y and x, or of dx, g and y; and for the backward kFromInput: y is made again of
// x, since as a half it has too few digits.
#include "peaks.cuh"

struct Softmax {
  Rows rows;
  void* peaks;  // a Peak of each row, or NULL in the forward
};

#if defined(FORWARD)
ROW_KERNEL(softmax, Softmax, p) {
  SHARED Peak slots[kThreads];
  const Place me(p.rows);
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    Tile x, e;
    Peak mine = {lowest(), 0};
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      read<1>(p.rows, row, me, tile, lowest(), x);
      const Peak peak = peak_of(x, e);
      mine = kHeld ? peak : joined(mine, peak);
    }
    const Peak all = folded(mine, slots, p.rows, me, Join{});
    if (p.peaks && me.lane == 0 && row.n > 0) at<Peak>(p.peaks, row.index) = all;
    const Value last = kLog ? logarithm(all.total) : 1 / all.total;
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      if (!kHeld) read<1>(p.rows, row, me, tile, 0, x);
      if constexpr (kLog) {
        // Not x - (top + log): the sum would lose the digits of a small logarithm.
#pragma unroll
        for (int k = 0; k < kValues; ++k) x.v[k] = (x.v[k] - all.top) - last;
      } else if constexpr (kHeld) {
        const Value mine_to_all = exponential(mine.top - all.top) * last;
#pragma unroll
        for (int k = 0; k < kValues; ++k) x.v[k] = e.v[k] * mine_to_all;
      } else {
#pragma unroll
        for (int k = 0; k < kValues; ++k) x.v[k] = exponential(x.v[k] - all.top) * last;
      }
      write<0>(p.rows, row, me, tile, x);
    }
  }
}
#elif defined(BACKWARD)
// Reads g; and y, or for log_softmax its exponentials.
DEVICE void read_both(const Softmax& p, const Row& row, const Place& me, I tile, const Peak& peak,
                      Tile& g, Tile& y) {
  read<1>(p.rows, row, me, tile, 0, g);
  read<2>(p.rows, row, me, tile, 0, y);
  if constexpr (kFromInput) {
#pragma unroll
    for (int k = 0; k < kValues; ++k) y.v[k] = exponential(y.v[k] - peak.top) * peak.total;
  } else if constexpr (kLog) {
#pragma unroll
    for (int k = 0; k < kValues; ++k) y.v[k] = exponential(y.v[k]);
  }
}

ROW_KERNEL(softmax_backward, Softmax, p) {
  SHARED Value slots[kThreads];
  const Place me(p.rows);
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    Peak peak = {};
    if (kFromInput && row.n > 0) {
      peak = at<Peak>(p.peaks, row.index);
      peak.total = 1 / peak.total;
    }
    Tile g, y;
    Sum mine;
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      Tile terms;
      if (kLog && !kHeld) {
        read<1>(p.rows, row, me, tile, 0, terms);
      } else {
        read_both(p, row, me, tile, peak, g, y);
#pragma unroll
        for (int k = 0; k < kValues; ++k) terms.v[k] = kLog ? g.v[k] : g.v[k] * y.v[k];
      }
      mine.add(terms);
    }
    const Value sum = folded(mine.total(), slots, p.rows, me, Plus{});
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      if (!kHeld) read_both(p, row, me, tile, peak, g, y);
#pragma unroll
      for (int k = 0; k < kValues; ++k)
        g.v[k] = kLog ? g.v[k] - y.v[k] * sum : (g.v[k] - sum) * y.v[k];
      write<0>(p.rows, row, me, tile, g);
    }
  }
}
#endif
#undef FORWARD
#undef BACKWARD
#undef EACH_ROWS
