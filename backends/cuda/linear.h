// What linear.cpp gives to feed_forward.cpp: a linear map, y [m, out] = x [m, in] times weight [out, in]
// transposed, plus bias [out], with its gradients.
#pragma once

#include "kernel.h"
#include "product.h"

namespace cuda {

// Of a tensor's rows along its last dimension, how many there are.
int64_t rows_of(const tn_tensor& x);

// `activation`: DEFAULT, RELU, GELU or one of the _AUX. x and y may be NULL where the product is only
// asked for.
Product map_product(const void* x, int64_t m, const tn_tensor& weight, const tn_tensor* bias,
                    const void* y, cublasLtEpilogue_t activation = CUBLASLT_EPILOGUE_DEFAULT);
// multiply, where the bias may lie anywhere.
tn_status* multiply_with_bias(const tn_call* call, const Stream& stream, Product product,
                              const tn_tensor* bias);

// A copy of a dense tensor in the call's workspace, for what must be aligned.
tn_status* copy_aligned(const tn_call* call, const Stream& stream, const tn_tensor& x, void** copy);

// dx [m, in] = g [m, out] weight.
Product input_gradient(const void* g, int64_t m, const tn_tensor& weight, const void* dx);
// dweight = g^T x.
Product weight_gradient(const void* g, const void* x, int64_t m, const tn_tensor& weight,
                        const void* dweight);
// With the sums over g's rows to dbias; the two may be NULL. weight: its sizes and dtype are read alone.
tn_status* weight_and_bias_gradients(const tn_call* call, const Stream& stream, const void* g,
                                     const void* x, int64_t m, const tn_tensor& weight,
                                     const tn_tensor* dweight, const tn_tensor* dbias);

// May a product read or write it as its bias?
inline bool is_bias_aligned(const void* bias) {
  return reinterpret_cast<uintptr_t>(bias) % Product::kBiasAlignment == 0;
}

}  // namespace cuda
