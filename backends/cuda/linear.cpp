// linear with its gradients, and linear_relu: y = x weight^T + bias over the last dimension of x. The
// bias and ReLU are epilogues of cuBLASLt's, and so is the gradient of the bias where it has one.
#include "kernel.h"
#include "product.h"

namespace cuda {
namespace {

// Argument k, where the call has so many.
const tn_tensor* argument(const tn_call* call, uint32_t k) {
  return k < call->n_args ? tensor_of(call->args[k]) : nullptr;
}

int64_t rows_of(const tn_tensor& x) {
  int64_t rows = 1;
  for (int32_t d = 0; d + 1 < x.ndim; ++d) rows *= x.sizes[d];
  return rows;
}

// The product of a call of the op; the data of y is `y`.
Product forward(const tn_call* call, bool relu, void* y) {
  const tn_tensor &x = *argument(call, 0), &weight = *argument(call, 1);
  const tn_tensor* bias = argument(call, 2);
  const int64_t m = rows_of(x), out = weight.sizes[0], in = weight.sizes[1];
  Product p = {{dense_transposed(weight.data, out, in), dense(x.data, m, in), dense(y, m, out)},
               x.dtype};
  p.bias = bias ? bias->data : nullptr;
  p.epilogue = bias ? (relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                    : (relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
  return p;
}

std::string refusal(const tn_call* call, bool relu) {
  const tn_tensor *x = argument(call, 0), *weight = argument(call, 1), *bias = argument(call, 2);
  if (x->ndim < 1 || weight->ndim != 2 || (bias && bias->ndim != 1))
    return "takes x of rank 1 or more, weight of rank 2 and bias of rank 1";
  if (weight->dtype != x->dtype || (bias && bias->dtype != x->dtype)) return "dtypes differ";
  if (x->numel == 0 || weight->numel == 0) return "there is nothing to multiply";
  if (is_fork()) return "this process is a fork of one that used the device";
  bool has = false;
  Current current(call->device.index);
  tn_status* failed = current.take_failure();
  if (!failed) failed = has_algorithm(call->device.index, forward(call, relu, nullptr), &has);
  if (!failed) return has ? "" : "cuBLASLt has no algorithm for it";
  return text_of(failed);
}

std::string linear_refusal(const tn_call* call) { return refusal(call, false); }
std::string linear_relu_refusal(const tn_call* call) { return refusal(call, true); }

// The sums of g's columns, [m, out].
tn_status* sum_columns(const tn_call* call, const Stream& stream, const tn_tensor& g, int64_t m,
                       const tn_tensor& sums) {
  const int64_t sizes[] = {sums.numel, m}, of_sums[] = {1, 0}, of_g[] = {1, sums.numel};
  tn_operand operands[2] = {};
  operands[0].data = sums.data, operands[0].dtype = sums.dtype, operands[0].strides = of_sums;
  operands[1].data = g.data, operands[1].dtype = g.dtype, operands[1].strides = of_g;
  tn_reduction reduction = {};
  reduction.size = sizeof reduction;
  reduction.kind = TN_REDUCE_SUM;
  reduction.accumulate = g.dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32;
  reduction.ndim = 2, reduction.n_reduced = 1, reduction.n_kept = sums.numel;
  reduction.sizes = sizes, reduction.operands = operands;
  return reduce_as_part(call, stream, reduction);
}

bool is_aligned(const void* bias) {
  return reinterpret_cast<uintptr_t>(bias) % Product::kBiasAlignment == 0;
}

tn_status* run(const tn_call* call, const Stream& stream, bool relu) {
  Product p = forward(call, relu, call->outputs[0]->data);
  if (!is_aligned(p.bias)) {  // a part of another tensor
    const tn_tensor& bias = *argument(call, 2);
    const auto bytes = static_cast<size_t>(bias.numel) * item_size(bias.dtype);
    TN_CUDA_TRY(host->workspace(call, bytes, &p.bias));
    TN_CUDA_CALL(stream.index, cuMemcpyDtoDAsync, reinterpret_cast<CUdeviceptr>(p.bias),
                 reinterpret_cast<CUdeviceptr>(bias.data), bytes, stream.handle);
  }
  return multiply(call, stream, p);
}

tn_status* linear(const tn_call* call, const Stream& stream) { return run(call, stream, false); }
tn_status* linear_relu(const tn_call* call, const Stream& stream) {
  return run(call, stream, true);
}

// args: g, then x, weight, bias (not saved), y (not saved). dx = g weight,
// dweight = g^T x, dbias the sums over g's rows.
tn_status* linear_backward(const tn_call* call, const Stream& stream) {
  const tn_tensor* const g = argument(call, 0);
  const tn_tensor *const dx = call->outputs[0], *const dweight = call->outputs[1];
  const tn_tensor* dbias = call->n_outputs > 2 ? call->outputs[2] : nullptr;
  if (!g) {
    for (const tn_tensor* output : {dx, dweight, dbias}) TN_CUDA_TRY(clear(stream, output));
    return nullptr;
  }
  const tn_tensor &x = *argument(call, 1), &weight = *argument(call, 2);
  const int64_t m = rows_of(x), out = weight.sizes[0], in = weight.sizes[1];
  if (dx) {
    const Product p = {
        {dense(weight.data, out, in), dense(g->data, m, out), dense(dx->data, m, in)}, x.dtype};
    TN_CUDA_TRY(multiply(call, stream, p));
  }
  if (dweight) {
    Product p = {
        {dense(x.data, m, in), dense_transposed(g->data, m, out), dense(dweight->data, out, in)},
        x.dtype};
    if (dbias && is_aligned(dbias->data)) {
      Product with_sums = p;
      with_sums.epilogue = CUBLASLT_EPILOGUE_BGRADB;
      with_sums.bias = dbias->data;
      bool has = false;
      TN_CUDA_TRY(has_algorithm(stream.index, with_sums, &has));
      if (has) p = with_sums, dbias = nullptr;
    }
    TN_CUDA_TRY(multiply(call, stream, p));
  }
  return dbias ? sum_columns(call, stream, *g, m, *dbias) : nullptr;
}

constexpr OpKernel kKernels[] = {
    {.op = "linear",
     .forward = linear,
     .refusal = linear_refusal,
     .layout = TN_LAYOUT_CONTIGUOUS,
     .backward = linear_backward,
     .saves_args = 0b11},  // x and weight
    {.op = "linear_relu",
     .forward = linear_relu,
     .refusal = linear_relu_refusal,
     .layout = TN_LAYOUT_CONTIGUOUS},
};

}  // namespace

std::span<const OpKernel> linear_kernels() { return kKernels; }

}  // namespace cuda
