// How a class of modules' `forward` becomes the method of its object: the schema that its parameters and
// its result give, and the call with arguments of the contract. A part of module.hpp.
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/module_members.hpp"
#include "tenon/object.hpp"
#include "tenon/unregistered.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

template <typename T>
constexpr const char* schema_type() {
  using U = std::remove_cvref_t<T>;
  if constexpr (std::is_base_of_v<Tensor, U>) {
    return "Tensor";
  } else if constexpr (std::is_same_v<U, std::optional<Tensor>>) {
    return "Tensor?";
  } else if constexpr (std::is_same_v<U, std::vector<Tensor>>) {
    return "Tensor[]";
  } else if constexpr (std::is_same_v<U, std::optional<bool>>) {
    return "bool?";
  } else if constexpr (std::is_same_v<U, std::optional<int64_t>>) {
    return "int?";
  } else if constexpr (std::is_same_v<U, std::optional<double>>) {
    return "float?";
  } else if constexpr (std::is_same_v<U, bool>) {
    return "bool";
  } else if constexpr (std::is_integral_v<U>) {
    return "int";
  } else if constexpr (std::is_floating_point_v<U>) {
    return "float";
  } else if constexpr (std::is_same_v<U, std::vector<int64_t>>) {
    return "int[]";
  } else {
    static_assert(std::is_same_v<U, std::string>,
                  "forward takes Tensors, numbers and bools, std::optional of these, vectors of "
                  "Tensors or int64_t, and std::string");
    return "str";
  }
}

// Whether m.forward(x...) can be called with the first arguments of its parameters' types alone.
template <typename T, typename ArgTuple, size_t... I>
constexpr bool forward_takes(std::index_sequence<I...>) {
  return requires(T & m, ArgTuple & args) { m.forward(std::get<I>(args)...); };
}
// How many arguments `forward` needs: those behind have defaults in C++.
template <typename T, typename ArgTuple>
constexpr size_t forward_needs() {
  size_t needed = std::tuple_size_v<ArgTuple>;
  [&]<size_t... I>(std::index_sequence<I...>) {
    const bool takes[] = {true, forward_takes<T, ArgTuple>(std::make_index_sequence<I>())...};
    while (needed > 0 && takes[needed]) --needed;
  }
  (std::make_index_sequence<std::tuple_size_v<ArgTuple>>());
  return needed;
}

template <typename T>
struct IsArray : std::false_type {};
template <size_t N>
struct IsArray<std::array<Tensor, N>> : std::true_type {};
template <size_t N>
struct IsArray<TensorArray<N>> : std::true_type {};

// "forward(Tensor x0, int? x1=None) -> Tensor" of a member function, whose arguments from the
// `needed`th on may be left out, as may std::optional ones at its end.
template <typename ArgTuple, typename Result>
std::string method_schema(const char* name, size_t needed) {
  constexpr size_t kCount = std::tuple_size_v<ArgTuple>;
  std::vector<std::string> types = [&]<size_t... I>(std::index_sequence<I...>) {
    return std::vector<std::string>{schema_type<std::tuple_element_t<I, ArgTuple>>()...};
  }
  (std::make_index_sequence<kCount>());
  for (size_t i = needed; i < kCount; ++i) {
    if (!types[i].ends_with('?')) types[i] += '?';
  }
  while (needed > 0 && types[needed - 1].ends_with('?')) --needed;
  std::string text = name;
  for (size_t i = 0; i < kCount; ++i) {
    text += joined({i == 0 ? "(" : ", ", types[i], " x", std::to_string(i)});
    if (i >= needed) text += "=None";
  }
  if (kCount == 0) text += "(";
  text += ") -> ";
  if constexpr (IsArray<Result>::value) {
    for (size_t i = 0; i < std::tuple_size_v<Result>; ++i) text += i == 0 ? "(Tensor" : ", Tensor";
    text += ")";
  } else if constexpr (IsTuple<Result>::value) {
    text += "(";
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((text += std::string(I ? ", " : "") + schema_type<std::tuple_element_t<I, Result>>()), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Result>>());
    text += ")";
  } else {
    text += schema_type<Result>();
  }
  return text;
}

template <typename T>
concept HasForward = requires {
  &T::forward;
};
template <typename T>
concept HasRightInverse = requires {
  &T::right_inverse;
};
// What Module::forward, which a `forward` of the class hides, is called with, and gives.
struct WhichForward {};
struct NoForwardOfItsOwn {};
template <typename T>
constexpr bool forward_is_clear() {
  if constexpr (HasForward<T>) {
    return true;
  } else {
    return requires(T & module) {
      { module.forward(WhichForward()) } -> std::same_as<NoForwardOfItsOwn>;
    };
  }
}

// What the method `forward` gives.
template <typename T>
struct IsForwardResult : std::bool_constant<std::is_arithmetic_v<T> ||
                                            std::is_base_of_v<Tensor, T> || IsSequence<T>::value> {
};
template <typename T>
struct IsForwardResult<std::optional<T>> : IsForwardResult<T> {};
template <IsNamedResults T>
struct IsForwardResult<T> : std::true_type {};
template <typename... T>
struct IsForwardResult<std::tuple<T...>> : std::bool_constant<(IsResultValue<T>::value && ...)> {};
template <typename A, typename B>
struct IsForwardResult<std::pair<A, B>> : IsForwardResult<std::tuple<A, B>> {};
template <IsStructOfValues T>
struct IsForwardResult<T> : std::true_type {};

// A T that lives in its object.
template <typename T>
struct LivingModule {
  std::unique_ptr<T, DestroyModule<T>> module;
  ModuleMembers members;
  ~LivingModule() {
    if (module) UnregisteredThings::of_process().take(module->get());
    members.stop();  // before the module ends, whose destructor may ask for its children
  }
};
// One without `forward`: a part of another, or one with methods of its own.
template <typename T>
struct NoForward : LivingModule<T> {
  static std::string schema() { return "has_no_forward() -> ()"; }
  static tn_status* invoke(void*, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) {
    return nullptr;
  }
};
// The method `forward` of a T; lives in the object, and the T with it.
template <typename T>
struct ForwardOf : LivingModule<T> {
  using Parameters = ArgsOf<decltype(&T::forward)>;
  using Result = std::remove_cvref_t<ResultOf<decltype(&T::forward)>>;
  static constexpr size_t kNeeded = forward_needs<T, Parameters>();
  using LivingModule<T>::module;
  static_assert(
      IsForwardResult<Result>::value,
      "forward gives a Tensor, a number, a std::optional<Tensor>, several of these in a tuple, "
      "pair, array or struct, or a vector of Tensors");
  using Values = std::remove_cvref_t<decltype(values_of_result(std::declval<Result>()))>;
  static std::string schema() { return method_schema<Parameters, Values>("forward", kNeeded); }
  // With the first N of the arguments, less those at the end that are None and have a default.
  template <size_t N>
  Result call(const tn_value* args) {
    if constexpr (N > kNeeded) {
      if (args[N - 1].kind == TN_KIND_NONE) return call<N - 1>(args);
    }
    return [&]<size_t... I>(std::index_sequence<I...>)->Result {
      return module->forward(Unpack<std::tuple_element_t<I, Parameters>>::borrow(args[I])...);
    }
    (std::make_index_sequence<N>());
  }
  static tn_status* invoke(void* self, tn_object*, const tn_value* args, uint32_t n_args,
                           tn_value* results, uint32_t n_results) {
    return to_status([&] {
      constexpr size_t kCount = std::tuple_size_v<Parameters>;
      if (n_args != kCount) wrong_count("takes", kCount, n_args);
      static_cast<ForwardOf*>(self)->members.before_forward();
      auto result = static_cast<ForwardOf*>(self)->template call<kCount>(args);
      if constexpr (std::is_same_v<Result, std::vector<Tensor>>) {
        give(results[0], std::move(result));  // one result that is a list
      } else {
        give_all(values_of_result(std::move(result)), results, n_results);
      }
    });
  }
};

template <typename T>
struct ForwardKind {
  using type = NoForward<T>;
};
template <HasForward T>
struct ForwardKind<T> {
  using type = ForwardOf<T>;
};

// The method of a parametrization by which register_parametrization finds the originals of a value.
template <typename T>
void add_right_inverse(const Object& object, T& module) {
  using Parameters = ArgsOf<decltype(&T::right_inverse)>;
  using Result = ResultOf<decltype(&T::right_inverse)>;
  [&]<typename... P>(std::type_identity<std::tuple<P...>>) {
    object.method(
        method_schema<Parameters, Result>("right_inverse", sizeof...(P)).c_str(),
        [&module](std::remove_cvref_t<P>... x) { return module.right_inverse(std::move(x)...); });
  }(std::type_identity<Parameters>());
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
