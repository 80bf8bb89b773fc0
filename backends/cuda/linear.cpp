// linear with its gradients, and linear_relu: y = x weight^T + bias over the last dimension of x. The
// bias and ReLU are epilogues of cuBLASLt's, and so is the gradient of the bias where it has one.
#include "linear.h"

namespace cuda {

namespace {

// The sums over g's rows alone.
tn_status* bias_gradient(const tn_call* call, const Stream& stream, const void* g, int64_t m,
                         const tn_tensor& dbias) {
  const int64_t sizes[] = {dbias.numel, m}, of_sums[] = {1, 0}, of_g[] = {1, dbias.numel};
  tn_operand operands[2] = {};
  operands[0].data = dbias.data, operands[0].dtype = dbias.dtype, operands[0].strides = of_sums;
  operands[1].data = const_cast<void*>(g), operands[1].dtype = dbias.dtype;
  operands[1].strides = of_g;
  tn_reduction reduction = {};
  reduction.size = sizeof reduction;
  reduction.kind = TN_REDUCE_SUM;
  reduction.accumulate = dbias.dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32;
  reduction.ndim = 2, reduction.n_reduced = 1, reduction.n_kept = dbias.numel;
  reduction.sizes = sizes, reduction.operands = operands;
  return reduce_as_part(call, stream, reduction);
}

}  // namespace

int64_t rows_of(const tn_tensor& x) {
  int64_t rows = 1;
  for (int32_t d = 0; d + 1 < x.ndim; ++d) rows *= x.sizes[d];
  return rows;
}

Product map_product(const void* x, int64_t m, const tn_tensor& weight, const tn_tensor* bias,
                    const void* y, cublasLtEpilogue_t activation) {
  const int64_t out = weight.sizes[0], in = weight.sizes[1];
  Product p = {{dense_transposed(weight.data, out, in), dense(x, m, in), dense(y, m, out)},
               weight.dtype};
  p.epilogue = activation;
  if (!bias) return p;
  p.bias = bias->data;
  const bool is_alone = activation == CUBLASLT_EPILOGUE_DEFAULT;
  p.epilogue = is_alone ? CUBLASLT_EPILOGUE_BIAS
                        : static_cast<cublasLtEpilogue_t>(activation | CUBLASLT_EPILOGUE_BIAS);
  return p;
}

tn_status* multiply_with_bias(const tn_call* call, const Stream& stream, Product product,
                              const tn_tensor* bias) {
  if (bias && !is_bias_aligned(bias->data))  // a part of another tensor
    TN_CUDA_TRY(copy_aligned(call, stream, *bias, &product.bias));
  return multiply(call, stream, product);
}

tn_status* copy_aligned(const tn_call* call, const Stream& stream, const tn_tensor& x,
                        void** copy) {
  const auto bytes = static_cast<size_t>(x.numel) * item_size(x.dtype);
  TN_CUDA_TRY(host->workspace(call, bytes, copy));
  TN_CUDA_CALL(stream.index, cuMemcpyDtoDAsync, reinterpret_cast<CUdeviceptr>(*copy),
               reinterpret_cast<CUdeviceptr>(x.data), bytes, stream.handle);
  return nullptr;
}

Product input_gradient(const void* g, int64_t m, const tn_tensor& weight, const void* dx) {
  const int64_t out = weight.sizes[0], in = weight.sizes[1];
  return {{dense(weight.data, out, in), dense(g, m, out), dense(dx, m, in)}, weight.dtype};
}

Product weight_gradient(const void* g, const void* x, int64_t m, const tn_tensor& weight,
                        const void* dweight) {
  const int64_t out = weight.sizes[0], in = weight.sizes[1];
  return {{dense(x, m, in), dense_transposed(g, m, out), dense(dweight, out, in)}, weight.dtype};
}

tn_status* weight_and_bias_gradients(const tn_call* call, const Stream& stream, const void* g,
                                     const void* x, int64_t m, const tn_tensor& weight,
                                     const tn_tensor* dweight, const tn_tensor* dbias) {
  if (dweight) {
    Product p = weight_gradient(g, x, m, weight, dweight->data);
    if (dbias && is_bias_aligned(dbias->data)) {
      Product with_sums = p;
      with_sums.epilogue = CUBLASLT_EPILOGUE_BGRADB;
      with_sums.bias = dbias->data;
      bool has = false;
      TN_CUDA_TRY(has_algorithm(stream.index, with_sums, &has));
      if (has) p = with_sums, dbias = nullptr;
    }
    TN_CUDA_TRY(multiply(call, stream, p));
  }
  return dbias ? bias_gradient(call, stream, g, m, *dbias) : nullptr;
}

namespace {

// Argument k, where the call has so many.
const tn_tensor* argument(const tn_call* call, uint32_t k) {
  return k < call->n_args ? tensor_of(call->args[k]) : nullptr;
}

// The product of a call of the op; the data of y is `y`.
Product forward(const tn_call* call, bool relu, void* y) {
  const tn_tensor &x = *argument(call, 0), &weight = *argument(call, 1);
  return map_product(x.data, rows_of(x), weight, argument(call, 2), y,
                     relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
}

std::string refusal(const tn_call* call, bool relu) {
  const tn_tensor *x = argument(call, 0), *weight = argument(call, 1), *bias = argument(call, 2);
  if (x->ndim < 1 || weight->ndim != 2 || (bias && bias->ndim != 1))
    return "takes x of rank 1 or more, weight of rank 2 and bias of rank 1";
  if (bias && bias->numel != weight->sizes[0]) return "takes no bias that broadcasts";
  if (weight->dtype != x->dtype || (bias && bias->dtype != x->dtype)) return "dtypes differ";
  if (x->numel == 0 || weight->numel == 0) return "there is nothing to multiply";
  const Product product = forward(call, relu, nullptr);
  return refused_products(call->device.index, {&product, 1});
}

std::string linear_refusal(const tn_call* call) { return refusal(call, false); }
std::string linear_relu_refusal(const tn_call* call) { return refusal(call, true); }

tn_status* linear(const tn_call* call, const Stream& stream) {
  return multiply_with_bias(call, stream, forward(call, false, call->outputs[0]->data),
                            argument(call, 2));
}
tn_status* linear_relu(const tn_call* call, const Stream& stream) {
  return multiply_with_bias(call, stream, forward(call, true, call->outputs[0]->data),
                            argument(call, 2));
}

// args: g, then x, weight, bias (not saved), y (not saved).
tn_status* linear_backward(const tn_call* call, const Stream& stream) {
  const tn_tensor* const g = argument(call, 0);
  const tn_tensor *const dx = call->outputs[0], *const dweight = call->outputs[1];
  const tn_tensor* const dbias = call->n_outputs > 2 ? call->outputs[2] : nullptr;
  if (!g) {
    for (const tn_tensor* output : {dx, dweight, dbias}) TN_CUDA_TRY(clear(stream, output));
    return nullptr;
  }
  const tn_tensor &x = *argument(call, 1), &weight = *argument(call, 2);
  const int64_t m = rows_of(x);
  if (dx) TN_CUDA_TRY(multiply(call, stream, input_gradient(g->data, m, weight, dx->data)));
  return weight_and_bias_gradients(call, stream, g->data, x.data, m, weight, dweight, dbias);
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
