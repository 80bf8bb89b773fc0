// gather and scatter. Both walk over the index tensor: the one side has an element there, and the
// other side, whose stride along the dimension of the index is taken out of the loop, has one where
// the index says. An index out of range is reported once, and passed over.
#include "base.cuh"

// In memory of the host that the device writes; device.h has the same.
struct Fault {
  int is_set, is_scatter;
  long long index, dim, size;
};

template <class L>
struct IndexLoop {
  L loop;  // gather: y, index, x; scatter: y, index, src
  void* fault;
  long long dim, size, stride;  // of the indexed side
};

// Where the index points on the indexed side, or -1.
template <class P>
DEVICE long long picked(const P& p, long long index, bool is_scatter) {
  if (index >= 0 && index < p.size) return index * p.stride;
  if (exchange_if(p.fault, 0, 0, 1) == 0) {
    Fault& fault = at<Fault>(p.fault, 0);
    fault.is_scatter = is_scatter;
    fault.index = index;
    fault.dim = p.dim;
    fault.size = p.size;
  }
  return -1;
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
#elif defined(SCATTER)      // Element: an integer of its size
KERNEL(scatter, IndexLoop<L>, p) {
  EACH(L::I, i, p.loop.n) {
    const auto o = offsets(p.loop, i);
    const long long pick = picked(p, at<long long>(p.loop.data[1], o.at[1]), true);
    if (pick >= 0)
      at<Element>(p.loop.data[0], o.at[0] + pick) = at<Element>(p.loop.data[2], o.at[2]);
  }
}
#elif defined(SCATTER_ADD)  // Element: of the dtype
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
#endif
#undef GATHER
#undef SCATTER
#undef SCATTER_ADD
