// The largest value of a row and the sum of the exponentials below it, for softmax and losses, whose
// rows it takes (rows.cuh).
#include "rows.cuh"

DEVICE float exponential(float x) { return ::expf(x); }
DEVICE double exponential(double x) { return ::exp(x); }
DEVICE float logarithm(float x) { return ::logf(x); }
DEVICE double logarithm(double x) { return ::log(x); }

DEVICE Value lowest() {
  if constexpr (same<Value, double>) return bits_to_double(0xFFF0000000000000ull);
  return static_cast<Value>(bits_to_float(0xFF800000u));
}

struct Peak {
  Value top, total;  // the sum of exp(x - top)
};
DEVICE Peak from_next(const Peak& peak, int step) {
  return {from_next(peak.top, step), from_next(peak.total, step)};
}
DEVICE Peak from_lane(const Peak& peak, int lane) {
  return {from_lane(peak.top, lane), from_lane(peak.total, lane)};
}
// What exponents are taken below: beside -inf alone there is no sum, and inf - inf is NaN.
DEVICE Value base_of(Value top) { return top == lowest() ? 0 : top; }

// Gives the values' exponentials below their own top, too. A NaN is no top: its exponential is a NaN.
DEVICE Peak peak_of(const Tile& x, Tile& e) {
  Value top = lowest();
#pragma unroll
  for (int k = 0; k < kValues; ++k) top = x.v[k] > top ? x.v[k] : top;
  const Value base = base_of(top);
#pragma unroll
  for (int k = 0; k < kValues; ++k) e.v[k] = exponential(x.v[k] - base);
  return {top, tree_sum<0, kValues>(e)};
}
DEVICE Peak joined(const Peak& a, const Peak& b) {
  const Value top = a.top > b.top ? a.top : b.top, base = base_of(top);
  return {top, a.total * exponential(a.top - base) + b.total * exponential(b.top - base)};
}
