// Pools. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// x [n, channels, ..] or without n. stride empty: kernel_size. Of equal largest ones the first has
// the gradient.
inline Tensor max_pool1d(const Tensor& x, Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"max_pool1d">, x, kernel_size, stride, padding, dilation, ceil_mode); }
inline Tensor max_pool2d(const Tensor& x, Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"max_pool2d">, x, kernel_size, stride, padding, dilation, ceil_mode); }
inline Tensor max_pool3d(const Tensor& x, Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"max_pool3d">, x, kernel_size, stride, padding, dilation, ceil_mode); }
inline Tensor avg_pool1d(const Tensor& x, Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true) { return detail::call<Tensor>(detail::op<"avg_pool1d">, x, kernel_size, stride, padding, ceil_mode, count_include_pad); }
inline Tensor avg_pool2d(const Tensor& x, Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {}) { return detail::call<Tensor>(detail::op<"avg_pool2d">, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
inline Tensor avg_pool3d(const Tensor& x, Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {}) { return detail::call<Tensor>(detail::op<"avg_pool3d">, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
// Windows that together cover x, output_size of them.
inline Tensor adaptive_avg_pool1d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_avg_pool1d">, x, output_size); }
inline Tensor adaptive_avg_pool2d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_avg_pool2d">, x, output_size); }
inline Tensor adaptive_avg_pool3d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_avg_pool3d">, x, output_size); }
inline Tensor adaptive_max_pool1d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_max_pool1d">, x, output_size); }
inline Tensor adaptive_max_pool2d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_max_pool2d">, x, output_size); }
inline Tensor adaptive_max_pool3d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_max_pool3d">, x, output_size); }

}  // namespace v0
}  // namespace tenon
