// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011). A thread makes the four lanes of one counter.
#include "base.cuh"

struct Random {
  void* y;
  void* state;  // inside a graph: seed and offset as they are when it runs; else NULL
  unsigned long long seed, offset;
  long long n;
};

KERNEL(random_bits, Random, p) {
  const unsigned long long seed = p.state ? at<unsigned long long>(p.state, 0) : p.seed;
  const unsigned long long offset = p.state ? at<unsigned long long>(p.state, 1) : p.offset;
  EACH(long long, block, (p.n + 3) / 4) {
    unsigned key0 = static_cast<unsigned>(seed), key1 = static_cast<unsigned>(seed >> 32);
    unsigned c[4] = {static_cast<unsigned>(block), static_cast<unsigned>(block >> 32),
                     static_cast<unsigned>(offset), static_cast<unsigned>(offset >> 32)};
    for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
      const unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
      const unsigned c0 = static_cast<unsigned>(b >> 32) ^ c[1] ^ key0;
      const unsigned c2 = static_cast<unsigned>(a >> 32) ^ c[3] ^ key1;
      c[0] = c0, c[1] = static_cast<unsigned>(b), c[2] = c2, c[3] = static_cast<unsigned>(a);
    }
    for (int lane = 0; lane < 4; ++lane) {
      if (4 * block + lane < p.n) at<unsigned>(p.y, 4 * block + lane) = c[lane];
    }
  }
}
