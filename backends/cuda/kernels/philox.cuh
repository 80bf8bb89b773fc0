// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3" (SC 2011): the four lanes of one counter.
#include "base.cuh"

struct Lanes {
  unsigned lane[4];
};

DEVICE Lanes philox(unsigned long long seed, unsigned long long offset, long long counter) {
  unsigned key0 = static_cast<unsigned>(seed), key1 = static_cast<unsigned>(seed >> 32);
  Lanes c = {{static_cast<unsigned>(counter), static_cast<unsigned>(counter >> 32),
              static_cast<unsigned>(offset), static_cast<unsigned>(offset >> 32)}};
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u) {
    const unsigned long long a = 0xD2511F53ull * c.lane[0], b = 0xCD9E8D57ull * c.lane[2];
    const unsigned c0 = static_cast<unsigned>(b >> 32) ^ c.lane[1] ^ key0;
    const unsigned c2 = static_cast<unsigned>(a >> 32) ^ c.lane[3] ^ key1;
    c = {{c0, static_cast<unsigned>(b), c2, static_cast<unsigned>(a)}};
  }
  return c;
}

// What random numbers are made from: `state` inside a graph, as it is when that
// runs, else the numbers.
struct RandomState {
  void* state;
  unsigned long long seed, offset;

  DEVICE Lanes lanes(long long counter) const {
    return philox(state ? at<unsigned long long>(state, 0) : seed,
                  state ? at<unsigned long long>(state, 1) : offset, counter);
  }
};
