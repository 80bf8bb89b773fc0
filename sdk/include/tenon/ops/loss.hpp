// Losses: the mean over the batch, without dimensions. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// input [n, classes]: logits; target [n]: int64 classes.
inline Tensor cross_entropy(const Tensor& input, const Tensor& target) { return detail::call<Tensor>(detail::op<"cross_entropy">, input, target); }
// input [n, classes]: log-probabilities.
inline Tensor nll_loss(const Tensor& input, const Tensor& target) { return detail::call<Tensor>(detail::op<"nll_loss">, input, target); }

}  // namespace v0
}  // namespace tenon
