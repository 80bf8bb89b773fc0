// What kernels of whole ops fold values into, and how the lanes of a warp do it together. The header
// that includes it has said Value, the register that is computed in, and kValues, how many of them a
// thread has at one time.
#include "base.cuh"

struct Tile {
  Value v[kValues];
};

template <int first, int count>
DEVICE Value tree_sum(const Tile& tile) {
  if constexpr (count == 1) {
    return tile.v[first];
  } else {
    return tree_sum<first, count / 2>(tile) + tree_sum<first + count / 2, count / 2>(tile);
  }
}

// The sum of a thread's values: a tile in a tree, and tiles with what each addition rounded away
// (Knuth's two-sum, The Art of Computer Programming 2, 4.2.2).
struct Sum {
  Value value = 0, lost = 0;

  DEVICE void add(Value x) {
    const Value sum = value + x, part = sum - value;
    lost += (value - (sum - part)) + (x - part);
    value = sum;
  }
  DEVICE void add(const Tile& tile) { add(tree_sum<0, kValues>(tile)); }
  // Beside an infinity nothing sensible was lost.
  DEVICE Value total() const { return lost - lost == 0 ? value + lost : value; }
};
// Two sums that are taken together.
struct Two {
  Value a, b;
};
struct Plus {
  DEVICE Value operator()(Value x, Value y) const { return x + y; }
  DEVICE Two operator()(const Two& x, const Two& y) const { return {x.a + y.a, x.b + y.b}; }
};

// ---- Mean and variance

// Of `count` values: the mean, which is mean + rest, and the sum of the squares of what they are away
// from it. Two such are joined as in Chan, Golub & LeVeque, Algorithms for computing the sample
// variance (1983). The rest keeps what is rounded away where the mean is far from zero.
struct Moments {
  Value count, mean, rest, squares;
};
// part: b's share of the count of both.
DEVICE Moments joined(const Moments& a, const Moments& b, Value part) {
  const Value count = a.count + b.count;
  const Value apart = (b.mean - a.mean) + (b.rest - a.rest), step = apart * part + a.rest;
  const Value squares = a.squares + b.squares + apart * apart * part * a.count;
  if (apart - apart != 0) return {count, a.mean + b.mean, 0, squares};  // beside an infinity
  const Value mean = a.mean + step, back = mean - a.mean;               // two-sum
  return {count, mean, (a.mean - (mean - back)) + (step - back), squares};
}
DEVICE Value part_of(Value count, Value of_both) { return count > 0 ? count / of_both : 0; }
DEVICE Moments joined(const Moments& a, const Moments& b) {
  return joined(a, b, part_of(b.count, a.count + b.count));
}
struct Join {
  template <class T>
  DEVICE T operator()(const T& a, const T& b) const {
    return joined(a, b);
  }
};
// Of the values of a tile for which there is a bit; each is `one` of them all, 1 / count.
DEVICE Moments moments_of(const Tile& tile, unsigned bits, Value count, Value one) {
  Tile off;
#pragma unroll
  for (int k = 0; k < kValues; ++k) off.v[k] = bits >> k & 1 ? tile.v[k] : 0;
  const Value mean = tree_sum<0, kValues>(off) * one;
#pragma unroll
  for (int k = 0; k < kValues; ++k) off.v[k] = bits >> k & 1 ? tile.v[k] - mean : 0;
  const Value rest = tree_sum<0, kValues>(off) * one;
#pragma unroll
  for (int k = 0; k < kValues; ++k) off.v[k] *= off.v[k];
  const Value squares = tree_sum<0, kValues>(off) - rest * rest * count;
  return {count, mean, rest - rest == 0 ? rest : 0, squares < 0 ? 0 : squares};
}
DEVICE Moments moments_of(const Tile& tile, unsigned bits) {
  const Value count = static_cast<Value>(count_bits(bits));
  return moments_of(tile, bits, count, bits ? 1 / count : 0);
}
DEVICE Value center(const Moments& m) { return m.mean + m.rest; }
DEVICE Value variance(const Moments& m) { return m.squares / m.count; }
DEVICE float number_of(const Scalar& s, float) { return s.f; }
DEVICE double number_of(const Scalar& s, double) { return s.d; }
DEVICE float inverse_root(float x) { return 1 / ::sqrtf(x); }
DEVICE double inverse_root(double x) { return 1 / ::sqrt(x); }

// ---- The lanes of a warp

// From the lane that is `step` further on, or from a lane.
DEVICE Value from_next(Value value, int step) { return shuffle_down(~0u, value, step); }
DEVICE Value from_lane(Value value, int lane) { return shuffle_from(~0u, value, lane); }
DEVICE Two from_next(const Two& x, int step) {
  return {from_next(x.a, step), from_next(x.b, step)};
}
DEVICE Two from_lane(const Two& x, int lane) {
  return {from_lane(x.a, lane), from_lane(x.b, lane)};
}
DEVICE Moments from_next(const Moments& m, int step) {
  return {from_next(m.count, step), from_next(m.mean, step), from_next(m.rest, step),
          from_next(m.squares, step)};
}
DEVICE Moments from_lane(const Moments& m, int lane) {
  return {from_lane(m.count, lane), from_lane(m.mean, lane), from_lane(m.rest, lane),
          from_lane(m.squares, lane)};
}

// Of `lanes` lanes side by side, for all of them. Every lane of the warp comes here.
template <class T, class Fold>
DEVICE T folded_in_warp(T mine, int lanes, const Fold& fold) {
  for (int step = lanes / 2; step > 0; step /= 2) mine = fold(mine, from_next(mine, step));
  return from_lane(mine, static_cast<int>(threadIdx.x) % 32 / lanes * lanes);
}
