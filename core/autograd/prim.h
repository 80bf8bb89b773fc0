// The primitives as functions, for formulas of gradients: recorded when grad mode is on. They throw
// StatusException.
#pragma once

#include <initializer_list>

#include "autograd/node.h"
#include "call/call.h"

namespace tenon::prim {

using Sizes = std::span<const int64_t>;

TensorRef zeros(Sizes sizes, tn_dtype dtype, tn_device device);
// One zero, shown in each place: for scatter, which begins with a copy.
TensorRef spread_zero(Sizes sizes, tn_dtype dtype, tn_device device);
TensorRef elementwise(const char* schema, const char* formula,
                      std::initializer_list<Tensor*> operands);
TensorRef reduce(tn_reduce_kind kind, Tensor* x, Sizes dims, bool keepdim);
TensorRef scan(tn_reduce_kind kind, Tensor* x, int64_t dim, bool reverse);
TensorRef matmul(Tensor* a, Tensor* b);
TensorRef transpose_last(Tensor* x);
TensorRef gather(Tensor* x, int64_t dim, Tensor* index);
TensorRef scatter(Tensor* x, int64_t dim, Tensor* index, Tensor* src, bool add);
TensorRef iota(int64_t n, tn_device device);
TensorRef reshape(Tensor* x, Sizes sizes);
TensorRef permute(Tensor* x, Sizes dims);
TensorRef expand(Tensor* x, Sizes sizes);
TensorRef slice(Tensor* x, int64_t dim, int64_t start, int64_t end, int64_t step);
TensorRef as_strided(Tensor* x, Sizes sizes, Sizes strides, int64_t offset);
// A cast or move, recorded; x itself when nothing changes.
TensorRef convert(Tensor* x, tn_device device, tn_dtype dtype);

// Sums a gradient down to the sizes that were broadcast, and casts and moves it to where its tensor
// is.
TensorRef reduce_to(Tensor* grad, Sizes sizes, tn_dtype dtype, tn_device device);
inline TensorRef reduce_to(Tensor* grad, const TensorInfo& info) {
  return reduce_to(grad, info.sizes, info.dtype, info.device);
}

// The gradient that a node gave for its input i as it must be (`info`): one of another dtype is
// cast, one that was broadcast is summed, as PyTorch's engine does; NULL stays. An error for
// another device, and for sizes that no sum makes right.
[[nodiscard]] Status conform(const Node& node, uint32_t i, const TensorInfo& info, Tensor** grad);

}  // namespace tenon::prim
