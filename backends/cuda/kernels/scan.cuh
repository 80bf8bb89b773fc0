// Running sums and products. Some threads (lanes) take a row together, and a block takes several
// rows where these are short; a thread has a group of neighbouring values at one time, and all
// lanes a tile. Where the values of a row lie apart and those of neighbouring rows do not, a thread
// takes a row. Rows that are few and long are cut into pieces: the values of each piece are folded
// first, and a piece begins with what those before it gave. Which thread takes what depends on
// sizes, strides and the GPU's number of multiprocessors alone. A text states Element, Value (the
// register that is folded), is_product, and L, a Loop of y and x over the rows.
#include "base.cuh"

constexpr int kGroup = 8;  // 16 bytes of halves; as many of other elements, so that bits depend on no dtype
constexpr int kWarp = 32, kWarps = 8;  // lanes of a warp, and warps of a block at most

struct Scan {
  L rows;
  long long n, y_stride, x_stride;  // along the row
  long long reverse;
  long long n_pieces, piece;  // values of a piece
  long long lanes;            // threads of a row: a power of two
  void* totals;               // a Value for each piece and row, where there are several pieces
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

DEVICE long long end_of_piece(const Scan& p) {
  const long long end = (static_cast<long long>(blockIdx.y) + 1) * p.piece;
  return end < p.n ? end : p.n;
}

// ---- A group of values of a row

// Values [i, i + kGroup) of a row, counted in the direction of the scan. They end before `end`; what
// would lie behind is not there.
struct Place {
  long long i, end;
  long long first;  // where in the operand the lowest of them lies, if all are there and its stride is 1
  long long start, stride;

  DEVICE Place(const Scan& p, long long i, long long end, long long start, long long stride)
      : i(i), end(end), first(start + (p.reverse ? p.n - kGroup - i : i)),
        start(p.reverse ? start + (p.n - 1) * stride : start), stride(p.reverse ? -stride : stride) {}

  DEVICE bool has(int k) const { return i + k < end; }
  DEVICE long long of(int k) const { return start + (i + k) * stride; }
};

constexpr int kWide = 16 / static_cast<int>(sizeof(Element));
constexpr int kPack = kWide < kGroup ? kWide : kGroup;
using Some = Pack<Element, kPack>;

DEVICE bool is_in_packs(const Place& place, const void* data, long long stride) {
  return stride == 1 && place.has(kGroup - 1) && place.first % kPack == 0 &&
         reinterpret_cast<unsigned long long>(data) % sizeof(Some) == 0;
}

template <class T>
DEVICE void turn_if(bool reverse, T (&v)[kGroup]) {
#pragma unroll
  for (int k = 0; k < kGroup / 2; ++k) {
    const T low = v[k], high = v[kGroup - 1 - k];
    v[k] = reverse ? high : low;
    v[kGroup - 1 - k] = reverse ? low : high;
  }
}

template <class O>
DEVICE void load(const Scan& p, const O& o, long long i, long long end, Value (&v)[kGroup]) {
  void* const data = p.rows.data[1];
  const Place place(p, i, end, o.at[1], p.x_stride);
  if (is_in_packs(place, data, p.x_stride)) {
#pragma unroll
    for (int k = 0; k < kGroup; k += kPack) {
      const Some some = at<Some>(data, (place.first + k) / kPack);
#pragma unroll
      for (int j = 0; j < kPack; ++j) v[k + j] = widen(some.v[j]);
    }
    turn_if(p.reverse != 0, v);
  } else {
#pragma unroll
    for (int k = 0; k < kGroup; ++k)
      v[k] = place.has(k) ? static_cast<Value>(widen(at<Element>(data, place.of(k)))) : nothing();
  }
}

template <class O>
DEVICE void store(const Scan& p, const O& o, long long i, long long end, Value (&v)[kGroup]) {
  void* const data = p.rows.data[0];
  const Place place(p, i, end, o.at[0], p.y_stride);
  if (is_in_packs(place, data, p.y_stride)) {
    turn_if(p.reverse != 0, v);
#pragma unroll
    for (int k = 0; k < kGroup; k += kPack) {
      Some some;
#pragma unroll
      for (int j = 0; j < kPack; ++j) some.v[j] = narrow<Element>(v[k + j]);
      at<Some>(data, (place.first + k) / kPack) = some;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kGroup; ++k) {
      if (place.has(k)) at<Element>(data, place.of(k)) = narrow<Element>(v[k]);
    }
  }
}

// Each value of a group with those before it, and with `first`.
DEVICE void run_up(Value first, Value (&v)[kGroup]) {
  v[0] = combined(first, v[0]);
#pragma unroll
  for (int k = 1; k < kGroup; ++k) v[k] = combined(v[k - 1], v[k]);
}

// ---- Rows that several threads take

struct Shares {
  Value before, all;  // of the lanes before this one, and of all of its row
};
// Every thread of the block comes here, and its warps are whole. `slots` are kWarps that nobody reads
// any more: those of the call before the last one, whose readers have met since.
DEVICE Shares shared(Value mine, int lanes, Value* slots) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % lanes;
  const int width = lanes < kWarp ? lanes : kWarp, within = lane % width;
  Value up_to = mine;
  ROLLED for (int step = 1; step < width; step *= 2) {
    const Value others = shuffle_up(~0u, up_to, step);
    if (within >= step) up_to = combined(others, up_to);
  }
  const Value one_before = shuffle_up(~0u, up_to, 1);
  Shares shares = {within > 0 ? one_before : nothing(),
                   shuffle_from(~0u, up_to, thread % kWarp - within + width - 1)};
  if (lanes > kWarp) {
    const int warp = lane / kWarp;
    Value* const row = slots + (thread - lane) / kWarp;
    if (within == kWarp - 1) row[warp] = up_to;
    meet();
    Value warps = nothing();
    ROLLED for (int k = 0; k < lanes / kWarp; ++k) {
      if (k == warp) shares.before = combined(warps, shares.before);
      warps = combined(warps, row[k]);
    }
    shares.all = warps;
  }
  return shares;
}

// All threads of a block take one row here.
WIDE_BLOCK_KERNEL(fold_pieces, Scan, p) {
  SHARED Value slots[2 * kWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const long long end = end_of_piece(p);
  int turn = 0;
  ROLLED for (long long row = blockIdx.x; row < p.rows.n; row += gridDim.x) {
    const auto o = offsets(p.rows, static_cast<L::I>(row));
    Value mine = nothing();
    ROLLED for (long long i = static_cast<long long>(blockIdx.y) * p.piece + thread * kGroup; i < end;
                i += static_cast<long long>(blockDim.x) * kGroup) {
      Value v[kGroup];
      load(p, o, i, end, v);
#pragma unroll
      for (int k = 0; k < kGroup; ++k) mine = combined(mine, v[k]);
    }
    const Value all = shared(mine, static_cast<int>(blockDim.x), slots + turn * kWarps).all;
    turn = 1 - turn;
    if (thread == 0) at<Value>(p.totals, blockIdx.y * static_cast<long long>(p.rows.n) + row) = all;
  }
}

BLOCK_KERNEL(scan, Scan, p) {
  SHARED Value slots[2 * kWarps];
  const int thread = static_cast<int>(threadIdx.x), lanes = static_cast<int>(p.lanes);
  const int rows = static_cast<int>(blockDim.x) / lanes;  // of a block
  const long long begin = static_cast<long long>(blockIdx.y) * p.piece, end = end_of_piece(p);
  const long long n_rows = p.rows.n;
  int turn = 0;
  ROLLED for (long long first = static_cast<long long>(blockIdx.x) * rows; first < n_rows;
              first += static_cast<long long>(gridDim.x) * rows) {
    const long long row = first + thread / lanes;
    const bool has_row = row < n_rows;
    const auto o = offsets(p.rows, static_cast<L::I>(has_row ? row : first));
    Value carry = nothing();
    if (p.n_pieces > 1) {  // there are at most as many pieces as threads, and all of these take one row
      const bool is_before = thread < static_cast<int>(blockIdx.y);
      const Value mine = is_before ? at<Value>(p.totals, thread * n_rows + row) : carry;
      carry = shared(mine, lanes, slots + turn * kWarps).all;
      turn = 1 - turn;
    }
    ROLLED for (long long tile = begin; tile < end; tile += lanes * kGroup) {
      const long long i = tile + thread % lanes * kGroup;
      Value v[kGroup];
      load(p, o, i, has_row ? end : begin, v);
      run_up(nothing(), v);
      const Shares shares = shared(v[kGroup - 1], lanes, slots + turn * kWarps);
      turn = 1 - turn;
      const Value before = combined(carry, shares.before);
#pragma unroll
      for (int k = 0; k < kGroup; ++k) v[k] = combined(before, v[k]);
      store(p, o, i, has_row ? end : begin, v);
      carry = combined(carry, shares.all);
    }
  }
}

// ---- Rows that one thread takes

KERNEL(fold_columns, Scan, p) {
  const long long end = end_of_piece(p);
  EACH(L::I, row, p.rows.n) {
    const auto o = offsets(p.rows, row);
    Value all = nothing();
    ROLLED for (long long i = static_cast<long long>(blockIdx.y) * p.piece; i < end; i += kGroup) {
      Value v[kGroup];
      load(p, o, i, end, v);
#pragma unroll
      for (int k = 0; k < kGroup; ++k) all = combined(all, v[k]);
    }
    at<Value>(p.totals, blockIdx.y * static_cast<long long>(p.rows.n) + row) = all;
  }
}

KERNEL(scan_columns, Scan, p) {
  const long long end = end_of_piece(p);
  EACH(L::I, row, p.rows.n) {
    const auto o = offsets(p.rows, row);
    Value carry = nothing();
    if (p.n_pieces > 1) {
#pragma unroll 8  // so many are read before the first is waited for
      for (int k = 0; k < static_cast<int>(blockIdx.y); ++k)
        carry = combined(carry, at<Value>(p.totals, k * static_cast<long long>(p.rows.n) + row));
    }
    ROLLED for (long long i = static_cast<long long>(blockIdx.y) * p.piece; i < end; i += kGroup) {
      Value v[kGroup];
      load(p, o, i, end, v);
      run_up(carry, v);
      carry = v[kGroup - 1];
      store(p, o, i, end, v);
    }
  }
}
