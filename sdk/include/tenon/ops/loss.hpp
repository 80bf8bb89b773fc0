// Losses. reduction: "mean", without dimensions, "sum" or "none". Each line agrees with its op's
// schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor mse_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"mse_loss">, input, target, reduction); }
inline Tensor l1_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"l1_loss">, input, target, reduction); }
// Squares below beta, and below delta.
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean", double beta = 1) { return detail::call<Tensor>(detail::op<"smooth_l1_loss">, input, target, reduction, beta); }
inline Tensor huber_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean", double delta = 1) { return detail::call<Tensor>(detail::op<"huber_loss">, input, target, reduction, delta); }
// log(1 + exp(-target * input)); target: 1 or -1.
inline Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"soft_margin_loss">, input, target, reduction); }
// input: probabilities; target: 0 to 1.
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"binary_cross_entropy">, input, target, weight, reduction); }
// input: logits.
inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight = {}, const char* reduction = "mean", const Tensor& pos_weight = {}) { return detail::call<Tensor>(detail::op<"binary_cross_entropy_with_logits">, input, target, weight, reduction, pos_weight); }
// input: log-probabilities. reduction may be "batchmean", the sum over the number of samples.
inline Tensor kl_div(const Tensor& input, const Tensor& target, const char* reduction = "mean", bool log_target = false) { return detail::call<Tensor>(detail::op<"kl_div">, input, target, reduction, log_target); }
// input [n, classes, ..]: log-probabilities; target [n, ..]: int64 classes; weight [classes]. The
// mean is over the weights.
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {}, int64_t ignore_index = -100, const char* reduction = "mean") { return detail::call<Tensor>(detail::op<"nll_loss">, input, target, weight, ignore_index, reduction); }
// input [n, classes, ..]: logits; target: classes, or probabilities with input's sizes.
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {}, int64_t ignore_index = -100, const char* reduction = "mean", double label_smoothing = 0) { return detail::call<Tensor>(detail::op<"cross_entropy">, input, target, weight, ignore_index, reduction, label_smoothing); }

}  // namespace v0
}  // namespace tenon
