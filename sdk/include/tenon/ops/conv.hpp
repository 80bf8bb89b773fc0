// Convolutions. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// x [n, channels, ..] or without n; weight [out, channels / groups, ..]; a list of one number is
// for all dimensions.
inline Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1) { return detail::call<Tensor>(detail::op<"conv1d">, x, weight, bias, stride, padding, dilation, groups); }
inline Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1) { return detail::call<Tensor>(detail::op<"conv2d">, x, weight, bias, stride, padding, dilation, groups); }
inline Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1) { return detail::call<Tensor>(detail::op<"conv3d">, x, weight, bias, stride, padding, dilation, groups); }
// Their adjoints: weight [channels, out / groups, ..].
inline Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Ints stride = 1, Ints padding = 0, Ints output_padding = 0, int64_t groups = 1, Ints dilation = 1) { return detail::call<Tensor>(detail::op<"conv_transpose1d">, x, weight, bias, stride, padding, output_padding, groups, dilation); }
inline Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Ints stride = 1, Ints padding = 0, Ints output_padding = 0, int64_t groups = 1, Ints dilation = 1) { return detail::call<Tensor>(detail::op<"conv_transpose2d">, x, weight, bias, stride, padding, output_padding, groups, dilation); }
inline Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Ints stride = 1, Ints padding = 0, Ints output_padding = 0, int64_t groups = 1, Ints dilation = 1) { return detail::call<Tensor>(detail::op<"conv_transpose3d">, x, weight, bias, stride, padding, output_padding, groups, dilation); }
// [n, channels, h, w] to columns [n, channels * kernel, places], and their sum back.
inline Tensor im2col(const Tensor& x, Ints kernel_size, Ints dilation = 1, Ints padding = 0, Ints stride = 1) { return detail::call<Tensor>(detail::op<"im2col">, x, kernel_size, dilation, padding, stride); }
inline Tensor fold(const Tensor& x, Ints output_size, Ints kernel_size, Ints dilation = 1, Ints padding = 0, Ints stride = 1) { return detail::call<Tensor>(detail::op<"fold">, x, output_size, kernel_size, dilation, padding, stride); }

}  // namespace v0
}  // namespace tenon
