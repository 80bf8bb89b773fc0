// What the plugin 'optimizers' brings, written by `tenon header`: changes belong into the plugin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/optim/optimizer.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace optim {

// Stochastic gradient descent: g += weight_decay * p; buffer = momentum * buffer + (1 - dampening)
// * g, at first g itself; p -= lr * (buffer, or with nesterov g + momentum * buffer, or without
// momentum g). maximize: with -g. Row-sparse gradients are taken without momentum and weight_decay.
struct SGDOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  Float momentum = 0.0;
  Float dampening = 0.0;
  Float weight_decay = 0.0;
  bool nesterov = false;
  bool maximize = false;
};
inline Optimizer SGD(const Tensors& params, const SGDOptions& options = {}) { return Optimizer(Object::create("SGD", params, options.lr, options.momentum, options.dampening, options.weight_decay, options.nesterov, options.maximize)); }
// Adam (Kingma & Ba, arXiv:1412.6980, algorithm 1), with weight_decay * p added to the gradient.
// maximize: with the negated gradient.
struct AdamOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  Float weight_decay = 0.0;
  bool maximize = false;
};
inline Optimizer Adam(const Tensors& params, const AdamOptions& options = {}) { return Optimizer(Object::create("Adam", params, options.lr, options.betas, options.eps, options.weight_decay, options.maximize)); }
// Adam with weight decay beside the gradient (Loshchilov & Hutter, arXiv:1711.05101): p shrinks by
// the factor 1 - lr * weight_decay.
struct AdamWOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  Float weight_decay = 0.01;
  bool maximize = false;
};
inline Optimizer AdamW(const Tensors& params, const AdamWOptions& options = {}) { return Optimizer(Object::create("AdamW", params, options.lr, options.betas, options.eps, options.weight_decay, options.maximize)); }
// Adagrad (Duchi et al., JMLR 12, 2011): sum += g * g; p -= lr / (1 + (step - 1) * lr_decay) * g /
// (sqrt(sum) + eps). Of a row-sparse gradient the rows that it has alone change. maximize: with -g.
struct AdagradOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.01;
  Float lr_decay = 0.0;
  Float weight_decay = 0.0;
  Float initial_accumulator_value = 0.0;
  Float eps = 1e-10;
  bool maximize = false;
};
inline Optimizer Adagrad(const Tensors& params, const AdagradOptions& options = {}) { return Optimizer(Object::create("Adagrad", params, options.lr, options.lr_decay, options.weight_decay, options.initial_accumulator_value, options.eps, options.maximize)); }
// Adam (Kingma & Ba, arXiv:1412.6980) for row-sparse gradients (PyTorch's SparseAdam): of
// parameters and averages the rows alone change that a gradient has. maximize: with the negated
// gradient.
struct SparseAdamOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float lr = 0.001;
  KeptFloats betas = {0.9, 0.999};
  Float eps = 1e-08;
  bool maximize = false;
};
inline Optimizer SparseAdam(const Tensors& params, const SparseAdamOptions& options = {}) { return Optimizer(Object::create("SparseAdam", params, options.lr, options.betas, options.eps, options.maximize)); }

}  // namespace optim
}  // namespace v0
}  // namespace tenon
