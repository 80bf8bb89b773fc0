// Optimizers by PyTorch's names and formulas. Each is a factory that an optimizer pack brings.
//
//   auto optimizer = tenon::optim::Adam(model.parameters(), {.lr = 1e-3});
//   optimizer.zero_grad();  loss.backward();  optimizer.step();
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tenon/object.hpp"
#include "tenon/ops/optim.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace optim {

// A handle to any optimizer. Its state_dict has the state of parameter i, counted over all groups,
// as "state.i.<name>"; states are made at the first step.
class Optimizer : public Object {
 public:
  Optimizer() = default;
  explicit Optimizer(Object object) : Object(std::move(object)) {}
  // By a factory's name; its first option is the list of parameters.
  template <typename... Options>
  static Optimizer create(const char* factory, const std::vector<Tensor>& parameters,
                          const Options&... options) {
    return Optimizer(Object::create(factory, parameters, options...));
  }

  // One step for all parameters that have a gradient. found_inf: a float tensor of one element;
  // nothing changes where it is not 0.
  void step(const Tensor& found_inf = {}) const { invoke<void>("step", found_inf); }

  // An option of all groups, and of one. Values as the factory's schema has them.
  template <typename T>
  void set_option(const char* name, const T& value) const {
    for (uint32_t i = 0; i < n_groups(); ++i) set_group_option(i, name, value);
  }
  template <typename T>
  void set_group_option(uint32_t group, const char* name, const T& value) const {
    const tn_value v = detail::to_value(value);
    check(detail::api.object->set_group_option(get(), group, name, &v));
  }
  template <typename T>
  T group_option(uint32_t group, const char* name) const {
    tn_value value;
    check(detail::api.object->group_option(get(), group, name, &value));
    return detail::Unpack<T>::borrow(value);
  }
  // The learning rate of the first group; of all groups.
  double lr() const { return group_option<double>(0, "lr"); }
  void set_lr(double lr) const { set_option("lr", lr); }

  // More parameters, with options of their own: add_group(head.parameters(), {{"lr", 1e-2}}).
  struct GroupOption {
    const char* name;
    tn_value value;
    template <typename T>
    GroupOption(const char* option, const T& v) : name(option), value(detail::to_value(v)) {}
  };
  void add_group(const std::vector<Tensor>& parameters,
                 const std::vector<GroupOption>& options = {}) const {
    std::vector<const char*> names;
    std::vector<tn_value> values;
    for (const GroupOption& option : options) {
      names.push_back(option.name);
      values.push_back(option.value);
    }
    const Tensors list(parameters);
    check(detail::api.object->add_group(get(), list.data(), list.size(), names.data(),
                                        values.data(), uint32_t(names.size())));
  }
  uint32_t n_groups() const { return detail::api.object->n_groups(get()); }
  std::vector<Tensor> group_parameters(uint32_t group) const {
    tn_tensor* const* tensors = nullptr;
    uint32_t n = 0;
    check(detail::api.object->group(get(), group, &tensors, &n));
    return Tensors(tensors, n).to_vector();
  }
};

// Stochastic gradient descent: g += weight_decay * p; buffer = momentum * buffer + (1 - dampening)
// * g, at first g itself; p -= lr * (buffer, or with nesterov g + momentum * buffer, or without
// momentum g).
struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;  // goes up instead: with the negated gradient
};
inline Optimizer SGD(const std::vector<Tensor>& parameters, const SGDOptions& options = {}) {
  return Optimizer::create("SGD", parameters, options.lr, options.momentum, options.dampening,
                           options.weight_decay, options.nesterov, options.maximize);
}

// Adam (Kingma and Ba, 2015, algorithm 1), with weight_decay added to the gradient.
struct AdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
};
inline Optimizer Adam(const std::vector<Tensor>& parameters, const AdamOptions& options = {}) {
  return Optimizer::create("Adam", parameters, options.lr, Floats(options.betas.data(), 2),
                           options.eps, options.weight_decay, options.maximize);
}

// Adam with weight decay beside the gradient (Loshchilov and Hutter, 2019): p shrinks by the factor
// 1 - lr * weight_decay.
struct AdamWOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool maximize = false;
};
inline Optimizer AdamW(const std::vector<Tensor>& parameters, const AdamWOptions& options = {}) {
  return Optimizer::create("AdamW", parameters, options.lr, Floats(options.betas.data(), 2),
                           options.eps, options.weight_decay, options.maximize);
}

// torch.nn.utils.clip_grad_norm_: scales the gradients of the parameters that have one so that
// their norm together is at most max_norm. Gives the norm before, on their device, which must be
// one.
inline Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                              double norm_type = 2) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    if (Tensor gradient = parameter.grad(); gradient.defined())
      gradients.push_back(std::move(gradient));
  }
  return tenon::clip_grad_norm_(gradients, max_norm, norm_type);
}

}  // namespace optim
}  // namespace v0
}  // namespace tenon
