// The sums over which normalizations have their gradients: of g, and of g times what x is away from
// its mean. A text of PLANES states what rows.cuh asks for, with L of g and x, and has the sums of each
// row; one of COLUMNS and COMBINE states what columns.cuh asks for, and has those of a piece of
// each column; COMBINE adds up what the others gave.

#if defined(PLANES)
#include "rows.cuh"

struct Planes {
  Rows rows;
  void* means;  // of Value; NULL: 0
  void* rstds;  // likewise; NULL: 1
  void* sums;   // of Two, for each row
  // Row r has the mean r / divisor % modulus, and the rstd.
  long long divisor, modulus;
};

ROW_KERNEL(plane_sums, Planes, p) {
  SHARED Two slots[kThreads];
  const Place me(p.rows);
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    const I which = row.index / static_cast<I>(p.divisor) % static_cast<I>(p.modulus);
    const Value mean = p.means && row.n > 0 ? at<Value>(p.means, which) : 0;
    Sum sum, dot;
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      Tile g, off;
      read<0>(p.rows, row, me, tile, 0, g);
      read<1>(p.rows, row, me, tile, mean, off);
#pragma unroll
      for (int k = 0; k < kValues; ++k) off.v[k] = g.v[k] * (off.v[k] - mean);
      sum.add(g);
      dot.add(off);
    }
    Two all = folded(Two{sum.total(), dot.total()}, slots, p.rows, me, Plus{});
    if (me.lane != 0 || row.n == 0) continue;
    if (p.rstds) all.b *= at<Value>(p.rstds, which);
    at<Two>(p.sums, row.index) = all;
  }
}
#else
using Value = decltype(widen(Element{}));
#include "columns.cuh"

struct ColumnSums {
  void* g;      // of Element
  void* x;      // likewise
  void* means;  // as above, one for each row or for each column
  void* rstds;
  void* sums;  // of Two, [pieces, columns]
  Columns columns;
  I is_of_rows, unused;
};

#if defined(COLUMNS)
ROW_KERNEL(column_sums, ColumnSums, p) {
  SHARED Two slots[kThreads];
  const Column column(p.columns);
  Sum sums[kPack], dots[kPack];
#pragma unroll 4
  for (I r = column.begin; r < column.end; r += column.lanes) {
    const I i = r * p.columns.n_columns + column.index;
    const Across g = read_across(p.g, i), x = read_across(p.x, i);
#pragma unroll
    for (int c = 0; c < kPack; ++c) {
      const I which = p.is_of_rows ? r : column.index + c;
      const Value off = p.means ? x.v[c] - at<Value>(p.means, which) : x.v[c];
      sums[c].add(g.v[c]);
      dots[c].add(g.v[c] * (p.rstds ? off * at<Value>(p.rstds, which) : off));
    }
  }
#pragma unroll
  for (int c = 0; c < kPack; ++c) {
    const Two mine = {sums[c].total(), dots[c].total()};
    const Two all = folded(mine, slots, p.columns, column, Plus{});
    if (column.is_there())
      at<Two>(p.sums, static_cast<I>(blockIdx.y) * p.columns.n_columns + column.index + c) = all;
  }
}
#elif defined(COMBINE)
// Weight: the elements of what is written.
struct Combine {
  void* sums;
  void* dweight;  // NULL: not wanted
  void* dbias;    // likewise
  // Of batch_norm, of Value and one for each column; NULL: none of it. From the sums of a channel to
  // what its gradient is: slopes[0] g + slopes[1] (x - mean) + slopes[2].
  void* vars;
  void* weight;
  void* slopes;
  Scalar eps, count;
  Columns columns;
};

ROW_KERNEL(combine_sums, Combine, p) {
  SHARED Two slots[kThreads];
  const Column column(p.columns);
  Sum sum, dot;
  for (I r = column.begin; r < column.end; r += column.lanes) {
    const Two part = at<Two>(p.sums, r * p.columns.n_columns + column.index);
    sum.add(part.a);
    dot.add(part.b);
  }
  Two all = folded(Two{sum.total(), dot.total()}, slots, p.columns, column, Plus{});
  if (!column.is_there()) return;
  const I c = column.index, n = p.columns.n_columns;
  if (p.vars) {
    const Value rstd = inverse_root(at<Value>(p.vars, c) + number_of(p.eps, Value()));
    const Value w = p.weight ? static_cast<Value>(widen(at<Weight>(p.weight, c))) : 1;
    const Value count = number_of(p.count, Value());
    at<Value>(p.slopes, c) = w * rstd;
    at<Value>(p.slopes, n + c) = -w * all.b * rstd * rstd * rstd / count;
    at<Value>(p.slopes, 2 * n + c) = -w * all.a * rstd / count;
    all.b *= rstd;
  }
  if (p.dweight) at<Weight>(p.dweight, c) = narrow<Weight>(all.b);
  if (p.dbias) at<Weight>(p.dbias, c) = narrow<Weight>(all.a);
}
#endif
#endif
#undef PLANES
#undef COLUMNS
#undef COMBINE
#undef EACH_ROWS
