// The group 'optim' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
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

// A step of SGD: g += weight_decay * p; buffer = momentum * buffer + (1 - dampening) * g, at first
// g itself; p -= lr * (buffer, or with nesterov g + momentum * buffer, or without momentum g).
// Nothing changes where found_inf is not 0.
struct SgdStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float momentum = 0.0;
  Float dampening = 0.0;
  Float weight_decay = 0.0;
  bool nesterov = false;
  bool maximize = false;
  bool first = false;
  Tensor found_inf = {};
};
inline void sgd_step(const Tensors& params, const Tensors& grads, const Tensors& momentum_buffers, Float lr, const SgdStepOptions& options = {}) { return detail::call<void>(detail::op<"sgd_step">, params, grads, momentum_buffers, lr, options.momentum, options.dampening, options.weight_decay, options.nesterov, options.maximize, options.first, options.found_inf); }
// A step of Adam (Kingma & Ba, arXiv:1412.6980); decoupled: of AdamW (arXiv:1711.05101). step
// counts from 1. steps: instead of it a count for each param, of one element, float, on its device,
// which goes up by 1 first. Nothing changes where found_inf is not 0.
struct AdamStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta1 = 0.9;
  Float beta2 = 0.999;
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  bool decoupled = false;
  bool maximize = false;
  Tensor found_inf = {};
  std::vector<Tensor> steps = {};
};
inline void adam_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, Float lr, Int step, const AdamStepOptions& options = {}) { return detail::call<void>(detail::op<"adam_step">, params, grads, exp_avgs, exp_avg_sqs, lr, step, options.beta1, options.beta2, options.eps, options.weight_decay, options.decoupled, options.maximize, options.found_inf, options.steps); }
// A step of Adagrad (Duchi et al., JMLR 12, 2011): g += weight_decay * p; sum += g * g; p -= lr /
// (1 + (step - 1) * lr_decay) * g / (sqrt(sum) + eps). steps: of each param, of one element, float;
// they go up by 1 first. Nothing changes where found_inf is not 0.
struct AdagradStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr_decay = 0.0;
  Float weight_decay = 0.0;
  Float eps = 1e-10;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void adagrad_step(const Tensors& params, const Tensors& grads, const Tensors& sums, const Tensors& steps, Float lr, const AdagradStepOptions& options = {}) { return detail::call<void>(detail::op<"adagrad_step">, params, grads, sums, steps, lr, options.lr_decay, options.weight_decay, options.eps, options.maximize, options.found_inf); }
// adagrad_step with a row-sparse gradient, of rows values at indices: changes these rows alone.
// Waits for the device.
struct AdagradRowsStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr_decay = 0.0;
  Float eps = 1e-10;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void adagrad_rows_step(const Tensor& param, const Tensor& sum, const Tensor& step, const Tensor& indices, const Tensor& values, Float lr, const AdagradRowsStepOptions& options = {}) { return detail::call<void>(detail::op<"adagrad_rows_step">, param, sum, step, indices, values, lr, options.lr_decay, options.eps, options.maximize, options.found_inf); }
// A step of Adam (Kingma & Ba, arXiv:1412.6980) for the rows of a row-sparse gradient, values at
// indices: other rows of the parameter and of its averages stay (PyTorch's SparseAdam). step, of
// one element, float, goes up by 1 first. Nothing changes where found_inf is not 0. Waits for the
// device.
struct SparseAdamStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta1 = 0.9;
  Float beta2 = 0.999;
  Float eps = 1e-08;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void sparse_adam_step(const Tensor& param, const Tensor& exp_avg, const Tensor& exp_avg_sq, const Tensor& step, const Tensor& indices, const Tensor& values, Float lr, const SparseAdamStepOptions& options = {}) { return detail::call<void>(detail::op<"sparse_adam_step">, param, exp_avg, exp_avg_sq, step, indices, values, lr, options.beta1, options.beta2, options.eps, options.maximize, options.found_inf); }
// The scale of losses (PyTorch's GradScaler): shrinks by backoff_factor where found_inf is not 0,
// grows by growth_factor after growth_interval good steps, if it stays finite. All of one element;
// good_steps is int64.
struct UpdateScaleOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float growth_factor = 2.0;
  Float backoff_factor = 0.5;
  Int growth_interval = 2000;
};
inline void update_scale_(const Tensor& scale, const Tensor& good_steps, const Tensor& found_inf, const UpdateScaleOptions& options = {}) { return detail::call<void>(detail::op<"update_scale_">, scale, good_steps, found_inf, options.growth_factor, options.backoff_factor, options.growth_interval); }
// Multiplies grads by inv_scale; found_inf (float32, one element) becomes 1 where any of them holds
// an inf or NaN.
inline void unscale_(const Tensors& grads, const Tensor& found_inf, const Tensor& inv_scale) { return detail::call<void>(detail::op<"unscale_">, grads, found_inf, inv_scale); }
// Multiplies grads by min(1, max_norm / norm), where norm, the result, is that of all their
// elements as one vector: the norm_type-th root, or the greatest for infinity.
inline Tensor clip_grad_norm_(const Tensors& grads, Float max_norm, Float norm_type = 2.0) { return detail::call<Tensor>(detail::op<"clip_grad_norm_">, grads, max_norm, norm_type); }

}  // namespace v0
}  // namespace tenon
