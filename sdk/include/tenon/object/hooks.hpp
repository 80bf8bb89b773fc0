// Hooks of modules in forward. Those in backward are made of them, in module_hooks.hpp.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "tenon/object/values.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {
[[noreturn]] inline void refuse_hook(tn_object* object, uint32_t n_args, uint32_t n_results) {
  const std::string type = api.object->type_name(object);
  if (n_args < 1) fail(type + ": a hook is given the first argument of forward, which has none");
  fail(joined({type, ": a forward hook is given one output, and forward gives ",
               std::to_string(n_results),
               ": register_forward_pre_hook sees the input of such layers"}));
}
}  // namespace detail

template <typename F>
uint64_t Object::register_forward_pre_hook(F f) const {
  auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                 tn_value* replaced, uint32_t) -> tn_status* {
    return to_status([&] {
      if (n_args < 1) detail::refuse_hook(object, n_args, 1);
      Object handle = Object::borrow(object);
      const Tensor input = detail::Unpack<Tensor>::borrow(args[0]);
      F& hook = detail::Held<F>::get(self);
      if constexpr (std::is_void_v<decltype(hook(handle, input))>) {
        hook(handle, input);
      } else if (Tensor other = hook(handle, input); other.defined()) {
        detail::give(replaced[0], std::move(other));
      }
    });
  };
  tn_object* const object = checked();
  void* self = detail::Held<F>::make(std::move(f));
  uint64_t id = 0;
  if (tn_status* status = detail::api.object->add_forward_pre_hook(object, call, self,
                                                                   detail::Held<F>::destroy, &id)) {
    detail::Held<F>::destroy(self);
    detail::raise(status);
  }
  return id;
}

template <typename F>
uint64_t Object::register_forward_hook(F f) const {
  auto call = [](void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                 tn_value* results, uint32_t n_results) -> tn_status* {
    return to_status([&] {
      if (n_args < 1 || n_results != 1) detail::refuse_hook(object, n_args, n_results);
      Object handle = Object::borrow(object);
      Tensor input = detail::Unpack<Tensor>::borrow(args[0]);
      Tensor output = detail::Unpack<Tensor>::borrow(results[0]);
      F& hook = detail::Held<F>::get(self);
      if constexpr (std::is_void_v<decltype(hook(handle, input, output))>) {
        hook(handle, input, output);
      } else if (Tensor replaced = hook(handle, input, output); replaced.defined()) {
        host()->value_release(&results[0]);
        detail::give(results[0], std::move(replaced));
      }
    });
  };
  tn_object* const object = checked();
  void* self = detail::Held<F>::make(std::move(f));
  uint64_t id = 0;
  if (tn_status* status =
          detail::api.object->add_forward_hook(object, call, self, detail::Held<F>::destroy, &id)) {
    detail::Held<F>::destroy(self);
    detail::raise(status);
  }
  return id;
}

}  // namespace v0
}  // namespace tenon
