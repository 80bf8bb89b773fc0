// Indexing by tensors. Indices are int64; one out of range is an Error. Each line agrees with its
// op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// y[.., i, ..] = x[.., index[.., i, ..], ..] along dim; index's sizes fit x's elsewhere.
inline Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) { return detail::call<Tensor>(detail::op<"gather">, x, dim, index); }
// A copy of x with src written (or added) at the places that gather reads.
inline Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& src, bool add = false) { return detail::call<Tensor>(detail::op<"scatter">, x, dim, index, src, add); }
// Rows of weight [n, d] at index [..]: [.., d].
inline Tensor embedding(const Tensor& weight, const Tensor& index) { return detail::call<Tensor>(detail::op<"embedding">, weight, index); }
// index [..] to int64 [.., num_classes], 1 at its class.
inline Tensor one_hot(const Tensor& index, int64_t num_classes) { return detail::call<Tensor>(detail::op<"one_hot">, index, num_classes); }
// Indices of the elements that are not zero, int64 [count, x.dim()], in row-major order. Waits for the device.
inline Tensor nonzero(const Tensor& x) { return detail::call<Tensor>(detail::op<"nonzero">, x); }

}  // namespace v0
}  // namespace tenon
