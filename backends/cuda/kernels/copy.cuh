// Copies that cast and reorder, and what fills memory with numbers. A text states the types that a
// kernel names.
#include "base.cuh"

#if defined(COPY)  // From, To: elements; P: a Loop of y and x
KERNEL(copy, P, p) {
  EACH(P::I, i, p.n) {
    const auto o = offsets(p, i);
    at<To>(p.data[0], o.at[0]) = narrow<To>(widen(at<From>(p.data[1], o.at[1])));
  }
}
#elif defined(FILL)  // Element: an integer of its size; P: a Loop of y
KERNEL(fill, P, p) {
  EACH(P::I, i, p.n) {
    at<Element>(p.data[0], offsets(p, i).at[0]) = static_cast<Element>(p.scalars[0].i);
  }
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
