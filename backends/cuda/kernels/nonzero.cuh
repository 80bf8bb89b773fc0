// Where a tensor is not 0. `count` counts in each block of elements, `add_counts` turns the counts
// into where each block's rows begin and writes their sum behind them, and `write_rows` writes. A
// text states Element and L, a Loop of x.
#include "base.cuh"

constexpr int kThreads = 256, kEach = 4;  // a thread looks at so many elements behind each other

struct Nonzero {
  L x;
  void* counts;  // int64, of each block and one more
  void* y;       // [count, ndim], int64
  long long n_blocks;
};

DEVICE bool is_there(const Nonzero& p, long long i) {
  return i < p.x.n &&
         narrow<bool>(widen(at<Element>(p.x.data[0], offsets(p.x, static_cast<L::I>(i)).at[0])));
}

// The sum of what this thread and those before it have.
DEVICE long long running_sum(long long* slots, long long mine) {
  const int thread = static_cast<int>(threadIdx.x);
  slots[thread] = mine;
  meet();
  for (int step = 1; step < static_cast<int>(blockDim.x); step *= 2) {
    const long long before = thread >= step ? slots[thread - step] : 0;
    meet();
    slots[thread] += before;
    meet();
  }
  return slots[thread];
}

BLOCK_KERNEL(count, Nonzero, p) {
  SHARED long long slots[kThreads];
  const long long first = (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) * kEach;
  long long mine = 0;
  for (int k = 0; k < kEach; ++k) mine += is_there(p, first + k);
  const long long sum = running_sum(slots, mine);
  if (threadIdx.x == kThreads - 1) at<long long>(p.counts, blockIdx.x) = sum;
}

BLOCK_KERNEL(add_counts, Nonzero, p) {
  SHARED long long slots[kThreads];
  long long carry = 0;
  for (long long tile = 0; tile < p.n_blocks; tile += kThreads) {
    const long long i = tile + threadIdx.x;
    const long long mine = i < p.n_blocks ? at<long long>(p.counts, i) : 0;
    const long long sum = running_sum(slots, mine);
    if (i < p.n_blocks) at<long long>(p.counts, i) = carry + sum - mine;
    carry += slots[kThreads - 1];
    meet();
  }
  if (threadIdx.x == 0) at<long long>(p.counts, p.n_blocks) = carry;
}

BLOCK_KERNEL(write_rows, Nonzero, p) {
  SHARED long long slots[kThreads];
  const long long first = (static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x) * kEach;
  long long mine = 0;
  for (int k = 0; k < kEach; ++k) mine += is_there(p, first + k);
  long long row = at<long long>(p.counts, blockIdx.x) + running_sum(slots, mine) - mine;
  for (int k = 0; k < kEach; ++k) {
    if (!is_there(p, first + k)) continue;
    long long i = first + k;
    for (long long d = p.x.ndim - 1; d >= 0; --d) {
      const auto q = divide(i, static_cast<long long>(p.x.sizes[d]));
      at<long long>(p.y, row * p.x.ndim + d) = q.rest;
      i = q.quotient;
    }
    ++row;
  }
}
