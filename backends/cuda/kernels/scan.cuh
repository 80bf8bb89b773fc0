// Running sums and products: a block takes a row, in tiles of as many values as it has threads. Long
// rows are cut into pieces, so that more blocks than rows work: the values of each piece are folded
// first, and the block of a piece begins with what the pieces before it gave. A text states Element, Value (the register that is folded), is_product, and L, a Loop of y and x over
// the rows.
#include "base.cuh"

struct Scan {
  L rows;
  long long n, y_stride, x_stride;  // along the row
  long long reverse;
  long long n_pieces, piece;  // values of a piece
  void* totals;               // a Value for each row and piece, where there are several pieces
};

DEVICE Value combined(Value a, Value b) {
  if constexpr (same<Value, long long>) {  // wraps
    const auto x = static_cast<unsigned long long>(a), y = static_cast<unsigned long long>(b);
    return static_cast<Value>(is_product ? x * y : x + y);
  } else {
    return is_product ? a * b : a + b;
  }
}

DEVICE Value nothing() { return static_cast<Value>(is_product ? 1.0f : -0.0f); }

// Value i of a row, counted in the direction of the scan.
template <class O>
DEVICE Value load(const Scan& p, const O& o, long long i) {
  const long long place = p.reverse ? p.n - 1 - i : i;
  return widen(at<Element>(p.rows.data[1], o.at[1] + place * p.x_stride));
}

DEVICE long long end_of_piece(const Scan& p) {
  const long long end = (static_cast<long long>(blockIdx.y) + 1) * p.piece;
  return end < p.n ? end : p.n;
}

// Of one value of each thread, in a tree; all threads get it.
DEVICE Value folded(Value* slots, Value mine) {
  const int thread = static_cast<int>(threadIdx.x);
  slots[thread] = mine;
  meet();
  for (int step = static_cast<int>(blockDim.x) / 2; step > 0; step /= 2) {
    if (thread < step) slots[thread] = combined(slots[thread], slots[thread + step]);
    meet();
  }
  const Value all = slots[0];
  meet();
  return all;
}

BLOCK_KERNEL(fold_pieces, Scan, p) {
  SHARED Value slots[256];
  const long long begin = static_cast<long long>(blockIdx.y) * p.piece, end = end_of_piece(p);
  for (L::I row = static_cast<L::I>(blockIdx.x); row < p.rows.n;
       row += static_cast<L::I>(gridDim.x)) {
    const auto o = offsets(p.rows, row);
    Value mine = nothing();
    for (long long i = begin + threadIdx.x; i < end; i += blockDim.x)
      mine = combined(mine, load(p, o, i));
    const Value all = folded(slots, mine);
    if (threadIdx.x == 0) at<Value>(p.totals, row * p.n_pieces + blockIdx.y) = all;
  }
}

BLOCK_KERNEL(scan, Scan, p) {
  SHARED Value slots[256];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const long long begin = static_cast<long long>(blockIdx.y) * p.piece, end = end_of_piece(p);
  for (L::I row = static_cast<L::I>(blockIdx.x); row < p.rows.n;
       row += static_cast<L::I>(gridDim.x)) {
    const auto o = offsets(p.rows, row);
    Value carry = nothing();
    if (p.n_pieces > 1) {  // there are at most as many pieces as threads
      const bool is_before = thread < static_cast<int>(blockIdx.y);
      carry = folded(slots, is_before ? at<Value>(p.totals, row * p.n_pieces + thread) : carry);
    }
    for (long long tile = begin; tile < end; tile += threads) {
      const long long i = tile + thread, place = p.reverse ? p.n - 1 - i : i;
      const bool is_in = i < end;
      slots[thread] = is_in ? load(p, o, i) : nothing();
      meet();
      for (int step = 1; step < threads; step *= 2) {
        const Value before = thread >= step ? slots[thread - step] : nothing();
        meet();
        slots[thread] = combined(before, slots[thread]);
        meet();
      }
      if (is_in)
        at<Element>(p.rows.data[0], o.at[0] + place * p.y_stride) =
            narrow<Element>(combined(carry, slots[thread]));
      carry = combined(carry, slots[threads - 1]);
      meet();
    }
  }
}
