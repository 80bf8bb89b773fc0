// From tensors to the loops that kernels get: broadcasting, merging and ordering of dimensions.
// Elementwise and reduce use it.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace tenon {

inline constexpr uint32_t kMaxOperands = TN_MAX_OPERANDS;  // of a launch: outputs and inputs

// The broadcast of the tensors' sizes (NULL entries are skipped). Errors name `what` and the two
// shapes that differ.
struct Shape {
  int32_t ndim = 0;
  int64_t sizes[TN_MAX_RANK];
  std::span<const int64_t> span() const { return {sizes, static_cast<size_t>(ndim)}; }
};
[[nodiscard]] Status broadcast_shape(const char* what, const Tensor* const* tensors, uint32_t n,
                                     Shape* shape);

inline bool same_sizes(const tn_tensor* t, std::span<const int64_t> sizes) {
  bool same = t->ndim == static_cast<int32_t>(sizes.size());
  for (int32_t d = 0; same && d < t->ndim; ++d) same = t->sizes[d] == sizes[d];
  return same;
}

inline bool same_sizes(const tn_tensor* a, const tn_tensor* b) {
  if (a->ndim != b->ndim || a->numel != b->numel) return false;
  for (int32_t d = a->ndim - 1; d > 0; --d) {  // the first follows from numel, unless that is 0
    if (a->sizes[d] != b->sizes[d]) return false;
  }
  return a->numel != 0 || a->ndim == 0 || a->sizes[0] == b->sizes[0];
}

// Storage of a launch's loop, on the caller's stack; left uninitialized on purpose.
struct LoopBuffers {
  int32_t ndim;
  int64_t sizes[TN_MAX_RANK];
  int64_t strides[kMaxOperands][TN_MAX_RANK];
  tn_operand operands[kMaxOperands];
};

inline void set_operand(const tn_tensor* t, const int64_t* strides, tn_operand* operand) {
  *operand = {t->data, strides, t->storage, t->byte_offset, t->dtype, 0};
}

// All operands dense and of one shape, or of one element: a single dimension.
void flat_loop(int64_t numel, const Tensor* const* operands, uint32_t n, LoopBuffers* buffers);

// Dimensions of size 1 go; the others are ordered by the strides of operand 0 (the output), and
// merged. With `keep_order` only merged. At least one dimension remains.
void strided_loop(std::span<const int64_t> sizes, const Tensor* const* operands, uint32_t n,
                  LoopBuffers* buffers);

// A reduction: operands[0] is the output seen at the input's rank (stride 0 along reduced
// dimensions); bit d of `reduced`: sizes[d] is reduced. Kept dimensions come first. Reduced
// dimensions keep their order if `keep_order`. Gives the number of reduced dimensions in the loop,
// at least 1.
int32_t reduction_loop(std::span<const int64_t> sizes, uint32_t reduced, bool keep_order,
                       const int64_t* output_strides, const Tensor* output,
                       const Tensor* const* inputs, uint32_t n_inputs, LoopBuffers* buffers);

// The same for all elements of one dense input.
inline int32_t whole_reduction_loop(int64_t numel, const Tensor* output, const Tensor* input,
                                    LoopBuffers* buffers) {
  buffers->ndim = 2;
  buffers->sizes[0] = 1;
  buffers->sizes[1] = numel;
  buffers->strides[0][0] = buffers->strides[0][1] = buffers->strides[1][0] = 0;
  buffers->strides[1][1] = 1;
  set_operand(output, buffers->strides[0], &buffers->operands[0]);
  set_operand(input, buffers->strides[1], &buffers->operands[1]);
  return 1;
}

}  // namespace tenon
