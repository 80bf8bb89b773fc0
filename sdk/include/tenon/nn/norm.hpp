// The group 'norm' of the plugin 'layers', written by `tenon header`: changes belong into the
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

// x [n, num_features, ..], normalized for each channel: in training by the batch, else by running
// values, which follow the batches by momentum, or as means of all where it is None. weight is 1
// and bias 0 at first. Ioffe & Szegedy, arXiv:1502.03167.
struct BatchNorm1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float eps = 1e-05;
  std::optional<Float> momentum = 0.1;
  bool affine = true;
  bool track_running_stats = true;
  bool bias = true;
};
inline Object BatchNorm1d(Int num_features, const BatchNorm1dOptions& options = {}) { return Object::create("BatchNorm1d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object BatchNorm1d(Int num_features, const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("BatchNorm1d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
// BatchNorm1d that takes num_features from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyBatchNorm1dOptions = BatchNorm1dOptions;
inline Object LazyBatchNorm1d(const LazyBatchNorm1dOptions& options = {}) { return Object::create("LazyBatchNorm1d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyBatchNorm1d(const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("LazyBatchNorm1d", {Float(eps), momentum, affine, track_running_stats, bias}); }
// x [n, num_features, ..], normalized for each channel: in training by the batch, else by running
// values, which follow the batches by momentum, or as means of all where it is None. weight is 1
// and bias 0 at first. Ioffe & Szegedy, arXiv:1502.03167.
using BatchNorm2dOptions = BatchNorm1dOptions;
inline Object BatchNorm2d(Int num_features, const BatchNorm2dOptions& options = {}) { return Object::create("BatchNorm2d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object BatchNorm2d(Int num_features, const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("BatchNorm2d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
// BatchNorm2d that takes num_features from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyBatchNorm2dOptions = BatchNorm1dOptions;
inline Object LazyBatchNorm2d(const LazyBatchNorm2dOptions& options = {}) { return Object::create("LazyBatchNorm2d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyBatchNorm2d(const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("LazyBatchNorm2d", {Float(eps), momentum, affine, track_running_stats, bias}); }
// x [n, num_features, ..], normalized for each channel: in training by the batch, else by running
// values, which follow the batches by momentum, or as means of all where it is None. weight is 1
// and bias 0 at first. Ioffe & Szegedy, arXiv:1502.03167.
using BatchNorm3dOptions = BatchNorm1dOptions;
inline Object BatchNorm3d(Int num_features, const BatchNorm3dOptions& options = {}) { return Object::create("BatchNorm3d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object BatchNorm3d(Int num_features, const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("BatchNorm3d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
// BatchNorm3d that takes num_features from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyBatchNorm3dOptions = BatchNorm1dOptions;
inline Object LazyBatchNorm3d(const LazyBatchNorm3dOptions& options = {}) { return Object::create("LazyBatchNorm3d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyBatchNorm3d(const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("LazyBatchNorm3d", {Float(eps), momentum, affine, track_running_stats, bias}); }
// x [n, num_features, ..], or without n, normalized for each sample and channel, or by running
// values in evaluation where they are tracked. Ulyanov et al., arXiv:1607.08022.
struct InstanceNorm1dOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float eps = 1e-05;
  Float momentum = 0.1;
  bool affine = false;
  bool track_running_stats = false;
  bool bias = true;
};
inline Object InstanceNorm1d(Int num_features, const InstanceNorm1dOptions& options = {}) { return Object::create("InstanceNorm1d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object InstanceNorm1d(Int num_features, const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("InstanceNorm1d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
// InstanceNorm1d that takes num_features from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyInstanceNorm1dOptions = InstanceNorm1dOptions;
inline Object LazyInstanceNorm1d(const LazyInstanceNorm1dOptions& options = {}) { return Object::create("LazyInstanceNorm1d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyInstanceNorm1d(const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("LazyInstanceNorm1d", {Float(eps), momentum, affine, track_running_stats, bias}); }
// x [n, num_features, ..], or without n, normalized for each sample and channel, or by running
// values in evaluation where they are tracked. Ulyanov et al., arXiv:1607.08022.
using InstanceNorm2dOptions = InstanceNorm1dOptions;
inline Object InstanceNorm2d(Int num_features, const InstanceNorm2dOptions& options = {}) { return Object::create("InstanceNorm2d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object InstanceNorm2d(Int num_features, const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("InstanceNorm2d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
// InstanceNorm2d that takes num_features from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyInstanceNorm2dOptions = InstanceNorm1dOptions;
inline Object LazyInstanceNorm2d(const LazyInstanceNorm2dOptions& options = {}) { return Object::create("LazyInstanceNorm2d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyInstanceNorm2d(const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("LazyInstanceNorm2d", {Float(eps), momentum, affine, track_running_stats, bias}); }
// x [n, num_features, ..], or without n, normalized for each sample and channel, or by running
// values in evaluation where they are tracked. Ulyanov et al., arXiv:1607.08022.
using InstanceNorm3dOptions = InstanceNorm1dOptions;
inline Object InstanceNorm3d(Int num_features, const InstanceNorm3dOptions& options = {}) { return Object::create("InstanceNorm3d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object InstanceNorm3d(Int num_features, const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("InstanceNorm3d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
// InstanceNorm3d that takes num_features from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyInstanceNorm3dOptions = InstanceNorm1dOptions;
inline Object LazyInstanceNorm3d(const LazyInstanceNorm3dOptions& options = {}) { return Object::create("LazyInstanceNorm3d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyInstanceNorm3d(const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("LazyInstanceNorm3d", {Float(eps), momentum, affine, track_running_stats, bias}); }
// x / sqrt(mean(x * x) + eps) over the last dimensions, which are normalized_shape, times weight, 1
// at first. eps None: of the dtype. Zhang & Sennrich, arXiv:1910.07467.
struct RMSNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> eps = {};
  bool elementwise_affine = true;
};
inline Object RMSNorm(Ints normalized_shape, const RMSNormOptions& options = {}) { return Object::create("RMSNorm", {normalized_shape, options.eps, options.elementwise_affine}); }
template <detail::Placed<std::optional<Float>> P>
Object RMSNorm(Ints normalized_shape, const P& eps, Bool elementwise_affine = true) { return Object::create("RMSNorm", {normalized_shape, std::optional<Float>(eps), elementwise_affine}); }
// (x - mean) / sqrt(var + eps) over the last dimensions, which are normalized_shape, times weight,
// 1 at first, plus bias, 0 at first. Ba, Kiros & Hinton, arXiv:1607.06450.
struct LayerNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float eps = 1e-05;
  bool elementwise_affine = true;
  bool bias = true;
};
inline Object LayerNorm(Ints normalized_shape, const LayerNormOptions& options = {}) { return Object::create("LayerNorm", {normalized_shape, options.eps, options.elementwise_affine, options.bias}); }
template <detail::Placed<Float> P>
Object LayerNorm(Ints normalized_shape, const P& eps, Bool elementwise_affine = true, Bool bias = true) { return Object::create("LayerNorm", {normalized_shape, Float(eps), elementwise_affine, bias}); }
// x [n, num_channels, ..], normalized over num_groups groups of channels, times weight, 1 at first,
// plus bias, 0 at first. Wu & He, arXiv:1803.08494.
struct GroupNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float eps = 1e-05;
  bool affine = true;
  bool bias = true;
};
inline Object GroupNorm(Int num_groups, Int num_channels, const GroupNormOptions& options = {}) { return Object::create("GroupNorm", {num_groups, num_channels, options.eps, options.affine, options.bias}); }
template <detail::Placed<Float> P>
Object GroupNorm(Int num_groups, Int num_channels, const P& eps, Bool affine = true, Bool bias = true) { return Object::create("GroupNorm", {num_groups, num_channels, Float(eps), affine, bias}); }
// x [n, channels, ..] / (k + alpha * m)^beta, where m is the mean of x * x over size neighbouring
// channels. Krizhevsky et al., 2012.
struct LocalResponseNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float alpha = 0.0001;
  Float beta = 0.75;
  Float k = 1.0;
};
inline Object LocalResponseNorm(Int size, const LocalResponseNormOptions& options = {}) { return Object::create("LocalResponseNorm", {size, options.alpha, options.beta, options.k}); }
template <detail::Placed<Float> P>
Object LocalResponseNorm(Int size, const P& alpha, Float beta = 0.75, Float k = 1.0) { return Object::create("LocalResponseNorm", {size, Float(alpha), beta, k}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
