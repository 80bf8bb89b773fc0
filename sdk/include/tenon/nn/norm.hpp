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
template <detail::Placed<Float> P1, detail::PlacedOr<std::optional<Float>, BatchNorm1dOptions> P2 = BatchNorm1dOptions, detail::PlacedOr<Bool, BatchNorm1dOptions> P3 = BatchNorm1dOptions, detail::PlacedOr<Bool, BatchNorm1dOptions> P4 = BatchNorm1dOptions, detail::PlacedOr<Bool, BatchNorm1dOptions> P5 = BatchNorm1dOptions>
Object BatchNorm1d(Int num_features, const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return BatchNorm1d(num_features, detail::behind<BatchNorm1dOptions, 6, 1>("BatchNorm1d", eps, momentum, affine, track_running_stats, bias)); }
// BatchNorm1d that takes num_features from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyBatchNorm1dOptions = BatchNorm1dOptions;
inline Object LazyBatchNorm1d(const LazyBatchNorm1dOptions& options = {}) { return Object::create("LazyBatchNorm1d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyBatchNorm1d(const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("LazyBatchNorm1d", {Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<std::optional<Float>, LazyBatchNorm1dOptions> P2 = LazyBatchNorm1dOptions, detail::PlacedOr<Bool, LazyBatchNorm1dOptions> P3 = LazyBatchNorm1dOptions, detail::PlacedOr<Bool, LazyBatchNorm1dOptions> P4 = LazyBatchNorm1dOptions, detail::PlacedOr<Bool, LazyBatchNorm1dOptions> P5 = LazyBatchNorm1dOptions>
Object LazyBatchNorm1d(const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return LazyBatchNorm1d(detail::behind<LazyBatchNorm1dOptions, 6, 1>("LazyBatchNorm1d", eps, momentum, affine, track_running_stats, bias)); }
// x [n, num_features, ..], normalized for each channel: in training by the batch, else by running
// values, which follow the batches by momentum, or as means of all where it is None. weight is 1
// and bias 0 at first. Ioffe & Szegedy, arXiv:1502.03167.
using BatchNorm2dOptions = BatchNorm1dOptions;
inline Object BatchNorm2d(Int num_features, const BatchNorm2dOptions& options = {}) { return Object::create("BatchNorm2d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object BatchNorm2d(Int num_features, const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("BatchNorm2d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<std::optional<Float>, BatchNorm2dOptions> P2 = BatchNorm2dOptions, detail::PlacedOr<Bool, BatchNorm2dOptions> P3 = BatchNorm2dOptions, detail::PlacedOr<Bool, BatchNorm2dOptions> P4 = BatchNorm2dOptions, detail::PlacedOr<Bool, BatchNorm2dOptions> P5 = BatchNorm2dOptions>
Object BatchNorm2d(Int num_features, const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return BatchNorm2d(num_features, detail::behind<BatchNorm2dOptions, 6, 1>("BatchNorm2d", eps, momentum, affine, track_running_stats, bias)); }
// BatchNorm2d that takes num_features from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyBatchNorm2dOptions = BatchNorm1dOptions;
inline Object LazyBatchNorm2d(const LazyBatchNorm2dOptions& options = {}) { return Object::create("LazyBatchNorm2d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyBatchNorm2d(const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("LazyBatchNorm2d", {Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<std::optional<Float>, LazyBatchNorm2dOptions> P2 = LazyBatchNorm2dOptions, detail::PlacedOr<Bool, LazyBatchNorm2dOptions> P3 = LazyBatchNorm2dOptions, detail::PlacedOr<Bool, LazyBatchNorm2dOptions> P4 = LazyBatchNorm2dOptions, detail::PlacedOr<Bool, LazyBatchNorm2dOptions> P5 = LazyBatchNorm2dOptions>
Object LazyBatchNorm2d(const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return LazyBatchNorm2d(detail::behind<LazyBatchNorm2dOptions, 6, 1>("LazyBatchNorm2d", eps, momentum, affine, track_running_stats, bias)); }
// x [n, num_features, ..], normalized for each channel: in training by the batch, else by running
// values, which follow the batches by momentum, or as means of all where it is None. weight is 1
// and bias 0 at first. Ioffe & Szegedy, arXiv:1502.03167.
using BatchNorm3dOptions = BatchNorm1dOptions;
inline Object BatchNorm3d(Int num_features, const BatchNorm3dOptions& options = {}) { return Object::create("BatchNorm3d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object BatchNorm3d(Int num_features, const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("BatchNorm3d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<std::optional<Float>, BatchNorm3dOptions> P2 = BatchNorm3dOptions, detail::PlacedOr<Bool, BatchNorm3dOptions> P3 = BatchNorm3dOptions, detail::PlacedOr<Bool, BatchNorm3dOptions> P4 = BatchNorm3dOptions, detail::PlacedOr<Bool, BatchNorm3dOptions> P5 = BatchNorm3dOptions>
Object BatchNorm3d(Int num_features, const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return BatchNorm3d(num_features, detail::behind<BatchNorm3dOptions, 6, 1>("BatchNorm3d", eps, momentum, affine, track_running_stats, bias)); }
// BatchNorm3d that takes num_features from its first input, and becomes one with it, on its device.
// Before that it has no parameters.
using LazyBatchNorm3dOptions = BatchNorm1dOptions;
inline Object LazyBatchNorm3d(const LazyBatchNorm3dOptions& options = {}) { return Object::create("LazyBatchNorm3d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyBatchNorm3d(const P& eps, std::optional<Float> momentum = 0.1, Bool affine = true, Bool track_running_stats = true, Bool bias = true) { return Object::create("LazyBatchNorm3d", {Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<std::optional<Float>, LazyBatchNorm3dOptions> P2 = LazyBatchNorm3dOptions, detail::PlacedOr<Bool, LazyBatchNorm3dOptions> P3 = LazyBatchNorm3dOptions, detail::PlacedOr<Bool, LazyBatchNorm3dOptions> P4 = LazyBatchNorm3dOptions, detail::PlacedOr<Bool, LazyBatchNorm3dOptions> P5 = LazyBatchNorm3dOptions>
Object LazyBatchNorm3d(const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return LazyBatchNorm3d(detail::behind<LazyBatchNorm3dOptions, 6, 1>("LazyBatchNorm3d", eps, momentum, affine, track_running_stats, bias)); }
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
template <detail::Placed<Float> P1, detail::PlacedOr<Float, InstanceNorm1dOptions> P2 = InstanceNorm1dOptions, detail::PlacedOr<Bool, InstanceNorm1dOptions> P3 = InstanceNorm1dOptions, detail::PlacedOr<Bool, InstanceNorm1dOptions> P4 = InstanceNorm1dOptions, detail::PlacedOr<Bool, InstanceNorm1dOptions> P5 = InstanceNorm1dOptions>
Object InstanceNorm1d(Int num_features, const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return InstanceNorm1d(num_features, detail::behind<InstanceNorm1dOptions, 6, 1>("InstanceNorm1d", eps, momentum, affine, track_running_stats, bias)); }
// InstanceNorm1d that takes num_features from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyInstanceNorm1dOptions = InstanceNorm1dOptions;
inline Object LazyInstanceNorm1d(const LazyInstanceNorm1dOptions& options = {}) { return Object::create("LazyInstanceNorm1d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyInstanceNorm1d(const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("LazyInstanceNorm1d", {Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, LazyInstanceNorm1dOptions> P2 = LazyInstanceNorm1dOptions, detail::PlacedOr<Bool, LazyInstanceNorm1dOptions> P3 = LazyInstanceNorm1dOptions, detail::PlacedOr<Bool, LazyInstanceNorm1dOptions> P4 = LazyInstanceNorm1dOptions, detail::PlacedOr<Bool, LazyInstanceNorm1dOptions> P5 = LazyInstanceNorm1dOptions>
Object LazyInstanceNorm1d(const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return LazyInstanceNorm1d(detail::behind<LazyInstanceNorm1dOptions, 6, 1>("LazyInstanceNorm1d", eps, momentum, affine, track_running_stats, bias)); }
// x [n, num_features, ..], or without n, normalized for each sample and channel, or by running
// values in evaluation where they are tracked. Ulyanov et al., arXiv:1607.08022.
using InstanceNorm2dOptions = InstanceNorm1dOptions;
inline Object InstanceNorm2d(Int num_features, const InstanceNorm2dOptions& options = {}) { return Object::create("InstanceNorm2d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object InstanceNorm2d(Int num_features, const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("InstanceNorm2d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, InstanceNorm2dOptions> P2 = InstanceNorm2dOptions, detail::PlacedOr<Bool, InstanceNorm2dOptions> P3 = InstanceNorm2dOptions, detail::PlacedOr<Bool, InstanceNorm2dOptions> P4 = InstanceNorm2dOptions, detail::PlacedOr<Bool, InstanceNorm2dOptions> P5 = InstanceNorm2dOptions>
Object InstanceNorm2d(Int num_features, const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return InstanceNorm2d(num_features, detail::behind<InstanceNorm2dOptions, 6, 1>("InstanceNorm2d", eps, momentum, affine, track_running_stats, bias)); }
// InstanceNorm2d that takes num_features from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyInstanceNorm2dOptions = InstanceNorm1dOptions;
inline Object LazyInstanceNorm2d(const LazyInstanceNorm2dOptions& options = {}) { return Object::create("LazyInstanceNorm2d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyInstanceNorm2d(const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("LazyInstanceNorm2d", {Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, LazyInstanceNorm2dOptions> P2 = LazyInstanceNorm2dOptions, detail::PlacedOr<Bool, LazyInstanceNorm2dOptions> P3 = LazyInstanceNorm2dOptions, detail::PlacedOr<Bool, LazyInstanceNorm2dOptions> P4 = LazyInstanceNorm2dOptions, detail::PlacedOr<Bool, LazyInstanceNorm2dOptions> P5 = LazyInstanceNorm2dOptions>
Object LazyInstanceNorm2d(const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return LazyInstanceNorm2d(detail::behind<LazyInstanceNorm2dOptions, 6, 1>("LazyInstanceNorm2d", eps, momentum, affine, track_running_stats, bias)); }
// x [n, num_features, ..], or without n, normalized for each sample and channel, or by running
// values in evaluation where they are tracked. Ulyanov et al., arXiv:1607.08022.
using InstanceNorm3dOptions = InstanceNorm1dOptions;
inline Object InstanceNorm3d(Int num_features, const InstanceNorm3dOptions& options = {}) { return Object::create("InstanceNorm3d", {num_features, options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object InstanceNorm3d(Int num_features, const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("InstanceNorm3d", {num_features, Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, InstanceNorm3dOptions> P2 = InstanceNorm3dOptions, detail::PlacedOr<Bool, InstanceNorm3dOptions> P3 = InstanceNorm3dOptions, detail::PlacedOr<Bool, InstanceNorm3dOptions> P4 = InstanceNorm3dOptions, detail::PlacedOr<Bool, InstanceNorm3dOptions> P5 = InstanceNorm3dOptions>
Object InstanceNorm3d(Int num_features, const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return InstanceNorm3d(num_features, detail::behind<InstanceNorm3dOptions, 6, 1>("InstanceNorm3d", eps, momentum, affine, track_running_stats, bias)); }
// InstanceNorm3d that takes num_features from its first input, and becomes one with it, on its
// device. Before that it has no parameters.
using LazyInstanceNorm3dOptions = InstanceNorm1dOptions;
inline Object LazyInstanceNorm3d(const LazyInstanceNorm3dOptions& options = {}) { return Object::create("LazyInstanceNorm3d", {options.eps, options.momentum, options.affine, options.track_running_stats, options.bias}); }
template <detail::Placed<Float> P>
Object LazyInstanceNorm3d(const P& eps, Float momentum = 0.1, Bool affine = false, Bool track_running_stats = false, Bool bias = true) { return Object::create("LazyInstanceNorm3d", {Float(eps), momentum, affine, track_running_stats, bias}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Float, LazyInstanceNorm3dOptions> P2 = LazyInstanceNorm3dOptions, detail::PlacedOr<Bool, LazyInstanceNorm3dOptions> P3 = LazyInstanceNorm3dOptions, detail::PlacedOr<Bool, LazyInstanceNorm3dOptions> P4 = LazyInstanceNorm3dOptions, detail::PlacedOr<Bool, LazyInstanceNorm3dOptions> P5 = LazyInstanceNorm3dOptions>
Object LazyInstanceNorm3d(const P1& eps, const P2& momentum, const P3& affine = detail::unset<P3>(), const P4& track_running_stats = detail::unset<P4>(), const P5& bias = detail::unset<P5>()) { return LazyInstanceNorm3d(detail::behind<LazyInstanceNorm3dOptions, 6, 1>("LazyInstanceNorm3d", eps, momentum, affine, track_running_stats, bias)); }
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
template <detail::Placed<std::optional<Float>> P1, detail::PlacedOr<Bool, RMSNormOptions> P2 = RMSNormOptions>
Object RMSNorm(Ints normalized_shape, const P1& eps, const P2& elementwise_affine) { return RMSNorm(normalized_shape, detail::behind<RMSNormOptions, 3, 1>("RMSNorm", eps, elementwise_affine)); }
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
template <detail::Placed<Float> P1, detail::PlacedOr<Bool, LayerNormOptions> P2 = LayerNormOptions, detail::PlacedOr<Bool, LayerNormOptions> P3 = LayerNormOptions>
Object LayerNorm(Ints normalized_shape, const P1& eps, const P2& elementwise_affine, const P3& bias = detail::unset<P3>()) { return LayerNorm(normalized_shape, detail::behind<LayerNormOptions, 4, 1>("LayerNorm", eps, elementwise_affine, bias)); }
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
template <detail::Placed<Float> P1, detail::PlacedOr<Bool, GroupNormOptions> P2 = GroupNormOptions, detail::PlacedOr<Bool, GroupNormOptions> P3 = GroupNormOptions>
Object GroupNorm(Int num_groups, Int num_channels, const P1& eps, const P2& affine, const P3& bias = detail::unset<P3>()) { return GroupNorm(num_groups, num_channels, detail::behind<GroupNormOptions, 4, 1>("GroupNorm", eps, affine, bias)); }
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
template <detail::Placed<Float> P1, detail::PlacedOr<Float, LocalResponseNormOptions> P2 = LocalResponseNormOptions, detail::PlacedOr<Float, LocalResponseNormOptions> P3 = LocalResponseNormOptions>
Object LocalResponseNorm(Int size, const P1& alpha, const P2& beta, const P3& k = detail::unset<P3>()) { return LocalResponseNorm(size, detail::behind<LocalResponseNormOptions, 4, 1>("LocalResponseNorm", alpha, beta, k)); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
