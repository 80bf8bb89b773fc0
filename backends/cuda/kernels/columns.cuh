// Columns of a row-major matrix: a block takes neighbouring columns and a run of rows, a piece, with
// some threads (lanes) to each kPack columns, which it reads at once. What pieces give is folded by
// another launch, in their order. A text states I, int or long long, Element, kPack, which divides the
// number of columns, and Value.
constexpr int kThreads = 256;  // of a block
constexpr int kValues = 8;     // rows that a thread has at one time
#include "folds.cuh"

struct Columns {
  I n_rows, n_columns;
  I width;  // packs of columns of a block: a power of two
  I piece;  // rows of a block
};

// A pack of columns as one of its threads has it. One beyond the last has no rows.
struct Column {
  I index, lane, lanes, slot;  // index: its first column
  I begin, end;                // its rows: begin, begin + lanes, ...

  DEVICE explicit Column(const Columns& all) {
    const I thread = static_cast<I>(threadIdx.x);
    slot = thread % all.width;
    lane = thread / all.width;
    lanes = kThreads / all.width;
    index = (static_cast<I>(blockIdx.x) * all.width + slot) * kPack;
    const I first = static_cast<I>(blockIdx.y) * all.piece;
    const I last = all.n_rows - first < all.piece ? all.n_rows : first + all.piece;
    begin = first + lane;
    end = index < all.n_columns ? last : begin;
  }
  DEVICE bool is_there() const { return lane == 0 && begin < end; }
};

// A row of a pack of columns, from element i on. Memory that is not aligned for it is read and written
// one by one, to the same values.
struct Across {
  Value v[kPack];
};
using Elements = Pack<Element, kPack>;
DEVICE bool holds_packs(void* memory) {
  return reinterpret_cast<unsigned long long>(memory) % sizeof(Elements) == 0;
}
DEVICE Across read_across(void* memory, I i) {
  Elements pack;
  if (holds_packs(memory)) {
    pack = at<Elements>(memory, i / kPack);
  } else {
#pragma unroll
    for (int c = 0; c < kPack; ++c) pack.v[c] = at<Element>(memory, i + c);
  }
  Across x;
#pragma unroll
  for (int c = 0; c < kPack; ++c) x.v[c] = widen(pack.v[c]);
  return x;
}
DEVICE void write_across(void* memory, I i, const Across& x) {
  Elements pack;
#pragma unroll
  for (int c = 0; c < kPack; ++c) pack.v[c] = narrow<Element>(x.v[c]);
  if (holds_packs(memory)) {
    at<Elements>(memory, i / kPack) = pack;
    return;
  }
#pragma unroll
  for (int c = 0; c < kPack; ++c) at<Element>(memory, i + c) = pack.v[c];
}

// What the threads of a column have together, by a tree, for its first thread. Every thread of the
// block comes here, once for each column of its pack.
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
