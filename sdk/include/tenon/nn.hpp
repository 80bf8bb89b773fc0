// Layers by PyTorch's names, and how they are composed. Each is a factory that a layer pack brings;
// an Error names the packs that are loaded when there is none of that name. Parameters are on the
// CPU in float32 until `.to` moves them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// y = x Wᵀ + b: weight [out_features, in_features] and bias [out_features], both uniform in
// ±1/sqrt(in_features).
inline Object Linear(int64_t in_features, int64_t out_features, bool bias = true) {
  return Object::create("Linear", in_features, out_features, bias);
}

inline Object ReLU() { return Object::create("ReLU"); }

// In training: zero with probability p, the others times 1 / (1 - p). Else the identity.
inline Object Dropout(double p = 0.5) { return Object::create("Dropout", p); }

// All dimensions from start_dim to end_dim as one.
inline Object Flatten(int64_t start_dim = 1, int64_t end_dim = -1) {
  return Object::create("Flatten", start_dim, end_dim);
}

// One dimension as several; a size of -1 is found.
inline Object Unflatten(int64_t dim, Ints unflattened_size) {
  return Object::create("Unflatten", dim, unflattened_size);
}

// On [n, channels, ..] or a sample without n; a list of one number is for all dimensions. weight
// [out_channels, in_channels / groups, kernel..] and bias [out_channels], both uniform in
// ±1/sqrt(in_channels / groups * kernel).
// clang-format off
inline Object Conv1d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1, bool bias = true) { return Object::create("Conv1d", in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias); }
inline Object Conv2d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1, bool bias = true) { return Object::create("Conv2d", in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias); }
inline Object Conv3d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1, bool bias = true) { return Object::create("Conv3d", in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias); }

// stride empty: kernel_size.
inline Object MaxPool1d(Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return Object::create("MaxPool1d", kernel_size, stride, padding, dilation, ceil_mode); }
inline Object MaxPool2d(Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return Object::create("MaxPool2d", kernel_size, stride, padding, dilation, ceil_mode); }
inline Object MaxPool3d(Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return Object::create("MaxPool3d", kernel_size, stride, padding, dilation, ceil_mode); }
inline Object AvgPool1d(Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true) { return Object::create("AvgPool1d", kernel_size, stride, padding, ceil_mode, count_include_pad); }
inline Object AvgPool2d(Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true) { return Object::create("AvgPool2d", kernel_size, stride, padding, ceil_mode, count_include_pad); }
inline Object AvgPool3d(Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true) { return Object::create("AvgPool3d", kernel_size, stride, padding, ceil_mode, count_include_pad); }
inline Object AdaptiveAvgPool1d(Ints output_size) { return Object::create("AdaptiveAvgPool1d", output_size); }
inline Object AdaptiveAvgPool2d(Ints output_size) { return Object::create("AdaptiveAvgPool2d", output_size); }
inline Object AdaptiveAvgPool3d(Ints output_size) { return Object::create("AdaptiveAvgPool3d", output_size); }
inline Object AdaptiveMaxPool1d(Ints output_size) { return Object::create("AdaptiveMaxPool1d", output_size); }
inline Object AdaptiveMaxPool2d(Ints output_size) { return Object::create("AdaptiveMaxPool2d", output_size); }
inline Object AdaptiveMaxPool3d(Ints output_size) { return Object::create("AdaptiveMaxPool3d", output_size); }

// weight 1 and bias 0 at first; running_mean, running_var and num_batches_tracked follow the batches of
// training, by `momentum`, or as means of all where it is null.
inline Object BatchNorm1d(int64_t num_features, double eps = 1e-5, std::optional<double> momentum = 0.1, bool affine = true, bool track_running_stats = true) { return Object::create("BatchNorm1d", num_features, eps, momentum, affine, track_running_stats); }
inline Object BatchNorm2d(int64_t num_features, double eps = 1e-5, std::optional<double> momentum = 0.1, bool affine = true, bool track_running_stats = true) { return Object::create("BatchNorm2d", num_features, eps, momentum, affine, track_running_stats); }
inline Object BatchNorm3d(int64_t num_features, double eps = 1e-5, std::optional<double> momentum = 0.1, bool affine = true, bool track_running_stats = true) { return Object::create("BatchNorm3d", num_features, eps, momentum, affine, track_running_stats); }
inline Object LayerNorm(Ints normalized_shape, double eps = 1e-5, bool elementwise_affine = true, bool bias = true) { return Object::create("LayerNorm", normalized_shape, eps, elementwise_affine, bias); }
inline Object GroupNorm(int64_t num_groups, int64_t num_channels, double eps = 1e-5, bool affine = true) { return Object::create("GroupNorm", num_groups, num_channels, eps, affine); }

// Losses: loss(input, target). A weight is a buffer.
inline Object MSELoss(const char* reduction = "mean") { return Object::create("MSELoss", reduction); }
inline Object L1Loss(const char* reduction = "mean") { return Object::create("L1Loss", reduction); }
inline Object SmoothL1Loss(const char* reduction = "mean", double beta = 1) { return Object::create("SmoothL1Loss", reduction, beta); }
inline Object HuberLoss(const char* reduction = "mean", double delta = 1) { return Object::create("HuberLoss", reduction, delta); }
inline Object KLDivLoss(const char* reduction = "mean", bool log_target = false) { return Object::create("KLDivLoss", reduction, log_target); }
inline Object BCELoss(const Tensor& weight = {}, const char* reduction = "mean") { return Object::create("BCELoss", weight, reduction); }
inline Object BCEWithLogitsLoss(const Tensor& weight = {}, const char* reduction = "mean", const Tensor& pos_weight = {}) { return Object::create("BCEWithLogitsLoss", weight, reduction, pos_weight); }
inline Object NLLLoss(const Tensor& weight = {}, int64_t ignore_index = -100, const char* reduction = "mean") { return Object::create("NLLLoss", weight, ignore_index, reduction); }
inline Object CrossEntropyLoss(const Tensor& weight = {}, int64_t ignore_index = -100, const char* reduction = "mean", double label_smoothing = 0) { return Object::create("CrossEntropyLoss", weight, ignore_index, reduction, label_smoothing); }
// clang-format on

// A function as a layer: f(Tensor) gives a Tensor. It has no parameters that anyone else knows of.
template <typename F>
Object Lambda(F f, const char* name = "Lambda") {
  Object object = Object::empty(name);
  object.method("forward(Tensor x) -> Tensor",
                [f = std::move(f)](Tensor x) -> Tensor { return f(std::move(x)); });
  return object;
}

// What a container takes as a module: an object of any kind, or a function, which becomes a Lambda.
template <typename M>
Object as_module(M&& module) {
  if constexpr (std::is_base_of_v<Object, std::remove_cvref_t<M>>) {
    return std::forward<M>(module);
  } else {
    return Lambda(std::forward<M>(module));
  }
}

// Each module's output is the next one's input. Children "0", "1", ...
inline Object sequential_of(const std::vector<Object>& modules) {
  return Object::create("Sequential", detail::to_value(modules));
}
template <typename... Modules>
Object Sequential(Modules&&... modules) {
  return sequential_of({as_module(std::forward<Modules>(modules))...});
}

}  // namespace nn
}  // namespace v0
}  // namespace tenon
