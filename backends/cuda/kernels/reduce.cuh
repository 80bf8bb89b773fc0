// Reductions. A text states `struct Reduction`: the type `Value` that is folded, the `kind`, `load`
// (the prologue at an index), `load_group` (the prologue at kGroup indices, from the first of them on)
// and `store` (the epilogue of a folded value). A block folds some outputs with `lanes` threads each;
// long ones are cut into pieces, which `combine` folds. Where the values of an output lie behind
// each other, a thread folds whole groups of neighbours, also where their addresses are such that they
// are read one by one: so the same values have the same bits wherever they lie. Where instead those of
// neighbouring outputs lie behind each other, a thread folds a group of outputs.
#pragma once
#include "base.cuh"

enum Kind { kSum, kProduct, kMax, kMin, kArgMax, kArgMin };  // as tn_reduce_kind

constexpr int kBlock = 256;  // threads of a block, at most
constexpr int kGroup = 8;    // 16 bytes of halves; as many of other elements, so that bits depend on no dtype

template <class I_, int N_, int D_, int P>
struct ReduceLoop {
  using I = I_;
  static constexpr int N = N_, D = D_;
  void* data[N];  // the output, then the inputs
  Scalar scalars[P];
  void* partial;  // one Folded for each output and piece, where there are several pieces
  I sizes[D];     // of what is kept, then of what is reduced
  I strides[N][D];
  I n_kept, n_reduced, n_kept_dims, ndim;
  I n_pieces, piece;  // values of a piece
  I lanes;            // threads that fold one output: a power of two
  I across;           // 1: neighbouring threads fold neighbouring outputs, and not values of one

  DEVICE I group_dim() const { return ndim - 1; }  // along which load_group reads
};
template <class I_, int N_, int D_, int P>
struct ReduceColumnsLoop : ReduceLoop<I_, N_, D_, P> {
  DEVICE I_ group_dim() const { return this->n_kept_dims - 1; }
};

// What was folded until now. ARGs know by the position whether there is anything.
template <class Value>
struct Folded {
  Value value;
  long long position;
};

template <class T>
DEVICE T infinity();
template <>
DEVICE float infinity() {
  return bits_to_float(0x7F800000u);
}
template <>
DEVICE double infinity() {
  return bits_to_double(0x7FF0000000000000ull);
}
template <>
DEVICE long long infinity() {
  return -(kLeastInteger + 1);
}

template <int kind, class Value>
DEVICE Folded<Value> nothing() {
  if constexpr (kind == kSum) return {static_cast<Value>(-0.0f), -1};  // -0 + -0 is -0
  if constexpr (kind == kProduct) return {static_cast<Value>(1), -1};
  if constexpr (kind == kMax && same<Value, long long>) return {kLeastInteger, -1};
  return {kind == kMax ? -infinity<Value>() : infinity<Value>(), -1};
}

// Is b better than a? A NaN beats all numbers, and among equals the first wins.
template <bool max, class Value>
DEVICE bool beats(const Folded<Value>& b, const Folded<Value>& a) {
  if (b.position < 0 || a.position < 0) return b.position >= 0;
  const bool b_is_nan = b.value != b.value, a_is_nan = a.value != a.value;
  if (b_is_nan != a_is_nan) return b_is_nan;
  if (!b_is_nan && b.value != a.value) return max ? b.value > a.value : b.value < a.value;
  return b.position < a.position;
}

template <int kind, class Value>
DEVICE Folded<Value> fold(Folded<Value> a, Folded<Value> b) {
  if constexpr (kind == kArgMax || kind == kArgMin) return beats<kind == kArgMax>(b, a) ? b : a;
  if constexpr (kind == kMax) return a.value != a.value || a.value > b.value ? a : b;
  if constexpr (kind == kMin) return a.value != a.value || a.value < b.value ? a : b;
  if constexpr (same<Value, long long>) {  // wraps
    const auto x = static_cast<unsigned long long>(a.value);
    const auto y = static_cast<unsigned long long>(b.value);
    return {static_cast<Value>(kind == kSum ? x + y : x * y), -1};
  }
  return {kind == kSum ? a.value + b.value : a.value * b.value, -1};
}

// What one thread folds. Sums of floats keep what each addition rounded away (Knuth's two-sum, The Art
// of Computer Programming 2, 4.2.2), so that a long one is as exact as its terms.
template <int kind, class Value>
struct Folder {
  static constexpr bool is_exact = kind == kSum && !same<Value, long long>;
  Folded<Value> all = nothing<kind, Value>();
  Value lost = 0;

  DEVICE void add(Value value, long long position) {
    if constexpr (is_exact) {
      const Value sum = all.value + value, part = sum - all.value;
      lost += (all.value - (sum - part)) + (value - part);
      all.value = sum;
    } else {
      all = fold<kind>(all, {value, position});
    }
  }
  // Beside an infinity nothing sensible was lost.
  DEVICE Folded<Value> result() const {
    return is_exact && lost - lost == 0 && lost != 0 ? Folded<Value>{all.value + lost, -1} : all;
  }
};

template <class Element>
struct Group {
  Element v[kGroup];
};
// The elements of an operand from an index on: neighbours, or one that stands for all.
template <class Element, class P, class O>
DEVICE Group<Element> read_group(const P& p, const O& o, int operand) {
  constexpr int kWide = 16 / static_cast<int>(sizeof(Element));
  constexpr int kPack = kWide < kGroup ? kWide : kGroup;
  using Some = Pack<Element, kPack>;
  void* const data = p.data[operand];
  const auto first = o.at[operand];
  const bool is_aligned = reinterpret_cast<unsigned long long>(data) % sizeof(Some) == 0;
  Group<Element> group;
  if (p.strides[operand][p.group_dim()] == 0) {
    const Element one = at<Element>(data, first);
#pragma unroll
    for (int k = 0; k < kGroup; ++k) group.v[k] = one;
  } else if (is_aligned && first % kPack == 0) {
#pragma unroll
    for (int k = 0; k < kGroup; k += kPack) {
      const Some some = at<Some>(data, (first + k) / kPack);
#pragma unroll
      for (int j = 0; j < kPack; ++j) group.v[k + j] = some.v[j];
    }
  } else {
#pragma unroll
    for (int k = 0; k < kGroup; ++k) group.v[k] = at<Element>(data, first + k);
  }
  return group;
}

template <class R, class P, class I>
DEVICE void store_folded(const P& p, I offset, const Folded<typename R::Value>& folded) {
  if constexpr (R::kind == kArgMax || R::kind == kArgMin) {
    R::store(p, offset, folded.position);
  } else {
    R::store(p, offset, folded.value);
  }
}

// What the lanes of an output have, in slots from `first` on. Every thread of the block comes here.
template <int kind, class Value, int n, class I>
DEVICE Folded<Value> folded_by_lanes(Folded<Value> (&slots)[n], I first, I lane, I lanes,
                                     Folded<Value> mine) {
  if (lanes == 1) return mine;
  const I place = first + lane;
  slots[place] = mine;
  meet();
  for (I step = lanes / 2; step > 0; step /= 2) {
    if (lane < step) slots[place] = fold<kind>(slots[place], slots[place + step]);
    meet();
  }
  return slots[first];
}

// `in_groups`: the values of an output lie behind each other, or those of each index of the dimensions in
// front of the last, of which there are kGroup or a multiple then.
template <class R, bool in_groups, class P>
DEVICE void reduce(const P& p) {
  using I = typename P::I;
  using Value = typename R::Value;
  SHARED Folded<Value> slots[kBlock];
  const I thread = static_cast<I>(threadIdx.x), lanes = p.lanes;
  const I outputs = static_cast<I>(blockDim.x) / lanes;
  const I lane = p.across ? thread / outputs : thread % lanes;
  const I output = p.across ? thread % outputs : thread / lanes;
  const I kept = static_cast<I>(blockIdx.x) * outputs + output;
  const I begin = static_cast<I>(blockIdx.y) * p.piece;
  const I end = p.n_reduced - begin < p.piece ? p.n_reduced : begin + p.piece;
  Offsets<I, P::N> base = {};
  Folder<R::kind, Value> folder;
  if (kept < p.n_kept) {
    move(p, kept, static_cast<I>(0), p.n_kept_dims, base);
    I r = begin + lane;
    if constexpr (in_groups) {
      const I whole = begin + (end - begin) / kGroup * kGroup;
      ROLLED for (I g = begin + lane * kGroup; g < whole; g += lanes * kGroup) {
        Offsets<I, P::N> here = base;
        move(p, g, p.n_kept_dims, p.ndim, here);
        Value values[kGroup];
        R::load_group(p, here, values);
#pragma unroll
        for (int k = 0; k < kGroup; ++k) folder.add(values[k], g + k);
      }
      r = whole + lane;
    }
    for (; r < end; r += lanes) {
      Offsets<I, P::N> here = base;
      move(p, r, p.n_kept_dims, p.ndim, here);
      folder.add(R::load(p, here), r);
    }
  }
  const Folded<Value> mine =
      folded_by_lanes<R::kind>(slots, output * lanes, lane, lanes, folder.result());
  if (lane != 0 || kept >= p.n_kept) return;
  if (p.n_pieces > 1) {
    at<Folded<Value>>(p.partial, kept * p.n_pieces + static_cast<I>(blockIdx.y)) = mine;
  } else {
    store_folded<R>(p, base.at[0], mine);
  }
}

// A thread folds kGroup neighbouring outputs of the last kept dimension, which has a multiple of so many.
template <class R, class P>
DEVICE void reduce_columns(const P& p) {
  using I = typename P::I;
  using Value = typename R::Value;
  SHARED Folded<Value> slots[kBlock];
  const I thread = static_cast<I>(threadIdx.x), lanes = p.lanes;
  const I groups = static_cast<I>(blockDim.x) / lanes;  // of outputs
  const I lane = thread / groups;
  const I first = (static_cast<I>(blockIdx.x) * groups + thread % groups) * kGroup;
  const I begin = static_cast<I>(blockIdx.y) * p.piece;
  const I end = p.n_reduced - begin < p.piece ? p.n_reduced : begin + p.piece;
  Offsets<I, P::N> base = {};
  Folder<R::kind, Value> folders[kGroup];
  if (first < p.n_kept) {
    move(p, first, static_cast<I>(0), p.n_kept_dims, base);
    ROLLED for (I r = begin + lane; r < end; r += lanes) {
      Offsets<I, P::N> here = base;
      move(p, r, p.n_kept_dims, p.ndim, here);
      Value values[kGroup];
      R::load_group(p, here, values);
#pragma unroll
      for (int k = 0; k < kGroup; ++k) folders[k].add(values[k], r);
    }
  }
#pragma unroll
  for (int k = 0; k < kGroup; ++k) {
    Folded<Value> mine = folders[k].result();
    if (lanes > 1) {
      slots[thread] = mine;
      meet();
      for (I step = lanes / 2; step > 0; step /= 2) {
        if (lane < step)
          slots[thread] = fold<R::kind>(slots[thread], slots[thread + step * groups]);
        meet();
      }
      mine = slots[thread];
    }
    if (lane != 0 || first >= p.n_kept) continue;
    if (p.n_pieces > 1) {
      at<Folded<Value>>(p.partial, (first + k) * p.n_pieces + static_cast<I>(blockIdx.y)) = mine;
    } else {
      store_folded<R>(p, base.at[0] + k * p.strides[0][p.n_kept_dims - 1], mine);
    }
  }
}

// Some lanes fold the pieces of an output; neighbouring ones read neighbouring pieces.
template <class R, class P>
DEVICE void combine(const P& p) {
  using I = typename P::I;
  using Value = typename R::Value;
  SHARED Folded<Value> slots[kBlock];
  const I thread = static_cast<I>(threadIdx.x), lanes = p.lanes;
  const I lane = thread % lanes, output = thread / lanes;
  const I kept = static_cast<I>(blockIdx.x) * (static_cast<I>(blockDim.x) / lanes) + output;
  Folder<R::kind, Value> folder;
  if (kept < p.n_kept) {
    for (I k = lane; k < p.n_pieces; k += lanes) {
      const auto part = at<Folded<Value>>(p.partial, kept * p.n_pieces + k);
      folder.add(part.value, part.position);
    }
  }
  const Folded<Value> all =
      folded_by_lanes<R::kind>(slots, output * lanes, lane, lanes, folder.result());
  if (lane != 0 || kept >= p.n_kept) return;
  Offsets<I, P::N> base = {};
  move(p, kept, static_cast<I>(0), p.n_kept_dims, base);
  store_folded<R>(p, base.at[0], all);
}
