// Hooks of modules: those in forward, and the functions of those in backward, which module_hooks.hpp
// calls.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/object/values.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// A hook of one tensor in each place, or of all in lists.
template <typename F, typename... T>
inline constexpr bool takes_one = std::is_invocable_v<F&, Object&, T...>;

[[noreturn]] inline void refuse_hook(tn_object* object, uint32_t n_args, uint32_t n_results) {
  const std::string type = api.object->type_name(object);
  if (n_args < 1) fail(type + ": a hook is given the first argument of forward, which has none");
  fail(joined({type, ": a forward hook is given one output, and forward gives ",
               std::to_string(n_results),
               ": a hook of std::vector<Tensor> inputs and outputs is given all"}));
}

// The tensors among values in order, those of lists too; null for None.
inline std::vector<Tensor> tensors_among(const tn_value* values, uint32_t n) {
  std::vector<Tensor> tensors;
  for (const tn_value* v = values; v != values + n; ++v) {
    if (v->kind == TN_KIND_TENSOR || v->kind == TN_KIND_NONE) {
      tensors.push_back(Unpack<Tensor>::borrow(*v));
    } else if (v->kind == TN_KIND_TENSORS) {
      for (Tensor& t : Unpack<std::vector<Tensor>>::borrow(*v)) tensors.push_back(std::move(t));
    }
  }
  return tensors;
}

// Gives to[i] the tensors of `given` that stand for values[i], where they are others. A value that is
// there already, as where `to` is `values`, is released.
inline void give_tensors(tn_object* object, const char* what, const tn_value* values, uint32_t n,
                         std::vector<Tensor> given, tn_value* to) {
  const std::vector<Tensor> before = tensors_among(values, n);
  if (given.size() != before.size()) {
    fail(joined({api.object->type_name(object), ": a hook gives ", std::to_string(given.size()),
                 " ", what, ", and forward has ", std::to_string(before.size())}));
  }
  size_t at = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const bool is_list = values[i].kind == TN_KIND_TENSORS;
    if (!is_list && values[i].kind != TN_KIND_TENSOR && values[i].kind != TN_KIND_NONE) continue;
    const size_t begin = at, end = at + (is_list ? values[i].count : 1);
    at = end;
    bool same = true;
    for (size_t k = begin; k < end; ++k) same = same && given[k].get() == before[k].get();
    if (same) continue;
    if (to == values) host()->value_release(&to[i]);
    if (is_list) {
      give(to[i],
           std::vector<Tensor>(given.begin() + ptrdiff_t(begin), given.begin() + ptrdiff_t(end)));
    } else {
      give(to[i], std::move(given[begin]));
    }
  }
}

// Brings what calls the backward hooks of an object behind its other hooks: set as soon as there are
// backward hooks of any (module_hooks.hpp).
using KeepLast = void (*)(tn_object* object);
inline constinit KeepLast keep_backward_hooks_last = nullptr;

// A hook in backward, of one kind or the other.
struct BackwardHookFunction {
  virtual ~BackwardHookFunction() = default;
  // What stands for the last list that is given; none: that stays. A pre-hook gets no grad_inputs,
  // and gives grad_outputs.
  virtual std::vector<Tensor> call(Object& self, const std::vector<Tensor>& grad_outputs,
                                   const std::vector<Tensor>& grad_inputs) = 0;
  uint64_t id = 0;
  bool takes_lists = false;
};
using BackwardHookFunctions = std::vector<std::shared_ptr<BackwardHookFunction>>;

// What a function gives, in a list: nothing, a Tensor, or a list.
template <typename F, typename... Grads>
std::vector<Tensor> gradients_of(F& f, Object& self, const Grads&... grads) {
  using Result = decltype(f(self, grads...));
  if constexpr (std::is_void_v<Result>) {
    f(self, grads...);
    return {};
  } else if constexpr (std::is_convertible_v<Result, Tensor>) {
    Tensor other = f(self, grads...);
    return other.defined() ? std::vector<Tensor>{std::move(other)} : std::vector<Tensor>();
  } else {
    return f(self, grads...);
  }
}
template <typename F>
struct FullBackwardHook final : BackwardHookFunction {
  static constexpr bool kTakesOne = takes_one<F, Tensor, Tensor>;
  F f;
  explicit FullBackwardHook(F function) : f(std::move(function)) { takes_lists = !kTakesOne; }
  std::vector<Tensor> call(Object& self, const std::vector<Tensor>& grad_outputs,
                           const std::vector<Tensor>& grad_inputs) override {
    if constexpr (kTakesOne) {
      std::vector<Tensor> others = gradients_of(f, self, grad_inputs[0], grad_outputs[0]);
      // Behind the first argument forward may have others.
      if (!others.empty()) others.insert(others.end(), grad_inputs.begin() + 1, grad_inputs.end());
      return others;
    } else {
      static_assert(takes_one<F, const std::vector<Tensor>&, const std::vector<Tensor>&>,
                    "a full backward hook is f(Object& self, Tensor grad_input, Tensor "
                    "grad_output) or f(Object& self, const std::vector<Tensor>& grad_inputs, const "
                    "std::vector<Tensor>& grad_outputs)");
      return gradients_of(f, self, grad_inputs, grad_outputs);
    }
  }
};
template <typename F>
struct FullBackwardPreHook final : BackwardHookFunction {
  static constexpr bool kTakesOne = takes_one<F, Tensor>;
  F f;
  explicit FullBackwardPreHook(F function) : f(std::move(function)) { takes_lists = !kTakesOne; }
  std::vector<Tensor> call(Object& self, const std::vector<Tensor>& grad_outputs,
                           const std::vector<Tensor>&) override {
    if constexpr (kTakesOne) {
      return gradients_of(f, self, grad_outputs[0]);
    } else {
      static_assert(takes_one<F, const std::vector<Tensor>&>,
                    "a full backward pre-hook is f(Object& self, Tensor grad_output) or f(Object& "
                    "self, const std::vector<Tensor>& grad_outputs)");
      return gradients_of(f, self, grad_outputs);
    }
  }
};

template <typename F>
ForwardHook add_hook(tn_object* object, tn_hook_kind kind, tn_forward_hook_fn call, F f,
                     uint32_t flags = 0) {
  void* self = Held<F>::make(std::move(f));
  uint64_t id = 0;
  if (tn_status* status =
          api.object->add_hook(object, kind, flags, call, self, Held<F>::destroy, &id)) {
    Held<F>::destroy(self);
    raise(status);
  }
  ForwardHook added(Object::borrow(object), id);
  if (const KeepLast keep_last = __atomic_load_n(&keep_backward_hooks_last, __ATOMIC_ACQUIRE))
    keep_last(object);
  return added;
}

}  // namespace detail

template <typename F>
ForwardHook Object::register_forward_pre_hook(F f, bool prepend) const {
  auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                 tn_value* replaced, uint32_t) -> tn_status* {
    return to_status([&] {
      Object handle = Object::borrow(object);
      F& hook = detail::Held<F>::get(self);
      if constexpr (detail::takes_one<F, Tensor>) {
        if (n_args < 1) detail::refuse_hook(object, n_args, 1);
        const Tensor input = detail::Unpack<Tensor>::borrow(args[0]);
        if constexpr (std::is_void_v<decltype(hook(handle, input))>) {
          hook(handle, input);
        } else if (Tensor other = hook(handle, input); other.defined()) {
          detail::give(replaced[0], std::move(other));
        }
      } else {
        static_assert(
            detail::takes_one<F, const std::vector<Tensor>&>,
            "a forward pre-hook is f(Object& self, Tensor input) or f(Object& self, const "
            "std::vector<Tensor>& inputs)");
        const std::vector<Tensor> inputs = detail::tensors_among(args, n_args);
        if constexpr (std::is_void_v<decltype(hook(handle, inputs))>) {
          hook(handle, inputs);
        } else if (std::vector<Tensor> others = hook(handle, inputs); !others.empty()) {
          detail::give_tensors(object, "inputs", args, n_args, std::move(others), replaced);
        }
      }
    });
  };
  return detail::add_hook(checked(), TN_HOOK_FORWARD_PRE, call, std::move(f),
                          prepend ? TN_HOOK_PREPEND : 0);
}

template <typename F>
ForwardHook Object::register_forward_hook(F f, bool prepend, bool always_call) const {
  auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                 tn_value* results, uint32_t n_results) -> tn_status* {
    return to_status([&] {
      Object handle = Object::borrow(object);
      F& hook = detail::Held<F>::get(self);
      if constexpr (detail::takes_one<F, Tensor, Tensor>) {
        if (n_args < 1 || n_results != 1) detail::refuse_hook(object, n_args, n_results);
        Tensor input = detail::Unpack<Tensor>::borrow(args[0]);
        Tensor output = detail::Unpack<Tensor>::borrow(results[0]);
        if constexpr (std::is_void_v<decltype(hook(handle, input, output))>) {
          hook(handle, input, output);
        } else if (Tensor replaced = hook(handle, input, output); replaced.defined()) {
          host()->value_release(&results[0]);
          detail::give(results[0], std::move(replaced));
        }
      } else {
        static_assert(detail::takes_one<F, const std::vector<Tensor>&, const std::vector<Tensor>&>,
                      "a forward hook is f(Object& self, Tensor input, Tensor output) or f(Object& "
                      "self, const "
                      "std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs)");
        const std::vector<Tensor> inputs = detail::tensors_among(args, n_args);
        const std::vector<Tensor> outputs = detail::tensors_among(results, n_results);
        if constexpr (std::is_void_v<decltype(hook(handle, inputs, outputs))>) {
          hook(handle, inputs, outputs);
        } else if (std::vector<Tensor> others = hook(handle, inputs, outputs); !others.empty()) {
          detail::give_tensors(object, "outputs", results, n_results, std::move(others), results);
        }
      }
    });
  };
  return detail::add_hook(checked(), TN_HOOK_FORWARD, call, std::move(f),
                          (prepend ? TN_HOOK_PREPEND : 0) | (always_call ? TN_HOOK_ALWAYS : 0));
}

}  // namespace v0
}  // namespace tenon
