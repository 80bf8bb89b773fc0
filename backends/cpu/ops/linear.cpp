// linear with its gradients, and linear_relu: y = x weight^T + bias over the last dimension of x.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cpu.h"
#include "ops/dtypes.h"
#include "ops/matmul.h"
#include "ops/norm.h"
#include "vector/table.h"

namespace tenon::cpu_backend {
namespace {

struct Linear {
  bool relu;  // gives relu(y)
};
constexpr Linear kLinear = {false}, kLinearRelu = {true};

// Row-major [m, n].
void lies(int64_t* strides, int64_t n) {
  strides[0] = 0;
  strides[1] = n;
  strides[2] = 1;
}
void lies_transposed(int64_t* strides, int64_t n) {
  strides[0] = 0;
  strides[1] = 1;
  strides[2] = n;
}

void launch_linear(const Linear& linear, const tn_call* call) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_tensor& weight = *call->args[1].as.tensor;
  const bool has_bias = call->n_args > 2 && call->args[2].kind == TN_KIND_TENSOR;
  const tn_tensor& y = *call->outputs[0];
  Product p = {1, 1, weight.sizes[0], weight.sizes[1], x.data, weight.data, y.data};
  p.m = product(x.sizes, x.ndim - 1);
  // All are contiguous: the leading dimensions of x and y are one.
  lies(p.a_strides, p.k);
  lies_transposed(p.b_strides, p.k);
  lies(p.c_strides, p.n);
  p.dtype = x.dtype;
  if (has_bias) {
    p.bias = call->args[2].as.tensor->data;
    p.bias_stride = call->args[2].as.tensor->strides[0];
  }
  p.relu = linear.relu;
  return multiply(call, p);
}

bool supports_linear(const tn_call* call, Refusal why) {
  const tn_tensor& x = *call->args[0].as.tensor;
  const tn_tensor& weight = *call->args[1].as.tensor;
  const tn_tensor* bias =
      call->n_args > 2 && call->args[2].kind == TN_KIND_TENSOR ? call->args[2].as.tensor : nullptr;
  if (x.ndim < 1 || weight.ndim != 2 || (bias && bias->ndim != 1)) {
    return why("takes x of rank 1 or more, weight of rank 2 and bias of rank 1, not %d, %d and %d",
               x.ndim, weight.ndim, bias ? bias->ndim : 1);
  }
  if (bias && bias->numel != weight.sizes[0]) {
    return why("takes a bias of weight's %lld rows, not one of %lld that broadcasts",
               static_cast<long long>(weight.sizes[0]), static_cast<long long>(bias->numel));
  }
  if (weight.dtype != x.dtype || (bias && bias->dtype != x.dtype)) {
    return why("dtypes differ: x is %s, weight is %s", Dtype{x.dtype}.name(),
               Dtype{weight.dtype}.name());
  }
  return true;
}

// The sums of g's columns, [m, n], in pieces that its sizes alone decide on.
class ColumnSums {
 public:
  ColumnSums(const tn_call* call, const tn_tensor& g, int64_t m, int64_t n)
      : call_(call), g_(g), m_(m), n_(n) {}

  void into(const tn_tensor& result) const {
    const int64_t of_rows = (m_ + kRows - 1) / kRows, of_columns = (n_ + kColumns - 1) / kColumns;
    void* const memory =
        Call(call_).workspace(static_cast<uint64_t>(2 * of_rows * n_) * sizeof(double));
    double* const sums = static_cast<double*>(memory);
    double* const errors = sums + of_rows * n_;
    std::memset(memory, 0, static_cast<size_t>(2 * of_rows * n_) * sizeof(double));
    const int64_t grain = 1 + kPieceElements / (std::min(m_, kRows) * std::min(n_, kColumns));
    parallel_for(call_->host, 0, of_rows * of_columns, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / of_columns, column = i % of_columns * kColumns;
        add_piece(row * kRows, column, sums + row * n_ + column, errors + row * n_ + column);
      }
    });
    char* const to = static_cast<char*>(result.data);
    for (int64_t j = 0; j < n_; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < of_rows; ++i) {
        sum += sums[i * n_ + j] + errors[i * n_ + j];
      }
      narrow(to + j * item_size(result.dtype), &sum, result.dtype, 1);
    }
  }

 private:
  static constexpr int64_t kRows = 1024, kColumns = 256;
  static constexpr int64_t kInFloat32 = 64;  // rows, before their sums go to float64

  void add_piece(int64_t first, int64_t column, double* sum, double* error) const {
    const Table& kernels = table();
    const int64_t last = std::min(first + kRows, m_), n = std::min(kColumns, n_ - column);
    const char* row =
        static_cast<const char*>(g_.data) + (first * n_ + column) * item_size(g_.dtype);
    const int64_t stride = n_ * item_size(g_.dtype);
    if (g_.dtype == TN_FLOAT64) {
      for (int64_t i = first; i < last; ++i, row += stride) {
        kernels.flush_f64(sum, error, reinterpret_cast<const double*>(row), n);
      }
      return;
    }
    float part[kColumns] = {}, wide[kColumns];
    for (int64_t i = first; i < last; ++i, row += stride) {
      const float* values = reinterpret_cast<const float*>(row);
      if (g_.dtype != TN_FLOAT32) {
        widen(wide, row, g_.dtype, n);
        values = wide;
      }
      kernels.rows.columns_sum(part, values, n, nullptr);
      if ((i + 1 - first) % kInFloat32 == 0 || i + 1 == last) {
        kernels.flush_f32(sum, part, n);
        std::memset(part, 0, sizeof part);
      }
    }
  }

  const tn_call* call_;
  const tn_tensor& g_;
  int64_t m_, n_;
};

// A gradient: the second factor and the result have as many columns as x.
void into_columns_of_x(const tn_call* call, Product& p) {
  lies(p.b_strides, p.n);
  lies(p.c_strides, p.n);
  p.dtype = call->args[1].as.tensor->dtype;
  multiply(call, p);
}

// args: g, then x, weight, bias (not saved), y (not saved). dx = g weight, dweight = g^T x.
void linear_backward(const Linear&, const tn_call* call) {
  const tn_tensor* const g = tensor_of(call->args[0]);
  if (!g || g->numel == 0) {
    return clear_outputs(call);
  }
  const tn_tensor& x = *call->args[1].as.tensor;
  const tn_tensor& weight = *call->args[2].as.tensor;
  const int64_t m = product(x.sizes, x.ndim - 1), out = weight.sizes[0], in = weight.sizes[1];
  if (const tn_tensor* const dx = call->outputs[0]) {
    Product p = {1, m, in, out, g->data, weight.data, dx->data};
    lies(p.a_strides, out);
    into_columns_of_x(call, p);
  }
  if (const tn_tensor* const dweight = call->outputs[1]) {
    Product p = {1, out, in, m, g->data, x.data, dweight->data};
    lies_transposed(p.a_strides, out);
    into_columns_of_x(call, p);
  }
  if (call->n_outputs > 2 && call->outputs[2]) {
    ColumnSums(call, *g, m, out).into(*call->outputs[2]);
  }
}

}  // namespace

void add_linear() {
  const KernelOptions options = {
      .dtypes = all_floats, .layout = Layout::contiguous, .traits = kUsualPromises};
  kernel("linear", "cpu", options, fn<launch_linear>, &kLinear)
      .supports(fn<supports_linear>)
      .backward(fn<linear_backward>, {.saves_args = 0b11});  // x and weight
  kernel("linear_relu", "cpu", options, fn<launch_linear>, &kLinearRelu)
      .supports(fn<supports_linear>);
}

}  // namespace tenon::cpu_backend
