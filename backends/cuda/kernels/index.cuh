// gather and scatter. Both walk over the index tensor: the one side has an element there, and the
// other side, whose stride along the dimension of the index is taken out of the loop, has one where
// the index says. An index out of range is reported once, and passed over.
#include "fault.cuh"

template <class L>
struct IndexLoop {
  L loop;  // gather: y, index, x; scatter: y, index, src
  void* fault;
  long long dim, size, stride;  // of the indexed side
};

// Where the index points on the indexed side, or -1.
template <class P>
DEVICE long long picked(const P& p, long long index, bool is_scatter) {
  const FaultOp op = is_scatter ? kScatter : kGather;
  return is_within(index, p.size, p.dim, p.fault, op) ? index * p.stride : -1;
}

#if defined(GATHER)  // Element: an integer of its size
KERNEL(gather, IndexLoop<L>, p) {
  EACH(L::I, i, p.loop.n) {
    const auto o = offsets(p.loop, i);
    const long long pick = picked(p, at<long long>(p.loop.data[1], o.at[1]), false);
    if (pick >= 0)
      at<Element>(p.loop.data[0], o.at[0]) = at<Element>(p.loop.data[2], o.at[2] + pick);
  }
}
#elif defined(SCATTER)       // Element: an integer of its size
KERNEL(scatter, IndexLoop<L>, p) {
  EACH(L::I, i, p.loop.n) {
    const auto o = offsets(p.loop, i);
    const long long pick = picked(p, at<long long>(p.loop.data[1], o.at[1]), true);
    if (pick >= 0)  // equal indices leave one of the values
      write_atomically(p.loop.data[0], o.at[0] + pick, at<Element>(p.loop.data[2], o.at[2]));
  }
}
#elif defined(SCATTER_ADD)   // Element: of the dtype
// Elements of one or two bytes are added within the word of four bytes that they lie in.
template <class E>
DEVICE void add_small(void* memory, long long i, E value) {
  const unsigned long long address =
      reinterpret_cast<unsigned long long>(memory) + static_cast<unsigned long long>(i) * sizeof(E);
  const int shift = static_cast<int>(address % 4) * 8;
  void* const word = reinterpret_cast<void*>(address / 4 * 4);
  constexpr unsigned mask = sizeof(E) == 1 ? 0xFFu : 0xFFFFu;
  unsigned old = read_atomically<unsigned>(word, 0), seen;
  do {
    seen = old;
    union {
      unsigned bits;
      E element;
    } sum = {seen >> shift & mask};
    const auto a = widen(sum.element), b = widen(value);
    sum.bits = 0;
    if constexpr (same<E, Bool>) {
      sum.element = narrow<E>(a || b);
    } else {
      sum.element = narrow<E>(a + b);
    }
    old = exchange_if(word, 0, seen, (seen & ~(mask << shift)) | sum.bits << shift);
  } while (old != seen);
}
template <class E>
DEVICE void add_element(void* memory, long long i, E value) {
  if constexpr (sizeof(E) < 4) {
    add_small(memory, i, value);
  } else {
    add_atomically(memory, i, value);
  }
}
KERNEL(scatter_add, IndexLoop<L>, p) {
  EACH(L::I, i, p.loop.n) {
    const auto o = offsets(p.loop, i);
    const long long pick = picked(p, at<long long>(p.loop.data[1], o.at[1]), true);
    if (pick < 0) continue;
    add_element(p.loop.data[0], o.at[0] + pick, at<Element>(p.loop.data[2], o.at[2]));
  }
}
#elif defined(SCATTER_RUNS)  // Element: a float; L: a Loop over the rows of y, src, indices, places
#include "number.cuh"

// The index is sorted along its dimension, stably. A run of equal indices is added up in its order and
// written once, so the bits do not depend on the order of threads. A thread takes a piece of the
// indices of a row; of a run that goes on over pieces each has its part, and the thread of its
// first piece adds these up afterwards.
constexpr int kPiece = 32;

using Value = decltype(widen(Element{}));

struct Runs {
  L rows;
  long long strides[4];  // of the operands, along the dimension
  long long n, n_pieces;
  void* partial;  // Value, two of each piece of each row: of a run from before, of one that goes on
  void* fault;
  long long dim, size, stride;  // of y; stride is strides[0]
  Number scale;                 // of what is added
};

struct Row {
  const Runs& p;
  Offsets<L::I, 4> o;

  DEVICE long long index(long long i) const {
    return at<long long>(p.rows.data[2], o.at[2] + i * p.strides[2]);
  }
  DEVICE Value source(long long i) const {
    const long long place = at<long long>(p.rows.data[3], o.at[3] + i * p.strides[3]);
    return widen(at<Element>(p.rows.data[1], o.at[1] + place * p.strides[1]));
  }
  DEVICE void add(long long index, Value sum) const {
    const long long pick = picked(p, index, true);
    if (pick < 0) return;
    Element& y = at<Element>(p.rows.data[0], o.at[0] + pick);
    y = narrow<Element>(widen(y) + static_cast<Value>(value_of(p.scale)) * sum);
  }
};

KERNEL(add_pieces, Runs, p) {
  const long long n_rows = p.rows.n;
  EACH(long long, e, n_rows* p.n_pieces) {
    const long long piece = e / n_rows, begin = piece * kPiece;
    const long long end = p.n - begin < kPiece ? p.n : begin + kPiece;
    const Row row = {p, offsets(p.rows, static_cast<L::I>(e % n_rows))};
    long long index = row.index(begin);
    bool is_from_before = begin > 0 && row.index(begin - 1) == index;
    Value sum = static_cast<Value>(-0.0f);  // -0 + -0 is -0
    for (long long i = begin; i < end; ++i) {
      sum += row.source(i);
      const bool is_last = i + 1 == p.n;
      const long long next = is_last ? index : row.index(i + 1);
      const bool goes_on = !is_last && next == index;
      if (goes_on && i + 1 < end) continue;
      if (is_from_before) {
        at<Value>(p.partial, 2 * e) = sum;
      } else if (goes_on) {
        at<Value>(p.partial, 2 * e + 1) = sum;
      } else {
        row.add(index, sum);
      }
      index = next, is_from_before = false, sum = static_cast<Value>(-0.0f);
    }
  }
}

KERNEL(join_pieces, Runs, p) {
  const long long n_rows = p.rows.n;
  EACH(long long, e, n_rows*(p.n_pieces - 1)) {
    const long long begin = e / n_rows * kPiece;
    const Row row = {p, offsets(p.rows, static_cast<L::I>(e % n_rows))};
    const long long index = row.index(begin + kPiece - 1);
    if (row.index(begin + kPiece) != index) continue;          // it ends here
    if (begin > 0 && row.index(begin - 1) == index) continue;  // it began before
    Value sum = at<Value>(p.partial, 2 * e + 1);
    long long other = e, end = begin + kPiece;
    do {
      other += n_rows, end += kPiece;
      sum += at<Value>(p.partial, 2 * other);
    } while (end < p.n && row.index(end) == index);
    row.add(index, sum);
  }
}
#endif
#undef GATHER
#undef SCATTER
#undef SCATTER_ADD
#undef SCATTER_RUNS
