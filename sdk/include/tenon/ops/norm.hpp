// The group 'norm' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
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

// exp(x) / sum(exp(x)) along dim, computed so that no exponential overflows; with a dtype: of x as
// that dtype.
inline Tensor softmax(const Tensor& x, Int dim = -1, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"softmax">, {x, dim, dtype}); }
struct SoftmaxOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim = -1;
  Dtype dtype = {};
};
template <std::same_as<SoftmaxOptions> O = SoftmaxOptions>
inline Tensor softmax(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"softmax">, {x, options.dim, options.dtype}); }
// softmax(-x, dim, dtype).
inline Tensor softmin(const Tensor& x, Int dim = -1, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"softmin">, {x, dim, dtype}); }
using SoftminOptions = SoftmaxOptions;
template <std::same_as<SoftminOptions> O = SoftminOptions>
inline Tensor softmin(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"softmin">, {x, options.dim, options.dtype}); }
// log(softmax(x, dim, dtype)), computed in one step.
inline Tensor log_softmax(const Tensor& x, Int dim = -1, Dtype dtype = {}) { return detail::call<Tensor>(detail::op<"log_softmax">, {x, dim, dtype}); }
using LogSoftmaxOptions = SoftmaxOptions;
template <std::same_as<LogSoftmaxOptions> O = LogSoftmaxOptions>
inline Tensor log_softmax(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"log_softmax">, {x, options.dim, options.dtype}); }
// x / sqrt(mean(x * x) + eps) over the last dimension, times weight. Zhang & Sennrich,
// arXiv:1910.07467.
inline Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, Float eps = 1e-06) { return detail::call<Tensor>(detail::op<"rms_norm">, {x, weight, eps}); }
struct RmsNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  Float eps = 1e-06;
};
template <std::same_as<RmsNormOptions> O = RmsNormOptions>
inline Tensor rms_norm(const Tensor& x, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"rms_norm">, {x, detail::one_of("rms_norm", "weight", weight, options.weight), options.eps}); }
template <std::same_as<RmsNormOptions> O = RmsNormOptions>
inline Tensor rms_norm(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"rms_norm">, {x, options.weight, options.eps}); }
// (x - mean) / sqrt(var + eps) over the last dimensions, which are normalized_shape, times weight,
// plus bias. Ba, Kiros & Hinton, arXiv:1607.06450.
inline Tensor layer_norm(const Tensor& x, Ints normalized_shape, const Tensor& weight = {}, const Tensor& bias = {}, Float eps = 1e-05) { return detail::call<Tensor>(detail::op<"layer_norm">, {x, normalized_shape, weight, bias, eps}); }
struct LayerNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor weight = {};
  Tensor bias = {};
  Float eps = 1e-05;
};
template <std::same_as<LayerNormOptions> O = LayerNormOptions>
inline Tensor layer_norm(const Tensor& x, Ints normalized_shape, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"layer_norm">, {x, normalized_shape, detail::one_of("layer_norm", "weight", weight, options.weight), options.bias, options.eps}); }
template <std::same_as<LayerNormOptions> O = LayerNormOptions>
inline Tensor layer_norm(const Tensor& x, Ints normalized_shape, const Tensor& weight, const Tensor& bias, const O& options) { return detail::call<Tensor>(detail::op<"layer_norm">, {x, normalized_shape, detail::one_of("layer_norm", "weight", weight, options.weight), detail::one_of("layer_norm", "bias", bias, options.bias), options.eps}); }
template <std::same_as<LayerNormOptions> O = LayerNormOptions>
inline Tensor layer_norm(const Tensor& x, Ints normalized_shape, const O& options) { return detail::call<Tensor>(detail::op<"layer_norm">, {x, normalized_shape, options.weight, options.bias, options.eps}); }
// x [n, channels, ..], normalized over groups of channels, times weight [channels], plus bias. Wu &
// He, arXiv:1803.08494.
inline Tensor group_norm(const Tensor& x, Int num_groups, const Tensor& weight = {}, const Tensor& bias = {}, Float eps = 1e-05) { return detail::call<Tensor>(detail::op<"group_norm">, {x, num_groups, weight, bias, eps}); }
using GroupNormOptions = LayerNormOptions;
template <std::same_as<GroupNormOptions> O = GroupNormOptions>
inline Tensor group_norm(const Tensor& x, Int num_groups, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"group_norm">, {x, num_groups, detail::one_of("group_norm", "weight", weight, options.weight), options.bias, options.eps}); }
template <std::same_as<GroupNormOptions> O = GroupNormOptions>
inline Tensor group_norm(const Tensor& x, Int num_groups, const Tensor& weight, const Tensor& bias, const O& options) { return detail::call<Tensor>(detail::op<"group_norm">, {x, num_groups, detail::one_of("group_norm", "weight", weight, options.weight), detail::one_of("group_norm", "bias", bias, options.bias), options.eps}); }
template <std::same_as<GroupNormOptions> O = GroupNormOptions>
inline Tensor group_norm(const Tensor& x, Int num_groups, const O& options) { return detail::call<Tensor>(detail::op<"group_norm">, {x, num_groups, options.weight, options.bias, options.eps}); }
// x [n, channels, ..], normalized for each channel: in training by the batch, whose mean and
// unbiased variance move the running ones in place; else by the running ones. The sums of halves
// are float32. Ioffe & Szegedy, arXiv:1502.03167.
struct BatchNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor running_mean = {};
  Tensor running_var = {};
  Tensor weight = {};
  Tensor bias = {};
  bool training = false;
  Float momentum = 0.1;
  Float eps = 1e-05;
};
inline Tensor batch_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {}, const Tensor& weight = {}, const Tensor& bias = {}, const BatchNormOptions& options = {}) { return detail::call<Tensor>(detail::op<"batch_norm">, {x, detail::one_of("batch_norm", "running_mean", running_mean, options.running_mean), detail::one_of("batch_norm", "running_var", running_var, options.running_var), detail::one_of("batch_norm", "weight", weight, options.weight), detail::one_of("batch_norm", "bias", bias, options.bias), options.training, options.momentum, options.eps}); }
template <detail::Placed<Bool> P>
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, const P& training, Float momentum = 0.1, Float eps = 1e-05) { return detail::call<Tensor>(detail::op<"batch_norm">, {x, running_mean, running_var, weight, bias, Bool(training), momentum, eps}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Float, BatchNormOptions> P2 = BatchNormOptions, detail::PlacedOr<Float, BatchNormOptions> P3 = BatchNormOptions>
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, const P1& training, const P2& momentum, const P3& eps = detail::unset<P3>()) { return batch_norm(x, running_mean, running_var, weight, bias, detail::behind<BatchNormOptions, 8, 5>("batch_norm", training, momentum, eps)); }
template <std::same_as<BatchNormOptions> O = BatchNormOptions>
inline Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const O& options) { return detail::call<Tensor>(detail::op<"batch_norm">, {x, detail::one_of("batch_norm", "running_mean", running_mean, options.running_mean), options.running_var, options.weight, options.bias, options.training, options.momentum, options.eps}); }
template <std::same_as<BatchNormOptions> O = BatchNormOptions>
inline Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const O& options) { return detail::call<Tensor>(detail::op<"batch_norm">, {x, detail::one_of("batch_norm", "running_mean", running_mean, options.running_mean), detail::one_of("batch_norm", "running_var", running_var, options.running_var), options.weight, options.bias, options.training, options.momentum, options.eps}); }
template <std::same_as<BatchNormOptions> O = BatchNormOptions>
inline Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"batch_norm">, {x, detail::one_of("batch_norm", "running_mean", running_mean, options.running_mean), detail::one_of("batch_norm", "running_var", running_var, options.running_var), detail::one_of("batch_norm", "weight", weight, options.weight), options.bias, options.training, options.momentum, options.eps}); }
template <std::same_as<BatchNormOptions> O = BatchNormOptions>
inline Tensor batch_norm(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"batch_norm">, {x, options.running_mean, options.running_var, options.weight, options.bias, options.training, options.momentum, options.eps}); }
// x [n, channels, ..], normalized for each sample and channel, or by the running values. Ulyanov et
// al., arXiv:1607.08022.
struct InstanceNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor running_mean = {};
  Tensor running_var = {};
  Tensor weight = {};
  Tensor bias = {};
  bool use_input_stats = true;
  Float momentum = 0.1;
  Float eps = 1e-05;
};
inline Tensor instance_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {}, const Tensor& weight = {}, const Tensor& bias = {}, const InstanceNormOptions& options = {}) { return detail::call<Tensor>(detail::op<"instance_norm">, {x, detail::one_of("instance_norm", "running_mean", running_mean, options.running_mean), detail::one_of("instance_norm", "running_var", running_var, options.running_var), detail::one_of("instance_norm", "weight", weight, options.weight), detail::one_of("instance_norm", "bias", bias, options.bias), options.use_input_stats, options.momentum, options.eps}); }
template <detail::Placed<Bool> P>
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, const P& use_input_stats, Float momentum = 0.1, Float eps = 1e-05) { return detail::call<Tensor>(detail::op<"instance_norm">, {x, running_mean, running_var, weight, bias, Bool(use_input_stats), momentum, eps}); }
template <detail::Placed<Bool> P1, detail::PlacedOr<Float, InstanceNormOptions> P2 = InstanceNormOptions, detail::PlacedOr<Float, InstanceNormOptions> P3 = InstanceNormOptions>
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const Tensor& bias, const P1& use_input_stats, const P2& momentum, const P3& eps = detail::unset<P3>()) { return instance_norm(x, running_mean, running_var, weight, bias, detail::behind<InstanceNormOptions, 8, 5>("instance_norm", use_input_stats, momentum, eps)); }
template <std::same_as<InstanceNormOptions> O = InstanceNormOptions>
inline Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const O& options) { return detail::call<Tensor>(detail::op<"instance_norm">, {x, detail::one_of("instance_norm", "running_mean", running_mean, options.running_mean), options.running_var, options.weight, options.bias, options.use_input_stats, options.momentum, options.eps}); }
template <std::same_as<InstanceNormOptions> O = InstanceNormOptions>
inline Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const O& options) { return detail::call<Tensor>(detail::op<"instance_norm">, {x, detail::one_of("instance_norm", "running_mean", running_mean, options.running_mean), detail::one_of("instance_norm", "running_var", running_var, options.running_var), options.weight, options.bias, options.use_input_stats, options.momentum, options.eps}); }
template <std::same_as<InstanceNormOptions> O = InstanceNormOptions>
inline Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight, const O& options) { return detail::call<Tensor>(detail::op<"instance_norm">, {x, detail::one_of("instance_norm", "running_mean", running_mean, options.running_mean), detail::one_of("instance_norm", "running_var", running_var, options.running_var), detail::one_of("instance_norm", "weight", weight, options.weight), options.bias, options.use_input_stats, options.momentum, options.eps}); }
template <std::same_as<InstanceNormOptions> O = InstanceNormOptions>
inline Tensor instance_norm(const Tensor& x, const O& options) { return detail::call<Tensor>(detail::op<"instance_norm">, {x, options.running_mean, options.running_var, options.weight, options.bias, options.use_input_stats, options.momentum, options.eps}); }

}  // namespace v0
}  // namespace tenon
