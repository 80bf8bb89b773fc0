// A handle to any optimizer: its steps, groups and rates. The functions that make optimizers are in
// optim/optimizers.hpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tenon/object.hpp"

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

}  // namespace optim
}  // namespace v0
}  // namespace tenon
