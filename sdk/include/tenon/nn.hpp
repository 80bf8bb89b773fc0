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

// layer(x1, x2) = x1ᵀ W x2 + b: weight [out_features, in1_features, in2_features], uniform in
// ±1/sqrt(in1_features), as the bias.
inline Object Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features,
                       bool bias = true) {
  return Object::create("Bilinear", in1_features, in2_features, out_features, bias);
}

inline Object ReLU() { return Object::create("ReLU"); }

// clang-format off
// Other activations, element by element; softmax along dim, which is 0 or 1 by the dimensions of x where it is none.
inline Object Identity() { return Object::create("Identity"); }
inline Object ReLU6() { return Object::create("ReLU6"); }
inline Object SELU() { return Object::create("SELU"); }
inline Object SiLU() { return Object::create("SiLU"); }
inline Object Mish() { return Object::create("Mish"); }
inline Object Sigmoid() { return Object::create("Sigmoid"); }
inline Object LogSigmoid() { return Object::create("LogSigmoid"); }
inline Object Tanh() { return Object::create("Tanh"); }
inline Object Tanhshrink() { return Object::create("Tanhshrink"); }
inline Object Softsign() { return Object::create("Softsign"); }
inline Object Hardsigmoid() { return Object::create("Hardsigmoid"); }
inline Object Hardswish() { return Object::create("Hardswish"); }
inline Object Softmax2d() { return Object::create("Softmax2d"); }
inline Object LeakyReLU(double negative_slope = 0.01) { return Object::create("LeakyReLU", negative_slope); }
inline Object ELU(double alpha = 1) { return Object::create("ELU", alpha); }
inline Object CELU(double alpha = 1) { return Object::create("CELU", alpha); }
inline Object Softshrink(double lambd = 0.5) { return Object::create("Softshrink", lambd); }
inline Object Hardshrink(double lambd = 0.5) { return Object::create("Hardshrink", lambd); }
inline Object Softplus(double beta = 1, double threshold = 20) { return Object::create("Softplus", beta, threshold); }
inline Object Threshold(double threshold, double value) { return Object::create("Threshold", threshold, value); }
inline Object Hardtanh(double min_val = -1, double max_val = 1) { return Object::create("Hardtanh", min_val, max_val); }
inline Object RReLU(double lower = 1. / 8, double upper = 1. / 3) { return Object::create("RReLU", lower, upper); }
inline Object GELU(const char* approximate = "none") { return Object::create("GELU", approximate); }
// weight [num_parameters]: one slope, or one for each channel.
inline Object PReLU(int64_t num_parameters = 1, double init = 0.25) { return Object::create("PReLU", num_parameters, init); }
inline Object GLU(int64_t dim = -1) { return Object::create("GLU", dim); }
inline Object Softmax(std::optional<int64_t> dim = {}) { return Object::create("Softmax", dim); }
inline Object LogSoftmax(std::optional<int64_t> dim = {}) { return Object::create("LogSoftmax", dim); }
inline Object Softmin(std::optional<int64_t> dim = {}) { return Object::create("Softmin", dim); }
// clang-format on

// In training: zero with probability p, the others times 1 / (1 - p). Else the identity.
inline Object Dropout(double p = 0.5) { return Object::create("Dropout", p); }

// Of whole channels of x [n, channels, ..], or without n.
inline Object Dropout1d(double p = 0.5) { return Object::create("Dropout1d", p); }
inline Object Dropout2d(double p = 0.5) { return Object::create("Dropout2d", p); }
inline Object Dropout3d(double p = 0.5) { return Object::create("Dropout3d", p); }

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
// padding_mode: zeros, reflect, replicate or circular.
inline Object Conv1d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1, bool bias = true, const char* padding_mode = "zeros") { return Object::create("Conv1d", in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode); }
inline Object Conv2d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1, bool bias = true, const char* padding_mode = "zeros") { return Object::create("Conv2d", in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode); }
inline Object Conv3d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints dilation = 1, int64_t groups = 1, bool bias = true, const char* padding_mode = "zeros") { return Object::create("Conv3d", in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode); }
// Their adjoints: weight [in_channels, out_channels / groups, kernel..], uniform in
// ±1/sqrt(out_channels / groups * kernel).
inline Object ConvTranspose1d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints output_padding = 0, int64_t groups = 1, bool bias = true, Ints dilation = 1) { return Object::create("ConvTranspose1d", in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation); }
inline Object ConvTranspose2d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints output_padding = 0, int64_t groups = 1, bool bias = true, Ints dilation = 1) { return Object::create("ConvTranspose2d", in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation); }
inline Object ConvTranspose3d(int64_t in_channels, int64_t out_channels, Ints kernel_size, Ints stride = 1, Ints padding = 0, Ints output_padding = 0, int64_t groups = 1, bool bias = true, Ints dilation = 1) { return Object::create("ConvTranspose3d", in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation); }

// padding: one number, or two a dimension, the last dimension first: before and behind. Negative
// ones cut off.
inline Object ZeroPad1d(Ints padding) { return Object::create("ZeroPad1d", padding); }
inline Object ZeroPad2d(Ints padding) { return Object::create("ZeroPad2d", padding); }
inline Object ZeroPad3d(Ints padding) { return Object::create("ZeroPad3d", padding); }
inline Object ReflectionPad1d(Ints padding) { return Object::create("ReflectionPad1d", padding); }
inline Object ReflectionPad2d(Ints padding) { return Object::create("ReflectionPad2d", padding); }
inline Object ReflectionPad3d(Ints padding) { return Object::create("ReflectionPad3d", padding); }
inline Object ReplicationPad1d(Ints padding) { return Object::create("ReplicationPad1d", padding); }
inline Object ReplicationPad2d(Ints padding) { return Object::create("ReplicationPad2d", padding); }
inline Object ReplicationPad3d(Ints padding) { return Object::create("ReplicationPad3d", padding); }
inline Object CircularPad1d(Ints padding) { return Object::create("CircularPad1d", padding); }
inline Object CircularPad2d(Ints padding) { return Object::create("CircularPad2d", padding); }
inline Object CircularPad3d(Ints padding) { return Object::create("CircularPad3d", padding); }
inline Object ConstantPad1d(Ints padding, double value) { return Object::create("ConstantPad1d", padding, value); }
inline Object ConstantPad2d(Ints padding, double value) { return Object::create("ConstantPad2d", padding, value); }
inline Object ConstantPad3d(Ints padding, double value) { return Object::create("ConstantPad3d", padding, value); }

// size, or scale_factor; mode: nearest, nearest-exact, linear, bilinear, trilinear.
inline Object Upsample(Ints size = {}, Floats scale_factor = {}, const char* mode = "nearest", bool align_corners = false) { return Object::create("Upsample", size, scale_factor, mode, align_corners); }
inline Object PixelShuffle(int64_t upscale_factor) { return Object::create("PixelShuffle", upscale_factor); }
inline Object PixelUnshuffle(int64_t downscale_factor) { return Object::create("PixelUnshuffle", downscale_factor); }
// [n, channels, h, w] to columns [n, channels * kernel, places], and their sum back.
inline Object Unfold(Ints kernel_size, Ints dilation = 1, Ints padding = 0, Ints stride = 1) { return Object::create("Unfold", kernel_size, dilation, padding, stride); }
inline Object Fold(Ints output_size, Ints kernel_size, Ints dilation = 1, Ints padding = 0, Ints stride = 1) { return Object::create("Fold", output_size, kernel_size, dilation, padding, stride); }

// stride empty: kernel_size.
inline Object MaxPool1d(Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return Object::create("MaxPool1d", kernel_size, stride, padding, dilation, ceil_mode); }
inline Object MaxPool2d(Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return Object::create("MaxPool2d", kernel_size, stride, padding, dilation, ceil_mode); }
inline Object MaxPool3d(Ints kernel_size, Ints stride = {}, Ints padding = 0, Ints dilation = 1, bool ceil_mode = false) { return Object::create("MaxPool3d", kernel_size, stride, padding, dilation, ceil_mode); }
inline Object AvgPool1d(Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true) { return Object::create("AvgPool1d", kernel_size, stride, padding, ceil_mode, count_include_pad); }
inline Object AvgPool2d(Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {}) { return Object::create("AvgPool2d", kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
inline Object AvgPool3d(Ints kernel_size, Ints stride = {}, Ints padding = 0, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = {}) { return Object::create("AvgPool3d", kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
inline Object LPPool1d(double norm_type, Ints kernel_size, Ints stride = {}, bool ceil_mode = false) { return Object::create("LPPool1d", norm_type, kernel_size, stride, ceil_mode); }
inline Object LPPool2d(double norm_type, Ints kernel_size, Ints stride = {}, bool ceil_mode = false) { return Object::create("LPPool2d", norm_type, kernel_size, stride, ceil_mode); }
inline Object LPPool3d(double norm_type, Ints kernel_size, Ints stride = {}, bool ceil_mode = false) { return Object::create("LPPool3d", norm_type, kernel_size, stride, ceil_mode); }
inline Object AdaptiveAvgPool1d(Ints output_size) { return Object::create("AdaptiveAvgPool1d", output_size); }
inline Object AdaptiveAvgPool2d(Ints output_size) { return Object::create("AdaptiveAvgPool2d", output_size); }
inline Object AdaptiveAvgPool3d(Ints output_size) { return Object::create("AdaptiveAvgPool3d", output_size); }
inline Object AdaptiveMaxPool1d(Ints output_size) { return Object::create("AdaptiveMaxPool1d", output_size); }
inline Object AdaptiveMaxPool2d(Ints output_size) { return Object::create("AdaptiveMaxPool2d", output_size); }
inline Object AdaptiveMaxPool3d(Ints output_size) { return Object::create("AdaptiveMaxPool3d", output_size); }

// weight 1 and bias 0 at first; running_mean, running_var and num_batches_tracked follow the
// batches of training, by `momentum`, or as means of all where it is null.
inline Object BatchNorm1d(int64_t num_features, double eps = 1e-5, std::optional<double> momentum = 0.1, bool affine = true, bool track_running_stats = true) { return Object::create("BatchNorm1d", num_features, eps, momentum, affine, track_running_stats); }
inline Object BatchNorm2d(int64_t num_features, double eps = 1e-5, std::optional<double> momentum = 0.1, bool affine = true, bool track_running_stats = true) { return Object::create("BatchNorm2d", num_features, eps, momentum, affine, track_running_stats); }
inline Object BatchNorm3d(int64_t num_features, double eps = 1e-5, std::optional<double> momentum = 0.1, bool affine = true, bool track_running_stats = true) { return Object::create("BatchNorm3d", num_features, eps, momentum, affine, track_running_stats); }
inline Object InstanceNorm1d(int64_t num_features, double eps = 1e-5, double momentum = 0.1, bool affine = false, bool track_running_stats = false) { return Object::create("InstanceNorm1d", num_features, eps, momentum, affine, track_running_stats); }
inline Object InstanceNorm2d(int64_t num_features, double eps = 1e-5, double momentum = 0.1, bool affine = false, bool track_running_stats = false) { return Object::create("InstanceNorm2d", num_features, eps, momentum, affine, track_running_stats); }
inline Object InstanceNorm3d(int64_t num_features, double eps = 1e-5, double momentum = 0.1, bool affine = false, bool track_running_stats = false) { return Object::create("InstanceNorm3d", num_features, eps, momentum, affine, track_running_stats); }
inline Object LayerNorm(Ints normalized_shape, double eps = 1e-5, bool elementwise_affine = true, bool bias = true) { return Object::create("LayerNorm", normalized_shape, eps, elementwise_affine, bias); }
inline Object RMSNorm(Ints normalized_shape, std::optional<double> eps = {}, bool elementwise_affine = true) { return Object::create("RMSNorm", normalized_shape, eps, elementwise_affine); }
inline Object GroupNorm(int64_t num_groups, int64_t num_channels, double eps = 1e-5, bool affine = true) { return Object::create("GroupNorm", num_groups, num_channels, eps, affine); }

// layer(x, offsets, per_sample_weights): sums, means or maxima of rows of weight [num_embeddings,
// embedding_dim], normal at first: a bag for each row of x [bags, n], or beginning at each of
// offsets [bags] in x [n].
inline Object EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim, const char* mode = "mean") { return Object::create("EmbeddingBag", num_embeddings, embedding_dim, mode); }
// Rows of weight [num_embeddings, embedding_dim], normal at first, by index; that of padding_idx is
// 0 at first, and gets no gradient.
inline Object Embedding(int64_t num_embeddings, int64_t embedding_dim, std::optional<int64_t> padding_idx = {}) { return Object::create("Embedding", num_embeddings, embedding_dim, padding_idx); }
// x [.., n, embedding_dim] plus the first n rows of weight.
inline Object PositionalEmbedding(int64_t num_embeddings, int64_t embedding_dim) { return Object::create("PositionalEmbedding", num_embeddings, embedding_dim); }

// attention(query, key, value, key_padding_mask, attn_mask, is_causal) on [t, n, embed_dim], with
// batch_first on [n, t, embed_dim], or without n; gives no weights. In masks of bool, true is where
// it may not look; others are added.
inline Object MultiheadAttention(int64_t embed_dim, int64_t num_heads, double dropout = 0, bool bias = true, std::optional<int64_t> kdim = {}, std::optional<int64_t> vdim = {}, bool batch_first = false) { return Object::create("MultiheadAttention", embed_dim, num_heads, dropout, bias, kdim, vdim, batch_first); }
// layer(src, src_mask, src_key_padding_mask, is_causal). The option is_causal holds for each call,
// so that the layer can stand in a Sequential. activation: relu or gelu.
inline Object TransformerEncoderLayer(int64_t d_model, int64_t nhead, int64_t dim_feedforward = 2048, double dropout = 0.1, const char* activation = "relu", double layer_norm_eps = 1e-5, bool batch_first = false, bool norm_first = false, bool bias = true, bool is_causal = false) { return Object::create("TransformerEncoderLayer", d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, is_causal); }
// layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
// tgt_is_causal, memory_is_causal); the option is_causal is tgt_is_causal for each call.
inline Object TransformerDecoderLayer(int64_t d_model, int64_t nhead, int64_t dim_feedforward = 2048, double dropout = 0.1, const char* activation = "relu", double layer_norm_eps = 1e-5, bool batch_first = false, bool norm_first = false, bool bias = true, bool is_causal = false) { return Object::create("TransformerDecoderLayer", d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, is_causal); }

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
