// batch_norm: mean and variance of each channel, and the passes over images that use them. Texts of
// PLANES take row-major images, whose rows (rows.cuh) are the places of a channel of an image; those of
// COLUMNS take channels-last images, a column (columns.cuh) for each channel.

#if defined(PLANES)
#include "rows.cuh"
#else
using Value = decltype(widen(Element{}));
#include "columns.cuh"
#endif

// Of Moment: the elements of mean and variance; of Weight: those of weight and bias.
struct Vectors {
  void* mean;
  void* var;
  void* weight;  // NULL: 1
  void* bias;    // NULL: 0
  Scalar eps;
};

#if defined(MOMENTS)
// Of each row, or of each piece of a column: part[piece * columns + column].
#if defined(PLANES)
struct Partial {
  Rows rows;
  void* part;
};
ROW_KERNEL(partial_moments, Partial, p) {
  SHARED Moments slots[kThreads];
  const Place me(p.rows);
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    Moments mine = {};
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      Tile x;
      read<0>(p.rows, row, me, tile, 0, x);
      const Moments some = moments_of(x, row.bits(me, tile));
      mine = kHeld ? some : joined(mine, some);
    }
    const Moments all = folded(mine, slots, p.rows, me, Join{});
    if (me.lane == 0 && row.n > 0) at<Moments>(p.part, row.index) = all;
  }
}
#else
struct Partial {
  void* x;
  void* part;
  Columns columns;
};
ROW_KERNEL(partial_moments, Partial, p) {
  SHARED Moments slots[kThreads];
  const Column column(p.columns);
  Moments mine[kPack] = {};
  Value seen = 0;  // the count of each
  for (I r = column.begin; r < column.end; r += column.lanes * kValues) {
    Tile x[kPack];
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < kValues; ++k) {
      const I row = r + k * column.lanes;
      const bool is_in = row < column.end;
      Across values = {};
      if (is_in) values = read_across(p.x, row * p.columns.n_columns + column.index);
#pragma unroll
      for (int c = 0; c < kPack; ++c) x[c].v[k] = values.v[c];
      bits |= is_in ? 1u << k : 0u;
    }
    const Value count = static_cast<Value>(count_bits(bits));
    seen += count;
    const Value one = 1 / count, part = count / seen;
#pragma unroll
    for (int c = 0; c < kPack; ++c)
      mine[c] = joined(mine[c], moments_of(x[c], bits, count, one), part);
  }
#pragma unroll
  for (int c = 0; c < kPack; ++c) {
    const Moments all = folded(mine[c], slots, p.columns, column, Join{});
    if (column.is_there())
      at<Moments>(p.part, static_cast<I>(blockIdx.y) * p.columns.n_columns + column.index + c) =
          all;
  }
}
#endif
#elif defined(COMBINE)
struct Combine {
  void* part;
  void* mean;
  void* var;
  Columns columns;
};
ROW_KERNEL(combine_moments, Combine, p) {
  SHARED Moments slots[kThreads];
  const Column column(p.columns);
  Moments mine = {};
  for (I r = column.begin; r < column.end; r += column.lanes)
    mine = joined(mine, at<Moments>(p.part, r * p.columns.n_columns + column.index));
  const Moments all = folded(mine, slots, p.columns, column, Join{});
  if (!column.is_there()) return;
  at<Value>(p.mean, column.index) = center(all);
  at<Value>(p.var, column.index) = variance(all);
}
#elif defined(NORMALIZE)
struct Channel {
  Value mean, factor, bias;

  template <class C>
  DEVICE void read_factor(const Vectors& v, C c) {
    factor =
        inverse_root(static_cast<Value>(widen(at<Moment>(v.var, c))) + number_of(v.eps, Value()));
    if (v.weight) factor *= static_cast<Value>(widen(at<Weight>(v.weight, c)));
  }
  template <class C>
  DEVICE void read_rest(const Vectors& v, C c) {
    mean = static_cast<Value>(widen(at<Moment>(v.mean, c)));
    bias = v.bias ? static_cast<Value>(widen(at<Weight>(v.bias, c))) : 0;
  }
  DEVICE Value operator()(Value x) const { return (x - mean) * factor + bias; }
};
#if defined(PLANES)
struct Normalize {
  Rows rows;  // y, x
  Vectors vectors;
  long long channels;
};
KERNEL(batch_normalize, Normalize, p) {
  const Place me(p.rows);
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    if (row.n == 0) continue;
    const I c = row.index % static_cast<I>(p.channels);
    Channel channel;
    channel.read_factor(p.vectors, c);
    channel.read_rest(p.vectors, c);
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      Tile x;
      read<1>(p.rows, row, me, tile, 0, x);
#pragma unroll
      for (int k = 0; k < kValues; ++k) x.v[k] = channel(x.v[k]);
      write<0>(p.rows, row, me, tile, x);
    }
  }
}
#else
struct Normalize {
  void* y;
  void* x;
  Vectors vectors;
  Columns columns;
};
KERNEL(batch_normalize, Normalize, p) {
  const Column column(p.columns);
  if (column.begin >= column.end) return;
  Channel channels[kPack];
#pragma unroll
  for (int c = 0; c < kPack; ++c) channels[c].read_factor(p.vectors, column.index + c);
#pragma unroll
  for (int c = 0; c < kPack; ++c) channels[c].read_rest(p.vectors, column.index + c);
#pragma unroll(kPack > 1 ? 2 : 4)
  for (I r = column.begin; r < column.end; r += column.lanes) {
    const I i = r * p.columns.n_columns + column.index;
    Across x = read_across(p.x, i);
#pragma unroll
    for (int c = 0; c < kPack; ++c) x.v[c] = channels[c](x.v[c]);
    write_across(p.y, i, x);
  }
}
#endif
#elif defined(BACKWARD)
// slopes[0] g + slopes[1] (x - mean) + slopes[2], each [channels] (norm_sums.cuh).
struct Slopes {
  Value mean, of_g, of_x, shift;

  DEVICE void read(void* means, void* slopes, I c, I n) {
    mean = at<Value>(means, c);
    of_g = at<Value>(slopes, c);
    of_x = at<Value>(slopes, n + c);
    shift = at<Value>(slopes, 2 * n + c);
  }
  DEVICE Value operator()(Value g, Value x) const { return g * of_g + (x - mean) * of_x + shift; }
};
#if defined(PLANES)
struct Backward {
  Rows rows;  // dx, g, x
  void* means;
  void* slopes;
  long long channels;
};
KERNEL(batch_normalize_backward, Backward, p) {
  const Place me(p.rows);
  const I channels = static_cast<I>(p.channels);
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    if (row.n == 0) continue;
    Slopes slopes;
    slopes.read(p.means, p.slopes, row.index % channels, channels);
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      Tile g, x;
      read<1>(p.rows, row, me, tile, 0, g);
      read<2>(p.rows, row, me, tile, 0, x);
#pragma unroll
      for (int k = 0; k < kValues; ++k) g.v[k] = slopes(g.v[k], x.v[k]);
      write<0>(p.rows, row, me, tile, g);
    }
  }
}
#else
struct Backward {
  void* dx;
  void* g;
  void* x;
  void* means;
  void* slopes;
  Columns columns;
};
KERNEL(batch_normalize_backward, Backward, p) {
  const Column column(p.columns);
  if (column.begin >= column.end) return;
  Slopes slopes[kPack];
#pragma unroll
  for (int c = 0; c < kPack; ++c)
    slopes[c].read(p.means, p.slopes, column.index + c, p.columns.n_columns);
#pragma unroll(kPack > 1 ? 2 : 4)
  for (I r = column.begin; r < column.end; r += column.lanes) {
    const I i = r * p.columns.n_columns + column.index;
    Across g = read_across(p.g, i);
    const Across x = read_across(p.x, i);
#pragma unroll
    for (int c = 0; c < kPack; ++c) g.v[c] = slopes[c](g.v[c], x.v[c]);
    write_across(p.dx, i, g);
  }
}
#endif
#endif
#undef PLANES
#undef MOMENTS
#undef COMBINE
#undef NORMALIZE
#undef BACKWARD
#undef EACH_ROWS
