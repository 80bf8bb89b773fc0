// Reductions. dims empty: all; negative ones count from the end; keepdim leaves reduced dimensions
// with size 1. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// Integers and bool sum in int64; `mean` of them is float32.
inline Tensor sum(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"sum">, x, dims, keepdim); }
inline Tensor mean(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"mean">, x, dims, keepdim); }
// The largest value; its gradient is shared evenly by equal ones.
inline Tensor amax(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"amax">, x, dims, keepdim); }
// The int64 index of the largest value, the first among equals, flat over `dims`.
inline Tensor argmax(const Tensor& x, Ints dims = {}, bool keepdim = false) { return detail::call<Tensor>(detail::op<"argmax">, x, dims, keepdim); }

}  // namespace v0
}  // namespace tenon
