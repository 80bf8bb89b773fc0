#include "primitive/loop.h"

#include <algorithm>

#include "base/text.h"

namespace tenon {
namespace {

// Strides of `t` along the dimensions of the (broadcast) sizes, 0 where it repeats.
void broadcast_strides(const Tensor* t, std::span<const int64_t> sizes, int64_t* strides) {
  const auto ndim = static_cast<int32_t>(sizes.size());
  const int32_t lead = ndim - t->ndim;
  for (int32_t d = 0; d < ndim; ++d) {
    strides[d] = d < lead || t->sizes[d - lead] == 1 ? 0 : t->strides[d - lead];
  }
}

// Merges neighbours of dims[first..last) that are one dimension for every operand. `order` lists
// dimensions, slowest first. Writes the merged dimensions from `at` on; gives the next free place.
int32_t merge(std::span<const int32_t> order, const int64_t* sizes,
              const int64_t (*from)[TN_MAX_RANK], uint32_t n, int32_t at, LoopBuffers* out) {
  const int32_t start = at;
  for (const int32_t d : order) {
    bool merged = at > start;
    for (uint32_t k = 0; merged && k < n; ++k) {
      merged = out->strides[k][at - 1] == from[k][d] * sizes[d];
    }
    if (merged) {
      out->sizes[at - 1] *= sizes[d];
      for (uint32_t k = 0; k < n; ++k) out->strides[k][at - 1] = from[k][d];
    } else {
      out->sizes[at] = sizes[d];
      for (uint32_t k = 0; k < n; ++k) out->strides[k][at] = from[k][d];
      ++at;
    }
  }
  if (at == start) {
    out->sizes[at] = 1;
    for (uint32_t k = 0; k < n; ++k) out->strides[k][at] = 0;
    ++at;
  }
  return at;
}

void order_by(int32_t* order, int32_t n, const int64_t* strides, const int64_t* second) {
  std::stable_sort(order, order + n, [&](int32_t a, int32_t b) {
    if (strides[a] != strides[b]) return strides[a] > strides[b];
    return second[a] > second[b];
  });
}

}  // namespace

Status broadcast_shape(const char* what, const Tensor* const* tensors, uint32_t n, Shape* shape) {
  shape->ndim = 0;
  const Tensor* widest = nullptr;
  for (uint32_t k = 0; k < n; ++k) {
    if (tensors[k] != nullptr && (widest == nullptr || tensors[k]->ndim > widest->ndim)) {
      widest = tensors[k];
    }
  }
  if (widest == nullptr) return nullptr;
  shape->ndim = widest->ndim;
  std::copy_n(widest->sizes, widest->ndim, shape->sizes);
  for (uint32_t k = 0; k < n; ++k) {
    const Tensor* t = tensors[k];
    if (t == nullptr || t == widest) continue;
    for (int32_t d = 0; d < t->ndim; ++d) {
      int64_t& size = shape->sizes[shape->ndim - t->ndim + d];
      if (size == t->sizes[d] || t->sizes[d] == 1) continue;
      if (size != 1) [[unlikely]] {
        return invalid(
            "{}: shapes {} and {} do not broadcast: dimension {} from the end is {} here and {} "
            "there; expected equal "
            "sizes, or 1",
            what, shape_text(shape->sizes, shape->ndim), sizes_text(t), t->ndim - d, size,
            t->sizes[d]);
      }
      size = t->sizes[d];
    }
  }
  return nullptr;
}

void flat_loop(int64_t numel, const Tensor* const* operands, uint32_t n, LoopBuffers* buffers) {
  buffers->ndim = 1;
  buffers->sizes[0] = numel;
  for (uint32_t k = 0; k < n; ++k) {
    buffers->strides[k][0] = operands[k]->numel == 1 ? 0 : 1;
    set_operand(operands[k], buffers->strides[k], &buffers->operands[k]);
  }
}

void strided_loop(std::span<const int64_t> sizes, const Tensor* const* operands, uint32_t n,
                  LoopBuffers* buffers) {
  int64_t strides[kMaxOperands][TN_MAX_RANK];
  int32_t order[TN_MAX_RANK];
  int32_t n_dims = 0;
  for (uint32_t k = 0; k < n; ++k) broadcast_strides(operands[k], sizes, strides[k]);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) order[n_dims++] = static_cast<int32_t>(d);
  }
  order_by(order, n_dims, strides[0], strides[n > 1 ? 1 : 0]);
  buffers->ndim = merge({order, static_cast<size_t>(n_dims)}, sizes.data(), strides, n, 0, buffers);
  for (uint32_t k = 0; k < n; ++k)
    set_operand(operands[k], buffers->strides[k], &buffers->operands[k]);
}

int32_t reduction_loop(std::span<const int64_t> sizes, uint32_t reduced, bool keep_order,
                       const int64_t* output_strides, const Tensor* output,
                       const Tensor* const* inputs, uint32_t n_inputs, LoopBuffers* buffers) {
  int64_t strides[kMaxOperands][TN_MAX_RANK];
  int32_t kept_order[TN_MAX_RANK];
  int32_t reduced_order[TN_MAX_RANK];
  int32_t n_kept = 0, n_reduced = 0;
  std::copy_n(output_strides, sizes.size(), strides[0]);
  for (uint32_t k = 0; k < n_inputs; ++k) broadcast_strides(inputs[k], sizes, strides[k + 1]);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    if ((reduced >> d & 1) != 0) {
      reduced_order[n_reduced++] = static_cast<int32_t>(d);
    } else {
      kept_order[n_kept++] = static_cast<int32_t>(d);
    }
  }
  order_by(kept_order, n_kept, strides[0], strides[n_inputs > 0 ? 1 : 0]);
  if (!keep_order) order_by(reduced_order, n_reduced, strides[1], strides[1]);
  const uint32_t n = n_inputs + 1;
  const int32_t kept =
      merge({kept_order, static_cast<size_t>(n_kept)}, sizes.data(), strides, n, 0, buffers);
  buffers->ndim = merge({reduced_order, static_cast<size_t>(n_reduced)}, sizes.data(), strides, n,
                        kept, buffers);
  set_operand(output, buffers->strides[0], &buffers->operands[0]);
  for (uint32_t k = 0; k < n_inputs; ++k) {
    set_operand(inputs[k], buffers->strides[k + 1], &buffers->operands[k + 1]);
  }
  return buffers->ndim - kept;
}

}  // namespace tenon
