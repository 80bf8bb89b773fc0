// The group 'optim' of the plugin 'ops', written by `tenon header`: changes belong into the plugin.
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

// A step of SGD: g += weight_decay * p; buffer = momentum * buffer + (1 - dampening) * g, at first
// g itself; p -= lr * (buffer, or with nesterov g + momentum * buffer, or without momentum g). A
// momentum in a tensor is not 0 there. Nothing changes where found_inf is not 0.
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
inline void sgd_step(const Tensors& params, const Tensors& grads, const Tensors& momentum_buffers, Float lr, const SgdStepOptions& options = {}) { return detail::call<void>(detail::op<"sgd_step">, {params, grads, momentum_buffers, lr, options.momentum, options.dampening, options.weight_decay, options.nesterov, options.maximize, options.first, options.found_inf}); }
template <detail::Placed<Float> P>
void sgd_step(const Tensors& params, const Tensors& grads, const Tensors& momentum_buffers, Float lr, const P& momentum, Float dampening = 0.0, Float weight_decay = 0.0, Bool nesterov = false, Bool maximize = false, Bool first = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"sgd_step">, {params, grads, momentum_buffers, lr, Float(momentum), dampening, weight_decay, nesterov, maximize, first, found_inf}); }
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
inline void adam_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, Float lr, Int step, const AdamStepOptions& options = {}) { return detail::call<void>(detail::op<"adam_step">, {params, grads, exp_avgs, exp_avg_sqs, lr, step, options.beta1, options.beta2, options.eps, options.weight_decay, options.decoupled, options.maximize, options.found_inf, options.steps}); }
template <detail::Placed<Float> P>
void adam_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, Float lr, Int step, const P& beta1, Float beta2 = 0.999, Float eps = 1e-08, Float weight_decay = 0.0, Bool decoupled = false, Bool maximize = false, const Tensor& found_inf = {}, const Tensors& steps = {}) { return detail::call<void>(detail::op<"adam_step">, {params, grads, exp_avgs, exp_avg_sqs, lr, step, Float(beta1), beta2, eps, weight_decay, decoupled, maximize, found_inf, steps}); }
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
inline void adagrad_step(const Tensors& params, const Tensors& grads, const Tensors& sums, const Tensors& steps, Float lr, const AdagradStepOptions& options = {}) { return detail::call<void>(detail::op<"adagrad_step">, {params, grads, sums, steps, lr, options.lr_decay, options.weight_decay, options.eps, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void adagrad_step(const Tensors& params, const Tensors& grads, const Tensors& sums, const Tensors& steps, Float lr, const P& lr_decay, Float weight_decay = 0.0, Float eps = 1e-10, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"adagrad_step">, {params, grads, sums, steps, lr, Float(lr_decay), weight_decay, eps, maximize, found_inf}); }
// adagrad_step with a row-sparse gradient, of rows values at indices: changes these rows alone.
// Waits for the device.
struct AdagradRowsStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr_decay = 0.0;
  Float eps = 1e-10;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void adagrad_rows_step(const Tensor& param, const Tensor& sum, const Tensor& step, const Tensor& indices, const Tensor& values, Float lr, const AdagradRowsStepOptions& options = {}) { return detail::call<void>(detail::op<"adagrad_rows_step">, {param, sum, step, indices, values, lr, options.lr_decay, options.eps, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void adagrad_rows_step(const Tensor& param, const Tensor& sum, const Tensor& step, const Tensor& indices, const Tensor& values, Float lr, const P& lr_decay, Float eps = 1e-10, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"adagrad_rows_step">, {param, sum, step, indices, values, lr, Float(lr_decay), eps, maximize, found_inf}); }
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
inline void sparse_adam_step(const Tensor& param, const Tensor& exp_avg, const Tensor& exp_avg_sq, const Tensor& step, const Tensor& indices, const Tensor& values, Float lr, const SparseAdamStepOptions& options = {}) { return detail::call<void>(detail::op<"sparse_adam_step">, {param, exp_avg, exp_avg_sq, step, indices, values, lr, options.beta1, options.beta2, options.eps, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void sparse_adam_step(const Tensor& param, const Tensor& exp_avg, const Tensor& exp_avg_sq, const Tensor& step, const Tensor& indices, const Tensor& values, Float lr, const P& beta1, Float beta2 = 0.999, Float eps = 1e-08, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"sparse_adam_step">, {param, exp_avg, exp_avg_sq, step, indices, values, lr, Float(beta1), beta2, eps, maximize, found_inf}); }
// A step of RMSprop (PyTorch's): s = alpha * s + (1 - alpha) * g * g; p -= lr * g / (sqrt(s) +
// eps). centered: s without the square of the average of g, which grad_avgs hold. momentum: by
// buffer = momentum * buffer + g / (sqrt(s) + eps). steps, of one element each, go up by 1. Nothing
// changes where found_inf is not 0.
struct RmspropStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float alpha = 0.99;
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  Float momentum = 0.0;
  bool centered = false;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void rmsprop_step(const Tensors& params, const Tensors& grads, const Tensors& square_avgs, const Tensors& grad_avgs, const Tensors& momentum_buffers, const Tensors& steps, Float lr, const RmspropStepOptions& options = {}) { return detail::call<void>(detail::op<"rmsprop_step">, {params, grads, square_avgs, grad_avgs, momentum_buffers, steps, lr, options.alpha, options.eps, options.weight_decay, options.momentum, options.centered, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void rmsprop_step(const Tensors& params, const Tensors& grads, const Tensors& square_avgs, const Tensors& grad_avgs, const Tensors& momentum_buffers, const Tensors& steps, Float lr, const P& alpha, Float eps = 1e-08, Float weight_decay = 0.0, Float momentum = 0.0, Bool centered = false, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"rmsprop_step">, {params, grads, square_avgs, grad_avgs, momentum_buffers, steps, lr, Float(alpha), eps, weight_decay, momentum, centered, maximize, found_inf}); }
// A step of Adadelta (Zeiler, arXiv:1212.5701): s = rho * s + (1 - rho) * g * g; u = sqrt(acc +
// eps) / sqrt(s + eps) * g; acc = rho * acc + (1 - rho) * u * u; p -= lr * u. steps, of one element
// each, go up by 1. Nothing changes where found_inf is not 0.
struct AdadeltaStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float rho = 0.9;
  Float eps = 1e-06;
  Float weight_decay = 0.0;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void adadelta_step(const Tensors& params, const Tensors& grads, const Tensors& square_avgs, const Tensors& acc_deltas, const Tensors& steps, Float lr, const AdadeltaStepOptions& options = {}) { return detail::call<void>(detail::op<"adadelta_step">, {params, grads, square_avgs, acc_deltas, steps, lr, options.rho, options.eps, options.weight_decay, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void adadelta_step(const Tensors& params, const Tensors& grads, const Tensors& square_avgs, const Tensors& acc_deltas, const Tensors& steps, Float lr, const P& rho, Float eps = 1e-06, Float weight_decay = 0.0, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"adadelta_step">, {params, grads, square_avgs, acc_deltas, steps, lr, Float(rho), eps, weight_decay, maximize, found_inf}); }
// A step of Adamax (Kingma & Ba, arXiv:1412.6980, algorithm 2), with eps added to |g|. steps, of
// one element each, go up by 1 first. Nothing changes where found_inf is not 0.
struct AdamaxStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta1 = 0.9;
  Float beta2 = 0.999;
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void adamax_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_infs, const Tensors& steps, Float lr, const AdamaxStepOptions& options = {}) { return detail::call<void>(detail::op<"adamax_step">, {params, grads, exp_avgs, exp_infs, steps, lr, options.beta1, options.beta2, options.eps, options.weight_decay, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void adamax_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_infs, const Tensors& steps, Float lr, const P& beta1, Float beta2 = 0.999, Float eps = 1e-08, Float weight_decay = 0.0, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"adamax_step">, {params, grads, exp_avgs, exp_infs, steps, lr, Float(beta1), beta2, eps, weight_decay, maximize, found_inf}); }
// A step of NAdam (Dozat, 2016, as PyTorch has it): Adam with Nesterov's momentum mu = beta1 * (1 -
// 0.96^(step * momentum_decay) / 2), whose product mu_products keep, from 1. decoupled: the decay
// shrinks p. steps, of one element each, go up by 1 first. Nothing changes where found_inf is not
// 0.
struct NadamStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta1 = 0.9;
  Float beta2 = 0.999;
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  Float momentum_decay = 0.004;
  bool decoupled = false;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void nadam_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, const Tensors& mu_products, const Tensors& steps, Float lr, const NadamStepOptions& options = {}) { return detail::call<void>(detail::op<"nadam_step">, {params, grads, exp_avgs, exp_avg_sqs, mu_products, steps, lr, options.beta1, options.beta2, options.eps, options.weight_decay, options.momentum_decay, options.decoupled, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void nadam_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, const Tensors& mu_products, const Tensors& steps, Float lr, const P& beta1, Float beta2 = 0.999, Float eps = 1e-08, Float weight_decay = 0.0, Float momentum_decay = 0.004, Bool decoupled = false, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"nadam_step">, {params, grads, exp_avgs, exp_avg_sqs, mu_products, steps, lr, Float(beta1), beta2, eps, weight_decay, momentum_decay, decoupled, maximize, found_inf}); }
// A step of RAdam (Liu et al., arXiv:1908.03265): Adam whose rate is rectified, and which goes by
// the average alone in its first steps. decoupled: the decay shrinks p. steps, of one element each,
// go up by 1 first. Nothing changes where found_inf is not 0.
struct RadamStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta1 = 0.9;
  Float beta2 = 0.999;
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  bool decoupled = false;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void radam_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, const Tensors& steps, Float lr, const RadamStepOptions& options = {}) { return detail::call<void>(detail::op<"radam_step">, {params, grads, exp_avgs, exp_avg_sqs, steps, lr, options.beta1, options.beta2, options.eps, options.weight_decay, options.decoupled, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void radam_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, const Tensors& steps, Float lr, const P& beta1, Float beta2 = 0.999, Float eps = 1e-08, Float weight_decay = 0.0, Bool decoupled = false, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"radam_step">, {params, grads, exp_avgs, exp_avg_sqs, steps, lr, Float(beta1), beta2, eps, weight_decay, decoupled, maximize, found_inf}); }
// A step of Adam with amsgrad (Reddi et al., arXiv:1904.09237, as PyTorch has it): the greatest of
// the averages of squares until now, max_exp_avg_sqs, stands for the last one. decoupled: of AdamW.
// steps, of one element each, go up by 1 first. Nothing changes where found_inf is not 0.
using AmsgradStepOptions = RadamStepOptions;
inline void amsgrad_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, const Tensors& max_exp_avg_sqs, const Tensors& steps, Float lr, const AmsgradStepOptions& options = {}) { return detail::call<void>(detail::op<"amsgrad_step">, {params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, lr, options.beta1, options.beta2, options.eps, options.weight_decay, options.decoupled, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void amsgrad_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, const Tensors& max_exp_avg_sqs, const Tensors& steps, Float lr, const P& beta1, Float beta2 = 0.999, Float eps = 1e-08, Float weight_decay = 0.0, Bool decoupled = false, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"amsgrad_step">, {params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, lr, Float(beta1), beta2, eps, weight_decay, decoupled, maximize, found_inf}); }
// A step of Lion (Chen et al., arXiv:2302.06675): p -= lr * (sign(beta1 * m + (1 - beta1) * g) +
// weight_decay * p); m = beta2 * m + (1 - beta2) * g. Nothing changes where found_inf is not 0.
struct LionStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta1 = 0.9;
  Float beta2 = 0.99;
  Float weight_decay = 0.0;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void lion_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, Float lr, const LionStepOptions& options = {}) { return detail::call<void>(detail::op<"lion_step">, {params, grads, exp_avgs, lr, options.beta1, options.beta2, options.weight_decay, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void lion_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, Float lr, const P& beta1, Float beta2 = 0.99, Float weight_decay = 0.0, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"lion_step">, {params, grads, exp_avgs, lr, Float(beta1), beta2, weight_decay, maximize, found_inf}); }
// A step of LAMB (You et al., arXiv:1904.00962, algorithm 2): u = m / (sqrt(v) + eps) +
// weight_decay * p with Adam's corrected averages; p -= lr * |p| / |u| * u, with 1 for |p| / |u|
// where one of them is 0. steps, of one element each, go up by 1 first. Nothing changes where
// found_inf is not 0.
struct LambStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta1 = 0.9;
  Float beta2 = 0.999;
  Float eps = 1e-06;
  Float weight_decay = 0.0;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void lamb_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, const Tensors& steps, Float lr, const LambStepOptions& options = {}) { return detail::call<void>(detail::op<"lamb_step">, {params, grads, exp_avgs, exp_avg_sqs, steps, lr, options.beta1, options.beta2, options.eps, options.weight_decay, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void lamb_step(const Tensors& params, const Tensors& grads, const Tensors& exp_avgs, const Tensors& exp_avg_sqs, const Tensors& steps, Float lr, const P& beta1, Float beta2 = 0.999, Float eps = 1e-06, Float weight_decay = 0.0, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"lamb_step">, {params, grads, exp_avgs, exp_avg_sqs, steps, lr, Float(beta1), beta2, eps, weight_decay, maximize, found_inf}); }
// A step of Adafactor (Shazeer & Stern, arXiv:1804.04235, as PyTorch has it). Params of at least
// two dimensions have averages of the squares of their rows [.., n, 1] and columns [.., 1, m],
// others variances; a call is of one kind, and the other lists are empty. eps1 of 0 is the dtype's.
// steps, of one element each, go up by 1 first. Nothing changes where found_inf is not 0.
struct AdafactorStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float beta2_decay = -0.8;
  Float eps1 = 0.0;
  Float eps2 = 0.001;
  Float d = 1.0;
  Float weight_decay = 0.0;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void adafactor_step(const Tensors& params, const Tensors& grads, const Tensors& row_vars, const Tensors& col_vars, const Tensors& variances, const Tensors& steps, Float lr, const AdafactorStepOptions& options = {}) { return detail::call<void>(detail::op<"adafactor_step">, {params, grads, row_vars, col_vars, variances, steps, lr, options.beta2_decay, options.eps1, options.eps2, options.d, options.weight_decay, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void adafactor_step(const Tensors& params, const Tensors& grads, const Tensors& row_vars, const Tensors& col_vars, const Tensors& variances, const Tensors& steps, Float lr, const P& beta2_decay, Float eps1 = 0.0, Float eps2 = 0.001, Float d = 1.0, Float weight_decay = 0.0, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"adafactor_step">, {params, grads, row_vars, col_vars, variances, steps, lr, Float(beta2_decay), eps1, eps2, d, weight_decay, maximize, found_inf}); }
// A step of Muon (Keller Jordan, 2024, as PyTorch has it, but in the params' own precision where
// that rounds to bfloat16): matrices move by their averaged gradient made nearly orthogonal, by
// ns_steps iterations of Newton and Schulz. Nothing changes where found_inf is not 0.
struct MuonStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float weight_decay = 0.1;
  Float momentum = 0.95;
  bool nesterov = true;
  KeptFloats ns_coefficients = {3.4445, -4.775, 2.0315};
  Float eps = 1e-07;
  Int ns_steps = 5;
  std::string adjust_lr_fn = "original";
  Tensor found_inf = {};
};
inline void muon_step(const Tensors& params, const Tensors& grads, const Tensors& momentum_buffers, Float lr, const MuonStepOptions& options = {}) { return detail::call<void>(detail::op<"muon_step">, {params, grads, momentum_buffers, lr, options.weight_decay, options.momentum, options.nesterov, options.ns_coefficients, options.eps, options.ns_steps, options.adjust_lr_fn, options.found_inf}); }
template <detail::Placed<Float> P>
void muon_step(const Tensors& params, const Tensors& grads, const Tensors& momentum_buffers, Float lr, const P& weight_decay, Float momentum = 0.95, Bool nesterov = true, Floats ns_coefficients = {3.4445, -4.775, 2.0315}, Float eps = 1e-07, Int ns_steps = 5, TextRef adjust_lr_fn = "original", const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"muon_step">, {params, grads, momentum_buffers, lr, Float(weight_decay), momentum, nesterov, ns_coefficients, eps, ns_steps, adjust_lr_fn, found_inf}); }
// A step of Rprop (Riedmiller & Braun, 1993, as PyTorch has it): step_sizes grow by etaplus where
// the gradient has the sign that it had before, prevs, and shrink by etaminus where it has another,
// between step_size_min and step_size_max; p -= sign(g) * step_size, but where the sign is another.
// steps, of one element each, go up by 1. Nothing changes where found_inf is not 0.
struct RpropStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float etaminus = 0.5;
  Float etaplus = 1.2;
  Float step_size_min = 1e-06;
  Float step_size_max = 50.0;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void rprop_step(const Tensors& params, const Tensors& grads, const Tensors& prevs, const Tensors& step_sizes, const Tensors& steps, const RpropStepOptions& options = {}) { return detail::call<void>(detail::op<"rprop_step">, {params, grads, prevs, step_sizes, steps, options.etaminus, options.etaplus, options.step_size_min, options.step_size_max, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void rprop_step(const Tensors& params, const Tensors& grads, const Tensors& prevs, const Tensors& step_sizes, const Tensors& steps, const P& etaminus, Float etaplus = 1.2, Float step_size_min = 1e-06, Float step_size_max = 50.0, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"rprop_step">, {params, grads, prevs, step_sizes, steps, Float(etaminus), etaplus, step_size_min, step_size_max, maximize, found_inf}); }
// A step of averaged SGD (Polyak & Juditsky, 1992, as PyTorch has it): p = p - eta * lambd * p -
// eta * (g + weight_decay * p); ax += mu * (p - ax). etas, mus and steps, of one element each, are
// then those of the next step: step + 1, lr / (1 + lambd * lr * step)^alpha, and 1 / max(1, step -
// t0). Nothing changes where found_inf is not 0.
struct AsgdStepOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lambd = 0.0001;
  Float alpha = 0.75;
  Float t0 = 1000000.0;
  Float weight_decay = 0.0;
  bool maximize = false;
  Tensor found_inf = {};
};
inline void asgd_step(const Tensors& params, const Tensors& grads, const Tensors& axs, const Tensors& etas, const Tensors& mus, const Tensors& steps, Float lr, const AsgdStepOptions& options = {}) { return detail::call<void>(detail::op<"asgd_step">, {params, grads, axs, etas, mus, steps, lr, options.lambd, options.alpha, options.t0, options.weight_decay, options.maximize, options.found_inf}); }
template <detail::Placed<Float> P>
void asgd_step(const Tensors& params, const Tensors& grads, const Tensors& axs, const Tensors& etas, const Tensors& mus, const Tensors& steps, Float lr, const P& lambd, Float alpha = 0.75, Float t0 = 1000000.0, Float weight_decay = 0.0, Bool maximize = false, const Tensor& found_inf = {}) { return detail::call<void>(detail::op<"asgd_step">, {params, grads, axs, etas, mus, steps, lr, Float(lambd), alpha, t0, weight_decay, maximize, found_inf}); }
// The scale of losses (PyTorch's GradScaler): shrinks by backoff_factor where found_inf is not 0,
// grows by growth_factor after growth_interval good steps, if it stays finite. All of one element;
// good_steps is int64.
struct UpdateScaleOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float growth_factor = 2.0;
  Float backoff_factor = 0.5;
  Int growth_interval = 2000;
};
inline void update_scale_(const Tensor& scale, const Tensor& good_steps, const Tensor& found_inf, const UpdateScaleOptions& options = {}) { return detail::call<void>(detail::op<"update_scale_">, {scale, good_steps, found_inf, options.growth_factor, options.backoff_factor, options.growth_interval}); }
template <detail::Placed<Float> P>
void update_scale_(const Tensor& scale, const Tensor& good_steps, const Tensor& found_inf, const P& growth_factor, Float backoff_factor = 0.5, Int growth_interval = 2000) { return detail::call<void>(detail::op<"update_scale_">, {scale, good_steps, found_inf, Float(growth_factor), backoff_factor, growth_interval}); }
// Multiplies grads by inv_scale; found_inf (float32, one element) becomes 1 where any of them holds
// an inf or NaN.
inline void unscale_(const Tensors& grads, const Tensor& found_inf, const Tensor& inv_scale) { return detail::call<void>(detail::op<"unscale_">, {grads, found_inf, inv_scale}); }
// Multiplies grads by min(1, max_norm / norm), where norm, the result, is that of all their
// elements as one vector: the norm_type-th root, or the greatest for infinity.
inline Tensor clip_grad_norm_(const Tensors& grads, Float max_norm, Float norm_type = 2.0) { return detail::call<Tensor>(detail::op<"clip_grad_norm_">, {grads, max_norm, norm_type}); }
struct ClipGradNormOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float norm_type = 2.0;
};
template <std::same_as<ClipGradNormOptions> O = ClipGradNormOptions>
inline Tensor clip_grad_norm_(const Tensors& grads, Float max_norm, const O& options) { return detail::call<Tensor>(detail::op<"clip_grad_norm_">, {grads, max_norm, options.norm_type}); }

}  // namespace v0
}  // namespace tenon
