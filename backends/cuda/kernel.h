// The kernels, for plugin.cpp: what puts the work of a call on its stream. It runs with the context of
// the device.
#pragma once

#include <span>
#include <string>

#include "stream.h"

namespace cuda {

using Run = tn_status*(const tn_call* call, const Stream& stream);

// NULL: an argument that is not given.
inline const tn_tensor* tensor_of(const tn_value& value) {
  return value.kind == TN_KIND_TENSOR ? value.as.tensor : nullptr;
}

inline void* data_of(const tn_tensor* t) { return t ? t->data : nullptr; }
// Of a call, where there may be fewer.
inline const tn_tensor* output_of(const tn_call* call, uint32_t k) {
  return k < call->n_outputs ? call->outputs[k] : nullptr;
}

// ---- Of primitives: a function each
Run elementwise, reduce, scan, matmul, copy, fill, iota, gather, scatter, sort, random_bits,
    nonzero;

// A reduction that is a part of another op's call. (The host's functions know a call by its address, so a
// copy of it with other arguments will not do.)
tn_status* reduce_as_part(const tn_call* call, const Stream& stream, const tn_reduction& r);

// Writes zeros, whatever the strides are; nothing where there is no tensor.
tn_status* clear(const Stream& stream, const tn_tensor* x);

// ---- Of whole ops: each family gives its rows
inline constexpr uint32_t kUsualTraits = TN_KERNEL_CAPTURE_SAFE | TN_KERNEL_DETERMINISTIC;

// The forward, and with `backward` a pair. What the members mean stands at tn_kernel_def and
// tn_kernel_pair_def in abi.h.
struct OpKernel {
  const char* op;  // its name, or the schema that the kernel knows where the op's has grown since
  Run* forward;
  // Why it does not take it; empty: it does. May throw std::bad_alloc.
  std::string (*refusal)(const tn_call* call) = nullptr;
  uint32_t dtypes = tenon::backend::kFloats;
  uint32_t layout = TN_LAYOUT_STRIDED;
  uint32_t traits = kUsualTraits;
  int32_t priority = 0;
  tn_order_fn order = nullptr;
  Run* backward = nullptr;
  uint64_t saves_args = 0, saves_outputs = 0;
  uint32_t n_private = 0;
  void (*infer_private)(const tn_call* call, tn_meta* privates) = nullptr;
  // In its place where a library is asked, which may fail.
  tn_status* (*ask_private)(const tn_call* call, tn_meta* privates) = nullptr;
};
using OpKernels = std::span<const OpKernel>();
OpKernels linear_kernels, feed_forward_kernels, softmax_kernels, norm_kernels, batch_norm_kernels,
    loss_kernels, attention_kernels, optim_kernels, clip_kernels, index_kernels,
    convolution_kernels, random_kernels, pool_kernels, attention_kernels_of_cudnn,
    recurrent_kernels;

}  // namespace cuda
