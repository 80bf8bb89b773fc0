// Dropout, and its gradient: the same work with the state of the random numbers
// that the forward kept, so there is no mask in memory. A text states Element.
#include "philox.cuh"

using Value = decltype(widen(Element{}));

struct Dropout {
  void* y;
  void* x;
  RandomState random;
  void* kept;  // takes the state, for the gradient; or NULL
  long long n, is_aligned;
  double p, scale;
};

// As the op's formula has it: 24 bits as a number in [0, 1), in float32.
DEVICE Element kept_or_zero(Element x, unsigned bits, float p, Value scale) {
  const bool is_kept = static_cast<float>(bits >> 8) * 5.9604644775390625e-8f >= p;
  return is_kept ? narrow<Element>(widen(x) * scale) : narrow<Element>(Value(0));
}

KERNEL(dropout, Dropout, p) {
  const float limit = static_cast<float>(p.p);
  const Value scale = static_cast<Value>(p.scale);
  if (p.kept && blockIdx.x == 0 && threadIdx.x < 2) {
    const unsigned long long given = threadIdx.x == 0 ? p.random.seed : p.random.offset;
    void* const state = p.random.state;
    at<unsigned long long>(p.kept, threadIdx.x) =
        state ? at<unsigned long long>(state, threadIdx.x) : given;
  }
  EACH(long long, block, (p.n + 3) / 4) {
    const Lanes bits = p.random.lanes(block);
    if (p.is_aligned && 4 * block + 4 <= p.n) {
      auto pack = at<Pack<Element, 4>>(p.x, block);
#pragma unroll
      for (int k = 0; k < 4; ++k) pack.v[k] = kept_or_zero(pack.v[k], bits.lane[k], limit, scale);
      at<Pack<Element, 4>>(p.y, block) = pack;
      continue;
    }
    for (int k = 0; k < 4; ++k) {
      const long long i = 4 * block + k;
      if (i < p.n)
        at<Element>(p.y, i) = kept_or_zero(at<Element>(p.x, i), bits.lane[k], limit, scale);
    }
  }
}
