// A handle to any optimizer: its steps, groups and rates. The functions that make optimizers are in
// optim/optimizers.hpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"
#include "tenon/optim/group_options.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {
inline void expect_rate(const Object& optimizer, double lr) {
  if (!(lr >= 0)) {
    fail(joined({optimizer.type_name(), ": lr is ", number_text(lr), ", expected at least 0"}));
  }
}
[[noreturn]] inline void fail_of_tensor_option(const std::string& name) {
  fail(joined({"the option '", name, "' of a parameter group is given as a tensor, expected a ",
               "number, a list or a text: of one element tensor.item<double>()"}));
}
}  // namespace detail
namespace optim {

// One group of an optimizer, which lives as long as its handles: its parameters, and options by
// their names: for (auto& group : optimizer.param_groups()) group.set_lr(group.lr() / 2).
class ParamGroup {
 public:
  ParamGroup(Object optimizer, uint32_t index) : optimizer_(std::move(optimizer)), index_(index) {}
  std::vector<Tensor> parameters() const {
    tn_tensor* const* tensors = nullptr;
    uint32_t n = 0;
    check(detail::api.object->group(optimizer_.get(), index_, &tensors, &n));
    return Tensors(tensors, n).to_vector();
  }
  template <typename T>
  T option(TextRef name) const {
    return detail::option_value<T>(optimizer_.type_name(), name.c_str(), value(name));
  }
  template <typename T>
  void set_option(TextRef name, const T& value) const {
    const tn_value v = detail::to_value(value);
    check(detail::api.object->set_group_option(optimizer_.get(), index_, name.c_str(), &v));
  }
  // See Optimizer::group_number.
  Tensor number(TextRef name) const {
    tn_tensor* holder = nullptr;
    check(detail::api.object->group_number(optimizer_.get(), index_, name.c_str(), &holder));
    return Tensor::borrow(holder);
  }
  double lr() const { return option<double>("lr"); }
  void set_lr(double lr) const {
    detail::expect_rate(optimizer_, lr);
    set_option("lr", lr);
  }
  // An option to read and to set: group["lr"] = 0.1; const double lr = group["lr"]; a number is a double.
  // What may be None is read by option<std::optional<double>>("name").
  class Option;
  Option operator[](const char* name) const;

 private:
  // Borrowed from the optimizer.
  tn_value value(TextRef name) const {
    tn_value value;
    check(detail::api.object->group_option(optimizer_.get(), index_, name.c_str(), &value));
    return value;
  }

  Object optimizer_;
  uint32_t index_;
};
class ParamGroup::Option {
 public:
  Option(ParamGroup group, const char* name) : group_(std::move(group)), name_(name) {}
  operator double() const {
    const tn_value value = group_.value(name_);
    const bool is_whole = value.kind == TN_KIND_INT || value.kind == TN_KIND_BOOL;
    return is_whole ? double(value.as.i) : group_.option<double>(name_);
  }
  template <typename T>
  requires std::is_class_v<T>
  operator T() const { return group_.option<T>(name_); }
  template <typename T>
  void operator=(const T& value) && {
    if constexpr (std::is_base_of_v<Tensor, T>) {
      detail::fail_of_tensor_option(name_);
    } else {
      if constexpr (std::is_arithmetic_v<T>) {
        if (name_ == "lr") detail::expect_rate(group_.optimizer_, double(value));
      }
      group_.set_option(name_, value);
    }
  }
  void operator=(std::initializer_list<double> values) && {
    group_.set_option(name_, std::vector<double>(values));
  }
  void operator*=(double x) && { std::move(*this) = double(*this) * x; }
  void operator/=(double x) && { std::move(*this) = double(*this) / x; }
  void operator+=(double x) && { std::move(*this) = double(*this) + x; }
  void operator-=(double x) && { std::move(*this) = double(*this) - x; }

 private:
  ParamGroup group_;
  std::string name_;
};
inline ParamGroup::Option ParamGroup::operator[](const char* name) const { return {*this, name}; }

// An option of one group by its name, {"lr", 1e-2}; lists and texts it keeps itself.
class GroupOption {
 public:
  template <typename T>
  GroupOption(std::string name, const T& value) : name_(std::move(name)) {
    if constexpr (std::is_base_of_v<Tensor, T>) {
      detail::fail_of_tensor_option(name_);
    } else if constexpr (std::is_convertible_v<const T&, std::string>) {
      text_ = value;
      kept_ = Kept::text;
    } else if constexpr (!std::is_arithmetic_v<T> && std::is_convertible_v<const T&, Floats>) {
      const Floats list(value);
      list_.assign(list.begin(), list.end());
      kept_ = Kept::list;
    } else {
      value_ = detail::to_value(value);
    }
  }
  GroupOption(std::string name, std::initializer_list<double> values)
      : name_(std::move(name)), kept_(Kept::list), list_(values) {}
  const char* name() const { return name_.c_str(); }
  // Borrowed from this.
  tn_value value() const {
    return kept_ == Kept::text   ? detail::to_value(text_)
           : kept_ == Kept::list ? detail::to_value(list_)
                                 : value_;
  }

 private:
  enum class Kept { value, text, list };

  std::string name_;
  Kept kept_ = Kept::value;
  tn_value value_ = {};
  std::string text_;
  std::vector<double> list_;
};

// A handle to any optimizer; states are made at the first step.
class Optimizer : public Object {
 public:
  Optimizer() = default;
  // An Error where it is a layer.
  explicit Optimizer(Object object) : Object(std::move(object)) {
    if (defined() && kind() == TN_OBJECT_LAYER)
      fail(type_name() + " is a layer, expected an optimizer");
  }
  // By a factory's name; its first option is the list of parameters.
  template <typename... Options>
  static Optimizer create(TextRef factory, const std::vector<Tensor>& parameters,
                          const Options&... options) {
    return Optimizer(Object::create(factory, parameters, options...)).expect_step();
  }
  // This one; an Error where it has no step as its steps are called. Of who makes it.
  const Optimizer& expect_step() const {
    const char* schema = nullptr;
    tn_status* const absent = detail::api.object->method_schema(checked(), "step", &schema);
    ignore(absent);
    bool fits = false;
    const auto see = [](void* context, const tn_schema* step) {
      constexpr uint32_t kWanted = 1u << TN_KIND_TENSOR | 1u << TN_KIND_NONE;
      *static_cast<bool*>(context) = step->n_results == 0 && step->n_arguments > 0 &&
                                     (step->arguments[0].kinds & kWanted) == kWanted;
    };
    if (!absent) check(detail::api.schema->read(schema, see, &fits));
    if (!fits) {
      fail(detail::joined({type_name(), absent ? " has no method 'step'" : ": its step is '",
                           absent ? "" : schema, absent ? "" : "'",
                           ", expected 'step(Tensor? found_inf=None) -> ()': an optimizer's step ",
                           "takes what a GradScaler found, or None"}));
    }
    return *this;
  }

  // PyTorch's layout: the state of parameter i, counted over all groups, as "state.i.<name>", then
  // of each group its parameters, rate and other options ("param_groups.0.params",
  // "param_groups.0.lr", optim/group_options.hpp).
  NamedTensors state_dict() const {
    detail::call_state_pre_hooks(*this, "");
    NamedTensors list = whole_state();
    detail::call_state_hooks(*this, "", list);
    return list;
  }
  // Copies states in and sets the options of all groups; where an Error is thrown options are as
  // before. strict: names must match one to one, but a parameter of which the dict has no state, as
  // before a first step, has none afterwards. Without it states alone are loaded where the dict has
  // no groups, and what only one side has is left. Hooks of states are the Object's; they see the
  // whole state with its groups.
  IncompatibleKeys load_state_dict(const NamedTensors& state, bool strict = true) const {
    if (!detail::has_hooks(*this, TN_HOOK_LOAD_PRE) && !detail::has_hooks(*this, TN_HOOK_LOAD))
      return load_whole(state, strict);
    detail::HookedLoad load{state, strict, {}, {}};
    detail::call_load_pre_hooks(*this, "", load);
    if (!load.errors.empty()) detail::refuse_load(load.errors);
    if (strict) detail::expect_no_keys(*this, load.keys, false);
    const IncompatibleKeys found = load_whole(load.state, strict);
    IncompatibleKeys& keys = load.keys;
    keys.missing_keys.insert(keys.missing_keys.end(), found.missing_keys.begin(),
                             found.missing_keys.end());
    keys.unexpected_keys.insert(keys.unexpected_keys.end(), found.unexpected_keys.begin(),
                                found.unexpected_keys.end());
    detail::call_load_hooks(*this, "", keys);
    if (strict) detail::expect_no_keys(*this, keys, true);
    return keys;
  }

  using Object::zero_grad;
  // false: gradients that are there become zeros and stay, but for row-sparse ones.
  void zero_grad(bool set_to_none) const {
    if (set_to_none) return zero_grad();
    const NoGrad scope;
    for (const ParamGroup& group : param_groups()) {
      for (const Tensor& parameter : group.parameters()) {
        const Tensor gradient = parameter.grad();
        if (gradient.defined() && gradient.is_row_sparse()) parameter.zero_grad();
        if (gradient.defined() && !gradient.is_row_sparse()) gradient.detach().zero_();
      }
    }
  }
  // One step for all parameters that have a gradient. found_inf: a float tensor of one element;
  // nothing changes where it is not 0.
  void step(const Tensor& found_inf = {}) const { invoke<void>("step", found_inf); }

  // For optimizers that evaluate the loss themselves, as LBFGS does: the closure clears the
  // gradients, computes the loss, calls backward and gives the loss. Others call it once and step.
  // Gives the first loss.
  template <typename F>
  requires std::is_invocable_r_v<Tensor, F&> Tensor step(F closure)
  const {
    if (takes_closure()) {
      const Object function = Object::empty("Closure", TN_OBJECT_OTHER);
      function.method("call() -> Tensor", [&closure]() -> Tensor { return closure(); });
      return invoke<Tensor>("step_with", function);
    }
    Tensor loss;
    {
      const EnableGrad grad;
      loss = closure();
    }
    step();
    return loss;
  }

  // Hooks of a step, f(Optimizer&) or f(), before it and after it; by a closure the loss was computed
  // then, unless the step does that itself. What f throws leaves step(), and nothing is changed where that
  // is before it. A compiled function that makes such a step runs eagerly.
  template <typename F>
  ForwardHook register_step_pre_hook(F f) const {
    return add_step_hook(TN_HOOK_FORWARD_PRE, std::move(f));
  }
  template <typename F>
  ForwardHook register_step_post_hook(F f) const {
    return add_step_hook(TN_HOOK_FORWARD, std::move(f));
  }

  // An option of all groups, and of one. Values as the factory's schema has them.
  template <typename T>
  void set_option(TextRef name, const T& value) const {
    for (uint32_t i = 0; i < n_groups(); ++i) set_group_option(i, name, value);
  }
  template <typename T>
  void set_group_option(uint32_t group, TextRef name, const T& value) const {
    set_group_value(group, name, detail::to_value(value));
  }
  void set_group_value(uint32_t group, TextRef name, const tn_value& value) const {
    check(detail::api.object->set_group_option(get(), group, name.c_str(), &value));
  }
  template <typename T>
  T group_option(uint32_t group, TextRef name) const {
    tn_value value;
    check(detail::api.object->group_option(get(), group, name.c_str(), &value));
    return detail::Unpack<T>::borrow(value);
  }
  // For who writes an optimizer: the tensor on cpu that holds an option which the factory's schema
  // calls dynamic, as what an op calls dynamic takes it. A compiled step reads it at each replay; a
  // number that is read by group_option or lr() has it recorded anew where it changes.
  Tensor group_number(uint32_t group, TextRef name) const {
    return ParamGroup(*this, group).number(name);
  }
  // The learning rate of the first group; of all groups.
  double lr() const { return group_option<double>(0, "lr"); }
  void set_lr(double lr) const {
    detail::expect_rate(*this, lr);
    set_option("lr", lr);
  }

  // More parameters, with options of their own: add_group(head.parameters(), {{"lr", 1e-2}}).
  void add_group(const std::vector<Tensor>& parameters,
                 const std::vector<GroupOption>& options = {}) const {
    std::vector<const char*> names;
    std::vector<tn_value> values;
    for (const GroupOption& option : options) {
      names.push_back(option.name());
      values.push_back(option.value());
    }
    const Tensors list(parameters);
    check(detail::api.object->add_group(get(), list.data(), list.size(), names.data(),
                                        values.data(), uint32_t(names.size())));
  }
  // The same by PyTorch's name.
  void add_param_group(const std::vector<Tensor>& parameters,
                       const std::vector<GroupOption>& options = {}) const {
    add_group(parameters, options);
  }
  // Whether its step evaluates the loss itself.
  bool takes_closure() const {
    const char* schema = nullptr;
    tn_status* const absent = detail::api.object->method_schema(get(), "step_with", &schema);
    ignore(absent);
    return !absent;
  }
  uint32_t n_groups() const { return detail::api.object->n_groups(checked()); }
  std::vector<ParamGroup> param_groups() const {
    std::vector<ParamGroup> groups;
    for (uint32_t i = 0; i < n_groups(); ++i) groups.emplace_back(*this, i);
    return groups;
  }
  std::vector<Tensor> group_parameters(uint32_t group) const {
    tn_tensor* const* tensors = nullptr;
    uint32_t n = 0;
    check(detail::api.object->group(get(), group, &tensors, &n));
    return Tensors(tensors, n).to_vector();
  }

 private:
  NamedTensors whole_state() const {
    NamedTensors list = state_entries(false);
    for (auto& entry : detail::GroupOptions(*this).get()) list.push_back(std::move(entry));
    return list;
  }
  IncompatibleKeys load_whole(const NamedTensors& state, bool strict) const {
    const detail::GroupOptions options(*this);
    NamedTensors states, groups;
    for (const auto& entry : state)
      (detail::GroupOptions::is_name(entry.first) ? groups : states).push_back(entry);
    if (groups.empty() && !strict) {
      load_entries(states, strict);
      return incompatible_keys(states);
    }
    options.expect_fit(groups, strict);
    expect_counts(states);
    const NamedTensors before = options.get();
    const NamedTensors without = strict ? states_without(states) : NamedTensors();
    states.insert(states.end(), without.begin(), without.end());
    try {
      options.set(groups, strict);
      Object::load_entries(states, strict);
      for (const auto& [name, tensor] : without) {
        const size_t point = name.rfind('.');
        get_submodule(name.substr(0, point))
            .set(name.c_str() + point + 1, Tensor(), TN_ENTRY_STATE);
      }
    } catch (...) {
      options.set(before, /*strict=*/true);
      throw;
    }
    if (strict) return {};
    IncompatibleKeys keys;
    const NamedTensors own = whole_state();
    for (const auto& [name, tensor] : own)
      if (!state.contains(name)) keys.missing_keys.push_back(name);
    for (const auto& [name, tensor] : state)
      if (!own.contains(name)) keys.unexpected_keys.push_back(name);
    return keys;
  }
  template <typename F>
  ForwardHook add_step_hook(tn_hook_kind kind, F f) const {
    const auto call = [](void* self, tn_object* object, const tn_value*, uint32_t, tn_value*,
                         uint32_t) -> tn_status* {
      return to_status([&] {
        F& hook = detail::Held<F>::get(self);
        if constexpr (std::is_invocable_v<F&>) {
          hook();
        } else {
          static_assert(std::is_invocable_v<F&, Optimizer&>,
                        "a hook of a step is f(tenon::optim::Optimizer& optimizer) or f()");
          Optimizer optimizer(Object::borrow(object));
          hook(optimizer);
        }
      });
    };
    return detail::add_hook(checked(), kind, call, std::move(f));
  }
  // An Error where "state.3.step", of which rates and corrections are made, is no count.
  static void expect_counts(const NamedTensors& states) {
    for (const auto& [name, tensor] : states) {
      if (!name.ends_with(".step") || !tensor.defined() || tensor.numel() != 1 ||
          !tensor.device().is_cpu())
        continue;
      const auto count = tensor.item<double>();
      // NaN is in no range.
      if (count >= 0 && count < 9.2e18) continue;
      fail(detail::joined({"load_state_dict: '", messages::printable(name), "' is ",
                           detail::number_text(count),
                           " in the state_dict, expected a count from 0"}));
    }
  }
  // The own entries "state.3.exp_avg" of the parameters of which `given` has none.
  NamedTensors states_without(const NamedTensors& given) const {
    NamedTensors missing;
    for (const auto& entry : state_entries(false)) {
      const std::string parameter = entry.first.substr(0, entry.first.rfind('.') + 1);
      bool found = !parameter.starts_with("state.");
      for (const auto& other : given) found = found || other.first.starts_with(parameter);
      if (!found) missing.push_back(entry);
    }
    return missing;
  }
};

}  // namespace optim
}  // namespace v0
}  // namespace tenon
