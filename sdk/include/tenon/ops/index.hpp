// Indexing by tensors. Indices are int64 or int32; one out of range is an Error. Each line agrees
// with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// y[.., i, ..] = x[.., index[.., i, ..], ..] along dim; index's sizes fit x's elsewhere.
inline Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) { return detail::call<Tensor>(detail::op<"gather">, x, dim, index); }
// A copy of x with src written (or added) at the places that gather reads; of a larger src the part
// that index covers.
inline Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src, bool add = false) { return detail::call<Tensor>(detail::op<"scatter">, x, dim, index, src, add); }
inline Tensor scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src) { return detail::call<Tensor>(detail::op<"scatter_add">, x, dim, index, src); }
// x at index [n] along dim.
inline Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) { return detail::call<Tensor>(detail::op<"index_select">, x, dim, index); }
// PyTorch's x[i, :, mask] is index(x, {i, {}, mask}): indices, which broadcast and may be negative,
// masks of bool or uint8, and {} for all of a dimension. Slices are slice(..). With a mask the call
// waits for the device.
inline Tensor index(const Tensor& x, const Tensors& indices) { return detail::call<Tensor>(detail::op<"index">, x, indices); }
// A copy of x with values, which broadcast, written or added at what index picks.
inline Tensor index_put(const Tensor& x, const Tensors& indices, const Tensor& values, bool accumulate = false) { return detail::call<Tensor>(detail::op<"index_put">, x, indices, values, accumulate); }
// The same into x itself.
inline Tensor index_put_(const Tensor& x, const Tensors& indices, const Tensor& values, bool accumulate = false) { return detail::call<Tensor>(detail::op<"index_put_">, x, indices, values, accumulate); }
// x where mask holds, [count]; they broadcast. Waits for the device.
inline Tensor masked_select(const Tensor& x, const Tensor& mask) { return detail::call<Tensor>(detail::op<"masked_select">, x, mask); }
// Rows of weight [n, d] at index [..]: [.., d]. The row padding_idx, from the end where negative,
// gets no gradient.
inline Tensor embedding(const Tensor& weight, const Tensor& index, std::optional<int64_t> padding_idx = {}) { return detail::call<Tensor>(detail::op<"embedding">, weight, index, padding_idx); }
// Sums, means or maxima of those rows: a bag for each row of index [bags, n], or beginning at each
// of offsets [bags] in index [n].
inline Tensor embedding_bag(const Tensor& weight, const Tensor& index, const Tensor& offsets = {}, const char* mode = "mean", const Tensor& per_sample_weights = {}) { return detail::call<Tensor>(detail::op<"embedding_bag">, weight, index, offsets, mode, per_sample_weights); }
// index [..] to int64 [.., num_classes], 1 at its class. num_classes -1: one more than the largest
// class, for which the call waits for the device.
inline Tensor one_hot(const Tensor& index, int64_t num_classes = -1) { return detail::call<Tensor>(detail::op<"one_hot">, index, num_classes); }
// Indices of the elements that are not zero, int64 [count, x.dim()], in row-major order. Waits for
// the device.
inline Tensor nonzero(const Tensor& x) { return detail::call<Tensor>(detail::op<"nonzero">, x); }

}  // namespace v0
}  // namespace tenon
