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
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, Conv1dOptions> P2 = Conv1dOptions, detail::PlacedOr<KeptInts, Conv1dOptions> P3 = Conv1dOptions, detail::PlacedOr<Int, Conv1dOptions> P4 = Conv1dOptions>
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>()) { return conv1d(x, weight, bias, detail::behind<Conv1dOptions, 6, 2>("conv1d", stride, padding, dilation, groups)); }
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
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, ConvTranspose1dOptions> P2 = ConvTranspose1dOptions, detail::PlacedOr<KeptInts, ConvTranspose1dOptions> P3 = ConvTranspose1dOptions, detail::PlacedOr<Int, ConvTranspose1dOptions> P4 = ConvTranspose1dOptions, detail::PlacedOr<KeptInts, ConvTranspose1dOptions> P5 = ConvTranspose1dOptions>
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& dilation = detail::unset<P5>()) { return conv_transpose1d(x, weight, bias, detail::behind<ConvTranspose1dOptions, 7, 2>("conv_transpose1d", stride, padding, output_padding, groups, dilation)); }
template <std::same_as<ConvTranspose1dOptions> O = ConvTranspose1dOptions>
inline Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv_transpose1d">, {x, weight, options.bias, options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
// x [n, channels, ..], or without n, with weight [out, channels / groups, ..] slid over it, plus
// bias [out]. A list of one number is for all dimensions. padding may be "valid", which is 0, or
// "same": the output is as large as x, at a stride of 1.
using Conv2dOptions = Conv1dOptions;
inline Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv2d">, {x, weight, detail::one_of("conv2d", "bias", bias, options.bias), options.stride, options.padding, options.dilation, options.groups}); }
template <detail::Placed<Ints> P>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1) { return detail::call<Tensor>(detail::op<"conv2d">, {x, weight, bias, Ints(stride), padding, dilation, groups}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, Conv2dOptions> P2 = Conv2dOptions, detail::PlacedOr<KeptInts, Conv2dOptions> P3 = Conv2dOptions, detail::PlacedOr<Int, Conv2dOptions> P4 = Conv2dOptions>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>()) { return conv2d(x, weight, bias, detail::behind<Conv2dOptions, 6, 2>("conv2d", stride, padding, dilation, groups)); }
template <std::same_as<Conv2dOptions> O = Conv2dOptions>
inline Tensor conv2d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv2d">, {x, weight, options.bias, options.stride, options.padding, options.dilation, options.groups}); }
// The adjoint of the convolution: x [n, channels, ..], or without n, weight [channels, out /
// groups, ..], bias [out]. output_padding is added behind.
using ConvTranspose2dOptions = ConvTranspose1dOptions;
inline Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const ConvTranspose2dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv_transpose2d">, {x, weight, detail::one_of("conv_transpose2d", "bias", bias, options.bias), options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
template <detail::Placed<Ints> P>
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Ints dilation = 1) { return detail::call<Tensor>(detail::op<"conv_transpose2d">, {x, weight, bias, Ints(stride), padding, output_padding, groups, dilation}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, ConvTranspose2dOptions> P2 = ConvTranspose2dOptions, detail::PlacedOr<KeptInts, ConvTranspose2dOptions> P3 = ConvTranspose2dOptions, detail::PlacedOr<Int, ConvTranspose2dOptions> P4 = ConvTranspose2dOptions, detail::PlacedOr<KeptInts, ConvTranspose2dOptions> P5 = ConvTranspose2dOptions>
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& dilation = detail::unset<P5>()) { return conv_transpose2d(x, weight, bias, detail::behind<ConvTranspose2dOptions, 7, 2>("conv_transpose2d", stride, padding, output_padding, groups, dilation)); }
template <std::same_as<ConvTranspose2dOptions> O = ConvTranspose2dOptions>
inline Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv_transpose2d">, {x, weight, options.bias, options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
// x [n, channels, ..], or without n, with weight [out, channels / groups, ..] slid over it, plus
// bias [out]. A list of one number is for all dimensions. padding may be "valid", which is 0, or
// "same": the output is as large as x, at a stride of 1.
using Conv3dOptions = Conv1dOptions;
inline Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv3dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv3d">, {x, weight, detail::one_of("conv3d", "bias", bias, options.bias), options.stride, options.padding, options.dilation, options.groups}); }
template <detail::Placed<Ints> P>
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, const IntsOrText& padding = 0, Ints dilation = 1, Int groups = 1) { return detail::call<Tensor>(detail::op<"conv3d">, {x, weight, bias, Ints(stride), padding, dilation, groups}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<IntsOrText, Conv3dOptions> P2 = Conv3dOptions, detail::PlacedOr<KeptInts, Conv3dOptions> P3 = Conv3dOptions, detail::PlacedOr<Int, Conv3dOptions> P4 = Conv3dOptions>
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& groups = detail::unset<P4>()) { return conv3d(x, weight, bias, detail::behind<Conv3dOptions, 6, 2>("conv3d", stride, padding, dilation, groups)); }
template <std::same_as<Conv3dOptions> O = Conv3dOptions>
inline Tensor conv3d(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"conv3d">, {x, weight, options.bias, options.stride, options.padding, options.dilation, options.groups}); }
// The adjoint of the convolution: x [n, channels, ..], or without n, weight [channels, out /
// groups, ..], bias [out]. output_padding is added behind.
using ConvTranspose3dOptions = ConvTranspose1dOptions;
inline Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const ConvTranspose3dOptions& options = {}) { return detail::call<Tensor>(detail::op<"conv_transpose3d">, {x, weight, detail::one_of("conv_transpose3d", "bias", bias, options.bias), options.stride, options.padding, options.output_padding, options.groups, options.dilation}); }
template <detail::Placed<Ints> P>
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P& stride, Ints padding = 0, Ints output_padding = 0, Int groups = 1, Ints dilation = 1) { return detail::call<Tensor>(detail::op<"conv_transpose3d">, {x, weight, bias, Ints(stride), padding, output_padding, groups, dilation}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, ConvTranspose3dOptions> P2 = ConvTranspose3dOptions, detail::PlacedOr<KeptInts, ConvTranspose3dOptions> P3 = ConvTranspose3dOptions, detail::PlacedOr<Int, ConvTranspose3dOptions> P4 = ConvTranspose3dOptions, detail::PlacedOr<KeptInts, ConvTranspose3dOptions> P5 = ConvTranspose3dOptions>
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const P1& stride, const P2& padding, const P3& output_padding = detail::unset<P3>(), const P4& groups = detail::unset<P4>(), const P5& dilation = detail::unset<P5>()) { return conv_transpose3d(x, weight, bias, detail::behind<ConvTranspose3dOptions, 7, 2>("conv_transpose3d", stride, padding, output_padding, groups, dilation)); }
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
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, Im2colOptions> P2 = Im2colOptions, detail::PlacedOr<KeptInts, Im2colOptions> P3 = Im2colOptions>
Tensor im2col(const Tensor& x, Ints kernel_size, const P1& dilation, const P2& padding, const P3& stride = detail::unset<P3>()) { return im2col(x, kernel_size, detail::behind<Im2colOptions, 4, 1>("im2col", dilation, padding, stride)); }
// Columns [n, channels * kernel, places] summed at their places: [n, channels, h, w]. The adjoint
// of im2col.
using FoldOptions = Im2colOptions;
inline Tensor fold(const Tensor& x, Ints output_size, Ints kernel_size, const FoldOptions& options = {}) { return detail::call<Tensor>(detail::op<"fold">, {x, output_size, kernel_size, options.dilation, options.padding, options.stride}); }
template <detail::Placed<Ints> P>
Tensor fold(const Tensor& x, Ints output_size, Ints kernel_size, const P& dilation, Ints padding = 0, Ints stride = 1) { return detail::call<Tensor>(detail::op<"fold">, {x, output_size, kernel_size, Ints(dilation), padding, stride}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, FoldOptions> P2 = FoldOptions, detail::PlacedOr<KeptInts, FoldOptions> P3 = FoldOptions>
Tensor fold(const Tensor& x, Ints output_size, Ints kernel_size, const P1& dilation, const P2& padding, const P3& stride = detail::unset<P3>()) { return fold(x, output_size, kernel_size, detail::behind<FoldOptions, 4, 1>("fold", dilation, padding, stride)); }

}  // namespace v0
}  // namespace tenon
