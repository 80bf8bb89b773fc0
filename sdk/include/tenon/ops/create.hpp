// The group 'create' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// A tensor of one value. dtype None: as the value; device None: the CPU.
inline Tensor full(Ints sizes, Number value, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"full">, sizes, value, dtype, device); }
// A tensor of zeros. dtype None: float32; device None: the CPU.
inline Tensor zeros(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"zeros">, sizes, dtype, device); }
// A tensor of ones. dtype None: float32; device None: the CPU.
inline Tensor ones(Ints sizes, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"ones">, sizes, dtype, device); }
// start, start + step, .. before end. dtype None: int64 where all are ints, else float32; device
// None: the CPU.
inline Tensor arange(Number start, Number end, Number step = 1, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"arange">, start, end, step, dtype, device); }
// steps values from start to end, both included. dtype None: float32; device None: the CPU.
inline Tensor linspace(Number start, Number end, Int steps, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"linspace">, start, end, steps, dtype, device); }
// n rows and m (None: n) columns with ones on the diagonal. dtype None: float32; device None: the
// CPU.
inline Tensor eye(Int n, std::optional<Int> m = {}, Dtype dtype = {}, Device device = {}) { return detail::call<Tensor>(detail::op<"eye">, n, m, dtype, device); }
// int64 [2, count]: rows and columns of the elements of a row by col matrix that tril leaves.
inline Tensor tril_indices(Int row, Int col, Int offset = 0, Device device = {}) { return detail::call<Tensor>(detail::op<"tril_indices">, row, col, offset, device); }
// int64 [2, count]: rows and columns of the elements of a row by col matrix that triu leaves.
inline Tensor triu_indices(Int row, Int col, Int offset = 0, Device device = {}) { return detail::call<Tensor>(detail::op<"triu_indices">, row, col, offset, device); }
// A tensor that is not initialized, of the sizes and device of x, and of its dtype unless said.
inline Tensor empty_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"empty_like">, x, dtype); }
// Zeros of the sizes and device of x, and of its dtype unless said.
inline Tensor zeros_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"zeros_like">, x, dtype); }
// Ones of the sizes and device of x, and of its dtype unless said.
inline Tensor ones_like(const Tensor& x, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"ones_like">, x, dtype); }
// One value in the sizes and on the device of x, and of its dtype unless said.
inline Tensor full_like(const Tensor& x, Number value, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"full_like">, x, value, dtype); }
// Writes value to all elements of x. Of floats integers take the whole part.
inline Tensor fill_(const Tensor& x, Number value) { return detail::call<Tensor>(detail::op<"fill_">, x, value); }

}  // namespace v0
}  // namespace tenon
