// Steps of optimizers, each one op on lists of tensors that are written in place. Nothing is
// recorded by autograd. found_inf (float32, one element; null: none): when it is not 0 the step
// leaves everything as it was. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// momentum_buffers: one for each parameter, or none when momentum is 0; `first` sets them to the
// gradient, as PyTorch does.
inline void sgd_step(const Tensors& params, const Tensors& grads, const Tensors& momentum_buffers, double lr, double momentum = 0, double dampening = 0, double weight_decay = 0, bool nesterov = false, bool maximize = false, bool first = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"sgd_step">, params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov, maximize, first, found_inf); }
// Kingma & Ba, arXiv:1412.6980; decoupled: weight decay as AdamW's (arXiv:1711.05101). step counts
// from 1.
inline void adam_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, double lr, int64_t step, double beta1 = 0.9, double beta2 = 0.999, double eps = 1e-8, double weight_decay = 0, bool decoupled = false, bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"adam_step">, params, grads, exp_avgs, exp_avg_sqs, lr, step, beta1, beta2, eps, weight_decay, decoupled, maximize, found_inf); }
// Multiplies grads by inv_scale; found_inf (float32, one element) becomes 1 where any of them holds
// an inf or NaN.
inline void unscale_(const Tensors& grads, const Tensor& found_inf, const Tensor& inv_scale) { return detail::call<void>(detail::op<"unscale_">, grads, found_inf, inv_scale); }
// Multiplies grads by min(1, max_norm / norm), where norm, the result, is that of all their
// elements as one vector: the norm_type-th root, or the greatest for infinity.
inline Tensor clip_grad_norm_(const Tensors& grads, double max_norm, double norm_type = 2) { return detail::call<Tensor>(detail::op<"clip_grad_norm_">, grads, max_norm, norm_type); }

}  // namespace v0
}  // namespace tenon
