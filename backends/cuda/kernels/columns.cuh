// Columns of a row-major matrix: a block takes neighbouring columns and a run of rows, a piece, with
// some threads (lanes) to a column. What pieces give is folded by another launch, in their order. A
// text states I, int or long long, and Value.
constexpr int kThreads = 256;  // of a block
constexpr int kValues = 8;
#include "folds.cuh"

struct Columns {
  I n_rows, n_columns;
  I width;  // columns of a block: a power of two
  I piece;  // rows of a block
};

// A column as one of its threads has it. One beyond the last has no rows.
struct Column {
  I index, lane, lanes, slot;
  I begin, end;  // its rows: begin, begin + lanes, ...

  DEVICE explicit Column(const Columns& all) {
    const I thread = static_cast<I>(threadIdx.x);
    slot = thread % all.width;
    lane = thread / all.width;
    lanes = kThreads / all.width;
    index = static_cast<I>(blockIdx.x) * all.width + slot;
    const I first = static_cast<I>(blockIdx.y) * all.piece;
    const I last = all.n_rows - first < all.piece ? all.n_rows : first + all.piece;
    begin = first + lane;
    end = index < all.n_columns ? last : begin;
  }
  DEVICE bool is_there() const { return lane == 0 && begin < end; }
};

// What the threads of a column have together, by a tree, for its first thread. Every thread of the
// block comes here, once.
template <class T, class Fold>
DEVICE T folded(T mine, T* slots, const Columns& all, const Column& column, const Fold& fold) {
  T* const here = slots + threadIdx.x;
  *here = mine;
  meet();
  for (I step = column.lanes / 2; step > 0; step /= 2) {
    if (column.lane < step) *here = fold(*here, here[step * all.width]);
    meet();
  }
  return *here;
}
