// y += bias, a channel a number. A text states Element; Index; kPack, the elements that a thread takes
// at once; and kLast: the channels are innermost, else each has `inner` elements behind each other.
// kPack divides what is innermost.
#include "base.cuh"

struct Bias {
  void* y;
  void* bias;
  Index n, channels, inner;
};

KERNEL(add_bias, Bias, p) {
  using P = Pack<Element, kPack>;
  EACH(Index, g, p.n / kPack) {
    P y = at<P>(p.y, g);
    if constexpr (kLast) {
      const P bias = at<P>(p.bias, divide(g, static_cast<Index>(p.channels / kPack)).rest);
#pragma unroll
      for (int k = 0; k < kPack; ++k) y.v[k] = narrow<Element>(widen(y.v[k]) + widen(bias.v[k]));
    } else {
      const Index row = divide(g, static_cast<Index>(p.inner / kPack)).quotient;
      const auto bias = widen(at<Element>(p.bias, divide(row, p.channels).rest));
#pragma unroll
      for (int k = 0; k < kPack; ++k) y.v[k] = narrow<Element>(widen(y.v[k]) + bias);
    }
    at<P>(p.y, g) = y;
  }
}
