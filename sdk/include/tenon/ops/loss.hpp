// The group 'loss' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// (input - target)^2. reduction: "mean", "sum" or "none".
inline Tensor mse_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"mse_loss">, input, target, reduction); }
// |input - target|. reduction: "mean", "sum" or "none".
inline Tensor l1_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"l1_loss">, input, target, reduction); }
// d * d / (2 * beta) where d = |input - target| is below beta, else d - beta / 2. Girshick,
// arXiv:1504.08083.
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean", Float beta = 1.0) { return detail::call<Tensor>(detail::op<"smooth_l1_loss">, input, target, reduction, beta); }
// d * d / 2 where d = |input - target| is below delta, else delta * (d - delta / 2). Huber, 1964.
inline Tensor huber_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean", Float delta = 1.0) { return detail::call<Tensor>(detail::op<"huber_loss">, input, target, reduction, delta); }
// log(1 + exp(-target * input)); target is 1 or -1.
inline Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"soft_margin_loss">, input, target, reduction); }
// -(target * log(input) + (1 - target) * log(1 - input)), times weight; input: probabilities,
// target: 0 to 1.
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"binary_cross_entropy">, input, target, weight, reduction); }
// binary_cross_entropy of sigmoid(input), computed in one step; pos_weight scales the part of
// target.
struct BinaryCrossEntropyWithLogitsOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string reduction = "mean";
  Tensor pos_weight = {};
};
inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const BinaryCrossEntropyWithLogitsOptions& options = {}) { return detail::call<Tensor>(detail::op<"binary_cross_entropy_with_logits">, input, target, weight, options.reduction, options.pos_weight); }
inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const BinaryCrossEntropyWithLogitsOptions& options) { return detail::call<Tensor>(detail::op<"binary_cross_entropy_with_logits">, input, target, Tensor(), options.reduction, options.pos_weight); }
// target * (log(target) - input), where input is log-probabilities, and target too with log_target.
// reduction "batchmean" is the sum over the number of samples.
inline Tensor kl_div(const Tensor& input, const Tensor& target, const char* reduction = "mean", bool log_target = false) { return detail::call<Tensor>(detail::op<"kl_div">, input, target, reduction, log_target); }
// -input at the class: input [n, classes, ..] is log-probabilities, target [n, ..] int64 classes,
// weight [classes]. The mean is over the weights.
struct NllLossOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int ignore_index = -100;
  std::string reduction = "mean";
};
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const NllLossOptions& options = {}) { return detail::call<Tensor>(detail::op<"nll_loss">, input, target, weight, options.ignore_index, options.reduction); }
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const NllLossOptions& options) { return detail::call<Tensor>(detail::op<"nll_loss">, input, target, Tensor(), options.ignore_index, options.reduction); }
// nll_loss of log_softmax(input): input [n, classes, ..] is logits, target classes [n, ..], or
// probabilities of the sizes of input. label_smoothing: Szegedy et al., arXiv:1512.00567.
struct CrossEntropyOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int ignore_index = -100;
  std::string reduction = "mean";
  Float label_smoothing = 0.0;
};
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const CrossEntropyOptions& options = {}) { return detail::call<Tensor>(detail::op<"cross_entropy">, input, target, weight, options.ignore_index, options.reduction, options.label_smoothing); }
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options) { return detail::call<Tensor>(detail::op<"cross_entropy">, input, target, Tensor(), options.ignore_index, options.reduction, options.label_smoothing); }

}  // namespace v0
}  // namespace tenon
