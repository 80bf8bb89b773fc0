// New tensors. dtype none: float32 (full: as its value; arange: int64 of ints). device: the CPU
// unless said. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor zeros(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"zeros">, sizes, dtype, device); }
inline Tensor ones(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"ones">, sizes, dtype, device); }
inline Tensor full(Ints sizes, Number value, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"full">, sizes, value, dtype, device); }
inline Tensor arange(Number start, Number end, Number step = 1, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"arange">, start, end, step, dtype, device); }
inline Tensor zeros_like(const Tensor& x) { return detail::call<Tensor>(detail::op<"zeros_like">, x); }
inline Tensor ones_like(const Tensor& x) { return detail::call<Tensor>(detail::op<"ones_like">, x); }
inline Tensor fill_(const Tensor& x, Number value) { return detail::call<Tensor>(detail::op<"fill_">, x, value); }

// Not initialized; straight from the allocator, without a call of an op.
inline Tensor empty(Ints sizes, Dtype dtype = float32, Device device = {}) { return Tensor::empty(sizes, dtype, device); }
inline Tensor empty_like(const Tensor& x) { return Tensor::empty(x.sizes(), x.dtype(), x.device()); }
// 0, 1, .. end - 1.
inline Tensor arange(Number end) { return arange(0, end); }

}  // namespace v0
}  // namespace tenon
