// feed_forward with its gradients: two linear maps with an activation between them. The activation is an
// epilogue of the first product, which keeps what the gradient needs of it; that gradient, and with it
// the one of the first bias, is an epilogue of the product that gives the gradient of the hidden values.
// cuBLASLt's GELU is the approximation by tanh (cublasLtEpilogue_t in NVIDIA's documentation); how exactly
// it computes that is not said, so it is taken for halves alone.
#include <string_view>

#include "lent.h"
#include "linear.h"

namespace cuda {
namespace {

constexpr uint32_t kArgs = 6;

struct FeedForward {
  const tn_tensor *x, *weight1, *bias1, *weight2, *bias2;
  std::string_view activation;

  // args: those of the forward
  explicit FeedForward(const tn_value* args)
      : x(tensor_of(args[0])),
        weight1(tensor_of(args[1])),
        bias1(tensor_of(args[2])),
        weight2(tensor_of(args[3])),
        bias2(tensor_of(args[4])),
        activation(args[5].as.string, args[5].count) {}

  int64_t rows() const { return rows_of(*x); }
  int64_t hidden() const { return weight1->sizes[0]; }
  bool is_relu() const { return activation == "relu"; }
  int64_t aux_step() const {
    const int64_t step = is_relu() ? Product::kMaskStep : Product::kSumsStep;
    return (hidden() + step - 1) / step * step;
  }
};

// `aux`: what the gradient needs of the activation; NULL: there will be none.
Product inner(const FeedForward& f, bool keeps, const void* y, void* aux) {
  const cublasLtEpilogue_t activation =
      f.is_relu() ? (keeps ? CUBLASLT_EPILOGUE_RELU_AUX : CUBLASLT_EPILOGUE_RELU)
                  : (keeps ? CUBLASLT_EPILOGUE_GELU_AUX : CUBLASLT_EPILOGUE_GELU);
  Product p = map_product(f.x->data, f.rows(), *f.weight1, f.bias1, y, activation);
  if (keeps) p.aux = aux, p.aux_step = f.aux_step();
  return p;
}

Product outer(const FeedForward& f, const void* hidden, const void* y) {
  return map_product(hidden, f.rows(), *f.weight2, f.bias2, y);
}

// The gradient of what the activation was given, and of the first bias where dbias is not NULL. g is
// aligned as a bias is.
Product inner_gradient(const FeedForward& f, const void* g, void* aux, const void* dsums,
                       void* dbias) {
  Product p = input_gradient(g, f.rows(), *f.weight2, dsums);
  if (f.is_relu()) {
    p.epilogue = dbias ? CUBLASLT_EPILOGUE_DRELU_BGRAD : CUBLASLT_EPILOGUE_DRELU;
  } else {
    p.epilogue = dbias ? CUBLASLT_EPILOGUE_DGELU_BGRAD : CUBLASLT_EPILOGUE_DGELU;
  }
  p.aux = aux, p.aux_step = f.aux_step();
  p.bias = dbias;
  return p;
}

std::string refusal(const tn_call* call) {
  const FeedForward f(call->args);
  if (f.activation == "gelu") return "cuBLASLt has no GELU by erf";
  for (const tn_tensor* t : {f.weight1, f.bias1, f.weight2, f.bias2}) {
    if (t && t->dtype != f.x->dtype) return "dtypes differ";
  }
  if (!f.is_relu() && f.x->dtype != TN_FLOAT16 && f.x->dtype != TN_BFLOAT16)
    return "takes gelu_tanh of halves: how exactly cuBLASLt computes it is not known";
  if (f.x->numel == 0 || f.weight1->numel == 0 || f.weight2->numel == 0)
    return "there is nothing to multiply";
  // A step of a training needs all of them. Memory of the call is aligned as well as can be.
  const void* const least_aligned = reinterpret_cast<const void*>(Product::kBiasAlignment);
  const Product products[] = {inner(f, false, nullptr, nullptr), inner(f, true, nullptr, nullptr),
                              outer(f, nullptr, nullptr),
                              inner_gradient(f, least_aligned, nullptr, nullptr, nullptr)};
  return refused_products(call->device.index, products);
}

void infer_private(const tn_call* call, tn_meta* privates) {
  const FeedForward f(call->args);
  const int64_t m = f.rows();
  privates[0].ndim = privates[1].ndim = 2;
  privates[0].dtype = privates[1].dtype = f.x->dtype;
  privates[0].sizes[0] = privates[1].sizes[0] = m;
  privates[0].sizes[1] = f.hidden();
  privates[1].sizes[1] = f.aux_step();
  if (f.is_relu()) privates[1].dtype = TN_UINT8, privates[1].sizes[1] /= 8;
}

tn_status* forward(const tn_call* call, const Stream& stream) {
  const FeedForward f(call->args);
  const tn_tensor* const aux = output_of(call, 2);
  void* hidden = data_of(output_of(call, 1));
  if (!hidden) {
    const auto bytes = static_cast<uint64_t>(f.rows() * f.hidden()) * item_size(f.x->dtype);
    TN_CUDA_TRY(host->workspace(call, bytes, &hidden));
  }
  TN_CUDA_TRY(
      multiply_with_bias(call, stream, inner(f, aux != nullptr, hidden, data_of(aux)), f.bias1));
  return multiply_with_bias(call, stream, outer(f, hidden, call->outputs[0]->data), f.bias2);
}

// args: g, those of the forward without its biases, y (not saved), the hidden values, aux
tn_status* backward(const tn_call* call, const Stream& stream) {
  const tn_tensor* const g = tensor_of(call->args[0]);
  if (!g) return clear_outputs(call, stream);
  const FeedForward f(call->args + 1);
  const tn_tensor *const dx = call->outputs[0], *const dweight1 = call->outputs[1];
  const tn_tensor* dbias1 = call->outputs[2];
  const int64_t m = f.rows();
  const void* const hidden = call->args[kArgs + 2].as.tensor->data;
  void* const aux = call->args[kArgs + 3].as.tensor->data;
  TN_CUDA_TRY(weight_and_bias_gradients(call, stream, g->data, hidden, m, *f.weight2,
                                        call->outputs[3], output_of(call, 4)));
  if (!dx && !dweight1 && !dbias1) return nullptr;
  void* dsums = nullptr;
  TN_CUDA_TRY(
      host->workspace(call, static_cast<uint64_t>(m * f.hidden()) * item_size(f.x->dtype), &dsums));
  void* aligned = g->data;
  if (!is_bias_aligned(aligned)) TN_CUDA_TRY(copy_aligned(call, stream, *g, &aligned));
  Product p = inner_gradient(f, aligned, aux, dsums, nullptr);
  if (dbias1 && is_bias_aligned(dbias1->data)) {
    const Product with_sums = inner_gradient(f, aligned, aux, dsums, dbias1->data);
    bool has = false;
    TN_CUDA_TRY(has_algorithm(stream.index, with_sums, &has));
    if (has) p = with_sums, dbias1 = nullptr;
  }
  TN_CUDA_TRY(multiply(call, stream, p));
  if (dx) TN_CUDA_TRY(multiply(call, stream, input_gradient(dsums, m, *f.weight1, dx->data)));
  return weight_and_bias_gradients(call, stream, dsums, f.x->data, m, *f.weight1, dweight1, dbias1);
}

constexpr OpKernel kKernels[] = {
    {.op = "feed_forward",
     .forward = forward,
     .refusal = refusal,
     .layout = TN_LAYOUT_CONTIGUOUS,
     .backward = backward,
     .saves_args = 0b1011,  // x and the weights
     .n_private = 2,
     .infer_private = infer_private},
};

}  // namespace

std::span<const OpKernel> feed_forward_kernels() { return kKernels; }

}  // namespace cuda
