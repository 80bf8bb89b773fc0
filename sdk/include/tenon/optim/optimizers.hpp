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
// momentum g). maximize: with -g.
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

}  // namespace optim
}  // namespace v0
}  // namespace tenon
