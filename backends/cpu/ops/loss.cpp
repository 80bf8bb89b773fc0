// cross_entropy and its gradient, each in one pass over the logits: mean over n rows of
// log(sum(exp(input))) - input[target], without the rows whose target is the default of
// ignore_index, an argument that the kernel does not know. Private output: the log-sum-exp of each
// row, [n], float64: in float32 it would cost large logits their digits.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu.h"
#include "ops/dtypes.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceElements = 8192;
constexpr int64_t kIgnored = -100;

double log_sum_exp(const float* x, int64_t n, float* top) {
  return table().log_sum_exp_f32(x, n, top);
}
double log_sum_exp(const double* x, int64_t n, double* top) {
  return table().log_sum_exp_f64(x, n, top);
}
void exp_minus_lse(float* d, const float* x, double lse, float scale, int64_t n) {
  table().exp_minus_lse_f32(d, x, lse, scale, n);
}
void exp_minus_lse(double* d, const double* x, double lse, double scale, int64_t n) {
  table().exp_minus_lse_f64(d, x, lse, scale, n);
}

struct Logits {
  const tn_tensor& input;
  const int64_t* target;
  int64_t n, classes;
  Logits(const tn_tensor& x, const tn_tensor& t)
      : input(x), target(static_cast<const int64_t*>(t.data)), n(x.sizes[0]), classes(x.sizes[1]) {}
  char* row(const tn_tensor& t, int64_t i) const {
    return static_cast<char*>(t.data) + i * classes * item_size(t.dtype);
  }
  bool ignores(int64_t i) const { return target[i] == kIgnored; }
  double n_counted() const {
    return static_cast<double>(n - std::count(target, target + n, kIgnored));
  }
  bool is_half() const { return item_size(input.dtype) == 2; }
  // Rows are dealt to as many workers as there are buffers for a widened row.
  int64_t workers() const {
    return std::clamp<int64_t>(n * classes / kPieceElements, 1, thread_count());
  }
};

// body(row, buffer) for all rows; buffer: one row of T, of the worker's own.
template <typename T, typename Body>
void each_row(const tn_call* call, const Logits& x, const Body& body) {
  const int64_t workers = x.workers();
  void* buffers = nullptr;
  if (x.is_half()) {
    buffers = Call(call).workspace(static_cast<uint64_t>(workers * x.classes) * sizeof(T));
  }
  parallel_for(call->host, 0, workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t w = begin; w < end; ++w) {
      for (int64_t i = x.n * w / workers; i < x.n * (w + 1) / workers; ++i) {
        body(i, buffers ? static_cast<T*>(buffers) + w * x.classes : nullptr);
      }
    }
  });
}

template <typename T>
void forward(const tn_call* call, const Logits& x) {
  const tn_host* host = call->host;
  for (int64_t i = 0; i < x.n; ++i) {
    if ((x.target[i] < 0 || x.target[i] >= x.classes) && !x.ignores(i)) {
      check(error(host, TN_INVALID_ARGUMENT,
                  "cross_entropy: target[%lld] is %lld, expected a class from 0 to %lld: input is "
                  "[%lld, %lld] (%s, cpu)",
                  static_cast<long long>(i), static_cast<long long>(x.target[i]),
                  static_cast<long long>(x.classes - 1), static_cast<long long>(x.n),
                  static_cast<long long>(x.classes), Dtype{x.input.dtype}.name()));
    }
  }
  void* memory = nullptr;
  if (x.n > 0) {
    memory = Call(call).workspace(static_cast<uint64_t>(x.n) * sizeof(double));
  }
  double* const losses = static_cast<double*>(memory);
  const bool wants_lse = call->n_outputs > 1 && call->outputs[1];
  double* const lse = wants_lse ? static_cast<double*>(call->outputs[1]->data) : nullptr;
  each_row<T>(call, x, [&](int64_t i, T* buffer) {
    if (x.ignores(i)) {
      losses[i] = 0;
      if (lse) {
        lse[i] = 0;
      }
      return;
    }
    const T* row = reinterpret_cast<const T*>(x.row(x.input, i));
    if (x.is_half()) {
      widen(buffer, row, x.input.dtype, x.classes);
      row = buffer;
    }
    T top;
    const double rest = log_sum_exp(row, x.classes, &top);
    losses[i] = (static_cast<double>(top) - static_cast<double>(row[x.target[i]])) + rest;
    if (lse) {
      lse[i] = static_cast<double>(top) + rest;
    }
  });
  double sum = 0;
  for (int64_t i = 0; i < x.n; ++i) {
    sum += losses[i];
  }
  const double mean = sum / x.n_counted();  // NaN of no rows, as every mean
  narrow(call->outputs[0]->data, &mean, call->outputs[0]->dtype, 1);
}

template <typename T>
void backward(const tn_call* call, const Logits& x, const tn_tensor* g, const double* lse) {
  const tn_tensor& gradient = *call->outputs[0];
  double factor = 0;
  if (g) {
    widen(&factor, g->data, g->dtype, 1);
  }
  const T scale = static_cast<T>(factor / x.n_counted());
  return each_row<T>(call, x, [&](int64_t i, T* buffer) {
    T* d = x.is_half() ? buffer : reinterpret_cast<T*>(x.row(gradient, i));
    if (x.ignores(i)) {
      std::memset(x.row(gradient, i), 0,
                  static_cast<size_t>(x.classes * item_size(gradient.dtype)));
      return;
    }
    const T* row = reinterpret_cast<const T*>(x.row(x.input, i));
    if (x.is_half()) {
      widen(buffer, row, x.input.dtype, x.classes);
      row = buffer;
    }
    exp_minus_lse(d, row, lse[i], scale, x.classes);
    d[x.target[i]] -= scale;
    if (x.is_half()) {
      narrow(x.row(gradient, i), buffer, gradient.dtype, x.classes);
    }
  });
}

void launch_forward(const tn_call* call) {
  const Logits x(*call->args[0].as.tensor, *call->args[1].as.tensor);
  return x.input.dtype == TN_FLOAT64 ? forward<double>(call, x) : forward<float>(call, x);
}

// args: the loss's gradient, input, target, the loss (not saved), log-sum-exp.
void launch_backward(const tn_call* call) {
  if (!call->outputs[0] || call->outputs[0]->numel == 0) {
    return;
  }
  const tn_tensor* g = call->args[0].kind == TN_KIND_TENSOR ? call->args[0].as.tensor : nullptr;
  const Logits x(*call->args[1].as.tensor, *call->args[2].as.tensor);
  const double* lse = static_cast<const double*>(call->args[4].as.tensor->data);
  return x.input.dtype == TN_FLOAT64 ? backward<double>(call, x, g, lse)
                                     : backward<float>(call, x, g, lse);
}

void infer_private(const tn_call* call, std::span<tn_meta> outputs) {
  const tn_tensor& input = *call->args[0].as.tensor;
  outputs[0].ndim = 1;
  outputs[0].dtype = TN_FLOAT64;
  outputs[0].device = input.device;
  outputs[0].sizes[0] = input.sizes[0];
}

bool supports(const tn_call* call, Refusal why) {
  const tn_tensor& input = *call->args[0].as.tensor;
  const tn_tensor& target = *call->args[1].as.tensor;
  if (input.ndim != 2 || target.ndim != 1 || input.sizes[0] != target.sizes[0] ||
      input.sizes[1] == 0) {
    return why("takes input [n, classes] and target [n], not ranks %d and %d", input.ndim,
               target.ndim);
  }
  if (!all_floats.has({input.dtype}) || target.dtype != TN_INT64) {
    return why("takes a float input and an int64 target, not %s and %s", Dtype{input.dtype}.name(),
               Dtype{target.dtype}.name());
  }
  return true;
}

}  // namespace

void add_loss() {
  // The op has options that this kernel does not know.
  kernel("cross_entropy(Tensor input, Tensor target) -> Tensor", "cpu",
         {.dtypes = all_floats | int64, .layout = Layout::contiguous, .traits = kUsualPromises},
         fn<launch_forward>)
      .supports(fn<supports>)
      .private_outputs(1, fn<infer_private>)
      .backward(fn<launch_backward>, {.saves_args = 0b11});
}

}  // namespace tenon::cpu_backend
