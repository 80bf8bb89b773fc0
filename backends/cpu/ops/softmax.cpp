// softmax and log_softmax along the last dimension in float32, with their gradients: a row at a
// time, which stays in the first cache. They belong to the family norm.
#include <cstdint>
#include <cstdio>

#include "cpu.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

constexpr int64_t kPieceElements = 8192;

template <bool logarithm>
void row_forward(float* y, const float* x, int64_t n) {
  const Table& t = table();
  const float top = static_cast<float>(t.folds_f32.fold[TN_REDUCE_MAX](x, n));
  const double total = t.rows.exp_off(logarithm ? nullptr : y, x, n, 1, top);
  if constexpr (logarithm) {
    // Not x - (top + log): the sum would lose the digits of a small logarithm.
    t.rows.normalize(y, x, n, top, 1, -static_cast<float>(__builtin_log(total)));
  } else {
    t.rows.scale(y, y, n, static_cast<float>(1 / total), 0);
  }
}

template <bool logarithm>
void row_backward(float* dx, const float* g, const float* y, int64_t n) {
  const RowFunctions& rows = table().rows;
  if constexpr (logarithm) {
    rows.log_softmax_dx(dx, g, y, n, static_cast<float>(rows.sum(g, n)));
  } else {
    rows.softmax_dx(dx, g, y, n, static_cast<float>(rows.dot(g, y, n)), 1);
  }
}

float* data(const tn_tensor& t) { return static_cast<float*>(t.data); }

// body(offset of a row, its length)
template <typename Body>
void each_row(const tn_call* call, const tn_tensor& t, const Body& body) {
  const int64_t n = t.sizes[t.ndim - 1];
  parallel_for(call->host, 0, t.numel / n, 1 + kPieceElements / n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      body(i * n, n);
    }
  });
}

template <bool logarithm>
void launch_forward(const tn_call* call) {
  const tn_tensor& y = *call->outputs[0];
  const tn_tensor& x = *call->args[0].as.tensor;
  if (y.numel > 0) {
    each_row(call, y,
             [&](int64_t at, int64_t n) { row_forward<logarithm>(data(y) + at, data(x) + at, n); });
  }
}

// args: the gradient of y, x (not saved), dim, y.
template <bool logarithm>
void launch_backward(const tn_call* call) {
  const tn_tensor* dx = call->outputs[0];
  if (!dx || dx->numel == 0) {
    return;
  }
  const tn_tensor& g = *call->args[0].as.tensor;
  const tn_tensor& y = *call->args[3].as.tensor;
  each_row(call, *dx, [&](int64_t at, int64_t n) {
    row_backward<logarithm>(data(*dx) + at, data(g) + at, data(y) + at, n);
  });
}

bool supports(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t dim = call->args[1].as.i;
  if (x.ndim > 0 && (dim == -1 || dim == x.ndim - 1)) {
    return true;
  }
  return why("takes the last dimension, not %lld of %d", static_cast<long long>(dim), x.ndim);
}

template <bool logarithm>
void add(const char* op) {
  kernel(op, "cpu", {.dtypes = float32, .layout = Layout::contiguous, .traits = kUsualPromises},
         fn<launch_forward<logarithm>>)
      .supports(fn<supports>)
      .backward(fn<launch_backward<logarithm>>, {.saves_args = 0, .saves_outputs = 1});
}

}  // namespace

void add_softmax() {
  // Without the younger dtype: the meaning casts, and comes here again.
  add<false>("softmax(Tensor x, int dim=-1) -> Tensor");
  add<true>("log_softmax(Tensor x, int dim=-1) -> Tensor");
}

}  // namespace tenon::cpu_backend
