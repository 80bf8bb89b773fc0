// The group 'pool' of the plugin 'layers', written by `tenon header`: changes belong into the
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

// The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// return_indices: forward gives the indices too, as max_pool with indices does.
struct MaxPool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  KeptInts padding = 0;
  KeptInts dilation = 1;
  bool return_indices = false;
  bool ceil_mode = false;
};
inline Object MaxPool1d(Ints kernel_size, const MaxPool1dOptions& options = {}) { return Object::create("MaxPool1d", {kernel_size, options.stride, options.padding, options.dilation, options.return_indices, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object MaxPool1d(Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool return_indices = false, Bool ceil_mode = false) { return Object::create("MaxPool1d", {kernel_size, Ints(stride), padding, dilation, return_indices, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool1dOptions> P2 = MaxPool1dOptions, detail::PlacedOr<KeptInts, MaxPool1dOptions> P3 = MaxPool1dOptions, detail::PlacedOr<Bool, MaxPool1dOptions> P4 = MaxPool1dOptions, detail::PlacedOr<Bool, MaxPool1dOptions> P5 = MaxPool1dOptions>
Object MaxPool1d(Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& return_indices = detail::unset<P4>(), const P5& ceil_mode = detail::unset<P5>()) { return MaxPool1d(kernel_size, detail::behind<MaxPool1dOptions, 6, 1>("MaxPool1d", stride, padding, dilation, return_indices, ceil_mode)); }
// The mean of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// count_include_pad: borders count as zeros.
struct AvgPool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  KeptInts padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
};
inline Object AvgPool1d(Ints kernel_size, const AvgPool1dOptions& options = {}) { return Object::create("AvgPool1d", {kernel_size, options.stride, options.padding, options.ceil_mode, options.count_include_pad}); }
template <detail::Placed<Ints> P>
Object AvgPool1d(Ints kernel_size, const P& stride, Ints padding = 0, Bool ceil_mode = false, Bool count_include_pad = true) { return Object::create("AvgPool1d", {kernel_size, Ints(stride), padding, ceil_mode, count_include_pad}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, AvgPool1dOptions> P2 = AvgPool1dOptions, detail::PlacedOr<Bool, AvgPool1dOptions> P3 = AvgPool1dOptions, detail::PlacedOr<Bool, AvgPool1dOptions> P4 = AvgPool1dOptions>
Object AvgPool1d(Ints kernel_size, const P1& stride, const P2& padding, const P3& ceil_mode = detail::unset<P3>(), const P4& count_include_pad = detail::unset<P4>()) { return AvgPool1d(kernel_size, detail::behind<AvgPool1dOptions, 5, 1>("AvgPool1d", stride, padding, ceil_mode, count_include_pad)); }
// (sum x^norm_type)^(1 / norm_type) of each window of x [n, channels, ..], or without n. stride
// empty: kernel_size.
struct LPPool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  bool ceil_mode = false;
};
inline Object LPPool1d(Float norm_type, Ints kernel_size, const LPPool1dOptions& options = {}) { return Object::create("LPPool1d", {norm_type, kernel_size, options.stride, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object LPPool1d(Float norm_type, Ints kernel_size, const P& stride, Bool ceil_mode = false) { return Object::create("LPPool1d", {norm_type, kernel_size, Ints(stride), ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<Bool, LPPool1dOptions> P2 = LPPool1dOptions>
Object LPPool1d(Float norm_type, Ints kernel_size, const P1& stride, const P2& ceil_mode) { return LPPool1d(norm_type, kernel_size, detail::behind<LPPool1dOptions, 3, 1>("LPPool1d", stride, ceil_mode)); }
// The means of windows that together cover x [n, channels, ..], output_size of them; -1: as many as
// x has there.
inline Object AdaptiveAvgPool1d(Ints output_size) { return Object::create("AdaptiveAvgPool1d", {output_size}); }
// The maxima of windows that together cover x [n, channels, ..], output_size of them; -1: as many
// as x has there. return_indices: forward gives the indices too.
struct AdaptiveMaxPool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool return_indices = false;
};
inline Object AdaptiveMaxPool1d(Ints output_size, const AdaptiveMaxPool1dOptions& options = {}) { return Object::create("AdaptiveMaxPool1d", {output_size, options.return_indices}); }
template <detail::Placed<Bool> P>
Object AdaptiveMaxPool1d(Ints output_size, const P& return_indices) { return Object::create("AdaptiveMaxPool1d", {output_size, Bool(return_indices)}); }
// layer(x, indices): planes with x at the indices that MaxPool gave with return_indices, and zeros
// elsewhere; layer(x, indices, output_size) where the size is not the smallest.
struct MaxUnpool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  KeptInts padding = 0;
};
inline Object MaxUnpool1d(Ints kernel_size, const MaxUnpool1dOptions& options = {}) { return Object::create("MaxUnpool1d", {kernel_size, options.stride, options.padding}); }
template <detail::Placed<Ints> P>
Object MaxUnpool1d(Ints kernel_size, const P& stride, Ints padding = 0) { return Object::create("MaxUnpool1d", {kernel_size, Ints(stride), padding}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxUnpool1dOptions> P2 = MaxUnpool1dOptions>
Object MaxUnpool1d(Ints kernel_size, const P1& stride, const P2& padding) { return MaxUnpool1d(kernel_size, detail::behind<MaxUnpool1dOptions, 3, 1>("MaxUnpool1d", stride, padding)); }
// The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// return_indices: forward gives the indices too, as max_pool with indices does.
using MaxPool2dOptions = MaxPool1dOptions;
inline Object MaxPool2d(Ints kernel_size, const MaxPool2dOptions& options = {}) { return Object::create("MaxPool2d", {kernel_size, options.stride, options.padding, options.dilation, options.return_indices, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object MaxPool2d(Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool return_indices = false, Bool ceil_mode = false) { return Object::create("MaxPool2d", {kernel_size, Ints(stride), padding, dilation, return_indices, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool2dOptions> P2 = MaxPool2dOptions, detail::PlacedOr<KeptInts, MaxPool2dOptions> P3 = MaxPool2dOptions, detail::PlacedOr<Bool, MaxPool2dOptions> P4 = MaxPool2dOptions, detail::PlacedOr<Bool, MaxPool2dOptions> P5 = MaxPool2dOptions>
Object MaxPool2d(Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& return_indices = detail::unset<P4>(), const P5& ceil_mode = detail::unset<P5>()) { return MaxPool2d(kernel_size, detail::behind<MaxPool2dOptions, 6, 1>("MaxPool2d", stride, padding, dilation, return_indices, ceil_mode)); }
// The mean of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// count_include_pad: borders count as zeros; divisor_override divides the sum instead.
struct AvgPool2dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  KeptInts padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::optional<Int> divisor_override = {};
};
inline Object AvgPool2d(Ints kernel_size, const AvgPool2dOptions& options = {}) { return Object::create("AvgPool2d", {kernel_size, options.stride, options.padding, options.ceil_mode, options.count_include_pad, options.divisor_override}); }
template <detail::Placed<Ints> P>
Object AvgPool2d(Ints kernel_size, const P& stride, Ints padding = 0, Bool ceil_mode = false, Bool count_include_pad = true, std::optional<Int> divisor_override = {}) { return Object::create("AvgPool2d", {kernel_size, Ints(stride), padding, ceil_mode, count_include_pad, divisor_override}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, AvgPool2dOptions> P2 = AvgPool2dOptions, detail::PlacedOr<Bool, AvgPool2dOptions> P3 = AvgPool2dOptions, detail::PlacedOr<Bool, AvgPool2dOptions> P4 = AvgPool2dOptions, detail::PlacedOr<std::optional<Int>, AvgPool2dOptions> P5 = AvgPool2dOptions>
Object AvgPool2d(Ints kernel_size, const P1& stride, const P2& padding, const P3& ceil_mode = detail::unset<P3>(), const P4& count_include_pad = detail::unset<P4>(), const P5& divisor_override = detail::unset<P5>()) { return AvgPool2d(kernel_size, detail::behind<AvgPool2dOptions, 6, 1>("AvgPool2d", stride, padding, ceil_mode, count_include_pad, divisor_override)); }
// (sum x^norm_type)^(1 / norm_type) of each window of x [n, channels, ..], or without n. stride
// empty: kernel_size.
using LPPool2dOptions = LPPool1dOptions;
inline Object LPPool2d(Float norm_type, Ints kernel_size, const LPPool2dOptions& options = {}) { return Object::create("LPPool2d", {norm_type, kernel_size, options.stride, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object LPPool2d(Float norm_type, Ints kernel_size, const P& stride, Bool ceil_mode = false) { return Object::create("LPPool2d", {norm_type, kernel_size, Ints(stride), ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<Bool, LPPool2dOptions> P2 = LPPool2dOptions>
Object LPPool2d(Float norm_type, Ints kernel_size, const P1& stride, const P2& ceil_mode) { return LPPool2d(norm_type, kernel_size, detail::behind<LPPool2dOptions, 3, 1>("LPPool2d", stride, ceil_mode)); }
// The means of windows that together cover x [n, channels, ..], output_size of them; -1: as many as
// x has there.
inline Object AdaptiveAvgPool2d(Ints output_size) { return Object::create("AdaptiveAvgPool2d", {output_size}); }
// The maxima of windows that together cover x [n, channels, ..], output_size of them; -1: as many
// as x has there. return_indices: forward gives the indices too.
using AdaptiveMaxPool2dOptions = AdaptiveMaxPool1dOptions;
inline Object AdaptiveMaxPool2d(Ints output_size, const AdaptiveMaxPool2dOptions& options = {}) { return Object::create("AdaptiveMaxPool2d", {output_size, options.return_indices}); }
template <detail::Placed<Bool> P>
Object AdaptiveMaxPool2d(Ints output_size, const P& return_indices) { return Object::create("AdaptiveMaxPool2d", {output_size, Bool(return_indices)}); }
// layer(x, indices): planes with x at the indices that MaxPool gave with return_indices, and zeros
// elsewhere; layer(x, indices, output_size) where the size is not the smallest.
using MaxUnpool2dOptions = MaxUnpool1dOptions;
inline Object MaxUnpool2d(Ints kernel_size, const MaxUnpool2dOptions& options = {}) { return Object::create("MaxUnpool2d", {kernel_size, options.stride, options.padding}); }
template <detail::Placed<Ints> P>
Object MaxUnpool2d(Ints kernel_size, const P& stride, Ints padding = 0) { return Object::create("MaxUnpool2d", {kernel_size, Ints(stride), padding}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxUnpool2dOptions> P2 = MaxUnpool2dOptions>
Object MaxUnpool2d(Ints kernel_size, const P1& stride, const P2& padding) { return MaxUnpool2d(kernel_size, detail::behind<MaxUnpool2dOptions, 3, 1>("MaxUnpool2d", stride, padding)); }
// The maxima of overlapping windows at drawn places, output_size of them or output_ratio of the
// size. return_indices: forward gives the indices too. Graham, arXiv:1412.6071.
struct FractionalMaxPool2dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts output_size = {};
  KeptFloats output_ratio = {};
  bool return_indices = false;
};
inline Object FractionalMaxPool2d(Ints kernel_size, const FractionalMaxPool2dOptions& options = {}) { return Object::create("FractionalMaxPool2d", {kernel_size, options.output_size, options.output_ratio, options.return_indices}); }
template <detail::Placed<Ints> P>
Object FractionalMaxPool2d(Ints kernel_size, const P& output_size, Floats output_ratio = {}, Bool return_indices = false) { return Object::create("FractionalMaxPool2d", {kernel_size, Ints(output_size), output_ratio, return_indices}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptFloats, FractionalMaxPool2dOptions> P2 = FractionalMaxPool2dOptions, detail::PlacedOr<Bool, FractionalMaxPool2dOptions> P3 = FractionalMaxPool2dOptions>
Object FractionalMaxPool2d(Ints kernel_size, const P1& output_size, const P2& output_ratio, const P3& return_indices = detail::unset<P3>()) { return FractionalMaxPool2d(kernel_size, detail::behind<FractionalMaxPool2dOptions, 4, 1>("FractionalMaxPool2d", output_size, output_ratio, return_indices)); }
// The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// return_indices: forward gives the indices too, as max_pool with indices does.
using MaxPool3dOptions = MaxPool1dOptions;
inline Object MaxPool3d(Ints kernel_size, const MaxPool3dOptions& options = {}) { return Object::create("MaxPool3d", {kernel_size, options.stride, options.padding, options.dilation, options.return_indices, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object MaxPool3d(Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool return_indices = false, Bool ceil_mode = false) { return Object::create("MaxPool3d", {kernel_size, Ints(stride), padding, dilation, return_indices, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool3dOptions> P2 = MaxPool3dOptions, detail::PlacedOr<KeptInts, MaxPool3dOptions> P3 = MaxPool3dOptions, detail::PlacedOr<Bool, MaxPool3dOptions> P4 = MaxPool3dOptions, detail::PlacedOr<Bool, MaxPool3dOptions> P5 = MaxPool3dOptions>
Object MaxPool3d(Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& return_indices = detail::unset<P4>(), const P5& ceil_mode = detail::unset<P5>()) { return MaxPool3d(kernel_size, detail::behind<MaxPool3dOptions, 6, 1>("MaxPool3d", stride, padding, dilation, return_indices, ceil_mode)); }
// The mean of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// count_include_pad: borders count as zeros; divisor_override divides the sum instead.
using AvgPool3dOptions = AvgPool2dOptions;
inline Object AvgPool3d(Ints kernel_size, const AvgPool3dOptions& options = {}) { return Object::create("AvgPool3d", {kernel_size, options.stride, options.padding, options.ceil_mode, options.count_include_pad, options.divisor_override}); }
template <detail::Placed<Ints> P>
Object AvgPool3d(Ints kernel_size, const P& stride, Ints padding = 0, Bool ceil_mode = false, Bool count_include_pad = true, std::optional<Int> divisor_override = {}) { return Object::create("AvgPool3d", {kernel_size, Ints(stride), padding, ceil_mode, count_include_pad, divisor_override}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, AvgPool3dOptions> P2 = AvgPool3dOptions, detail::PlacedOr<Bool, AvgPool3dOptions> P3 = AvgPool3dOptions, detail::PlacedOr<Bool, AvgPool3dOptions> P4 = AvgPool3dOptions, detail::PlacedOr<std::optional<Int>, AvgPool3dOptions> P5 = AvgPool3dOptions>
Object AvgPool3d(Ints kernel_size, const P1& stride, const P2& padding, const P3& ceil_mode = detail::unset<P3>(), const P4& count_include_pad = detail::unset<P4>(), const P5& divisor_override = detail::unset<P5>()) { return AvgPool3d(kernel_size, detail::behind<AvgPool3dOptions, 6, 1>("AvgPool3d", stride, padding, ceil_mode, count_include_pad, divisor_override)); }
// (sum x^norm_type)^(1 / norm_type) of each window of x [n, channels, ..], or without n. stride
// empty: kernel_size.
using LPPool3dOptions = LPPool1dOptions;
inline Object LPPool3d(Float norm_type, Ints kernel_size, const LPPool3dOptions& options = {}) { return Object::create("LPPool3d", {norm_type, kernel_size, options.stride, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object LPPool3d(Float norm_type, Ints kernel_size, const P& stride, Bool ceil_mode = false) { return Object::create("LPPool3d", {norm_type, kernel_size, Ints(stride), ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<Bool, LPPool3dOptions> P2 = LPPool3dOptions>
Object LPPool3d(Float norm_type, Ints kernel_size, const P1& stride, const P2& ceil_mode) { return LPPool3d(norm_type, kernel_size, detail::behind<LPPool3dOptions, 3, 1>("LPPool3d", stride, ceil_mode)); }
// The means of windows that together cover x [n, channels, ..], output_size of them; -1: as many as
// x has there.
inline Object AdaptiveAvgPool3d(Ints output_size) { return Object::create("AdaptiveAvgPool3d", {output_size}); }
// The maxima of windows that together cover x [n, channels, ..], output_size of them; -1: as many
// as x has there. return_indices: forward gives the indices too.
using AdaptiveMaxPool3dOptions = AdaptiveMaxPool1dOptions;
inline Object AdaptiveMaxPool3d(Ints output_size, const AdaptiveMaxPool3dOptions& options = {}) { return Object::create("AdaptiveMaxPool3d", {output_size, options.return_indices}); }
template <detail::Placed<Bool> P>
Object AdaptiveMaxPool3d(Ints output_size, const P& return_indices) { return Object::create("AdaptiveMaxPool3d", {output_size, Bool(return_indices)}); }
// layer(x, indices): planes with x at the indices that MaxPool gave with return_indices, and zeros
// elsewhere; layer(x, indices, output_size) where the size is not the smallest.
using MaxUnpool3dOptions = MaxUnpool1dOptions;
inline Object MaxUnpool3d(Ints kernel_size, const MaxUnpool3dOptions& options = {}) { return Object::create("MaxUnpool3d", {kernel_size, options.stride, options.padding}); }
template <detail::Placed<Ints> P>
Object MaxUnpool3d(Ints kernel_size, const P& stride, Ints padding = 0) { return Object::create("MaxUnpool3d", {kernel_size, Ints(stride), padding}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxUnpool3dOptions> P2 = MaxUnpool3dOptions>
Object MaxUnpool3d(Ints kernel_size, const P1& stride, const P2& padding) { return MaxUnpool3d(kernel_size, detail::behind<MaxUnpool3dOptions, 3, 1>("MaxUnpool3d", stride, padding)); }
// The maxima of overlapping windows at drawn places, output_size of them or output_ratio of the
// size. return_indices: forward gives the indices too. Graham, arXiv:1412.6071.
using FractionalMaxPool3dOptions = FractionalMaxPool2dOptions;
inline Object FractionalMaxPool3d(Ints kernel_size, const FractionalMaxPool3dOptions& options = {}) { return Object::create("FractionalMaxPool3d", {kernel_size, options.output_size, options.output_ratio, options.return_indices}); }
template <detail::Placed<Ints> P>
Object FractionalMaxPool3d(Ints kernel_size, const P& output_size, Floats output_ratio = {}, Bool return_indices = false) { return Object::create("FractionalMaxPool3d", {kernel_size, Ints(output_size), output_ratio, return_indices}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptFloats, FractionalMaxPool3dOptions> P2 = FractionalMaxPool3dOptions, detail::PlacedOr<Bool, FractionalMaxPool3dOptions> P3 = FractionalMaxPool3dOptions>
Object FractionalMaxPool3d(Ints kernel_size, const P1& output_size, const P2& output_ratio, const P3& return_indices = detail::unset<P3>()) { return FractionalMaxPool3d(kernel_size, detail::behind<FractionalMaxPool3dOptions, 4, 1>("FractionalMaxPool3d", output_size, output_ratio, return_indices)); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
