// Options by name behind options by place: nn::LSTM(6, 5, 2, {.batch_first = true}). Functions that
// `tenon header` writes use it; programs have no need of it.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/fields.hpp"
#include "tenon/lists.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
class Tensor;

namespace detail {

// What may stand at a place behind the first option by place: an option of type T, or the options by
// name, a struct O. Braces have no type, so the parameter's default type O is what they make.
template <typename P, typename T, typename O>
concept PlacedOr = std::same_as<P, O> || Placed<P, T>;

// What stands at the places that a call leaves out. (It is made by new, and stays: of a static struct
// with an empty member clang 14 cannot write the code.)
template <typename O>
const O& unset() {
  static const O* const none = new O;
  return *none;
}

// Whether an option by name says another thing than its default does; of types that do not tell it, no.
template <typename M>
bool differs(const M& option, const M& fallback) {
  if constexpr (std::is_convertible_v<M, double>) {
    return option < fallback || option > fallback;  // and a NaN is a NaN
  } else if constexpr (requires { option.defined(); }) {
    return option.defined() != fallback.defined();
  } else if constexpr (std::is_same_v<M, IntsOrText>) {
    return option.text() != fallback.text() || !(option.ints() == fallback.ints());
  } else if constexpr (std::is_same_v<M, std::vector<Tensor>>) {
    return !option.empty();
  } else if constexpr (requires {
                         { option == fallback } -> std::same_as<bool>;
                       }) {
    return !(option == fallback);
  } else {
    return false;
  }
}
template <typename M, typename P>
void put_option(const char* call, size_t place, const std::type_identity_t<M>& fallback,
                const P& placed, M& option) {
  if (differs(option, fallback)) [[unlikely]] {
    fail(joined({call, ": option ", std::to_string(place),
                 " is given by its place and by its name, expected one of the two"}));
  }
  option = M(placed);
}

template <typename O, typename... P>
constexpr bool named_last() {
  bool named = false;
  return ((std::same_as<P, O> ? (named = true) : !named) && ...);
}

// The options of a call, of which `placed` are those by their places, then the options by name, then
// `unset` to the end. O has N members, that of the first place is the member `first`.
template <typename O, size_t N, size_t first, typename... P>
O behind(const char* call, const P&... placed) {
  static_assert(named_last<O, P...>(),
                "options by name, {.bias = false}, stand behind all options by their places");
  O options;
  int given = 0;
  const auto read = [&]<typename Q>(const Q& one) {
    if constexpr (std::same_as<Q, O>) {
      if (&one != &unset<O>() && ++given == 1) options = one;
    }
  };
  (read(placed), ...);
  if (given > 1) fail(joined({call, ": options by name stand in two braces, expected one"}));
  const auto members = fields_in<N>(options);
  const auto fallbacks = fields_in<N>(unset<O>());
  const auto put = [&]<size_t... i>(std::index_sequence<i...>) {
    const auto one = [&]<size_t at, typename Q>(const Q& value) {
      if constexpr (!std::same_as<Q, O>) {
        put_option(call, at + 1, std::get<first + at>(fallbacks), value,
                   std::get<first + at>(members));
      }
    };
    (one.template operator()<i>(placed), ...);
  };
  put(std::index_sequence_for<P...>());
  return options;
}
}  // namespace detail

}  // namespace v0
}  // namespace tenon
