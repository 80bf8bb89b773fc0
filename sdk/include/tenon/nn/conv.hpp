// The group 'conv' of the plugin 'layers', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/object.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// A convolution of x [n, in_channels, ..], or without n: weight [out_channels, in_channels /
// groups, kernel..] and bias [out_channels], both uniform in ±1/sqrt(in_channels / groups *
// kernel). padding is numbers, "valid" or "same", which is for a stride of 1; padding_mode: zeros,
// reflect, replicate or circular.
struct Conv1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = 1;
  IntsOrText padding = 0;
  KeptInts dilation = 1;
  Int groups = 1;
  bool bias = true;
  std::string padding_mode = "zeros";
};
inline Object Conv1d(Int in_channels, Int out_channels, Ints kernel_size, const Conv1dOptions& options = {}) { return Object::create("Conv1d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object Conv1d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("Conv1d", {in_channels, out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
// Conv1d that takes in_channels from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyConv1dOptions = Conv1dOptions;
inline Object LazyConv1d(Int out_channels, Ints kernel_size, const LazyConv1dOptions& options = {}) { return Object::create("LazyConv1d", {out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object LazyConv1d(Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("LazyConv1d", {out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
// The adjoint of a convolution, on x [n, in_channels, ..] or without n: weight [in_channels,
// out_channels / groups, kernel..], uniform in ±1/sqrt(out_channels / groups * kernel), as the
// bias. layer(x, output_size) chooses output_padding so that the output has these sizes, one a
// dimension.
struct ConvTranspose1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = 1;
  KeptInts padding = 0;
  KeptInts output_padding = 0;
  Int groups = 1;
  bool bias = true;
  KeptInts dilation = 1;
};
inline Object ConvTranspose1d(Int in_channels, Int out_channels, Ints kernel_size, const ConvTranspose1dOptions& options = {}) { return Object::create("ConvTranspose1d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object ConvTranspose1d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("ConvTranspose1d", {in_channels, out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
// ConvTranspose1d that takes in_channels from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyConvTranspose1dOptions = ConvTranspose1dOptions;
inline Object LazyConvTranspose1d(Int out_channels, Ints kernel_size, const LazyConvTranspose1dOptions& options = {}) { return Object::create("LazyConvTranspose1d", {out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object LazyConvTranspose1d(Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("LazyConvTranspose1d", {out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
// A convolution of x [n, in_channels, ..], or without n: weight [out_channels, in_channels /
// groups, kernel..] and bias [out_channels], both uniform in ±1/sqrt(in_channels / groups *
// kernel). padding is numbers, "valid" or "same", which is for a stride of 1; padding_mode: zeros,
// reflect, replicate or circular.
using Conv2dOptions = Conv1dOptions;
inline Object Conv2d(Int in_channels, Int out_channels, Ints kernel_size, const Conv2dOptions& options = {}) { return Object::create("Conv2d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object Conv2d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("Conv2d", {in_channels, out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
// Conv2d that takes in_channels from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyConv2dOptions = Conv1dOptions;
inline Object LazyConv2d(Int out_channels, Ints kernel_size, const LazyConv2dOptions& options = {}) { return Object::create("LazyConv2d", {out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object LazyConv2d(Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("LazyConv2d", {out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
// The adjoint of a convolution, on x [n, in_channels, ..] or without n: weight [in_channels,
// out_channels / groups, kernel..], uniform in ±1/sqrt(out_channels / groups * kernel), as the
// bias. layer(x, output_size) chooses output_padding so that the output has these sizes, one a
// dimension.
using ConvTranspose2dOptions = ConvTranspose1dOptions;
inline Object ConvTranspose2d(Int in_channels, Int out_channels, Ints kernel_size, const ConvTranspose2dOptions& options = {}) { return Object::create("ConvTranspose2d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object ConvTranspose2d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("ConvTranspose2d", {in_channels, out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
// ConvTranspose2d that takes in_channels from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyConvTranspose2dOptions = ConvTranspose1dOptions;
inline Object LazyConvTranspose2d(Int out_channels, Ints kernel_size, const LazyConvTranspose2dOptions& options = {}) { return Object::create("LazyConvTranspose2d", {out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object LazyConvTranspose2d(Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("LazyConvTranspose2d", {out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
// A convolution of x [n, in_channels, ..], or without n: weight [out_channels, in_channels /
// groups, kernel..] and bias [out_channels], both uniform in ±1/sqrt(in_channels / groups *
// kernel). padding is numbers, "valid" or "same", which is for a stride of 1; padding_mode: zeros,
// reflect, replicate or circular.
using Conv3dOptions = Conv1dOptions;
inline Object Conv3d(Int in_channels, Int out_channels, Ints kernel_size, const Conv3dOptions& options = {}) { return Object::create("Conv3d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object Conv3d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("Conv3d", {in_channels, out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
// Conv3d that takes in_channels from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyConv3dOptions = Conv1dOptions;
inline Object LazyConv3d(Int out_channels, Ints kernel_size, const LazyConv3dOptions& options = {}) { return Object::create("LazyConv3d", {out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object LazyConv3d(Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("LazyConv3d", {out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
// The adjoint of a convolution, on x [n, in_channels, ..] or without n: weight [in_channels,
// out_channels / groups, kernel..], uniform in ±1/sqrt(out_channels / groups * kernel), as the
// bias. layer(x, output_size) chooses output_padding so that the output has these sizes, one a
// dimension.
using ConvTranspose3dOptions = ConvTranspose1dOptions;
inline Object ConvTranspose3d(Int in_channels, Int out_channels, Ints kernel_size, const ConvTranspose3dOptions& options = {}) { return Object::create("ConvTranspose3d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object ConvTranspose3d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("ConvTranspose3d", {in_channels, out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
// ConvTranspose3d that takes in_channels from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyConvTranspose3dOptions = ConvTranspose1dOptions;
inline Object LazyConvTranspose3d(Int out_channels, Ints kernel_size, const LazyConvTranspose3dOptions& options = {}) { return Object::create("LazyConvTranspose3d", {out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object LazyConvTranspose3d(Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("LazyConvTranspose3d", {out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
