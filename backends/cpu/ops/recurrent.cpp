// One layer of an LSTM or a GRU in one direction, in float32, with its gradients: the input's part of
// all gates is one product, the hidden part one a step with weights that are packed once, and in the
// backward the gradients of weights are one product each over all steps. Sequences do not meet:
// each thread takes some of them through all steps.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cpu.h"
#include "ops/matmul.h"
#include "ops/norm.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

struct Kind {
  bool is_lstm;
  uint32_t gates, weights, reverse;  // places of weights, and of `reverse`, among the arguments
};
constexpr Kind kLstm = {true, 4, 3, 8}, kGru = {false, 3, 2, 6};

// The arguments of a call, and how its rows lie: x and what has a row for each step of each sequence
// have the rows of step t from starts[t] on.
struct Layer {
  const Kind& kind;
  const tn_tensor &x, &h, &w_ih, &w_hh;
  const tn_tensor *c, *b_ih, *b_hh;
  bool reverse;
  int64_t n, steps, rows, features, hidden, gates;
  std::vector<int64_t> sizes, starts, lengths;  // of steps; of sequences

  Layer(const Kind& k, const tn_value* args)
      : kind(k),
        x(*args[0].as.tensor),
        h(*args[1].as.tensor),
        w_ih(*args[k.weights].as.tensor),
        w_hh(*args[k.weights + 1].as.tensor),
        c(k.is_lstm ? args[2].as.tensor : nullptr),
        b_ih(tensor_of(args[k.weights + 2])),
        b_hh(tensor_of(args[k.weights + 3])),
        reverse(args[k.reverse].as.i != 0),
        n(h.sizes[0]),
        features(x.sizes[x.ndim - 1]),
        hidden(h.sizes[1]),
        gates(k.gates * hidden) {
    const tn_value& of_steps = args[k.reverse + 1];
    if (of_steps.count > 0) {
      sizes.assign(of_steps.as.ints, of_steps.as.ints + of_steps.count);
    } else {
      sizes.assign(static_cast<size_t>(x.sizes[0]), n);
    }
    steps = static_cast<int64_t>(sizes.size());
    lengths.assign(static_cast<size_t>(n), 0);
    rows = 0;
    for (const int64_t size : sizes) {
      starts.push_back(rows);
      rows += size;
      for (int64_t i = 0; i < size; ++i) ++lengths[static_cast<size_t>(i)];
    }
  }

  int64_t size(int64_t t) const { return sizes[static_cast<size_t>(t)]; }
  int64_t row(int64_t t, int64_t i) const { return starts[static_cast<size_t>(t)] + i; }
  // The step that is computed k-th.
  int64_t step(int64_t k) const { return reverse ? steps - 1 - k : k; }
  // The row of the state before step t of sequence i, or -1: it is the first one.
  int64_t row_before(int64_t t, int64_t i) const {
    const int64_t before = reverse ? t + 1 : t - 1;
    if (before < 0 || before >= steps || i >= size(before)) return -1;
    return row(before, i);
  }
  const float* before(const float* rows_of_states, const float* first, int64_t t, int64_t i) const {
    const int64_t at = row_before(t, i);
    return at < 0 ? first + i * hidden : rows_of_states + at * hidden;
  }

  // Sequences [cuts[i], cuts[i + 1]) are share i: about as many steps for each thread.
  std::vector<int64_t> shares() const {
    const double work = static_cast<double>(rows) * static_cast<double>(gates * hidden);
    const int64_t wanted = work < 1e6 ? 1 : std::min<int64_t>(thread_count(), n);
    std::vector<int64_t> cuts = {0};
    int64_t done = 0;
    for (int64_t i = 0; i + 1 < n; ++i) {
      done += lengths[static_cast<size_t>(i)];
      const int64_t share = static_cast<int64_t>(cuts.size());
      if (share < wanted && done >= rows * share / wanted) cuts.push_back(i + 1);
    }
    cuts.push_back(n);
    return cuts;
  }
};

float* floats(const tn_call* call, int64_t count) {
  return static_cast<float*>(Call(call).workspace(static_cast<uint64_t>(count) * sizeof(float)));
}

// c [m, n] = a b, or a^T b, all dense but for c's rows.
struct Dense {
  int64_t m, n, k;
  const float *a, *b;
  float* c;
  bool a_turned = false, b_turned = false;
  int64_t c_row = 0;
  const float* bias = nullptr;
};
void product_of(const tn_call* call, const Dense& d) {
  Product p = {1, d.m, d.n, d.k, d.a, d.b, d.c};
  p.a_strides[0] = p.b_strides[0] = p.c_strides[0] = 0;
  p.a_strides[1] = d.a_turned ? 1 : d.k;
  p.a_strides[2] = d.a_turned ? d.m : 1;
  p.b_strides[1] = d.b_turned ? 1 : d.n;
  p.b_strides[2] = d.b_turned ? d.k : 1;
  p.c_strides[1] = d.c_row > 0 ? d.c_row : d.n;
  p.c_strides[2] = 1;
  p.dtype = TN_FLOAT32;
  p.bias = d.bias;
  multiply(call, p);
}

// A matrix [k, n] that each step multiplies its rows with.
class StepMatrix {
 public:
  StepMatrix(const tn_call* call, const float* b, int64_t b_row, int64_t b_column, int64_t n,
             int64_t k)
      : n_(n), k_(k), packed_(floats(call, kernels().packed_floats(n, k))) {
    kernels().pack(packed_, b, b_row, b_column, n, k);
  }
  static const RecurrentFunctions& kernels() { return table().recurrent; }
  int64_t scratch_floats() const { return (kernels().scratch_floats(k_) + 15) / 16 * 16; }
  void multiply(int64_t m, const float* a, int64_t a_row, float* c, int64_t c_row, bool adds,
                float* scratch) const {
    if (m > 0) kernels().multiply({m, n_, k_, a, a_row, packed_, c, c_row, adds, scratch});
  }

 private:
  int64_t n_, k_;
  float* packed_;
};

// body(begin, end, t, scratch) for each share of the sequences, and each step that some of them have:
// in the order of steps, or backwards. Within a share one step follows the other.
template <typename Body>
void each_step(const tn_call* call, const Layer& l, const StepMatrix& matrix, bool backwards,
               const Body& body) {
  const std::vector<int64_t> cuts = l.shares();
  const int64_t n_shares = static_cast<int64_t>(cuts.size()) - 1;
  const int64_t bytes = matrix.scratch_floats();
  float* const scratch = floats(call, bytes * n_shares);
  parallel_for(call->host, 0, n_shares, 1, [&](int64_t first, int64_t last) {
    for (int64_t s = first; s < last; ++s) {
      const int64_t begin = cuts[static_cast<size_t>(s)], end = cuts[static_cast<size_t>(s) + 1];
      for (int64_t k = 0; k < l.steps; ++k) {
        const int64_t t = l.step(backwards ? l.steps - 1 - k : k);
        const int64_t until = std::min(end, l.size(t));
        if (until > begin) body(begin, until, t, scratch + s * bytes);
      }
    }
  });
}

// Rows [begin, end) of the state before step t times the matrix, to or onto the rows of `to`. Those
// that begin with this step have theirs in `first`.
void multiply_states(const Layer& l, const StepMatrix& matrix, const float* states,
                     const float* first, int64_t t, int64_t begin, int64_t end, float* to,
                     int64_t to_row, bool adds, float* scratch) {
  const int64_t previous = l.reverse ? t + 1 : t - 1;
  const bool is_first = previous < 0 || previous >= l.steps;
  const int64_t going = is_first ? begin : std::clamp(l.size(previous), begin, end);
  const auto rows_of = [&](const float* a, int64_t from, int64_t until) {
    matrix.multiply(until - from, a, l.hidden, to + (from - begin) * to_row, to_row, adds, scratch);
  };
  if (going > begin) rows_of(states + l.row(previous, begin) * l.hidden, begin, going);
  rows_of(first + going * l.hidden, going, end);
}

// The last states, from the rows behind each sequence's last step.
void copy_last(const Layer& l, const float* rows, float* to) {
  for (int64_t i = 0; i < l.n; ++i) {
    const int64_t t = l.reverse ? 0 : l.lengths[static_cast<size_t>(i)] - 1;
    std::memcpy(to + i * l.hidden, rows + l.row(t, i) * l.hidden,
                static_cast<size_t>(l.hidden) * sizeof(float));
  }
}

// The private outputs: what the gates were [rows, 4 hidden], and of an LSTM the c behind each step.
float* kept(const tn_call* call, uint32_t i) {
  return call->n_outputs > i ? data(call->outputs[i]) : nullptr;
}

void lstm_forward(const Kind& kind, const tn_call* call) {
  const Layer l(kind, call->args);
  float *const y = data(call->outputs[0]), *const own = kept(call, 3), *const of_c = kept(call, 4);
  float* const gates = own ? own : floats(call, l.rows * l.gates);
  float* const states = of_c ? of_c : floats(call, l.rows * l.hidden);
  float* bias = nullptr;
  if (l.b_ih) {
    bias = floats(call, l.gates);
    for (int64_t i = 0; i < l.gates; ++i) bias[i] = data(l.b_ih)[i] + data(l.b_hh)[i];
  }
  product_of(call, {.m = l.rows,
                    .n = l.gates,
                    .k = l.features,
                    .a = data(&l.x),
                    .b = data(&l.w_ih),
                    .c = gates,
                    .b_turned = true,
                    .bias = bias});
  const StepMatrix w_hh(call, data(&l.w_hh), 1, l.hidden, l.gates, l.hidden);
  const RecurrentFunctions& kernels = table().recurrent;
  each_step(call, l, w_hh, false, [&](int64_t begin, int64_t until, int64_t t, float* scratch) {
    multiply_states(l, w_hh, y, data(&l.h), t, begin, until, gates + l.row(t, begin) * l.gates,
                    l.gates, true, scratch);
    for (int64_t i = begin; i < until; ++i) {
      const int64_t row = l.row(t, i);
      kernels.lstm_row({gates + row * l.gates, l.before(states, data(l.c), t, i),
                        states + row * l.hidden, y + row * l.hidden, own != nullptr},
                       l.hidden);
    }
  });
  if (float* const h = data(call->outputs[1])) copy_last(l, y, h);
  if (float* const c = data(call->outputs[2])) copy_last(l, states, c);
}

// What both backwards share: gradients of states that go from step to step, [n, hidden].
struct Backward {
  const Layer& l;
  const tn_call* call;
  const float *dy, *y;  // dy may be NULL

  float* state(const tn_value& gradient) const {
    float* const d = floats(call, l.n * l.hidden);
    const size_t bytes = static_cast<size_t>(l.n * l.hidden) * sizeof(float);
    if (const float* const g = data(gradient)) {
      std::memcpy(d, g, bytes);
    } else {
      std::memset(d, 0, bytes);
    }
    return d;
  }
  const float* dy_row(int64_t row) const { return dy ? dy + row * l.hidden : nullptr; }
  float* wanted(uint32_t output) const {
    return output < call->n_outputs ? data(call->outputs[output]) : nullptr;
  }
  void give(uint32_t output, const float* d) const {
    if (float* const to = wanted(output))
      std::memcpy(to, d, static_cast<size_t>(l.n * l.hidden) * sizeof(float));
  }
  // The h before each step, a row a step of a sequence.
  const float* states_before() const {
    float* const all = floats(call, l.rows * l.hidden);
    for (int64_t t = 0; t < l.steps; ++t) {
      for (int64_t i = 0; i < l.size(t); ++i) {
        std::memcpy(all + l.row(t, i) * l.hidden, l.before(y, data(&l.h), t, i),
                    static_cast<size_t>(l.hidden) * sizeof(float));
      }
    }
    return all;
  }
  void sum_rows(const float* d, float* to) const {
    if (to == nullptr) return;
    std::vector<double> sums(static_cast<size_t>(l.gates), 0);
    for (int64_t row = 0; row < l.rows; ++row)
      table().flush_f32(sums.data(), d + row * l.gates, l.gates);
    for (int64_t j = 0; j < l.gates; ++j) to[j] = static_cast<float>(sums[static_cast<size_t>(j)]);
  }
  // From the gradients of the gates' parts, [rows, gates] each.
  void weights(const float* of_x, const float* of_h) const {
    const uint32_t w = l.kind.weights;
    if (float* const dx = wanted(0)) {
      product_of(
          call,
          {.m = l.rows, .n = l.features, .k = l.gates, .a = of_x, .b = data(&l.w_ih), .c = dx});
    }
    if (float* const dw = wanted(w)) {
      product_of(call, {.m = l.gates,
                        .n = l.features,
                        .k = l.rows,
                        .a = of_x,
                        .b = data(&l.x),
                        .c = dw,
                        .a_turned = true});
    }
    if (float* const dw = wanted(w + 1)) {
      product_of(call, {.m = l.gates,
                        .n = l.hidden,
                        .k = l.rows,
                        .a = of_h,
                        .b = states_before(),
                        .c = dw,
                        .a_turned = true});
    }
    float *const db_ih = wanted(w + 2), *const db_hh = wanted(w + 3);
    sum_rows(of_x, db_ih);
    if (of_x == of_h && db_ih && db_hh) {
      std::memcpy(db_hh, db_ih, static_cast<size_t>(l.gates) * sizeof(float));
    } else {
      sum_rows(of_h, db_hh);
    }
  }
};

// args: the gradients of y, h, c; the forward's ten arguments; y, h, c (of which y is saved), gates, c
// of all steps.
void lstm_backward(const Kind& kind, const tn_call* call) {
  const tn_value* const args = call->args;
  const Layer l(kind, args + 3);
  const Backward b = {l, call, data(args[0]), data(args[13])};
  const float *const gates = data(args[16]), *const states = data(args[17]);
  float *const dh = b.state(args[1]), *const dc = b.state(args[2]);
  float* const d = floats(call, l.rows * l.gates);
  const StepMatrix w_hh(call, data(&l.w_hh), l.hidden, 1, l.hidden, l.gates);
  const RecurrentFunctions& kernels = table().recurrent;
  each_step(call, l, w_hh, true, [&](int64_t begin, int64_t until, int64_t t, float* scratch) {
    for (int64_t i = begin; i < until; ++i) {
      const int64_t row = l.row(t, i);
      kernels.lstm_row_dx(
          {gates + row * l.gates, l.before(states, data(l.c), t, i), states + row * l.hidden,
           b.dy_row(row), dh + i * l.hidden, dc + i * l.hidden, d + row * l.gates},
          l.hidden);
    }
    w_hh.multiply(until - begin, d + l.row(t, begin) * l.gates, l.gates, dh + begin * l.hidden,
                  l.hidden, false, scratch);
  });
  b.give(1, dh);
  b.give(2, dc);
  b.weights(d, d);
}

void gru_forward(const Kind& kind, const tn_call* call) {
  const Layer l(kind, call->args);
  float *const y = data(call->outputs[0]), *const own = kept(call, 2);
  const int64_t wide = 4 * l.hidden;
  float* const gates = own ? own : floats(call, l.rows * wide);
  product_of(call, {.m = l.rows,
                    .n = l.gates,
                    .k = l.features,
                    .a = data(&l.x),
                    .b = data(&l.w_ih),
                    .c = gates,
                    .b_turned = true,
                    .c_row = wide,
                    .bias = l.b_ih ? data(l.b_ih) : nullptr});
  const StepMatrix w_hh(call, data(&l.w_hh), 1, l.hidden, l.gates, l.hidden);
  float* const parts = floats(call, l.n * l.gates);
  const RecurrentFunctions& kernels = table().recurrent;
  each_step(call, l, w_hh, false, [&](int64_t begin, int64_t until, int64_t t, float* scratch) {
    for (int64_t i = begin; i < until && l.b_hh; ++i) {
      std::memcpy(parts + i * l.gates, data(l.b_hh), static_cast<size_t>(l.gates) * sizeof(float));
    }
    multiply_states(l, w_hh, y, data(&l.h), t, begin, until, parts + begin * l.gates, l.gates,
                    l.b_hh != nullptr, scratch);
    for (int64_t i = begin; i < until; ++i) {
      const int64_t row = l.row(t, i);
      kernels.gru_row({gates + row * wide, parts + i * l.gates, l.before(y, data(&l.h), t, i),
                       y + row * l.hidden},
                      l.hidden);
    }
  });
  if (float* const h = data(call->outputs[1])) copy_last(l, y, h);
}

// args: the gradients of y and h; the forward's eight arguments; y (saved), h, gates.
void gru_backward(const Kind& kind, const tn_call* call) {
  const tn_value* const args = call->args;
  const Layer l(kind, args + 2);
  const Backward b = {l, call, data(args[0]), data(args[10])};
  const float* const gates = data(args[12]);
  float* const dh = b.state(args[1]);
  float *const of_x = floats(call, l.rows * l.gates), *const of_h = floats(call, l.rows * l.gates);
  const StepMatrix w_hh(call, data(&l.w_hh), l.hidden, 1, l.hidden, l.gates);
  const RecurrentFunctions& kernels = table().recurrent;
  each_step(call, l, w_hh, true, [&](int64_t begin, int64_t until, int64_t t, float* scratch) {
    for (int64_t i = begin; i < until; ++i) {
      const int64_t row = l.row(t, i);
      kernels.gru_row_dx(
          {gates + row * 4 * l.hidden, l.before(b.y, data(&l.h), t, i), b.dy_row(row),
           dh + i * l.hidden, of_x + row * l.gates, of_h + row * l.gates},
          l.hidden);
    }
    w_hh.multiply(until - begin, of_h + l.row(t, begin) * l.gates, l.gates, dh + begin * l.hidden,
                  l.hidden, true, scratch);
  });
  b.give(1, dh);
  b.weights(of_x, of_h);
}

void infer_private(const Kind& kind, const tn_call* call, std::span<tn_meta> metas) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_tensor& h = *call->args[1].as.tensor;
  for (size_t i = 0; i < (kind.is_lstm ? 2 : 1); ++i) {
    metas[i].ndim = 2;
    metas[i].dtype = TN_FLOAT32;
    metas[i].device = x.device;
    metas[i].sizes[0] = product(x.sizes, x.ndim - 1);
    metas[i].sizes[1] = (i == 0 ? 4 : 1) * h.sizes[1];
  }
}

bool supports(const Kind& kind, const tn_call* call, Refusal why) {
  for (uint32_t i = 0; i < kind.weights + 2; ++i) {
    if (call->args[i].as.tensor->numel == 0) return why("takes no empty tensors");
  }
  if (kind.is_lstm && tensor_of(call->args[7])) return why("has no projection");
  return true;
}

}  // namespace

void add_recurrent() {
  const KernelOptions options = rows_of_float32(kUsualPromises);
  kernel("_lstm_layer", "cpu", options, fn<lstm_forward>, &kLstm)
      .supports(fn<supports>)
      .private_outputs(2, fn<infer_private>)
      .backward(fn<lstm_backward>, {.saves_args = 0b11111, .saves_outputs = 1});
  kernel("_gru_layer", "cpu", options, fn<gru_forward>, &kGru)
      .supports(fn<supports>)
      .private_outputs(1, fn<infer_private>)
      .backward(fn<gru_backward>, {.saves_args = 0b1111, .saves_outputs = 1});
}

}  // namespace tenon::cpu_backend
