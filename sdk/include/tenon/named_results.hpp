// What an op gives whose results have names in its schema: a tuple, each part of which has a function of
// its name, too. `tenon header` writes a struct for each list of names:
//
//   Tensor best = x.max(1).values();
//   auto [values, indices] = x.max(1);
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

template <size_t>
using TensorAt = Tensor;
template <typename>
struct TensorTuple;
template <size_t... I>
struct TensorTuple<std::index_sequence<I...>> {
  using type = std::tuple<TensorAt<I>...>;
};

// N tensors. A std::tuple of them is one, and it is a std::tuple of them.
template <size_t N>
struct NamedResults : TensorTuple<std::make_index_sequence<N>>::type {
  using NamedResultsTuple = typename TensorTuple<std::make_index_sequence<N>>::type;
  NamedResults() = default;
  template <std::same_as<Tensor>... T>
  requires(sizeof...(T) == N) NamedResults(T... tensors)
      : NamedResultsTuple(std::move(tensors)...) {}
  NamedResults(NamedResultsTuple tensors) : NamedResultsTuple(std::move(tensors)) {}
};
template <typename T>
concept IsNamedResults = !std::is_const_v<T> && !std::is_volatile_v<T> && requires {
  typename T::NamedResultsTuple;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon

// auto [a, b] = f(x) asks for these.
template <tenon::detail::IsNamedResults T>
struct std::tuple_size<T> : std::tuple_size<typename T::NamedResultsTuple> {};
template <size_t I, tenon::detail::IsNamedResults T>
struct std::tuple_element<I, T> : std::tuple_element<I, typename T::NamedResultsTuple> {};
