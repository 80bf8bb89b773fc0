// Copies that cast and reorder, and what fills memory with numbers. A text states the types that a
// kernel names. The kernels of packs are for dense operands that begin at addresses of packs; that
// of tiles is for two operands that are dense along different dimensions.
#include "base.cuh"

#if defined(COPY)  // From, To: elements; P: a Loop of y and x
KERNEL(copy, P, p) {
  EACH(P::I, i, p.n) {
    const auto o = offsets(p, i);
    at<To>(p.data[0], o.at[0]) = narrow<To>(widen(at<From>(p.data[1], o.at[1])));
  }
}
constexpr int kPack = 16 / static_cast<int>(sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To));
KERNEL(copy_packs, P, p) {
  EACH(P::I, g, p.n / kPack) {
    const auto from = at<Pack<From, kPack>>(p.data[1], g);
    Pack<To, kPack> to;
#pragma unroll
    for (int k = 0; k < kPack; ++k) to.v[k] = narrow<To>(widen(from.v[k]));
    at<Pack<To, kPack>>(p.data[0], g) = to;
  }
  EACH(P::I, r, p.n % kPack) {
    const P::I i = p.n / kPack * kPack + r;
    at<To>(p.data[0], i) = narrow<To>(widen(at<From>(p.data[1], i)));
  }
}

// Here x is dense along the dimension before the last, and y along the last. A block reads a tile
// of these two along the first, and writes it along the second, so that neighbouring threads touch
// neighbouring elements both times. A thread takes a run at once: four bytes, or one element where
// that is longer.
constexpr int kThreads = 256;  // of each block
constexpr int kSide = sizeof(From) < 4 || sizeof(To) < 4 ? 64 : 32;
template <class E>
constexpr int kRun = sizeof(E) < 4 ? 4 / static_cast<int>(sizeof(E)) : 1;
template <class E>
constexpr int kRuns = kSide * kSide / kRun<E> / kThreads;  // of a tile, for each thread

// Is a run [i, i + kRun) of an operand, of which `left` elements are there, read and written at
// once?
template <class E, class I>
DEVICE bool is_run(const void* data, I i, I left) {
  return kRun<E> > 1 && left >= kRun<E> && i % kRun<E> == 0 &&
         reinterpret_cast<unsigned long long>(data) % sizeof(Pack<E, kRun<E>>) == 0;
}
template <class E, class I>
DEVICE void read_run(void* data, I i, I left, E (&v)[kRun<E>]) {
  if (is_run<E>(data, i, left)) {
    const auto run = at<Pack<E, kRun<E>>>(data, i / kRun<E>);
#pragma unroll
    for (int j = 0; j < kRun<E>; ++j) v[j] = run.v[j];
  } else {
#pragma unroll
    for (int j = 0; j < kRun<E>; ++j) {
      if (j < left) v[j] = at<E>(data, i + j);
    }
  }
}
template <class E, class I>
DEVICE void write_run(void* data, I i, I left, const E (&v)[kRun<E>]) {
  if (is_run<E>(data, i, left)) {
    Pack<E, kRun<E>> run;
#pragma unroll
    for (int j = 0; j < kRun<E>; ++j) run.v[j] = v[j];
    at<Pack<E, kRun<E>>>(data, i / kRun<E>) = run;
  } else {
#pragma unroll
    for (int j = 0; j < kRun<E>; ++j) {
      if (j < left) at<E>(data, i + j) = v[j];
    }
  }
}

BLOCK_KERNEL(copy_tiles, P, p) {
  using I = P::I;
  // A row is one longer than the tile, so that the elements of a column lie in different banks.
  SHARED To tile[kSide][kSide + 1];
  constexpr int kReaders = kSide / kRun<From>, kWriters = kSide / kRun<To>;  // threads of a line
  const int thread = static_cast<int>(threadIdx.x);
  const I x_dim = p.ndim - 2, y_dim = p.ndim - 1;
  const I x_tiles = (p.sizes[x_dim] + kSide - 1) / kSide,
          y_tiles = (p.sizes[y_dim] + kSide - 1) / kSide;
  const I n = p.n / (p.sizes[x_dim] * p.sizes[y_dim]) * x_tiles * y_tiles;
  ROLLED for (I t = static_cast<I>(blockIdx.x); t < n; t += static_cast<I>(gridDim.x)) {
    const Quotient<I> matrix = divide(t, x_tiles * y_tiles), place = divide(matrix.rest, x_tiles);
    const I x_first = place.rest * kSide, y_first = place.quotient * kSide;
    const I x_left = p.sizes[x_dim] - x_first, y_left = p.sizes[y_dim] - y_first;
    Offsets<I, 2> o = {};
    move(p, matrix.quotient, static_cast<I>(0), x_dim, o);
    {
      const int x = thread % kReaders * kRun<From>, first = thread / kReaders;
      const I start = o.at[1] + x_first + x;
      From values[kRuns<From>][kRun<From>];  // all are read before the first is waited for
#pragma unroll
      for (int k = 0; k < kRuns<From>; ++k) {
        const int y = first + k * (kThreads / kReaders);
        if (y < y_left && x < x_left)
          read_run(p.data[1], start + (y_first + y) * p.strides[1][y_dim], x_left - x, values[k]);
      }
#pragma unroll
      for (int k = 0; k < kRuns<From>; ++k) {
        const int y = first + k * (kThreads / kReaders);
#pragma unroll
        for (int j = 0; j < kRun<From>; ++j) {
          if (y < y_left && x + j < x_left) tile[y][x + j] = narrow<To>(widen(values[k][j]));
        }
      }
    }
    meet();
    {
      const int y = thread % kWriters * kRun<To>, first = thread / kWriters;
      const I start = o.at[0] + y_first + y;
#pragma unroll
      for (int k = 0; k < kRuns<To>; ++k) {
        const int x = first + k * (kThreads / kWriters);
        if (x >= x_left || y >= y_left) continue;
        To values[kRun<To>];
#pragma unroll
        for (int j = 0; j < kRun<To>; ++j) {
          if (y + j < y_left) values[j] = tile[y + j][x];
        }
        write_run(p.data[0], start + (x_first + x) * p.strides[0][x_dim], y_left - y, values);
      }
    }
    meet();
  }
}
#elif defined(FILL)  // Element: an integer of its size; P: a Loop of y
KERNEL(fill, P, p) {
  EACH(P::I, i, p.n) {
    at<Element>(p.data[0], offsets(p, i).at[0]) = static_cast<Element>(p.scalars[0].i);
  }
}
constexpr int kPack = 16 / static_cast<int>(sizeof(Element));
KERNEL(fill_packs, P, p) {
  const auto element = static_cast<Element>(p.scalars[0].i);
  Pack<Element, kPack> pack;
#pragma unroll
  for (int k = 0; k < kPack; ++k) pack.v[k] = element;
  EACH(P::I, g, p.n / kPack) at<Pack<Element, kPack>>(p.data[0], g) = pack;
  EACH(P::I, r, p.n % kPack) at<Element>(p.data[0], p.n / kPack * kPack + r) = element;
}
#elif defined(IOTA)  // Element; Number: double or long long
struct Iota {
  void* y;
  Number start, step;
  long long n;
};
KERNEL(iota, Iota, p) {
  EACH(long long, i, p.n) {
    if constexpr (same<Number, double>) {
      at<Element>(p.y, i) = narrow<Element>(p.start + static_cast<double>(i) * p.step);
    } else {  // wraps
      const auto way = static_cast<unsigned long long>(i) * static_cast<unsigned long long>(p.step);
      const auto number = static_cast<unsigned long long>(p.start) + way;
      at<Element>(p.y, i) = narrow<Element>(static_cast<long long>(number));
    }
  }
}
#endif
#undef COPY
#undef FILL
#undef IOTA
