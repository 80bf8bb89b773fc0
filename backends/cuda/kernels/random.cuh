// Random bits. A thread makes the four lanes of one counter.
#include "philox.cuh"

struct Random {
  void* y;
  RandomState random;
  long long n;
};

KERNEL(random_bits, Random, p) {
  EACH(long long, block, (p.n + 3) / 4) {
    const Lanes bits = p.random.lanes(block);
    for (int lane = 0; lane < 4; ++lane) {
      if (4 * block + lane < p.n) at<unsigned>(p.y, 4 * block + lane) = bits.lane[lane];
    }
  }
}
