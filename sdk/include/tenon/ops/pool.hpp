// The group 'pool' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"
#include "tenon/ops/results.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size. Of
// equal largest ones the first has the gradient.
struct MaxPool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  KeptInts padding = 0;
  KeptInts dilation = 1;
  bool ceil_mode = false;
};
inline Tensor max_pool1d(const Tensor& x, Ints kernel_size, const MaxPool1dOptions& options = {}) { return detail::call<Tensor>(detail::op<"max_pool1d">, {x, kernel_size, options.stride, options.padding, options.dilation, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Tensor max_pool1d(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"max_pool1d">, {x, kernel_size, Ints(stride), padding, dilation, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool1dOptions> P2 = MaxPool1dOptions, detail::PlacedOr<KeptInts, MaxPool1dOptions> P3 = MaxPool1dOptions, detail::PlacedOr<Bool, MaxPool1dOptions> P4 = MaxPool1dOptions>
Tensor max_pool1d(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& ceil_mode = detail::unset<P4>()) { return max_pool1d(x, kernel_size, detail::behind<MaxPool1dOptions, 5, 1>("max_pool1d", stride, padding, dilation, ceil_mode)); }
// max_pool of the same dimensions, and for each window the int64 index of its maximum in the plane
// of x, counted row by row: the first of equal ones.
using MaxPool1dWithIndicesOptions = MaxPool1dOptions;
inline results::ValuesIndices max_pool1d_with_indices(const Tensor& x, Ints kernel_size, const MaxPool1dWithIndicesOptions& options = {}) { return detail::call<results::ValuesIndices>(detail::op<"max_pool1d_with_indices">, {x, kernel_size, options.stride, options.padding, options.dilation, options.ceil_mode}); }
template <detail::Placed<Ints> P>
results::ValuesIndices max_pool1d_with_indices(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool ceil_mode = false) { return detail::call<results::ValuesIndices>(detail::op<"max_pool1d_with_indices">, {x, kernel_size, Ints(stride), padding, dilation, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool1dWithIndicesOptions> P2 = MaxPool1dWithIndicesOptions, detail::PlacedOr<KeptInts, MaxPool1dWithIndicesOptions> P3 = MaxPool1dWithIndicesOptions, detail::PlacedOr<Bool, MaxPool1dWithIndicesOptions> P4 = MaxPool1dWithIndicesOptions>
results::ValuesIndices max_pool1d_with_indices(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& ceil_mode = detail::unset<P4>()) { return max_pool1d_with_indices(x, kernel_size, detail::behind<MaxPool1dWithIndicesOptions, 5, 1>("max_pool1d_with_indices", stride, padding, dilation, ceil_mode)); }
// The mean of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// count_include_pad: borders count as zeros.
struct AvgPool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  KeptInts padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
};
inline Tensor avg_pool1d(const Tensor& x, Ints kernel_size, const AvgPool1dOptions& options = {}) { return detail::call<Tensor>(detail::op<"avg_pool1d">, {x, kernel_size, options.stride, options.padding, options.ceil_mode, options.count_include_pad}); }
template <detail::Placed<Ints> P>
Tensor avg_pool1d(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Bool ceil_mode = false, Bool count_include_pad = true) { return detail::call<Tensor>(detail::op<"avg_pool1d">, {x, kernel_size, Ints(stride), padding, ceil_mode, count_include_pad}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, AvgPool1dOptions> P2 = AvgPool1dOptions, detail::PlacedOr<Bool, AvgPool1dOptions> P3 = AvgPool1dOptions, detail::PlacedOr<Bool, AvgPool1dOptions> P4 = AvgPool1dOptions>
Tensor avg_pool1d(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& ceil_mode = detail::unset<P3>(), const P4& count_include_pad = detail::unset<P4>()) { return avg_pool1d(x, kernel_size, detail::behind<AvgPool1dOptions, 5, 1>("avg_pool1d", stride, padding, ceil_mode, count_include_pad)); }
// The means of windows that together cover x [n, channels, ..], output_size of them; -1: as many as
// x has there.
inline Tensor adaptive_avg_pool1d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_avg_pool1d">, {x, output_size}); }
// The maxima of windows that together cover x [n, channels, ..], output_size of them; -1: as many
// as x has there.
inline Tensor adaptive_max_pool1d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_max_pool1d">, {x, output_size}); }
// The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size. Of
// equal largest ones the first has the gradient.
using MaxPool2dOptions = MaxPool1dOptions;
inline Tensor max_pool2d(const Tensor& x, Ints kernel_size, const MaxPool2dOptions& options = {}) { return detail::call<Tensor>(detail::op<"max_pool2d">, {x, kernel_size, options.stride, options.padding, options.dilation, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Tensor max_pool2d(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"max_pool2d">, {x, kernel_size, Ints(stride), padding, dilation, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool2dOptions> P2 = MaxPool2dOptions, detail::PlacedOr<KeptInts, MaxPool2dOptions> P3 = MaxPool2dOptions, detail::PlacedOr<Bool, MaxPool2dOptions> P4 = MaxPool2dOptions>
Tensor max_pool2d(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& ceil_mode = detail::unset<P4>()) { return max_pool2d(x, kernel_size, detail::behind<MaxPool2dOptions, 5, 1>("max_pool2d", stride, padding, dilation, ceil_mode)); }
// max_pool of the same dimensions, and for each window the int64 index of its maximum in the plane
// of x, counted row by row: the first of equal ones.
using MaxPool2dWithIndicesOptions = MaxPool1dOptions;
inline results::ValuesIndices max_pool2d_with_indices(const Tensor& x, Ints kernel_size, const MaxPool2dWithIndicesOptions& options = {}) { return detail::call<results::ValuesIndices>(detail::op<"max_pool2d_with_indices">, {x, kernel_size, options.stride, options.padding, options.dilation, options.ceil_mode}); }
template <detail::Placed<Ints> P>
results::ValuesIndices max_pool2d_with_indices(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool ceil_mode = false) { return detail::call<results::ValuesIndices>(detail::op<"max_pool2d_with_indices">, {x, kernel_size, Ints(stride), padding, dilation, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool2dWithIndicesOptions> P2 = MaxPool2dWithIndicesOptions, detail::PlacedOr<KeptInts, MaxPool2dWithIndicesOptions> P3 = MaxPool2dWithIndicesOptions, detail::PlacedOr<Bool, MaxPool2dWithIndicesOptions> P4 = MaxPool2dWithIndicesOptions>
results::ValuesIndices max_pool2d_with_indices(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& ceil_mode = detail::unset<P4>()) { return max_pool2d_with_indices(x, kernel_size, detail::behind<MaxPool2dWithIndicesOptions, 5, 1>("max_pool2d_with_indices", stride, padding, dilation, ceil_mode)); }
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
inline Tensor avg_pool2d(const Tensor& x, Ints kernel_size, const AvgPool2dOptions& options = {}) { return detail::call<Tensor>(detail::op<"avg_pool2d">, {x, kernel_size, options.stride, options.padding, options.ceil_mode, options.count_include_pad, options.divisor_override}); }
template <detail::Placed<Ints> P>
Tensor avg_pool2d(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Bool ceil_mode = false, Bool count_include_pad = true, std::optional<Int> divisor_override = {}) { return detail::call<Tensor>(detail::op<"avg_pool2d">, {x, kernel_size, Ints(stride), padding, ceil_mode, count_include_pad, divisor_override}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, AvgPool2dOptions> P2 = AvgPool2dOptions, detail::PlacedOr<Bool, AvgPool2dOptions> P3 = AvgPool2dOptions, detail::PlacedOr<Bool, AvgPool2dOptions> P4 = AvgPool2dOptions, detail::PlacedOr<std::optional<Int>, AvgPool2dOptions> P5 = AvgPool2dOptions>
Tensor avg_pool2d(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& ceil_mode = detail::unset<P3>(), const P4& count_include_pad = detail::unset<P4>(), const P5& divisor_override = detail::unset<P5>()) { return avg_pool2d(x, kernel_size, detail::behind<AvgPool2dOptions, 6, 1>("avg_pool2d", stride, padding, ceil_mode, count_include_pad, divisor_override)); }
// The means of windows that together cover x [n, channels, ..], output_size of them; -1: as many as
// x has there.
inline Tensor adaptive_avg_pool2d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_avg_pool2d">, {x, output_size}); }
// The maxima of windows that together cover x [n, channels, ..], output_size of them; -1: as many
// as x has there.
inline Tensor adaptive_max_pool2d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_max_pool2d">, {x, output_size}); }
// The maximum of each window of x [n, channels, ..], or without n. stride empty: kernel_size. Of
// equal largest ones the first has the gradient.
using MaxPool3dOptions = MaxPool1dOptions;
inline Tensor max_pool3d(const Tensor& x, Ints kernel_size, const MaxPool3dOptions& options = {}) { return detail::call<Tensor>(detail::op<"max_pool3d">, {x, kernel_size, options.stride, options.padding, options.dilation, options.ceil_mode}); }
template <detail::Placed<Ints> P>
Tensor max_pool3d(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"max_pool3d">, {x, kernel_size, Ints(stride), padding, dilation, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool3dOptions> P2 = MaxPool3dOptions, detail::PlacedOr<KeptInts, MaxPool3dOptions> P3 = MaxPool3dOptions, detail::PlacedOr<Bool, MaxPool3dOptions> P4 = MaxPool3dOptions>
Tensor max_pool3d(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& ceil_mode = detail::unset<P4>()) { return max_pool3d(x, kernel_size, detail::behind<MaxPool3dOptions, 5, 1>("max_pool3d", stride, padding, dilation, ceil_mode)); }
// max_pool of the same dimensions, and for each window the int64 index of its maximum in the plane
// of x, counted row by row: the first of equal ones.
using MaxPool3dWithIndicesOptions = MaxPool1dOptions;
inline results::ValuesIndices max_pool3d_with_indices(const Tensor& x, Ints kernel_size, const MaxPool3dWithIndicesOptions& options = {}) { return detail::call<results::ValuesIndices>(detail::op<"max_pool3d_with_indices">, {x, kernel_size, options.stride, options.padding, options.dilation, options.ceil_mode}); }
template <detail::Placed<Ints> P>
results::ValuesIndices max_pool3d_with_indices(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Ints dilation = 1, Bool ceil_mode = false) { return detail::call<results::ValuesIndices>(detail::op<"max_pool3d_with_indices">, {x, kernel_size, Ints(stride), padding, dilation, ceil_mode}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxPool3dWithIndicesOptions> P2 = MaxPool3dWithIndicesOptions, detail::PlacedOr<KeptInts, MaxPool3dWithIndicesOptions> P3 = MaxPool3dWithIndicesOptions, detail::PlacedOr<Bool, MaxPool3dWithIndicesOptions> P4 = MaxPool3dWithIndicesOptions>
results::ValuesIndices max_pool3d_with_indices(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& dilation = detail::unset<P3>(), const P4& ceil_mode = detail::unset<P4>()) { return max_pool3d_with_indices(x, kernel_size, detail::behind<MaxPool3dWithIndicesOptions, 5, 1>("max_pool3d_with_indices", stride, padding, dilation, ceil_mode)); }
// The mean of each window of x [n, channels, ..], or without n. stride empty: kernel_size.
// count_include_pad: borders count as zeros; divisor_override divides the sum instead.
using AvgPool3dOptions = AvgPool2dOptions;
inline Tensor avg_pool3d(const Tensor& x, Ints kernel_size, const AvgPool3dOptions& options = {}) { return detail::call<Tensor>(detail::op<"avg_pool3d">, {x, kernel_size, options.stride, options.padding, options.ceil_mode, options.count_include_pad, options.divisor_override}); }
template <detail::Placed<Ints> P>
Tensor avg_pool3d(const Tensor& x, Ints kernel_size, const P& stride, Ints padding = 0, Bool ceil_mode = false, Bool count_include_pad = true, std::optional<Int> divisor_override = {}) { return detail::call<Tensor>(detail::op<"avg_pool3d">, {x, kernel_size, Ints(stride), padding, ceil_mode, count_include_pad, divisor_override}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, AvgPool3dOptions> P2 = AvgPool3dOptions, detail::PlacedOr<Bool, AvgPool3dOptions> P3 = AvgPool3dOptions, detail::PlacedOr<Bool, AvgPool3dOptions> P4 = AvgPool3dOptions, detail::PlacedOr<std::optional<Int>, AvgPool3dOptions> P5 = AvgPool3dOptions>
Tensor avg_pool3d(const Tensor& x, Ints kernel_size, const P1& stride, const P2& padding, const P3& ceil_mode = detail::unset<P3>(), const P4& count_include_pad = detail::unset<P4>(), const P5& divisor_override = detail::unset<P5>()) { return avg_pool3d(x, kernel_size, detail::behind<AvgPool3dOptions, 6, 1>("avg_pool3d", stride, padding, ceil_mode, count_include_pad, divisor_override)); }
// The means of windows that together cover x [n, channels, ..], output_size of them; -1: as many as
// x has there.
inline Tensor adaptive_avg_pool3d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_avg_pool3d">, {x, output_size}); }
// The maxima of windows that together cover x [n, channels, ..], output_size of them; -1: as many
// as x has there.
inline Tensor adaptive_max_pool3d(const Tensor& x, Ints output_size) { return detail::call<Tensor>(detail::op<"adaptive_max_pool3d">, {x, output_size}); }
// adaptive_max_pool of the same dimensions, and for each window the int64 index of its maximum in
// the plane of x, counted row by row: the first of equal ones.
inline results::ValuesIndices adaptive_max_pool1d_with_indices(const Tensor& x, Ints output_size) { return detail::call<results::ValuesIndices>(detail::op<"adaptive_max_pool1d_with_indices">, {x, output_size}); }
inline results::ValuesIndices adaptive_max_pool2d_with_indices(const Tensor& x, Ints output_size) { return detail::call<results::ValuesIndices>(detail::op<"adaptive_max_pool2d_with_indices">, {x, output_size}); }
inline results::ValuesIndices adaptive_max_pool3d_with_indices(const Tensor& x, Ints output_size) { return detail::call<results::ValuesIndices>(detail::op<"adaptive_max_pool3d_with_indices">, {x, output_size}); }
// Planes with x [n, channels, ..] at the indices that max_pool with indices gave, and zeros
// elsewhere. stride empty: kernel_size; output_size empty: the smallest that the pool takes.
struct MaxUnpool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  KeptInts padding = 0;
  KeptInts output_size = {};
};
inline Tensor max_unpool1d(const Tensor& x, const Tensor& indices, Ints kernel_size, const MaxUnpool1dOptions& options = {}) { return detail::call<Tensor>(detail::op<"max_unpool1d">, {x, indices, kernel_size, options.stride, options.padding, options.output_size}); }
template <detail::Placed<Ints> P>
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_size = {}) { return detail::call<Tensor>(detail::op<"max_unpool1d">, {x, indices, kernel_size, Ints(stride), padding, output_size}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxUnpool1dOptions> P2 = MaxUnpool1dOptions, detail::PlacedOr<KeptInts, MaxUnpool1dOptions> P3 = MaxUnpool1dOptions>
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_size = detail::unset<P3>()) { return max_unpool1d(x, indices, kernel_size, detail::behind<MaxUnpool1dOptions, 4, 1>("max_unpool1d", stride, padding, output_size)); }
using MaxUnpool2dOptions = MaxUnpool1dOptions;
inline Tensor max_unpool2d(const Tensor& x, const Tensor& indices, Ints kernel_size, const MaxUnpool2dOptions& options = {}) { return detail::call<Tensor>(detail::op<"max_unpool2d">, {x, indices, kernel_size, options.stride, options.padding, options.output_size}); }
template <detail::Placed<Ints> P>
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_size = {}) { return detail::call<Tensor>(detail::op<"max_unpool2d">, {x, indices, kernel_size, Ints(stride), padding, output_size}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxUnpool2dOptions> P2 = MaxUnpool2dOptions, detail::PlacedOr<KeptInts, MaxUnpool2dOptions> P3 = MaxUnpool2dOptions>
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_size = detail::unset<P3>()) { return max_unpool2d(x, indices, kernel_size, detail::behind<MaxUnpool2dOptions, 4, 1>("max_unpool2d", stride, padding, output_size)); }
using MaxUnpool3dOptions = MaxUnpool1dOptions;
inline Tensor max_unpool3d(const Tensor& x, const Tensor& indices, Ints kernel_size, const MaxUnpool3dOptions& options = {}) { return detail::call<Tensor>(detail::op<"max_unpool3d">, {x, indices, kernel_size, options.stride, options.padding, options.output_size}); }
template <detail::Placed<Ints> P>
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, Ints kernel_size, const P& stride, Ints padding = 0, Ints output_size = {}) { return detail::call<Tensor>(detail::op<"max_unpool3d">, {x, indices, kernel_size, Ints(stride), padding, output_size}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptInts, MaxUnpool3dOptions> P2 = MaxUnpool3dOptions, detail::PlacedOr<KeptInts, MaxUnpool3dOptions> P3 = MaxUnpool3dOptions>
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, Ints kernel_size, const P1& stride, const P2& padding, const P3& output_size = detail::unset<P3>()) { return max_unpool3d(x, indices, kernel_size, detail::behind<MaxUnpool3dOptions, 4, 1>("max_unpool3d", stride, padding, output_size)); }
// The maxima of overlapping windows of x [n, channels, ..], output_size of them or output_ratio of
// the size, at drawn places; random_samples [n, channels, dimensions] of 0 to 1 fix these. Graham,
// arXiv:1412.6071.
struct FractionalMaxPool2dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts output_size = {};
  KeptFloats output_ratio = {};
  Tensor random_samples = {};
};
inline Tensor fractional_max_pool2d(const Tensor& x, Ints kernel_size, const FractionalMaxPool2dOptions& options = {}) { return detail::call<Tensor>(detail::op<"fractional_max_pool2d">, {x, kernel_size, options.output_size, options.output_ratio, options.random_samples}); }
template <detail::Placed<Ints> P>
Tensor fractional_max_pool2d(const Tensor& x, Ints kernel_size, const P& output_size, Floats output_ratio = {}, const Tensor& random_samples = {}) { return detail::call<Tensor>(detail::op<"fractional_max_pool2d">, {x, kernel_size, Ints(output_size), output_ratio, random_samples}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptFloats, FractionalMaxPool2dOptions> P2 = FractionalMaxPool2dOptions, detail::PlacedOr<Tensor, FractionalMaxPool2dOptions> P3 = FractionalMaxPool2dOptions>
Tensor fractional_max_pool2d(const Tensor& x, Ints kernel_size, const P1& output_size, const P2& output_ratio, const P3& random_samples = detail::unset<P3>()) { return fractional_max_pool2d(x, kernel_size, detail::behind<FractionalMaxPool2dOptions, 4, 1>("fractional_max_pool2d", output_size, output_ratio, random_samples)); }
// fractional_max_pool of the same dimensions, and for each window the int64 index of its maximum in
// the plane of x, counted row by row.
using FractionalMaxPool2dWithIndicesOptions = FractionalMaxPool2dOptions;
inline results::ValuesIndices fractional_max_pool2d_with_indices(const Tensor& x, Ints kernel_size, const FractionalMaxPool2dWithIndicesOptions& options = {}) { return detail::call<results::ValuesIndices>(detail::op<"fractional_max_pool2d_with_indices">, {x, kernel_size, options.output_size, options.output_ratio, options.random_samples}); }
template <detail::Placed<Ints> P>
results::ValuesIndices fractional_max_pool2d_with_indices(const Tensor& x, Ints kernel_size, const P& output_size, Floats output_ratio = {}, const Tensor& random_samples = {}) { return detail::call<results::ValuesIndices>(detail::op<"fractional_max_pool2d_with_indices">, {x, kernel_size, Ints(output_size), output_ratio, random_samples}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptFloats, FractionalMaxPool2dWithIndicesOptions> P2 = FractionalMaxPool2dWithIndicesOptions, detail::PlacedOr<Tensor, FractionalMaxPool2dWithIndicesOptions> P3 = FractionalMaxPool2dWithIndicesOptions>
results::ValuesIndices fractional_max_pool2d_with_indices(const Tensor& x, Ints kernel_size, const P1& output_size, const P2& output_ratio, const P3& random_samples = detail::unset<P3>()) { return fractional_max_pool2d_with_indices(x, kernel_size, detail::behind<FractionalMaxPool2dWithIndicesOptions, 4, 1>("fractional_max_pool2d_with_indices", output_size, output_ratio, random_samples)); }
// The maxima of overlapping windows of x [n, channels, ..], output_size of them or output_ratio of
// the size, at drawn places; random_samples [n, channels, dimensions] of 0 to 1 fix these. Graham,
// arXiv:1412.6071.
using FractionalMaxPool3dOptions = FractionalMaxPool2dOptions;
inline Tensor fractional_max_pool3d(const Tensor& x, Ints kernel_size, const FractionalMaxPool3dOptions& options = {}) { return detail::call<Tensor>(detail::op<"fractional_max_pool3d">, {x, kernel_size, options.output_size, options.output_ratio, options.random_samples}); }
template <detail::Placed<Ints> P>
Tensor fractional_max_pool3d(const Tensor& x, Ints kernel_size, const P& output_size, Floats output_ratio = {}, const Tensor& random_samples = {}) { return detail::call<Tensor>(detail::op<"fractional_max_pool3d">, {x, kernel_size, Ints(output_size), output_ratio, random_samples}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptFloats, FractionalMaxPool3dOptions> P2 = FractionalMaxPool3dOptions, detail::PlacedOr<Tensor, FractionalMaxPool3dOptions> P3 = FractionalMaxPool3dOptions>
Tensor fractional_max_pool3d(const Tensor& x, Ints kernel_size, const P1& output_size, const P2& output_ratio, const P3& random_samples = detail::unset<P3>()) { return fractional_max_pool3d(x, kernel_size, detail::behind<FractionalMaxPool3dOptions, 4, 1>("fractional_max_pool3d", output_size, output_ratio, random_samples)); }
// fractional_max_pool of the same dimensions, and for each window the int64 index of its maximum in
// the plane of x, counted row by row.
using FractionalMaxPool3dWithIndicesOptions = FractionalMaxPool2dOptions;
inline results::ValuesIndices fractional_max_pool3d_with_indices(const Tensor& x, Ints kernel_size, const FractionalMaxPool3dWithIndicesOptions& options = {}) { return detail::call<results::ValuesIndices>(detail::op<"fractional_max_pool3d_with_indices">, {x, kernel_size, options.output_size, options.output_ratio, options.random_samples}); }
template <detail::Placed<Ints> P>
results::ValuesIndices fractional_max_pool3d_with_indices(const Tensor& x, Ints kernel_size, const P& output_size, Floats output_ratio = {}, const Tensor& random_samples = {}) { return detail::call<results::ValuesIndices>(detail::op<"fractional_max_pool3d_with_indices">, {x, kernel_size, Ints(output_size), output_ratio, random_samples}); }
template <detail::Placed<KeptInts> P1, detail::PlacedOr<KeptFloats, FractionalMaxPool3dWithIndicesOptions> P2 = FractionalMaxPool3dWithIndicesOptions, detail::PlacedOr<Tensor, FractionalMaxPool3dWithIndicesOptions> P3 = FractionalMaxPool3dWithIndicesOptions>
results::ValuesIndices fractional_max_pool3d_with_indices(const Tensor& x, Ints kernel_size, const P1& output_size, const P2& output_ratio, const P3& random_samples = detail::unset<P3>()) { return fractional_max_pool3d_with_indices(x, kernel_size, detail::behind<FractionalMaxPool3dWithIndicesOptions, 4, 1>("fractional_max_pool3d_with_indices", output_size, output_ratio, random_samples)); }
// The norm of order norm_type of each window of x [n, channels, ..], or without n: the sum of x **
// norm_type, to the power 1 / norm_type; of inf and -inf the greatest and least |x|. stride empty:
// kernel_size. What a window of ceil_mode has beyond x counts as its mean. Where the sum is 0, the
// gradient is 0.
inline Tensor lp_pool1d(const Tensor& x, Float norm_type, Ints kernel_size, Ints stride = {}, Bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"lp_pool1d">, {x, norm_type, kernel_size, stride, ceil_mode}); }
struct LpPool1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts stride = {};
  bool ceil_mode = false;
};
template <std::same_as<LpPool1dOptions> O = LpPool1dOptions>
inline Tensor lp_pool1d(const Tensor& x, Float norm_type, Ints kernel_size, const O& options) { return detail::call<Tensor>(detail::op<"lp_pool1d">, {x, norm_type, kernel_size, options.stride, options.ceil_mode}); }
inline Tensor lp_pool2d(const Tensor& x, Float norm_type, Ints kernel_size, Ints stride = {}, Bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"lp_pool2d">, {x, norm_type, kernel_size, stride, ceil_mode}); }
using LpPool2dOptions = LpPool1dOptions;
template <std::same_as<LpPool2dOptions> O = LpPool2dOptions>
inline Tensor lp_pool2d(const Tensor& x, Float norm_type, Ints kernel_size, const O& options) { return detail::call<Tensor>(detail::op<"lp_pool2d">, {x, norm_type, kernel_size, options.stride, options.ceil_mode}); }
inline Tensor lp_pool3d(const Tensor& x, Float norm_type, Ints kernel_size, Ints stride = {}, Bool ceil_mode = false) { return detail::call<Tensor>(detail::op<"lp_pool3d">, {x, norm_type, kernel_size, stride, ceil_mode}); }
using LpPool3dOptions = LpPool1dOptions;
template <std::same_as<LpPool3dOptions> O = LpPool3dOptions>
inline Tensor lp_pool3d(const Tensor& x, Float norm_type, Ints kernel_size, const O& options) { return detail::call<Tensor>(detail::op<"lp_pool3d">, {x, norm_type, kernel_size, options.stride, options.ceil_mode}); }

}  // namespace v0
}  // namespace tenon
