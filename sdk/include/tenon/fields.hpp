// The fields of a struct, as a tuple of references: of samples of a dataset, and of what a forward gives.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tenon/base.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// Structs of at most kMostFields fields, without a base class and without arrays of C.
inline constexpr size_t kMostFields = 16;
struct AnyField {
  template <typename T>
  operator T() const;
};
template <typename T, size_t... I>
constexpr bool takes_fields(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyField{})...}; };
}
template <typename T, size_t N = kMostFields + 1>
constexpr size_t n_fields() {
  if constexpr (!std::is_aggregate_v<T> || N == 0) {
    return 0;
  } else if constexpr (takes_fields<T>(std::make_index_sequence<N>())) {
    return N;
  } else {
    return n_fields<T, N - 1>();
  }
}
// References to the fields of a struct, of which there are `count`.
template <size_t count, typename T>
auto fields_in(T& s) {
  if constexpr (count == 1) {
    auto& [a] = s;
    return std::tie(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = s;
    return std::tie(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = s;
    return std::tie(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = s;
    return std::tie(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = s;
    return std::tie(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = s;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = s;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = s;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = s;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else {
    static_assert(count == 0 && count != 0,
                  "no tuple, and no struct of 1 to 16 fields: give a collate function");
  }
}
// The same, counted.
template <typename T>
auto fields_of(T& s) {
  return fields_in<n_fields<std::remove_const_t<T>>()>(s);
}

}  // namespace detail
}  // namespace v0
}  // namespace tenon
