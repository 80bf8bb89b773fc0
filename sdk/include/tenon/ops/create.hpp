// New tensors. dtype none: float32 (full: as its value; arange: int64 of ints). device: the CPU
// unless said. Each line agrees with its op's schema.
#pragma once

#include <optional>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor zeros(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"zeros">, sizes, dtype, device); }
inline Tensor ones(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"ones">, sizes, dtype, device); }
inline Tensor full(Ints sizes, Number value, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"full">, sizes, value, dtype, device); }
inline Tensor arange(Number start, Number end, Number step = 1, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"arange">, start, end, step, dtype, device); }
// `steps` values from start to end, both included.
inline Tensor linspace(Number start, Number end, int64_t steps, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"linspace">, start, end, steps, dtype, device); }
inline Tensor eye(int64_t n, std::optional<int64_t> m = {}, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"eye">, n, m, dtype, device); }
// int64 [2, count]: rows and columns of the elements that tril and triu leave.
inline Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, Device device = {}) { return detail::call<Tensor>(detail::op<"tril_indices">, row, col, offset, device); }
inline Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, Device device = {}) { return detail::call<Tensor>(detail::op<"triu_indices">, row, col, offset, device); }
// Of x's sizes and device, and dtype unless said.
inline Tensor empty_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"empty_like">, x, dtype); }
inline Tensor zeros_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"zeros_like">, x, dtype); }
inline Tensor ones_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"ones_like">, x, dtype); }
inline Tensor full_like(const Tensor& x, Number value, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"full_like">, x, value, dtype); }
inline Tensor fill_(const Tensor& x, Number value) { return detail::call<Tensor>(detail::op<"fill_">, x, value); }

// Not initialized; straight from the allocator, without a call of an op.
inline Tensor empty(Ints sizes, Dtype dtype = float32, Device device = {}) { return Tensor::empty(sizes, dtype, device); }
// 0, 1, .. end - 1.
inline Tensor arange(Number end) { return arange(0, end); }

}  // namespace v0
}  // namespace tenon
