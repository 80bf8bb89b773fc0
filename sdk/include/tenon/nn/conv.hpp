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
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, Conv1dOptions> P2 = Conv1dOptions, detail::PlacedOr<KeptInts, Conv1dOptions> P3 = Conv1dOptions, detail::PlacedOr<Int, Conv1dOptions> P4 = Conv1dOptions, detail::PlacedOr<Bool, Conv1dOptions> P5 = Conv1dOptions, detail::PlacedOr<std::string, Conv1dOptions> P6 = Conv1dOptions>
Object Conv1d(Int in_channels, Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& padding_mode = detail::unset<P6>()) { return Conv1d(in_channels, out_channels, kernel_size, detail::behind<Conv1dOptions, 7, 1>("Conv1d", stride, padding, dilation, groups, bias, padding_mode)); }
// Conv1d that takes in_channels from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyConv1dOptions = Conv1dOptions;
inline Object LazyConv1d(Int out_channels, Ints kernel_size, const LazyConv1dOptions& options = {}) { return Object::create("LazyConv1d", {out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object LazyConv1d(Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("LazyConv1d", {out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, LazyConv1dOptions> P2 = LazyConv1dOptions, detail::PlacedOr<KeptInts, LazyConv1dOptions> P3 = LazyConv1dOptions, detail::PlacedOr<Int, LazyConv1dOptions> P4 = LazyConv1dOptions, detail::PlacedOr<Bool, LazyConv1dOptions> P5 = LazyConv1dOptions, detail::PlacedOr<std::string, LazyConv1dOptions> P6 = LazyConv1dOptions>
Object LazyConv1d(Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& padding_mode = detail::unset<P6>()) { return LazyConv1d(out_channels, kernel_size, detail::behind<LazyConv1dOptions, 7, 1>("LazyConv1d", stride, padding, dilation, groups, bias, padding_mode)); }
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
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, ConvTranspose1dOptions> P2 = ConvTranspose1dOptions, detail::PlacedOr<KeptInts, ConvTranspose1dOptions> P3 = ConvTranspose1dOptions, detail::PlacedOr<Int, ConvTranspose1dOptions> P4 = ConvTranspose1dOptions, detail::PlacedOr<Bool, ConvTranspose1dOptions> P5 = ConvTranspose1dOptions, detail::PlacedOr<KeptInts, ConvTranspose1dOptions> P6 = ConvTranspose1dOptions>
Object ConvTranspose1d(Int in_channels, Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& dilation = detail::unset<P6>()) { return ConvTranspose1d(in_channels, out_channels, kernel_size, detail::behind<ConvTranspose1dOptions, 7, 1>("ConvTranspose1d", stride, padding, output_padding, groups, bias, dilation)); }
// ConvTranspose1d that takes in_channels from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyConvTranspose1dOptions = ConvTranspose1dOptions;
inline Object LazyConvTranspose1d(Int out_channels, Ints kernel_size, const LazyConvTranspose1dOptions& options = {}) { return Object::create("LazyConvTranspose1d", {out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object LazyConvTranspose1d(Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("LazyConvTranspose1d", {out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, LazyConvTranspose1dOptions> P2 = LazyConvTranspose1dOptions, detail::PlacedOr<KeptInts, LazyConvTranspose1dOptions> P3 = LazyConvTranspose1dOptions, detail::PlacedOr<Int, LazyConvTranspose1dOptions> P4 = LazyConvTranspose1dOptions, detail::PlacedOr<Bool, LazyConvTranspose1dOptions> P5 = LazyConvTranspose1dOptions, detail::PlacedOr<KeptInts, LazyConvTranspose1dOptions> P6 = LazyConvTranspose1dOptions>
Object LazyConvTranspose1d(Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& dilation = detail::unset<P6>()) { return LazyConvTranspose1d(out_channels, kernel_size, detail::behind<LazyConvTranspose1dOptions, 7, 1>("LazyConvTranspose1d", stride, padding, output_padding, groups, bias, dilation)); }
// A convolution of x [n, in_channels, ..], or without n: weight [out_channels, in_channels /
// groups, kernel..] and bias [out_channels], both uniform in ±1/sqrt(in_channels / groups *
// kernel). padding is numbers, "valid" or "same", which is for a stride of 1; padding_mode: zeros,
// reflect, replicate or circular.
using Conv2dOptions = Conv1dOptions;
inline Object Conv2d(Int in_channels, Int out_channels, Ints kernel_size, const Conv2dOptions& options = {}) { return Object::create("Conv2d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object Conv2d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("Conv2d", {in_channels, out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, Conv2dOptions> P2 = Conv2dOptions, detail::PlacedOr<KeptInts, Conv2dOptions> P3 = Conv2dOptions, detail::PlacedOr<Int, Conv2dOptions> P4 = Conv2dOptions, detail::PlacedOr<Bool, Conv2dOptions> P5 = Conv2dOptions, detail::PlacedOr<std::string, Conv2dOptions> P6 = Conv2dOptions>
Object Conv2d(Int in_channels, Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& padding_mode = detail::unset<P6>()) { return Conv2d(in_channels, out_channels, kernel_size, detail::behind<Conv2dOptions, 7, 1>("Conv2d", stride, padding, dilation, groups, bias, padding_mode)); }
// Conv2d that takes in_channels from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyConv2dOptions = Conv1dOptions;
inline Object LazyConv2d(Int out_channels, Ints kernel_size, const LazyConv2dOptions& options = {}) { return Object::create("LazyConv2d", {out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object LazyConv2d(Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("LazyConv2d", {out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, LazyConv2dOptions> P2 = LazyConv2dOptions, detail::PlacedOr<KeptInts, LazyConv2dOptions> P3 = LazyConv2dOptions, detail::PlacedOr<Int, LazyConv2dOptions> P4 = LazyConv2dOptions, detail::PlacedOr<Bool, LazyConv2dOptions> P5 = LazyConv2dOptions, detail::PlacedOr<std::string, LazyConv2dOptions> P6 = LazyConv2dOptions>
Object LazyConv2d(Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& padding_mode = detail::unset<P6>()) { return LazyConv2d(out_channels, kernel_size, detail::behind<LazyConv2dOptions, 7, 1>("LazyConv2d", stride, padding, dilation, groups, bias, padding_mode)); }
// The adjoint of a convolution, on x [n, in_channels, ..] or without n: weight [in_channels,
// out_channels / groups, kernel..], uniform in ±1/sqrt(out_channels / groups * kernel), as the
// bias. layer(x, output_size) chooses output_padding so that the output has these sizes, one a
// dimension.
using ConvTranspose2dOptions = ConvTranspose1dOptions;
inline Object ConvTranspose2d(Int in_channels, Int out_channels, Ints kernel_size, const ConvTranspose2dOptions& options = {}) { return Object::create("ConvTranspose2d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object ConvTranspose2d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("ConvTranspose2d", {in_channels, out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, ConvTranspose2dOptions> P2 = ConvTranspose2dOptions, detail::PlacedOr<KeptInts, ConvTranspose2dOptions> P3 = ConvTranspose2dOptions, detail::PlacedOr<Int, ConvTranspose2dOptions> P4 = ConvTranspose2dOptions, detail::PlacedOr<Bool, ConvTranspose2dOptions> P5 = ConvTranspose2dOptions, detail::PlacedOr<KeptInts, ConvTranspose2dOptions> P6 = ConvTranspose2dOptions>
Object ConvTranspose2d(Int in_channels, Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& dilation = detail::unset<P6>()) { return ConvTranspose2d(in_channels, out_channels, kernel_size, detail::behind<ConvTranspose2dOptions, 7, 1>("ConvTranspose2d", stride, padding, output_padding, groups, bias, dilation)); }
// ConvTranspose2d that takes in_channels from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyConvTranspose2dOptions = ConvTranspose1dOptions;
inline Object LazyConvTranspose2d(Int out_channels, Ints kernel_size, const LazyConvTranspose2dOptions& options = {}) { return Object::create("LazyConvTranspose2d", {out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object LazyConvTranspose2d(Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("LazyConvTranspose2d", {out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, LazyConvTranspose2dOptions> P2 = LazyConvTranspose2dOptions, detail::PlacedOr<KeptInts, LazyConvTranspose2dOptions> P3 = LazyConvTranspose2dOptions, detail::PlacedOr<Int, LazyConvTranspose2dOptions> P4 = LazyConvTranspose2dOptions, detail::PlacedOr<Bool, LazyConvTranspose2dOptions> P5 = LazyConvTranspose2dOptions, detail::PlacedOr<KeptInts, LazyConvTranspose2dOptions> P6 = LazyConvTranspose2dOptions>
Object LazyConvTranspose2d(Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& dilation = detail::unset<P6>()) { return LazyConvTranspose2d(out_channels, kernel_size, detail::behind<LazyConvTranspose2dOptions, 7, 1>("LazyConvTranspose2d", stride, padding, output_padding, groups, bias, dilation)); }
// A convolution of x [n, in_channels, ..], or without n: weight [out_channels, in_channels /
// groups, kernel..] and bias [out_channels], both uniform in ±1/sqrt(in_channels / groups *
// kernel). padding is numbers, "valid" or "same", which is for a stride of 1; padding_mode: zeros,
// reflect, replicate or circular.
using Conv3dOptions = Conv1dOptions;
inline Object Conv3d(Int in_channels, Int out_channels, Ints kernel_size, const Conv3dOptions& options = {}) { return Object::create("Conv3d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object Conv3d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("Conv3d", {in_channels, out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, Conv3dOptions> P2 = Conv3dOptions, detail::PlacedOr<KeptInts, Conv3dOptions> P3 = Conv3dOptions, detail::PlacedOr<Int, Conv3dOptions> P4 = Conv3dOptions, detail::PlacedOr<Bool, Conv3dOptions> P5 = Conv3dOptions, detail::PlacedOr<std::string, Conv3dOptions> P6 = Conv3dOptions>
Object Conv3d(Int in_channels, Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& padding_mode = detail::unset<P6>()) { return Conv3d(in_channels, out_channels, kernel_size, detail::behind<Conv3dOptions, 7, 1>("Conv3d", stride, padding, dilation, groups, bias, padding_mode)); }
// Conv3d that takes in_channels from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyConv3dOptions = Conv1dOptions;
inline Object LazyConv3d(Int out_channels, Ints kernel_size, const LazyConv3dOptions& options = {}) { return Object::create("LazyConv3d", {out_channels, kernel_size, options.stride, options.padding, options.dilation, options.groups, options.bias, options.padding_mode}); }
template <detail::Placed<Ints> P>
Object LazyConv3d(Int out_channels, Ints kernel_size, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1, Bool bias = true, TextRef padding_mode = "zeros") { return Object::create("LazyConv3d", {out_channels, kernel_size, Ints(stride), padding, dilation, groups, bias, padding_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, LazyConv3dOptions> P2 = LazyConv3dOptions, detail::PlacedOr<KeptInts, LazyConv3dOptions> P3 = LazyConv3dOptions, detail::PlacedOr<Int, LazyConv3dOptions> P4 = LazyConv3dOptions, detail::PlacedOr<Bool, LazyConv3dOptions> P5 = LazyConv3dOptions, detail::PlacedOr<std::string, LazyConv3dOptions> P6 = LazyConv3dOptions>
Object LazyConv3d(Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& padding_mode = detail::unset<P6>()) { return LazyConv3d(out_channels, kernel_size, detail::behind<LazyConv3dOptions, 7, 1>("LazyConv3d", stride, padding, dilation, groups, bias, padding_mode)); }
// The adjoint of a convolution, on x [n, in_channels, ..] or without n: weight [in_channels,
// out_channels / groups, kernel..], uniform in ±1/sqrt(out_channels / groups * kernel), as the
// bias. layer(x, output_size) chooses output_padding so that the output has these sizes, one a
// dimension.
using ConvTranspose3dOptions = ConvTranspose1dOptions;
inline Object ConvTranspose3d(Int in_channels, Int out_channels, Ints kernel_size, const ConvTranspose3dOptions& options = {}) { return Object::create("ConvTranspose3d", {in_channels, out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object ConvTranspose3d(Int in_channels, Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("ConvTranspose3d", {in_channels, out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, ConvTranspose3dOptions> P2 = ConvTranspose3dOptions, detail::PlacedOr<KeptInts, ConvTranspose3dOptions> P3 = ConvTranspose3dOptions, detail::PlacedOr<Int, ConvTranspose3dOptions> P4 = ConvTranspose3dOptions, detail::PlacedOr<Bool, ConvTranspose3dOptions> P5 = ConvTranspose3dOptions, detail::PlacedOr<KeptInts, ConvTranspose3dOptions> P6 = ConvTranspose3dOptions>
Object ConvTranspose3d(Int in_channels, Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& dilation = detail::unset<P6>()) { return ConvTranspose3d(in_channels, out_channels, kernel_size, detail::behind<ConvTranspose3dOptions, 7, 1>("ConvTranspose3d", stride, padding, output_padding, groups, bias, dilation)); }
// ConvTranspose3d that takes in_channels from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyConvTranspose3dOptions = ConvTranspose1dOptions;
inline Object LazyConvTranspose3d(Int out_channels, Ints kernel_size, const LazyConvTranspose3dOptions& options = {}) { return Object::create("LazyConvTranspose3d", {out_channels, kernel_size, options.stride, options.padding, options.output_padding, options.groups, options.bias, options.dilation}); }
template <detail::Placed<Ints> P>
Object LazyConvTranspose3d(Int out_channels, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Bool bias = true, Ints dilation = 1) { return Object::create("LazyConvTranspose3d", {out_channels, kernel_size, Ints(stride), padding, output_padding, groups, bias, dilation}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, LazyConvTranspose3dOptions> P2 = LazyConvTranspose3dOptions, detail::PlacedOr<KeptInts, LazyConvTranspose3dOptions> P3 = LazyConvTranspose3dOptions, detail::PlacedOr<Int, LazyConvTranspose3dOptions> P4 = LazyConvTranspose3dOptions, detail::PlacedOr<Bool, LazyConvTranspose3dOptions> P5 = LazyConvTranspose3dOptions, detail::PlacedOr<KeptInts, LazyConvTranspose3dOptions> P6 = LazyConvTranspose3dOptions>
Object LazyConvTranspose3d(Int out_channels, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& bias = detail::unset<P5>(), const P6& dilation = detail::unset<P6>()) { return LazyConvTranspose3d(out_channels, kernel_size, detail::behind<LazyConvTranspose3dOptions, 7, 1>("LazyConvTranspose3d", stride, padding, output_padding, groups, bias, dilation)); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
