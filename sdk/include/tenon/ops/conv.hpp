// The group 'conv' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// x [n, channels, ..], or without n, with weight [out, channels / groups, ..] slid over it, plus
// bias [out]. A list of one number is for all dimensions. padding may be "valid", which is 0, or
// "same": the output is as large as x, at a stride of 1.
struct Conv1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor bias = {};
  KeptInts stride = 1;
  IntsOrText padding = 0;
  KeptInts dilation = 1;
  Int groups = 1;
};
inline Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv1dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv1d">, {x, weight, detail::one_of("conv1d", "bias", bias, options.bias), options.stride, options.padding, options.dilation, options.groups}); }
template <detail::Placed<Ints> P>
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1) { return detail::call<Tensor>(detail::op<"conv1d">, {x, weight, bias, Ints(stride), padding, dilation, groups}); }
template <std::same_as<Conv1dOptions> O = Conv1dOptions>
inline Tensor conv1d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv1d">, {x, weight, options.bias, options.stride, options.padding, options.dilation, options.groups}); }
// The adjoint of the convolution: x [n, channels, ..], or without n, weight [channels, out /
// groups, ..], bias [out]. output_padding is added behind.
struct ConvTranspose1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor bias = {};
  KeptInts stride = 1;
  KeptInts padding = 0;
  KeptInts output_padding = 0;
  Int groups = 1;
  KeptInts dilation = 1;
};
inline Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const ConvTranspose1dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv_transpose1d">, {x, weight, detail::one_of("conv_transpose1d", "bias", bias, options.bias), options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
template <detail::Placed<Ints> P>
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Ints dilation = 1) { return detail::call<Tensor>(detail::op<"conv_transpose1d">, {x, weight, bias, Ints(stride), padding, output_padding, groups, dilation}); }
template <std::same_as<ConvTranspose1dOptions> O = ConvTranspose1dOptions>
inline Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv_transpose1d">, {x, weight, options.bias, options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
// x [n, channels, ..], or without n, with weight [out, channels / groups, ..] slid over it, plus
// bias [out]. A list of one number is for all dimensions. padding may be "valid", which is 0, or
// "same": the output is as large as x, at a stride of 1.
using Conv2dOptions = Conv1dOptions;
inline Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv2d">, {x, weight, detail::one_of("conv2d", "bias", bias, options.bias), options.stride, options.padding, options.dilation, options.groups}); }
template <detail::Placed<Ints> P>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1) { return detail::call<Tensor>(detail::op<"conv2d">, {x, weight, bias, Ints(stride), padding, dilation, groups}); }
template <std::same_as<Conv2dOptions> O = Conv2dOptions>
inline Tensor conv2d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv2d">, {x, weight, options.bias, options.stride, options.padding, options.dilation, options.groups}); }
// The adjoint of the convolution: x [n, channels, ..], or without n, weight [channels, out /
// groups, ..], bias [out]. output_padding is added behind.
using ConvTranspose2dOptions = ConvTranspose1dOptions;
inline Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const ConvTranspose2dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv_transpose2d">, {x, weight, detail::one_of("conv_transpose2d", "bias", bias, options.bias), options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
template <detail::Placed<Ints> P>
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Ints dilation = 1) { return detail::call<Tensor>(detail::op<"conv_transpose2d">, {x, weight, bias, Ints(stride), padding, output_padding, groups, dilation}); }
template <std::same_as<ConvTranspose2dOptions> O = ConvTranspose2dOptions>
inline Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv_transpose2d">, {x, weight, options.bias, options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
// x [n, channels, ..], or without n, with weight [out, channels / groups, ..] slid over it, plus
// bias [out]. A list of one number is for all dimensions. padding may be "valid", which is 0, or
// "same": the output is as large as x, at a stride of 1.
using Conv3dOptions = Conv1dOptions;
inline Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv3dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv3d">, {x, weight, detail::one_of("conv3d", "bias", bias, options.bias), options.stride, options.padding, options.dilation, options.groups}); }
template <detail::Placed<Ints> P>
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1) { return detail::call<Tensor>(detail::op<"conv3d">, {x, weight, bias, Ints(stride), padding, dilation, groups}); }
template <std::same_as<Conv3dOptions> O = Conv3dOptions>
inline Tensor conv3d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv3d">, {x, weight, options.bias, options.stride, options.padding, options.dilation, options.groups}); }
// The adjoint of the convolution: x [n, channels, ..], or without n, weight [channels, out /
// groups, ..], bias [out]. output_padding is added behind.
using ConvTranspose3dOptions = ConvTranspose1dOptions;
inline Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const ConvTranspose3dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv_transpose3d">, {x, weight, detail::one_of("conv_transpose3d", "bias", bias, options.bias), options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
template <detail::Placed<Ints> P>
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Ints dilation = 1) { return detail::call<Tensor>(detail::op<"conv_transpose3d">, {x, weight, bias, Ints(stride), padding, output_padding, groups, dilation}); }
template <std::same_as<ConvTranspose3dOptions> O = ConvTranspose3dOptions>
inline Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv_transpose3d">, {x, weight, options.bias, options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
// x [n, channels, h, w] to columns [n, channels * kernel, places].
struct Im2colOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts dilation = 1;
  KeptInts padding = 0;
  KeptInts stride = 1;
};
inline Tensor im2col(const Tensor& x, Ints kernel_size, const Im2colOptions& options = {}) { return detail::call<Tensor>(detail::op<"im2col">, {x, kernel_size, options.dilation, options.padding, options.stride}); }
template <detail::Placed<Ints> P>
Tensor im2col(const Tensor& x, Ints kernel_size, const P& dilation, Ints padding = 0, Ints stride = 1) { return detail::call<Tensor>(detail::op<"im2col">, {x, kernel_size, Ints(dilation), padding, stride}); }
// Columns [n, channels * kernel, places] summed at their places: [n, channels, h, w]. The adjoint
// of im2col.
using FoldOptions = Im2colOptions;
inline Tensor fold(const Tensor& x, Ints output_size, Ints kernel_size, const FoldOptions& options = {}) { return detail::call<Tensor>(detail::op<"fold">, {x, output_size, kernel_size, options.dilation, options.padding, options.stride}); }
template <detail::Placed<Ints> P>
Tensor fold(const Tensor& x, Ints output_size, Ints kernel_size, const P& dilation, Ints padding = 0, Ints stride = 1) { return detail::call<Tensor>(detail::op<"fold">, {x, output_size, kernel_size, Ints(dilation), padding, stride}); }

}  // namespace v0
}  // namespace tenon
