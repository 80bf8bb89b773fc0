// Methods of objects from lambdas of C++: Object::method.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tenon/function.hpp"
#include "tenon/object/values.hpp"
#include "tenon/signature.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

template <typename ArgTuple>
struct Whole {
  using type = ArgTuple;
};
template <typename ArgTuple>
inline constexpr bool kTakesSelf = false;
template <typename... Rest>
inline constexpr bool kTakesSelf<std::tuple<Object, Rest...>> = true;

// A method's C function over f(Object& self, ...) or f(...).
template <typename F>
tn_status* call_method(void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                       tn_value* results, uint32_t n_results) {
  return to_status([&] {
    using Args = ArgsOf<F>;
    if constexpr (kTakesSelf<Args>) {
      Object handle = Object::borrow(object);
      call_values<typename Tail<Args>::type>(Held<F>::get(self), args, n_args, results, n_results,
                                             handle);
    } else {
      call_values<Args>(Held<F>::get(self), args, n_args, results, n_results);
    }
  });
}

// Of a method whose one result is a list.
template <typename F>
tn_status* call_method_of_list(void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                               tn_value* results, uint32_t) {
  return to_status([&] {
    using Args = ArgsOf<F>;
    if constexpr (kTakesSelf<Args>) {
      Object handle = Object::borrow(object);
      give(results[0],
           apply_values<typename Tail<Args>::type>(Held<F>::get(self), args, n_args, handle));
    } else {
      give(results[0], apply_values<Args>(Held<F>::get(self), args, n_args));
    }
  });
}

// Objects of one factory have the same methods: a function and a schema are compared once.
template <typename F>
void check_method(tn_object* object, const char* schema) {
  static const char* seen = nullptr;
  if (!schema || __atomic_load_n(&seen, __ATOMIC_RELAXED) == schema) return;
  using Args = ArgsOf<F>;
  using Values = typename std::conditional_t<kTakesSelf<Args>, Tail<Args>, Whole<Args>>::type;
  const std::string_view text = schema;
  check_signature(
      {joined({api.object->type_name(object), ": method '", text.substr(0, text.find('(')), "'"}),
       schema},
      signature<Values, ResultOf<F>>("function"));
  __atomic_store_n(&seen, schema, __ATOMIC_RELAXED);
}

}  // namespace detail

template <typename F>
const Object& Object::method(const char* schema, F f) const {
  tn_object* const object = checked();
  detail::check_method<F>(object, schema);
  tn_method_fn call = detail::call_method<F>;
  if constexpr (detail::kGivesTensors<detail::ResultOf<F>>) {
    if (schema && detail::gives_one_list(schema)) call = detail::call_method_of_list<F>;
  }
  void* self = detail::Held<F>::make(std::move(f));
  if (tn_status* status =
          detail::api.object->add_method(object, schema, call, self, detail::Held<F>::destroy)) {
    detail::Held<F>::destroy(self);
    detail::raise(status);
  }
  return *this;
}

}  // namespace v0
}  // namespace tenon
