// The rows of sequences, each sequence from its end: row t of one with `length` rows comes to row
// length - 1 - t. A text states Element, of which only the bits count; Index; kPack, the elements that a
// thread takes at once; and, for `write_starts`, kMost.
#include "base.cuh"

// Rows [starts[t], starts[t + 1]) are those of step t, of the sequences that are so long; the longest
// sequence is the first. `starts` is NULL where all lengths are equal: then step t has the rows from n t on.
struct Turn {
  void* y;
  void* x;
  void* starts;
  Index rows, n, steps, packs;  // packs: of a row
};

// The last of [0, steps) of which `is_so`, which holds from 0 to there.
template <class IsSo>
DEVICE Index last_of(Index steps, IsSo is_so) {
  Index first = 0, end = steps;
  ROLLED while (end - first > 1) {
    const Index middle = first + (end - first) / 2;
    if (is_so(middle)) {
      first = middle;
    } else {
      end = middle;
    }
  }
  return first;
}

DEVICE Index turned(const Turn& p, Index row) {
  if (p.starts == nullptr) {
    const auto at_step = divide(row, p.n);
    return (p.steps - 1 - at_step.quotient) * p.n + at_step.rest;
  }
  const auto start = [&](Index t) { return at<Index>(p.starts, t); };
  const Index step = last_of(p.steps, [&](Index t) { return start(t) <= row; });
  const Index sequence = row - start(step);
  const Index last = last_of(p.steps, [&](Index t) { return start(t + 1) - start(t) > sequence; });
  return start(last - step) + sequence;
}

KERNEL(turn, Turn, p) {
  using P = Pack<Element, kPack>;
  EACH(Index, i, p.rows * p.packs) {
    const auto at_row = divide(i, p.packs);
    at<P>(p.y, turned(p, at_row.quotient) * p.packs + at_row.rest) = at<P>(p.x, i);
  }
}

// Numbers of the host, some at a time.
struct Starts {
  void* to;
  Index first, n;
  Index values[kMost];
};

KERNEL(write_starts, Starts, p) {
  EACH(Index, i, p.n) { at<Index>(p.to, p.first + i) = p.values[i]; }
}
