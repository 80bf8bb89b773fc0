// Steps of optimizers, one kernel over the elements of all parameters. What is one number for a
// whole parameter each block computes from the count of steps. The block that is the last to have read
// it counts on, for all parameters: any other might, but that some may still read the count. A text
// states Param, the dtype of parameters and gradients, State, kMost, and which step it is.
#include "steps.cuh"

using Value = decltype(widen(State{}));
constexpr int kPack = 16 / (sizeof(Param) > sizeof(State) ? sizeof(Param) : sizeof(State));

DEVICE float root_of(float x) { return ::sqrtf(x); }
DEVICE double root_of(double x) { return ::sqrt(x); }

#if defined(SGD)

struct Step {
  Table<3> table;  // parameter, gradient, momentum buffer or NULL
  void* found_inf;
  long long found_inf_bytes;
  void* arrivals;  // NULL
  Number lr, decay, momentum;
  double sign, keep, fresh, own;  // keep: 0 in the first step; own: 1 with nesterov
};
struct Factors {
  Value lr, decay, sign, old, fresh, own, ahead;
};
DEVICE Factors factors_at(const Step& p) {
  const double momentum = value_of(p.momentum);
  return {static_cast<Value>(value_of(p.lr)),
          static_cast<Value>(value_of(p.decay)),
          static_cast<Value>(p.sign),
          static_cast<Value>(p.keep * momentum),
          static_cast<Value>(p.fresh),
          static_cast<Value>(p.own),
          static_cast<Value>(p.own != 0 ? momentum : 1.0)};
}
// The state of an element.
struct Own {
  Value buffer;
};
DEVICE void update(const Factors& f, Value& p, Value g, Own& own) {
  const Value d = f.sign * g + f.decay * p;
  own.buffer = f.old * own.buffer + f.fresh * d;
  p -= f.lr * (f.own * d + f.ahead * own.buffer);
}

#elif defined(ADAM)

struct Step {
  Table<5> table;  // parameter, gradient, averages of it and of its square, count of steps or NULL
  void* found_inf;
  long long found_inf_bytes;
  void* arrivals;
  Number lr, beta1, beta2, decay, step;
  double sign, eps;
  long long decoupled;
};
struct Factors {
  Value size, floor, keep, decay, sign, old_m, new_m, old_v, new_v;
};
DEVICE Factors factors_at(const Step& p, double count) {
  const double lr = value_of(p.lr), decay = value_of(p.decay);
  const double beta1 = value_of(p.beta1), beta2 = value_of(p.beta2);
  const double root = ::sqrt(1 - ::pow(beta2, count));
  return {static_cast<Value>(lr * root / (1 - ::pow(beta1, count))),
          static_cast<Value>(p.eps * root),
          static_cast<Value>(p.decoupled ? 1 - lr * decay : 1.0),
          static_cast<Value>(p.decoupled ? 0.0 : decay),
          static_cast<Value>(p.sign),
          static_cast<Value>(beta1),
          static_cast<Value>(1 - beta1),
          static_cast<Value>(beta2),
          static_cast<Value>(1 - beta2)};
}
struct Own {
  Value average, square;
};
DEVICE void update(const Factors& f, Value& p, Value g, Own& own) {
  const Value d = f.sign * g + f.decay * p;
  own.average = f.old_m * own.average + f.new_m * d;
  own.square = f.old_v * own.square + f.new_v * d * d;
  p = f.keep * p - f.size * own.average / (root_of(own.square) + f.floor);
}

#elif defined(ADAGRAD)

struct Step {
  Table<4> table;  // parameter, gradient, sum of squares, count of steps
  void* found_inf;
  long long found_inf_bytes;
  void* arrivals;
  Number lr, decay;
  double sign, eps, lr_decay;
};
struct Factors {
  Value rate, decay, sign, eps;
};
DEVICE Factors factors_at(const Step& p, double count) {
  return {static_cast<Value>(value_of(p.lr) / (1 + (count - 1) * p.lr_decay)),
          static_cast<Value>(value_of(p.decay)), static_cast<Value>(p.sign),
          static_cast<Value>(p.eps)};
}
struct Own {
  Value total;
};
DEVICE void update(const Factors& f, Value& p, Value g, Own& own) {
  const Value d = f.sign * g + f.decay * p;
  own.total += d * d;
  p -= f.rate * d / (root_of(own.total) + f.eps);
}

#endif

constexpr int kOwn = sizeof(Own) / sizeof(Value);

// One after the other in the lists of the table, behind the parameter and the gradient.
union OwnValues {
  Own own;
  Value values[kOwn];
};

template <int size>
DEVICE void step_at(const Step& p, const Factors& f, int member, long long i) {
  const bool has_state = p.table.data[2][member] != nullptr;
  using Params = Pack<Param, size>;
  using States = Pack<State, size>;
  Params& params = at<Params>(p.table.data[0][member], i);
  const Params gradients = at<Params>(p.table.data[1][member], i);
  Params changed = params;
  States states[kOwn] = {};
  if (has_state) {
    for (int k = 0; k < kOwn; ++k) states[k] = at<States>(p.table.data[2 + k][member], i);
  }
#pragma unroll
  for (int e = 0; e < size; ++e) {
    OwnValues own;
    for (int k = 0; k < kOwn; ++k) own.values[k] = widen(states[k].v[e]);
    Value param = widen(changed.v[e]);
    update(f, param, widen(gradients.v[e]), own.own);
    changed.v[e] = narrow<Param>(param);
    for (int k = 0; k < kOwn; ++k) states[k].v[e] = narrow<State>(own.values[k]);
  }
  params = changed;
  if (has_state) {
    for (int k = 0; k < kOwn; ++k) at<States>(p.table.data[2 + k][member], i) = states[k];
  }
}

DEVICE void step_chunk(const Step& p, const Chunk& chunk, const Factors& factors) {
  EACH_PACK(i, chunk, kPack) step_at<kPack>(p, factors, chunk.member, i);
  EACH_REST(i, chunk) step_at<1>(p, factors, chunk.member, i);
}

DEVICE bool is_passed_over(const Step& p) {
  return is_set(p.found_inf, static_cast<int>(p.found_inf_bytes));
}

#if defined(SGD)
KERNEL(step, Step, p) {
  if (is_passed_over(p)) return;
  step_chunk(p, chunk_of(p.table, 2 + kOwn, kPack), factors_at(p));
}

#else
// A count is float32.
DEVICE float next_count(const Step& p, int member) {
  return at<float>(p.table.data[p.table.kLists - 1][member], 0) + 1.0f;
}

BLOCK_KERNEL(step, Step, p) {
  SHARED Factors shared;
  SHARED bool counts;
  if (is_passed_over(p)) return;
  const Chunk chunk = chunk_of(p.table, 2 + kOwn, kPack);
  if (threadIdx.x == 0) {
    double count = 0;
    if (p.arrivals) {
      count = next_count(p, chunk.member);
#if defined(ADAM)
    } else {
      count = value_of(p.step);
#endif
    }
    shared = factors_at(p, count);
    counts = p.arrivals && is_last_to_come(p.arrivals);
  }
  meet();
  if (counts) {
    for (int i = static_cast<int>(threadIdx.x); i < p.table.n; i += static_cast<int>(blockDim.x))
      at<float>(p.table.data[p.table.kLists - 1][i], 0) = next_count(p, i);
  }
  step_chunk(p, chunk, shared);
}
#endif
#undef SGD
#undef ADAM
#undef ADAGRAD
