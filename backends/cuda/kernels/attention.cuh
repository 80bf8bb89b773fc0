// softmax(query key^T) value and its gradients, without the matrix of weights in memory (Dao et al.,
// arXiv:2205.14135). A block has a tile of kTile queries of one head, or of as many keys, and goes over
// tiles of the other side; kLanes neighbouring threads have a row of the tile together. The backward
// makes the weights again from two numbers of each query: the greatest score and 1 / the sum of
// exponentials, which are -infinity and 0 where it may look at nothing. Nothing is added atomically: one
// kernel has the gradient of queries, another that of keys and values.
//
// A text states Element; kWidth, at least the numbers of a query and of a value; kTile; and L, a Loop over
// the heads of query, whose operands are as the constants below have them.
#include "base.cuh"

using I = long long;
using Value = decltype(widen(Element{}));  // float, of halves too, or double

enum { kNoMask, kBoolMask, kAddedMask };
enum { kOutput, kQuery, kKey, kValue, kMaskAt, kPeaks, kGradient, kDQuery, kDKey, kDValue };

constexpr int kThreads = 256;
constexpr int kLanes = kThreads / kTile;  // threads of a row; 32 at most
constexpr int kEach = kWidth / kLanes;    // numbers of a row that a thread has
constexpr int kPitch =
    kWidth + 1;  // of rows in shared memory, so that columns fall into many banks
constexpr int kScorePitch = kTile + 1;

struct Attention {
  L heads;
  I rows[10];     // strides of rows; the numbers of a row are dense
  I mask_column;  // stride
  I n, m, e, v;   // queries, keys, numbers of a query and of a value
  I n_tiles;      // of the side that blocks have; fewer than 2^31, like blocks
  I shared;       // heads of query to one of key and value
  I is_causal, mask;
  Scalar scale;
  void* dots;  // of halves: a Value for each query, which attention_dots writes
};

struct Peak {
  Value top, factor;
};

DEVICE float exponential(float x) { return expf(x); }
DEVICE double exponential(double x) { return exp(x); }
DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
DEVICE double multiply_add(double a, double b, double c) { return fma(a, b, c); }
DEVICE Value never() {
  if constexpr (same<Value, double>)
    return bits_to_double(0xFFF0000000000000ull);
  else
    return bits_to_float(0xFF800000u);
}
DEVICE Value scale_of(const Attention& p) {
  if constexpr (same<Value, double>)
    return p.scale.d;
  else
    return p.scale.f;
}

// Where row `row` of an operand begins.
template <class O>
DEVICE I place(const Attention& p, const O& head, int operand, I row) {
  return head.at[operand] + row * p.rows[operand];
}

// kTile rows of an operand; zeros for what there is none of.
template <class O>
DEVICE void load_tile(const Attention& p, const O& head, int operand, I first, I n_rows, I width,
                      Value* tile) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kWidth; i += kThreads) {
    const int row = i / kWidth, column = i % kWidth;
    const bool is_in = first + row < n_rows && column < width;
    tile[row * kPitch + column] =
        is_in ? widen(at<Element>(p.heads.data[operand],
                                  place(p, head, operand, first + row) + column))
              : Value(0);
  }
}

// The products of all rows of two tiles: `use(row of a, row of b, product)`. A thread has the same
// pairs at each call.
template <class Use>
DEVICE void multiply_rows(const Value* a, const Value* b, I depth, const Use& use) {
  constexpr int kSide = kTile > 16 ? kTile / 16 : 1;  // a thread has kSide by kSide pairs
  constexpr int kStep = kTile / kSide;
  const int y = static_cast<int>(threadIdx.x) / kStep, x = static_cast<int>(threadIdx.x) % kStep;
  if (y >= kStep) return;
  Value sums[kSide][kSide] = {};
  for (int d = 0; d < static_cast<int>(depth); ++d) {
    Value left[kSide], right[kSide];
#pragma unroll
    for (int k = 0; k < kSide; ++k) {
      left[k] = a[(y + k * kStep) * kPitch + d];
      right[k] = b[(x + k * kStep) * kPitch + d];
    }
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
      for (int j = 0; j < kSide; ++j) sums[i][j] = multiply_add(left[i], right[j], sums[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < kSide; ++i) {
#pragma unroll
    for (int j = 0; j < kSide; ++j) use(y + i * kStep, x + j * kStep, sums[i][j]);
  }
}

// What a query gives a key, of their product; -infinity: it may not look there.
template <class O>
DEVICE Value score(const Attention& p, const O& head, I query, I key, Value product) {
  if (query >= p.n || key >= p.m || (p.is_causal && key > query)) return never();
  const I mask = place(p, head, kMaskAt, query) + key * p.mask_column;
  if (p.mask == kBoolMask) {
    if (!widen(at<Bool>(p.heads.data[kMaskAt], mask))) return never();
  }
  const Value scaled = product * scale_of(p);
  if (p.mask == kAddedMask) return scaled + widen(at<Element>(p.heads.data[kMaskAt], mask));
  return scaled;
}

// Among the threads of a row.
DEVICE Value greatest_of_row(Value mine) {
#pragma unroll
  for (int bit = 1; bit < kLanes; bit *= 2) {
    const Value other = shuffle_xor(~0u, mine, bit);
    mine = other > mine ? other : mine;
  }
  return mine;
}
DEVICE Value sum_of_row(Value mine) {
#pragma unroll
  for (int bit = 1; bit < kLanes; bit *= 2) mine += shuffle_xor(~0u, mine, bit);
  return mine;
}

// sums[k] += weights[0..kTile) times column `lane + k kLanes` of the tile; `step` is between weights.
DEVICE void add_rows(const Value* weights, int step, const Value* tile, int lane,
                     Value (&sums)[kEach]) {
  for (int row = 0; row < kTile; ++row) {
    const Value weight = weights[row * step];
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      sums[k] = multiply_add(weight, tile[row * kPitch + lane + k * kLanes], sums[k]);
  }
}

// A row of an operand that is written, where it is wanted.
template <class O>
DEVICE void store_row(const Attention& p, const O& head, int operand, I row, I n_rows, I width,
                      const Value (&values)[kEach], Value factor) {
  if (row >= n_rows || !p.heads.data[operand]) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int column = lane + k * kLanes;
    if (column < width)
      at<Element>(p.heads.data[operand], place(p, head, operand, row) + column) =
          narrow<Element>(values[k] * factor);
  }
}

#if defined(FORWARD)
WIDE_BLOCK_KERNEL(attention, Attention, p) {
  SHARED Value queries[kTile * kPitch];
  SHARED Value others[kTile * kPitch];  // keys, and then values
  SHARED Value scores[kTile * kScorePitch];
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const I index = static_cast<I>(blockIdx.x / static_cast<unsigned>(p.n_tiles));
  const I first = static_cast<I>(blockIdx.x % static_cast<unsigned>(p.n_tiles)) * kTile;
  const auto head = offsets(p.heads, index);
  load_tile(p, head, kQuery, first, p.n, p.e, queries);
  Value top = never(), sum = 0, result[kEach] = {};
  const I end = p.is_causal && first + kTile < p.m ? first + kTile : p.m;
  for (I column = 0; column < end; column += kTile) {
    load_tile(p, head, kKey, column, p.m, p.e, others);
    meet();
    multiply_rows(queries, others, p.e, [&](int y, int x, Value product) {
      scores[y * kScorePitch + x] = score(p, head, first + y, column + x, product);
    });
    meet();
    load_tile(p, head, kValue, column, p.m, p.v, others);
    Value* const mine = scores + row * kScorePitch;
    Value peak = top;
    for (int k = lane; k < kTile; k += kLanes) peak = mine[k] > peak ? mine[k] : peak;
    peak = greatest_of_row(peak);
    Value part = 0;
    for (int k = lane; k < kTile; k += kLanes) {
      const Value weight = mine[k] == never() ? Value(0) : exponential(mine[k] - peak);
      mine[k] = weight;
      part += weight;
    }
    const Value factor = top == never() ? Value(0) : exponential(top - peak);
    sum = sum * factor + sum_of_row(part);
    top = peak;
    meet();
#pragma unroll
    for (int k = 0; k < kEach; ++k) result[k] *= factor;
    add_rows(mine, 1, others, lane, result);
    meet();
  }
  const Value inverse = sum == 0 ? Value(0) : 1 / sum;
  store_row(p, head, kOutput, first + row, p.n, p.v, result, inverse);
  if (lane == 0 && first + row < p.n && p.heads.data[kPeaks])
    at<Peak>(p.heads.data[kPeaks], index * p.n + first + row) = {top, inverse};
}
#elif defined(BACKWARD)
// Of the queries of a tile: their peaks, and the sums of gradient times output. The output of halves has
// too few digits for it, so there the sum is made of the weights, which comes to the same.
struct Queries {
  Value top[kTile], factor[kTile], dot[kTile];
};

DEVICE void load_peaks(const Attention& p, I index, I first, Queries& to) {
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  if (threadIdx.x % kLanes != 0) return;
  const Peak none = {never(), 0};
  const bool is_in = first + row < p.n;
  const Peak peak = is_in ? at<Peak>(p.heads.data[kPeaks], index * p.n + first + row) : none;
  to.top[row] = peak.top, to.factor[row] = peak.factor;
}

template <class O>
DEVICE void load_queries(const Attention& p, const O& head, I index, I first, Queries& to) {
  load_peaks(p, index, first, to);
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const I query = first + row;
#if defined(HALVES)
  if (lane == 0) to.dot[row] = query < p.n ? at<Value>(p.dots, index * p.n + query) : Value(0);
#else
  Value part = 0;
  if (query < p.n) {
    const I g = place(p, head, kGradient, query), y = place(p, head, kOutput, query);
    for (I c = lane; c < p.v; c += kLanes)
      part = multiply_add(widen(at<Element>(p.heads.data[kGradient], g + c)),
                          widen(at<Element>(p.heads.data[kOutput], y + c)), part);
  }
  const Value dot = sum_of_row(part);
  if (lane == 0) to.dot[row] = dot;
#endif
}

template <class O>
DEVICE Value weight_of(const Attention& p, const O& head, const Queries& queries, int y, I query,
                       I key, Value product) {
  const Value s = score(p, head, query, key, product);
  return s == never() ? Value(0) : exponential(s - queries.top[y]) * queries.factor[y];
}

#if defined(HALVES)
// The sums of weights times their gradients.
WIDE_BLOCK_KERNEL(attention_dots, Attention, p) {
  SHARED Value queries[kTile * kPitch];
  SHARED Value gradients[kTile * kPitch];
  SHARED Value keys[kTile * kPitch];
  SHARED Value values[kTile * kPitch];
  SHARED Value scores[kTile * kScorePitch];
  SHARED Queries rows;
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const I index = static_cast<I>(blockIdx.x / static_cast<unsigned>(p.n_tiles));
  const I first = static_cast<I>(blockIdx.x % static_cast<unsigned>(p.n_tiles)) * kTile;
  const auto head = offsets(p.heads, index);
  load_tile(p, head, kQuery, first, p.n, p.e, queries);
  load_tile(p, head, kGradient, first, p.n, p.v, gradients);
  load_peaks(p, index, first, rows);
  Value part = 0;
  const I end = p.is_causal && first + kTile < p.m ? first + kTile : p.m;
  for (I column = 0; column < end; column += kTile) {
    load_tile(p, head, kKey, column, p.m, p.e, keys);
    load_tile(p, head, kValue, column, p.m, p.v, values);
    meet();
    multiply_rows(queries, keys, p.e, [&](int y, int x, Value product) {
      scores[y * kScorePitch + x] = weight_of(p, head, rows, y, first + y, column + x, product);
    });
    multiply_rows(gradients, values, p.v,
                  [&](int y, int x, Value product) { scores[y * kScorePitch + x] *= product; });
    meet();
    for (int k = lane; k < kTile; k += kLanes) part += scores[row * kScorePitch + k];
    meet();
  }
  const Value dot = sum_of_row(part);
  if (lane == 0 && first + row < p.n) at<Value>(p.dots, index * p.n + first + row) = dot;
}
#endif

WIDE_BLOCK_KERNEL(attention_dquery, Attention, p) {
  SHARED Value queries[kTile * kPitch];
  SHARED Value gradients[kTile * kPitch];
  SHARED Value keys[kTile * kPitch];
  SHARED Value values[kTile * kPitch];
  SHARED Value scores[kTile * kScorePitch];
  SHARED Queries rows;
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const I index = static_cast<I>(blockIdx.x / static_cast<unsigned>(p.n_tiles));
  const I first = static_cast<I>(blockIdx.x % static_cast<unsigned>(p.n_tiles)) * kTile;
  const auto head = offsets(p.heads, index);
  load_tile(p, head, kQuery, first, p.n, p.e, queries);
  load_tile(p, head, kGradient, first, p.n, p.v, gradients);
  load_queries(p, head, index, first, rows);
  Value result[kEach] = {};
  const I end = p.is_causal && first + kTile < p.m ? first + kTile : p.m;
  for (I column = 0; column < end; column += kTile) {
    load_tile(p, head, kKey, column, p.m, p.e, keys);
    load_tile(p, head, kValue, column, p.m, p.v, values);
    meet();
    multiply_rows(queries, keys, p.e, [&](int y, int x, Value product) {
      scores[y * kScorePitch + x] = weight_of(p, head, rows, y, first + y, column + x, product);
    });
    multiply_rows(gradients, values, p.v, [&](int y, int x, Value product) {
      scores[y * kScorePitch + x] *= product - rows.dot[y];
    });
    meet();
    add_rows(scores + row * kScorePitch, 1, keys, lane, result);
    meet();
  }
  store_row(p, head, kDQuery, first + row, p.n, p.e, result, scale_of(p));
}

WIDE_BLOCK_KERNEL(attention_dkey_dvalue, Attention, p) {
  SHARED Value queries[kTile * kPitch];
  SHARED Value gradients[kTile * kPitch];
  SHARED Value keys[kTile * kPitch];
  SHARED Value values[kTile * kPitch];
  SHARED Value weights[kTile * kScorePitch];
  SHARED Value scores[kTile * kScorePitch];  // their gradients
  SHARED Queries rows;
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const I begin = static_cast<I>(blockIdx.x / static_cast<unsigned>(p.n_tiles)) * p.shared;
  const I first = static_cast<I>(blockIdx.x % static_cast<unsigned>(p.n_tiles)) * kTile;
  const auto own = offsets(p.heads, begin);
  load_tile(p, own, kKey, first, p.m, p.e, keys);
  load_tile(p, own, kValue, first, p.m, p.v, values);
  Value dkey[kEach] = {}, dvalue[kEach] = {};
  for (I index = begin; index < begin + p.shared; ++index) {
    const auto head = offsets(p.heads, index);
    for (I query = p.is_causal ? first : 0; query < p.n; query += kTile) {
      load_tile(p, head, kQuery, query, p.n, p.e, queries);
      load_tile(p, head, kGradient, query, p.n, p.v, gradients);
      load_queries(p, head, index, query, rows);
      meet();
      multiply_rows(queries, keys, p.e, [&](int y, int x, Value product) {
        weights[y * kScorePitch + x] = weight_of(p, head, rows, y, query + y, first + x, product);
      });
      multiply_rows(gradients, values, p.v, [&](int y, int x, Value product) {
        scores[y * kScorePitch + x] = weights[y * kScorePitch + x] * (product - rows.dot[y]);
      });
      meet();
      add_rows(weights + row, kScorePitch, gradients, lane, dvalue);
      add_rows(scores + row, kScorePitch, queries, lane, dkey);
      meet();
    }
  }
  store_row(p, own, kDKey, first + row, p.m, p.e, dkey, scale_of(p));
  store_row(p, own, kDValue, first + row, p.m, p.v, dvalue, Value(1));
}
#endif
#undef FORWARD
#undef BACKWARD
#undef HALVES
