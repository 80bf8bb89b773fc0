// Normalizations. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

inline Tensor softmax(const Tensor& x, int64_t dim = -1) { return detail::call<Tensor>(detail::op<"softmax">, x, dim); }
inline Tensor log_softmax(const Tensor& x, int64_t dim = -1) { return detail::call<Tensor>(detail::op<"log_softmax">, x, dim); }
// x / sqrt(mean(x²) + eps) over the last dimension, times weight. Zhang & Sennrich,
// arXiv:1910.07467.
inline Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-6) { return detail::call<Tensor>(detail::op<"rms_norm">, x, weight, eps); }
// Over the dimensions of normalized_shape, the last ones. Ba, Kiros & Hinton, arXiv:1607.06450.
inline Tensor layer_norm(const Tensor& x, Ints normalized_shape, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5) { return detail::call<Tensor>(detail::op<"layer_norm">, x, normalized_shape, weight, bias, eps); }
// x [n, channels, ..]; weight and bias [channels]. Wu & He, arXiv:1803.08494.
inline Tensor group_norm(const Tensor& x, int64_t num_groups, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5) { return detail::call<Tensor>(detail::op<"group_norm">, x, num_groups, weight, bias, eps); }
// training: by the batch, whose mean and unbiased variance move the running ones, in place; else by
// the running ones. Ioffe & Szegedy, arXiv:1502.03167.
inline Tensor batch_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {}, const Tensor& weight = {}, const Tensor& bias = {}, bool training = false, double momentum = 0.1, double eps = 1e-5) { return detail::call<Tensor>(detail::op<"batch_norm">, x, running_mean, running_var, weight, bias, training, momentum, eps); }
inline Tensor instance_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {}, const Tensor& weight = {}, const Tensor& bias = {}, bool use_input_stats = true, double momentum = 0.1, double eps = 1e-5) { return detail::call<Tensor>(detail::op<"instance_norm">, x, running_mean, running_var, weight, bias, use_input_stats, momentum, eps); }

}  // namespace v0
}  // namespace tenon
