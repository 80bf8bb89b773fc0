// cross_entropy with targets that are classes, and its gradient, which is written in one pass over the
// logits. A text states what rows.cuh asks for, with L of x and the target, or of dx, x, the target
// and the gradient of the loss; Weight, the elements of the weights of classes; and kSmooth: labels
// are smoothed.
#include "peaks.cuh"
#include "fault.cuh"

struct CrossEntropy {
  Rows rows;
  void* weights;  // of classes; NULL: 1
  void* losses;   // of Element, one for each row; NULL: a block's losses are added up
  void* parts;    // of Two, one for each block: of losses, and of the weights of what counts
  void* peaks;    // a Peak of each row, which the forward leaves and the backward takes
  void* totals;   // of Value: the weights of what counts, and those of all classes
  void* fault;
  long long ignored, target_bytes, dim;  // of the classes
  long long is_mean;
  Scalar smoothing;
};

DEVICE Value weight_of(const CrossEntropy& p, I c) {
  return p.weights ? static_cast<Value>(widen(at<Weight>(p.weights, c))) : 1;
}

// The class of a row, or -1: it is not counted. What is no class is reported, and not counted.
template <int operand>
DEVICE I class_of(const CrossEntropy& p, const Row& row) {
  if (row.n == 0) return -1;
  void* const data = p.rows.loop.data[operand];
  const I where = row.start.at[operand];
  const long long target =
      p.target_bytes == 8 ? at<long long>(data, where) : widen(at<unsigned char>(data, where));
  if (target == p.ignored) return -1;
  return is_within(target, p.rows.n, p.dim, p.fault, kCrossEntropy) ? static_cast<I>(target) : -1;
}

#if defined(FORWARD)
// The sum over classes of weight * -log(probability).
DEVICE Value smooth_loss(const CrossEntropy& p, const Row& row, const Place& me, const Peak& all,
                         Value log_total, Tile& x, Value* slots) {
  Sum mine;
  for (I tile = 0; tile < row.n_tiles; ++tile) {
    if (!kHeld) read<0>(p.rows, row, me, tile, 0, x);
    Tile terms;
#pragma unroll
    for (int k = 0; k < kValues; ++k) {
      const I c = row.place(me, tile, k);
      terms.v[k] = row.has(c) ? weight_of(p, c) * ((all.top - x.v[k]) + log_total) : 0;
    }
    mine.add(terms);
  }
  return folded(mine.total(), slots, p.rows, me, Plus{});
}

WIDE_BLOCK_KERNEL(cross_entropy, CrossEntropy, p) {
  SHARED Peak slots[kThreads];
  SHARED Value more_slots[kThreads];
  SHARED Two parts[kThreads];
  const Place me(p.rows);
  const Value smoothing = number_of(p.smoothing, Value());
  Sum losses, counted;
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    Tile x, e;
    Peak mine = {lowest(), 0};
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      read<0>(p.rows, row, me, tile, lowest(), x);
      const Peak peak = peak_of(x, e);
      mine = kHeld ? peak : joined(mine, peak);
    }
    const Peak all = folded(mine, slots, p.rows, me, Join{});
    const Value log_total = logarithm(all.total);
    const Value smooth = kSmooth ? smooth_loss(p, row, me, all, log_total, x, more_slots) : 0;
    if (me.lane != 0 || row.n == 0) continue;
    const I target = class_of<1>(p, row);
    Value loss = 0;
    if (target >= 0) {
      const Value w = weight_of(p, target);
      const Value picked = widen(at<Element>(
          p.rows.loop.data[0], row.start.at[0] + p.rows.phase + target * p.rows.strides[0]));
      loss = w * ((all.top - picked) + log_total);
      if (kSmooth)
        loss = (1 - smoothing) * loss + smoothing / static_cast<Value>(p.rows.n) * smooth;
      counted.add(w);
      losses.add(loss);
    }
    if (p.losses) at<Element>(p.losses, row.index) = narrow<Element>(loss);
    if (p.peaks) at<Peak>(p.peaks, row.index) = all;
  }
  const int thread = static_cast<int>(threadIdx.x);
  parts[thread] = {losses.total(), counted.total()};
  meet();
  for (int step = static_cast<int>(blockDim.x) / 2; step > 0; step /= 2) {
    if (thread < step) parts[thread] = Plus{}(parts[thread], parts[thread + step]);
    meet();
  }
  if (thread == 0) at<Two>(p.parts, blockIdx.x) = parts[0];
}
#elif defined(BACKWARD)
ROW_KERNEL(cross_entropy_backward, CrossEntropy, p) {
  const Place me(p.rows);
  const Value smoothing = number_of(p.smoothing, Value());
  const Value share = kSmooth ? smoothing / static_cast<Value>(p.rows.n) : 0;
  EACH_ROWS(first, p.rows, me) {
    const Row row(p.rows, me, first);
    if (row.n == 0) continue;
    const I target = class_of<2>(p, row);
    const Peak peak = at<Peak>(p.peaks, row.index);
    Value g = 0, hot = 0;  // of the loss, and of the target's class; 0 where the row is not counted
    if (target >= 0) {
      g = widen(at<Element>(p.rows.loop.data[3], row.start.at[3]));
      if (p.is_mean) g /= at<Value>(p.totals, 0);
      hot = (1 - smoothing) * weight_of(p, target) * g;
    }
    // Also where it is not counted, infinite logits give NaN, as the meaning does.
    const Value all = (hot + share * g * (kSmooth ? at<Value>(p.totals, 1) : 0)) / peak.total;
    for (I tile = 0; tile < row.n_tiles; ++tile) {
      Tile x;
      read<1>(p.rows, row, me, tile, 0, x);
#pragma unroll
      for (int k = 0; k < kValues; ++k) {
        const I c = row.place(me, tile, k);
        Value d = exponential(x.v[k] - peak.top) * all;
        if (c == target) d -= hot;
        if (kSmooth && row.has(c)) d -= share * g * weight_of(p, c);
        x.v[k] = d;
      }
      write<0>(p.rows, row, me, tile, x);
    }
  }
}
#endif
#undef FORWARD
#undef BACKWARD
#undef EACH_ROWS
