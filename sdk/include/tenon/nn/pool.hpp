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
// The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// return_indices: forward gives the indices too, as max_pool with indices does.
using MaxPool2dOptions = MaxPool1dOptions;
inline Object MaxPool2d(Ints kernel_size, const MaxPool2dOptions& options = {}) { return Object::create("MaxPool2d", {kernel_size, options.stride, options.padding, options.dilation, options.return_indices, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object MaxPool2d(Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool return_indices = false, Bool ceil_mode = false) { return Object::create("MaxPool2d", {kernel_size, Ints(stride), padding, dilation, return_indices, ceil_mode}); }
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
// (sum x^norm_type)^(1 / norm_type) of each window of x [n, channels, ..], or without n. stride
// empty: kernel_size.
using LPPool2dOptions = LPPool1dOptions;
inline Object LPPool2d(Float norm_type, Ints kernel_size, const LPPool2dOptions& options = {}) { return Object::create("LPPool2d", {norm_type, kernel_size, options.stride, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object LPPool2d(Float norm_type, Ints kernel_size, const P& stride, Bool ceil_mode = false) { return Object::create("LPPool2d", {norm_type, kernel_size, Ints(stride), ceil_mode}); }
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
// The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// return_indices: forward gives the indices too, as max_pool with indices does.
using MaxPool3dOptions = MaxPool1dOptions;
inline Object MaxPool3d(Ints kernel_size, const MaxPool3dOptions& options = {}) { return Object::create("MaxPool3d", {kernel_size, options.stride, options.padding, options.dilation, options.return_indices, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object MaxPool3d(Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool return_indices = false, Bool ceil_mode = false) { return Object::create("MaxPool3d", {kernel_size, Ints(stride), padding, dilation, return_indices, ceil_mode}); }
// The mean of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// count_include_pad: borders count as zeros; divisor_override divides the sum instead.
using AvgPool3dOptions = AvgPool2dOptions;
inline Object AvgPool3d(Ints kernel_size, const AvgPool3dOptions& options = {}) { return Object::create("AvgPool3d", {kernel_size, options.stride, options.padding, options.ceil_mode, options.count_include_pad, options.divisor_override}); }
template <detail::Placed<Ints> P>
Object AvgPool3d(Ints kernel_size, const P& stride, Ints padding = 0, Bool ceil_mode = false, Bool count_include_pad = true, std::optional<Int> divisor_override = {}) { return Object::create("AvgPool3d", {kernel_size, Ints(stride), padding, ceil_mode, count_include_pad, divisor_override}); }
// (sum x^norm_type)^(1 / norm_type) of each window of x [n, channels, ..], or without n. stride
// empty: kernel_size.
using LPPool3dOptions = LPPool1dOptions;
inline Object LPPool3d(Float norm_type, Ints kernel_size, const LPPool3dOptions& options = {}) { return Object::create("LPPool3d", {norm_type, kernel_size, options.stride, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Object LPPool3d(Float norm_type, Ints kernel_size, const P& stride, Bool ceil_mode = false) { return Object::create("LPPool3d", {norm_type, kernel_size, Ints(stride), ceil_mode}); }
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
// The maxima of overlapping windows at drawn places, output_size of them or output_ratio of the
// size. return_indices: forward gives the indices too. Graham, arXiv:1412.6071.
using FractionalMaxPool3dOptions = FractionalMaxPool2dOptions;
inline Object FractionalMaxPool3d(Ints kernel_size, const FractionalMaxPool3dOptions& options = {}) { return Object::create("FractionalMaxPool3d", {kernel_size, options.output_size, options.output_ratio, options.return_indices}); }
template <detail::Placed<Ints> P>
Object FractionalMaxPool3d(Ints kernel_size, const P& output_size, Floats output_ratio = {}, Bool return_indices = false) { return Object::create("FractionalMaxPool3d", {kernel_size, Ints(output_size), output_ratio, return_indices}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
