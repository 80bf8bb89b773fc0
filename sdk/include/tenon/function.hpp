// C++ functions at C borders: what a lambda takes and gives, its call with tn_values, and its life
// on the heap. Used by objects, hooks, custom gradients and the registrar.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "tenon/fields.hpp"
#include "tenon/named_results.hpp"
#include "tenon/value.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

template <typename F>
struct SignatureOf : SignatureOf<decltype(&F::operator())> {};
template <typename R, typename... A>
struct SignatureOf<R (*)(A...)> {
  using Result = R;
  using Args = std::tuple<std::remove_cvref_t<A>...>;
};
template <typename C, typename R, typename... A>
struct SignatureOf<R (C::*)(A...)> : SignatureOf<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct SignatureOf<R (C::*)(A...) const> : SignatureOf<R (*)(A...)> {};
template <typename R, typename... A>
struct SignatureOf<R (*)(A...) noexcept> : SignatureOf<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct SignatureOf<R (C::*)(A...) noexcept> : SignatureOf<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct SignatureOf<R (C::*)(A...) const noexcept> : SignatureOf<R (*)(A...)> {};

template <typename F>
using ResultOf = typename SignatureOf<std::decay_t<F>>::Result;
template <typename F>
using ArgsOf = typename SignatureOf<std::decay_t<F>>::Args;
template <typename F>
inline constexpr size_t kArity = std::tuple_size_v<ArgsOf<F>>;

// The last part of T's name: "Net" of app::Net and of app::Net<int>.
template <typename T>
std::string class_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.find("T = ") + 4);
  text = text.substr(0, text.rfind(']'));
  text = text.substr(0, text.find(';'));
  // What encloses it may have brackets of its own: f<int>(int)::<lambda()>::Name<T>.
  size_t begin = 0, end = text.size();
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':' && depth == 0) begin = i + 1, end = text.size();
    if (c == '<' && depth == 0 && i > begin) end = i;
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
  }
  return std::string(text.substr(begin, end - begin));
}

// Without its first type: methods take the object first.
template <typename T>
struct Tail;
template <typename T, typename... Rest>
struct Tail<std::tuple<T, Rest...>> {
  using type = std::tuple<Rest...>;
};

[[noreturn, gnu::cold, gnu::noinline]] inline void wrong_count(const char* what, size_t takes,
                                                               size_t got) {
  fail(joined({"C++ code ", what, " ", std::to_string(takes), " values where the schema has ",
               std::to_string(got)}));
}

// Owned values of results.
inline void give(tn_value& v, Tensor x) {
  v = to_value(x);
  x.release();
}
template <typename T>
requires std::is_arithmetic_v<T>
void give(tn_value& v, T x) { v = to_value(x); }
// Not of what a Dtype or a Device can be made of: text is none.
template <typename T>
requires(std::is_same_v<T, Dtype> || std::is_same_v<T, Device>) void give(tn_value& v, T x) {
  v = to_value(x);
}
inline void give(tn_value& v, Object x);  // object/values.hpp
// A result that is a list.
inline void give(tn_value& v, std::vector<Tensor> x) {
  const tn_value borrowed = to_value(x);
  check(host()->value_copy(&borrowed, &v));
}
template <typename T>
void give(tn_value& v, std::optional<T> x) {
  if (x) {
    give(v, std::move(*x));
  } else {
    v = to_value(none);
  }
}

template <typename T>
struct IsSequence : std::false_type {};
template <>
struct IsSequence<std::vector<Tensor>> : std::true_type {};
template <size_t N>
struct IsSequence<std::array<Tensor, N>> : std::true_type {};
template <size_t N>
struct IsSequence<TensorArray<N>> : std::true_type {};
template <typename T>
struct IsTuple : std::bool_constant<IsNamedResults<T>> {};
template <typename... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <typename A, typename B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

// One of the values that a function in C++ gives.
template <typename T>
struct IsResultValue : std::bool_constant<std::is_arithmetic_v<T> || std::is_base_of_v<Tensor, T> ||
                                          std::is_same_v<T, std::vector<Tensor>>> {};
template <typename T>
struct IsResultValue<std::optional<T>>
    : std::bool_constant<std::is_arithmetic_v<T> || std::is_same_v<T, Tensor>> {};

// The fields of a struct of such values, as a tuple of them; void: it is none.
template <typename T>
struct FieldsOf {
  using type = void;
};
template <typename T>
requires(!IsSequence<T>::value && !IsTuple<T>::value && n_fields<T>() > 0 &&
         n_fields<T>() <= kMostFields) struct FieldsOf<T> {
  template <typename>
  struct Values {
    using type = void;
  };
  template <typename... Field>
  requires(
      IsResultValue<std::remove_cvref_t<Field>>::value&&...) struct Values<std::tuple<Field...>> {
    using type = std::tuple<std::remove_cvref_t<Field>...>;
  };
  using type = typename Values<decltype(fields_of(std::declval<T&>()))>::type;
};
template <typename T>
concept IsStructOfValues = !std::is_void_v<typename FieldsOf<T>::type>;
// What stands for it among values: a struct's fields, anything else as it is.
template <typename T>
decltype(auto) values_of_result(T&& result) {
  if constexpr (IsStructOfValues<T>) {
    return typename FieldsOf<T>::type(fields_of(result));
  } else {
    return std::forward<T>(result);
  }
}

// Writes what C++ code gave into n results: nothing, a value, a tuple, or a list of tensors.
template <typename R>
void give_all(R&& result, tn_value* results, uint32_t n) {
  using T = std::decay_t<R>;
  if constexpr (IsSequence<T>::value) {
    if (result.size() != n) wrong_count("gives", result.size(), n);
    for (uint32_t i = 0; i < n; ++i) give(results[i], std::move(result[i]));
  } else if constexpr (IsTuple<T>::value) {
    if (std::tuple_size_v<T> != n) wrong_count("gives", std::tuple_size_v<T>, n);
    [&]<size_t... I>(std::index_sequence<I...>) {
      (give(results[I], std::move(std::get<I>(result))), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    if (n != 1) wrong_count("gives", 1, n);
    give(results[0], std::forward<R>(result));
  }
}

// Calls f(first..., arguments...) with the arguments as its parameters want them.
template <typename ArgTuple, typename F, typename... First>
decltype(auto) apply_values(F& f, const tn_value* args, uint32_t n_args, First&... first) {
  constexpr size_t kCount = std::tuple_size_v<ArgTuple>;
  if (kCount != n_args) [[unlikely]]
    wrong_count("takes", kCount, n_args);
  return [&]<size_t... I>(std::index_sequence<I...>)->decltype(auto) {
    return f(first..., Unpack<std::tuple_element_t<I, ArgTuple>>::borrow(args[I])...);
  }
  (std::make_index_sequence<kCount>());
}

// As apply_values, with the results written.
template <typename ArgTuple, typename F, typename... First>
void call_values(F& f, const tn_value* args, uint32_t n_args, tn_value* results, uint32_t n_results,
                 First&... first) {
  using R = decltype(apply_values<ArgTuple>(f, args, n_args, first...));
  if constexpr (std::is_void_v<R>) {
    if (n_results != 0) wrong_count("gives", 0, n_results);
    apply_values<ArgTuple>(f, args, n_args, first...);
  } else {
    give_all(apply_values<ArgTuple>(f, args, n_args, first...), results, n_results);
  }
}

// A function on the heap as `self` and `destroy` of a C struct.
template <typename F>
struct Held {
  static void* make(F f) { return new F(std::move(f)); }
  static void destroy(void* self) { delete static_cast<F*>(self); }
  static F& get(void* self) { return *static_cast<F*>(self); }
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
