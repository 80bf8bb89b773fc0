// What comes between the gradients and a step: the norm of all gradients as one vector, which is
// folded chunk by chunk and then, by the last block, over the chunks in their order, factors on all
// elements, the search for what is not finite, and the scale of losses that follows from it. A text states what it does, Element and kMost.
#include "instructions.cuh"
#include "steps.cuh"

#if defined(NORM) || defined(SCALE) || defined(UNSCALE)
using Value = decltype(widen(Element{}));
constexpr int kPack = 16 / sizeof(Element);

// f(element) over a chunk, written where that is wanted.
template <bool writes, class T, class F>
DEVICE void each_of_chunk(const T& table, F f) {
  const Chunk chunk = chunk_of(table, 1, kPack);
  void* const data = table.data[0][chunk.member];
  EACH_PACK(i, chunk, kPack) {
    auto pack = at<Pack<Element, kPack>>(data, i);
#pragma unroll
    for (int e = 0; e < kPack; ++e) f(pack.v[e]);
    if constexpr (writes) at<Pack<Element, kPack>>(data, i) = pack;
  }
  EACH_REST(i, chunk) {
    Element element = at<Element>(data, i);
    f(element);
    if constexpr (writes) at<Element>(data, i) = element;
  }
}
#endif

#if defined(NORM)  // power: 2, 0 for the greatest, else -1, and the struct has it
constexpr int kThreads = 256;

// Folds what the threads of a block have, in an order that the number of threads alone decides.
template <class T>
DEVICE T folded(T mine) {
  SHARED T slots[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  slots[thread] = mine;
  meet();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (thread < step)
      slots[thread] = power == 0 ? i_max(slots[thread], slots[thread + step])
                                 : slots[thread] + slots[thread + step];
    meet();
  }
  return slots[0];
}

struct Norm {
  Table<1> table;
  void* partial;   // float64, of each chunk of this launch
  void* arrivals;  // NULL: another launch follows
  void* all;       // partial results of all launches
  long long n;
  void* norm;    // float32 or float64
  void* factor;  // float64
  double p, most;
  long long is_wide;  // is the norm float64?
};

// For the threads of one block.
DEVICE void finish(const Norm& p) {
  double mine = 0;
  for (long long i = threadIdx.x; i < p.n; i += kThreads) {
    const double part = at<double>(p.all, i);
    mine = power == 0 ? i_max(mine, part) : mine + part;
  }
  const double all = folded(mine);
  if (threadIdx.x != 0) return;
  const double root = power == 0 ? all : power == 2 ? i_sqrt(all) : i_pow(all, 1 / p.p);
  const double norm = p.is_wide ? root : static_cast<double>(static_cast<float>(root));
  if (p.is_wide) {
    at<double>(p.norm, 0) = norm;
  } else {
    at<float>(p.norm, 0) = static_cast<float>(norm);
  }
  at<double>(p.factor, 0) = i_min(p.most / (norm + 1e-6), 1.0);
}

BLOCK_KERNEL(fold_chunks, Norm, p) {
  Value mine = 0;
  each_of_chunk<false>(p.table, [&](Element element) {
    const Value x = i_abs(widen(element));
    if constexpr (power == 2) mine += x * x;
    if constexpr (power == 0) mine = i_max(mine, x);
    if constexpr (power == -1) mine += i_pow(x, static_cast<Value>(p.p));
  });
  const Value all = folded(mine);
  SHARED bool is_last;
  if (threadIdx.x == 0) {
    at<double>(p.partial, blockIdx.x) = all;
    is_last = p.arrivals && is_last_to_come(p.arrivals);
  }
  meet();
  if (is_last) finish(p);
}

#elif defined(SCALE)
struct Scale {
  Table<1> table;
  void* factor;  // float64
};
KERNEL(scale_chunks, Scale, p) {
  const Value factor = static_cast<Value>(at<double>(p.factor, 0));
  if (factor == 1) return;
  each_of_chunk<true>(p.table, [&](Element& x) { x = narrow<Element>(widen(x) * factor); });
}

#elif defined(UNSCALE)
struct Unscale {
  Table<1> table;
  void* factor;     // float32
  void* found_inf;  // float32
};
KERNEL(unscale_chunks, Unscale, p) {
  const Value factor = at<float>(p.factor, 0);
  bool is_finite = true;
  each_of_chunk<true>(p.table, [&](Element& x) {
    const Value value = widen(x);
    is_finite = is_finite && value - value == 0;
    x = narrow<Element>(value * factor);
  });
  if (is_finite) return;
  constexpr unsigned kOne = 0x3F800000;  // as float32
  const unsigned old = read_atomically<unsigned>(p.found_inf, 0);
  if (old != kOne) exchange_if(p.found_inf, 0, old, kOne);  // else another thread wrote it
}

#elif defined(RESCALE)  // Element: of the scale
struct Rescale {
  void* scale;
  void* good_steps;  // int64
  void* found_inf;
  long long found_inf_bytes, interval;
  double growth, backoff;
};
KERNEL(next_scale, Rescale, p) {
  using Value = decltype(widen(Element{}));
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const bool skips = is_set(p.found_inf, static_cast<int>(p.found_inf_bytes));
  const long long good = at<long long>(p.good_steps, 0) + 1;
  const Value scale = widen(at<Element>(p.scale, 0));
  const Value grown = scale * static_cast<Value>(p.growth);
  Value next = skips ? scale * static_cast<Value>(p.backoff) : scale;
  if (!skips && good == p.interval && grown - grown == 0) next = grown;
  at<Element>(p.scale, 0) = narrow<Element>(next);
  at<long long>(p.good_steps, 0) = skips || good == p.interval ? 0 : good;
}
#endif
#undef NORM
#undef SCALE
#undef UNSCALE
#undef RESCALE
