// Hooks of modules in forward. Those in backward are made of them, in module_hooks.hpp.
#pragma once

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

using AddHook = tn_status* (*)(tn_object*, tn_forward_hook_fn, void*, void (*)(void*), uint64_t*);
template <typename F>
ForwardHook add_hook(AddHook add, tn_object* object, tn_forward_hook_fn call, F f) {
  void* self = Held<F>::make(std::move(f));
  uint64_t id = 0;
  if (tn_status* status = add(object, call, self, Held<F>::destroy, &id)) {
    Held<F>::destroy(self);
    raise(status);
  }
  return {Object::borrow(object), id};
}

}  // namespace detail

template <typename F>
ForwardHook Object::register_forward_pre_hook(F f) const {
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
  return detail::add_hook(detail::api.object->add_forward_pre_hook, checked(), call, std::move(f));
}

template <typename F>
ForwardHook Object::register_forward_hook(F f) const {
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
  return detail::add_hook(detail::api.object->add_forward_hook, checked(), call, std::move(f));
}

}  // namespace v0
}  // namespace tenon
