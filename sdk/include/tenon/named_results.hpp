// What an op gives whose results have names in its schema: a tuple, each part of which has a function of
// its name, too. `tenon header` writes a struct for each list of names:
//
//   Tensor best = x.max(1).values();
//   auto [values, indices] = x.max(1);
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

template <typename T, size_t>
using OneOf = T;
template <typename T, typename>
struct TupleOf;
template <typename T, size_t... I>
struct TupleOf<T, std::index_sequence<I...>> {
  using type = std::tuple<OneOf<T, I>...>;
};
// std::tuple<T, T, ..> of N.
template <typename T, size_t N>
using TupleOfMany = typename TupleOf<T, std::make_index_sequence<N>>::type;

// N tensors. A std::tuple of them is one, and it is a std::tuple of them.
template <size_t N>
struct NamedResults : TupleOfMany<Tensor, N> {
  using NamedResultsTuple = TupleOfMany<Tensor, N>;
  using TenonBindsAs = NamedResultsTuple;
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

// N tensors of one call: an array, which std::tie takes, too: std::tie(h, c) = cell.call<2>(x, h, c).
template <size_t N>
struct TensorArray : std::array<Tensor, N> {
  using TenonBindsAs = std::array<Tensor, N>;
  operator TupleOfMany<Tensor&, N>() && {
    return std::apply([](auto&... tensors) { return std::tie(tensors...); },
                      static_cast<TenonBindsAs&>(*this));
  }
};
// What auto [a, b] = f(x) takes such results for.
template <typename T>
concept BindsAsTuple = !std::is_const_v<T> && !std::is_volatile_v<T> && requires {
  typename T::TenonBindsAs;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon

// auto [a, b] = f(x) asks for these. (One for all: g++ 11 takes two with constraints for the same.)
template <tenon::detail::BindsAsTuple T>
struct std::tuple_size<T> : std::tuple_size<typename T::TenonBindsAs> {};
template <size_t I, tenon::detail::BindsAsTuple T>
struct std::tuple_element<I, T> : std::tuple_element<I, typename T::TenonBindsAs> {};
