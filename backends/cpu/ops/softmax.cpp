// softmax and log_softmax along the last dimension in float32, with their gradients: a row at a
// time, which stays in the first cache. They belong to the family norm.
#include <cstdint>
#include <cstdio>

#include "cpu.h"
#include "vector/table.h"

namespace tenon::cpu {
namespace {

constexpr int64_t kPieceElements = 8192;

template <bool logarithm>
void row_forward(float* y, const float* x, int64_t n) {
  const Table& t = table();
  const float top = static_cast<float>(t.fold_f32[TN_REDUCE_MAX](x, n));
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
  parallel(call->host, 0, t.numel / n, 1 + kPieceElements / n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      body(i * n, n);
    }
  });
}

template <bool logarithm>
tn_status* launch_forward(void*, const tn_call* call) {
  const tn_tensor& y = *call->outputs[0];
  const tn_tensor& x = *call->args[0].as.tensor;
  if (y.numel > 0) {
    each_row(call, y,
             [&](int64_t at, int64_t n) { row_forward<logarithm>(data(y) + at, data(x) + at, n); });
  }
  return nullptr;
}

// args: the gradient of y, x (not saved), dim, y.
template <bool logarithm>
tn_status* launch_backward(void*, const tn_call* call) {
  const tn_tensor* dx = call->outputs[0];
  if (!dx || dx->numel == 0) {
    return nullptr;
  }
  const tn_tensor& g = *call->args[0].as.tensor;
  const tn_tensor& y = *call->args[3].as.tensor;
  each_row(call, *dx, [&](int64_t at, int64_t n) {
    row_backward<logarithm>(data(*dx) + at, data(g) + at, data(y) + at, n);
  });
  return nullptr;
}

int32_t supports(void*, const tn_call* call, char* reason, size_t bytes) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const int64_t dim = call->args[1].as.i;
  if (x.ndim > 0 && (dim == -1 || dim == x.ndim - 1)) {
    return 1;
  }
  std::snprintf(reason, bytes, "takes the last dimension, not %lld of %d",
                static_cast<long long>(dim), x.ndim);
  return 0;
}

template <bool logarithm>
tn_status* add(tn_registrar* r, const char* schema) {
  tn_kernel_def forward = primitive_kernel(TN_PRIM_NONE, launch_forward<logarithm>);
  forward.op = schema;
  forward.dtypes = TN_DTYPE_BIT(TN_FLOAT32);
  forward.layout = TN_LAYOUT_CONTIGUOUS;
  forward.supports = supports;
  tn_kernel_pair_def pair = {};
  pair.size = sizeof pair;
  pair.forward = &forward;
  pair.backward = launch_backward<logarithm>;
  pair.saves_outputs = 1;
  return r->kernel_pair(r, &pair);
}

}  // namespace

tn_status* add_softmax(tn_registrar* r) {
  TENON_CPU_TRY(add<false>(r, "softmax(Tensor x, int dim=-1) -> Tensor"));
  return add<true>(r, "log_softmax(Tensor x, int dim=-1) -> Tensor");
}

}  // namespace tenon::cpu
