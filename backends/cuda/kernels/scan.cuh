// Running sums and products: a block takes a row, in tiles of as many values as it has threads. A
// text states Element, Value (the register that is folded), is_product, and L, a Loop of y and x over
// the rows.
#include "base.cuh"

struct Scan {
  L rows;
  long long n, y_stride, x_stride;  // along the row
  long long reverse;
};

DEVICE Value combined(Value a, Value b) {
  if constexpr (same<Value, long long>) {  // wraps
    const auto x = static_cast<unsigned long long>(a), y = static_cast<unsigned long long>(b);
    return static_cast<Value>(is_product ? x * y : x + y);
  } else {
    return is_product ? a * b : a + b;
  }
}

BLOCK_KERNEL(scan, Scan, p) {
  SHARED Value slots[256];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const Value nothing = static_cast<Value>(is_product ? 1.0f : -0.0f);
  for (L::I row = static_cast<L::I>(blockIdx.x); row < p.rows.n;
       row += static_cast<L::I>(gridDim.x)) {
    const auto o = offsets(p.rows, row);
    Value carry = nothing;
    for (long long tile = 0; tile < p.n; tile += threads) {
      const long long i = tile + thread, place = p.reverse ? p.n - 1 - i : i;
      const bool is_in = i < p.n;
      slots[thread] =
          is_in ? widen(at<Element>(p.rows.data[1], o.at[1] + place * p.x_stride)) : nothing;
      meet();
      for (int step = 1; step < threads; step *= 2) {
        const Value before = thread >= step ? slots[thread - step] : nothing;
        meet();
        slots[thread] = combined(before, slots[thread]);
        meet();
      }
      if (is_in)
        at<Element>(p.rows.data[0], o.at[0] + place * p.y_stride) =
            narrow<Element>(combined(carry, slots[thread]));
      carry = combined(carry, slots[threads - 1]);
      meet();
    }
  }
}
