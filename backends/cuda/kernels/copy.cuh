// Copies that cast and reorder, and what fills memory with numbers. A text states the types that a
// kernel names. The kernels of packs are for dense operands that begin at addresses of packs.
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
