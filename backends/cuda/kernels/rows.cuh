// Rows of tensors: how a kernel of a whole op reads, folds and writes them. Some threads (lanes) take
// a row together, and a block takes several rows where these are short. What a thread has of a row at
// one time is a tile of kValues values. A row of one tile stays in registers (kHeld), a longer one is
// read again. Which thread takes what depends on sizes and strides alone.
//
// A text states Element; kPack, the elements that are read at once; kHeld; and L, a Loop over the
// rows, of whose operands some have rows and others have one element for each. Packs are aligned in
// memory, so the first and the last of a row may lie partly outside of it.
#include "base.cuh"

using I = L::I;
using Value = decltype(widen(Element{}));  // float, of halves too, or double

constexpr int kThreads = 256;  // of a block, at most
constexpr int kValues = same<Value, double> ? (kHeld ? 4 : 2) : kPack == 1 ? 4 : kHeld ? 16 : 8;
constexpr int kPacks = kValues / kPack;

#include "folds.cuh"

struct Rows {
  L loop;
  I strides[4];  // along a row
  I n;           // elements of a row
  I lanes;       // threads of a row: a power of two
  I across;      // 1: neighbouring threads take neighbouring rows, and not values of one
  I phase;       // elements between the aligned address that the loop has and the operand
};

// A thread's place in its block.
struct Place {
  I lane, lanes;
  I slot, slots;  // which of the block's rows it takes

  DEVICE explicit Place(const Rows& rows) : lanes(rows.lanes) {
    const I thread = static_cast<I>(threadIdx.x);
    slots = static_cast<I>(blockDim.x) / lanes;
    lane = rows.across ? thread / slots : thread % lanes;
    slot = rows.across ? thread % slots : thread / lanes;
  }
};

// All rows of a block at once: `first` is the row of slot 0.
#define EACH_ROWS(first, rows, place)                                               \
  for (I first = static_cast<I>(blockIdx.x) * (place).slots; first < (rows).loop.n; \
       first += static_cast<I>(gridDim.x) * (place).slots)

// A row as one of its threads has it. One beyond the last has no elements.
struct Row {
  I index, n;
  I shift;  // elements in front of it that its first pack has
  I n_tiles;
  Offsets<I, L::N> start;

  DEVICE Row(const Rows& rows, const Place& me, I first) : index(first + me.slot), start{} {
    n = index < rows.loop.n ? rows.n : 0;
    if (n > 0) start = offsets(rows.loop, index);
    shift = kPack > 1 ? (start.at[0] + rows.phase) % kPack : 0;
    n_tiles = kHeld ? 1 : (n + shift + me.lanes * kValues - 1) / (me.lanes * kValues);
  }
  // Where value k of a tile lies in the row; outside of [0, n) there is none.
  DEVICE I place(const Place& me, I tile, int k) const {
    return ((tile * kPacks + k / kPack) * me.lanes + me.lane) * kPack - shift + k % kPack;
  }
  DEVICE bool has(I i) const { return i >= 0 && i < n; }
  // Which values of a tile there are, a bit for each.
  DEVICE unsigned bits(const Place& me, I tile) const {
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < kValues; ++k) bits |= has(place(me, tile, k)) ? 1u << k : 0u;
    return bits;
  }
};

template <int operand>
DEVICE void read(const Rows& rows, const Row& row, const Place& me, I tile, Value outside,
                 Tile& to) {
  void* const data = rows.loop.data[operand];
  const I start = row.start.at[operand] + rows.phase;
#pragma unroll
  for (int k = 0; k < kValues; k += kPack) {
    const I first = row.place(me, tile, k);
    if (kPack > 1 && first >= 0 && first + kPack <= row.n) {
      const auto pack = at<Pack<Element, kPack>>(data, (start + first) / kPack);
#pragma unroll
      for (int j = 0; j < kPack; ++j) to.v[k + j] = widen(pack.v[j]);
    } else {
      const I stride = kPack > 1 ? 1 : rows.strides[operand];
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        const I i = first + j;
        to.v[k + j] = row.has(i) ? widen(at<Element>(data, start + i * stride)) : outside;
      }
    }
  }
}

template <int operand>
DEVICE void write(const Rows& rows, const Row& row, const Place& me, I tile, const Tile& from) {
  void* const data = rows.loop.data[operand];
  const I start = row.start.at[operand] + rows.phase;
#pragma unroll
  for (int k = 0; k < kValues; k += kPack) {
    const I first = row.place(me, tile, k);
    if (kPack > 1 && first >= 0 && first + kPack <= row.n) {
      Pack<Element, kPack> pack;
#pragma unroll
      for (int j = 0; j < kPack; ++j) pack.v[j] = narrow<Element>(from.v[k + j]);
      at<Pack<Element, kPack>>(data, (start + first) / kPack) = pack;
    } else {
      const I stride = kPack > 1 ? 1 : rows.strides[operand];
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        const I i = first + j;
        if (row.has(i)) at<Element>(data, start + i * stride) = narrow<Element>(from.v[k + j]);
      }
    }
  }
}

// ---- What the threads of a row have together

// Folds by a tree, for all threads of the row. `slots` has kThreads places. Every thread of the block
// comes here.
template <class T, class Fold>
DEVICE T folded(T mine, T* slots, const Rows& rows, const Place& me, const Fold& fold) {
  const int lanes = static_cast<int>(me.lanes);
  if (lanes == 1) return mine;
  if (!rows.across && lanes <= 32) return folded_in_warp(mine, lanes, fold);
  T all;
  if (rows.across) {
    T* const row = slots + me.slot * me.lanes;
    row[me.lane] = mine;
    meet();
    for (I step = me.lanes / 2; step > 0; step /= 2) {
      if (me.lane < step) row[me.lane] = fold(row[me.lane], row[me.lane + step]);
      meet();
    }
    all = row[0];
  } else {
    const int warps = lanes / 32, thread = static_cast<int>(threadIdx.x);
    const T of_warp = folded_in_warp(mine, 32, fold);
    if (thread % 32 == 0) slots[thread / 32] = of_warp;
    meet();
    all = folded_in_warp(slots[thread / lanes * warps + thread % warps], warps, fold);
  }
  meet();  // before the slots are used again
  return all;
}
