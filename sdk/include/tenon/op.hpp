// Calling an op from C++: a reference that looks its op up once, and the packing of arguments on
// the stack. The hot path has no heap, no lock and no string; errors leave it out of line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tenon/named_results.hpp"
#include "tenon/placed_options.hpp"
#include "tenon/value.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// An op by name, looked up at its first call. Thread-safe.
//   constinit static tn::OpRef squash{"hello_ops.squash"};
class OpRef {
 public:
  constexpr explicit OpRef(const char* name) : name_(name) {}
  const char* name() const { return name_; }
  // The op; an Error when no plugin brought it.
  const tn_op* get() const {
    const tn_op* op = __atomic_load_n(&op_, __ATOMIC_ACQUIRE);
    return op ? op : find();
  }

 private:
  [[gnu::cold, gnu::noinline]] const tn_op* find() const {
    const tn_op* op = nullptr;
    check(host()->find_op(name_, &op));
    __atomic_store_n(&op_, op, __ATOMIC_RELEASE);
    return op;
  }
  const char* name_;
  mutable const tn_op* op_ = nullptr;
};

namespace detail {

template <size_t N>
struct OpName {
  char text[N];
  consteval OpName(const char (&name)[N]) {
    for (size_t i = 0; i < N; ++i) text[i] = name[i];
  }
};
// One reference an op and shared object: op<"add">.
template <OpName name>
inline constinit OpRef op{name.text};

// A tensor that may be given by its place or among the options, and by neither.
inline const Tensor& one_of(const char* op, const char* name, const Tensor& placed,
                            const Tensor& named) {
  if (!named.defined()) [[likely]]
    return placed;
  if (placed.defined()) fail(joined({op, ": ", name, " is given by its place and by its name"}));
  return named;
}

// Takes what a call gave: R is void, a type of Unpack, a tuple or pair of these, or
// an array of Tensor.
// Where one of them is not what is taken, the others are released.
struct UntakenResults {
  tn_value* values;
  uint32_t n;
  ~UntakenResults() {
    for (uint32_t i = 0; i < n; ++i)
      if (values[i].kind != TN_KIND_NONE) [[unlikely]]
        known_host()->value_release(&values[i]);
  }
};
template <typename T>
T take_result(tn_value& value) {
  T taken = Unpack<T>::own(value);
  value.kind = TN_KIND_NONE;
  return taken;
}
template <typename R>
struct Results {
  static constexpr uint32_t count = 1;
  static R take(tn_value* values) {
    if constexpr (std::is_same_v<R, Tensor>) {
      return Unpack<Tensor>::own(values[0]);
    } else {
      const UntakenResults rest{values, 1};
      return take_result<R>(values[0]);
    }
  }
};
template <>
struct Results<void> {
  static constexpr uint32_t count = 0;
  static void take(tn_value*) {}
};
template <typename... R>
struct Results<std::tuple<R...>> {
  static constexpr uint32_t count = sizeof...(R);
  static std::tuple<R...> take(tn_value* values) {
    const UntakenResults rest{values, count};
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<R...>{take_result<R>(values[I])...};
    }
    (std::index_sequence_for<R...>());
  }
};
template <IsNamedResults R>
struct Results<R> : Results<typename R::NamedResultsTuple> {};
template <typename A, typename B>
struct Results<std::pair<A, B>> {
  static constexpr uint32_t count = 2;
  static std::pair<A, B> take(tn_value* values) {
    const UntakenResults rest{values, count};
    return {take_result<A>(values[0]), take_result<B>(values[1])};
  }
};
template <size_t N>
struct Results<std::array<Tensor, N>> {
  static constexpr uint32_t count = N;
  static std::array<Tensor, N> take(tn_value* values) {
    const UntakenResults rest{values, count};
    std::array<Tensor, N> results;
    for (size_t i = 0; i < N; ++i) results[i] = take_result<Tensor>(values[i]);
    return results;
  }
};

template <size_t N>
struct Results<TensorArray<N>> : Results<std::array<Tensor, N>> {
  static TensorArray<N> take(tn_value* values) {
    return {Results<std::array<Tensor, N>>::take(values)};
  }
};

// An argument in braces: call<Tensor>(op, {x, 2.0}). Borrows as to_value does. The generated headers
// call so, since what has a type for each list of arguments took a compiler longer than all of their text.
struct Argument {
  tn_value value;
  template <typename T>
  Argument(const T& x) : value(to_value(x)) {}
};
// What the host takes: the values of arguments in braces, one behind the other.
static_assert(sizeof(Argument) == sizeof(tn_value));
inline const tn_value* values_of(std::initializer_list<Argument> args) {
  return reinterpret_cast<const tn_value*>(args.begin());
}

// A new tensor, which asks for its gradient where it is to.
inline Tensor with_requires_grad(Tensor made, bool requires_grad) {
  if (requires_grad) made.requires_grad_();
  return made;
}

template <typename R>
R call(const OpRef& op, std::initializer_list<Argument> args) {
  tn_value results[Results<R>::count + 1];
  check(
      api.host->call(op.get(), values_of(args), uint32_t(args.size()), results, Results<R>::count));
  return Results<R>::take(results);
}
// An op as the host knows it.
template <typename R, typename... Args>
R call(const tn_op* op, const Args&... args) {
  const tn_value values[sizeof...(Args) + 1] = {to_value(args)...};
  tn_value results[Results<R>::count + 1];
  check(api.host->call(op, values, sizeof...(Args), results, Results<R>::count));
  return Results<R>::take(results);
}
template <typename R, typename... Args>
R call(const OpRef& op, const Args&... args) {
  return call<R>(op.get(), args...);
}

}  // namespace detail

// Calls an op: `call(squash, x, 2.0)`, `call<std::tuple<Tensor, Tensor>>(split, x)`. Arguments by
// schema; trailing ones default.
template <typename R = Tensor, typename... Args>
R call(const OpRef& op, const Args&... args) {
  return detail::call<R>(op, args...);
}
// By name, looked up at each call.
template <typename R = Tensor, typename... Args>
R call(TextRef op, const Args&... args) {
  return detail::call<R>(OpRef(op.c_str()), args...);
}

}  // namespace v0
}  // namespace tenon
