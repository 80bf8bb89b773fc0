// Functions that are recorded once and replayed: a whole training step as a list of launches.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "tenon/function.hpp"
#include "tenon/tensor.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

namespace detail {

// How many tensors a function of this result gives.
template <typename R>
struct TensorCount {
  static_assert(IsTuple<R>::value,
                "a compiled function gives a Tensor, a tuple, a pair or an array of them, or "
                "nothing");
  static constexpr size_t value = std::tuple_size_v<R>;
};
template <>
struct TensorCount<void> : std::integral_constant<size_t, 0> {};
template <>
struct TensorCount<Tensor> : std::integral_constant<size_t, 1> {};
template <size_t N>
struct TensorCount<std::array<Tensor, N>> : std::integral_constant<size_t, N> {};

// What a compiled function gives: a Tensor, where the function gives what is one, as x[0] is.
template <typename F>
using CompiledResult =
    std::conditional_t<std::is_base_of_v<Tensor, ResultOf<F>>, Tensor, ResultOf<F>>;

template <typename T>
struct AreTensors : AreTensors<typename T::NamedResultsTuple> {};
template <typename... T>
struct AreTensors<std::tuple<T...>> : std::bool_constant<(std::is_same_v<T, Tensor> && ...)> {};

template <typename F>
tn_status* call_function(void* self, tn_tensor* const* args, uint32_t, tn_tensor** results,
                         uint32_t) {
  return tenon::to_status([&] {
    F& f = *static_cast<F*>(self);
    const auto run = [&]<size_t... I>(std::index_sequence<I...>)->decltype(auto) {
      return f(Tensor::borrow(args[I])...);
    };
    constexpr auto kArgs = std::make_index_sequence<kArity<F>>();
    using R = CompiledResult<F>;
    if constexpr (std::is_void_v<R>) {
      run(kArgs);
    } else if constexpr (std::is_same_v<R, Tensor>) {
      results[0] = Tensor(run(kArgs)).release();
    } else {
      R made = run(kArgs);
      [&]<size_t... I>(std::index_sequence<I...>) {
        ((results[I] = std::get<I>(made).release()), ...);
      }
      (std::make_index_sequence<TensorCount<R>::value>());
    }
  });
}

}  // namespace detail

// exact: replays give eager's bits. Without, compilers that plugins bring may replace calls by what
// rounds otherwise, within the tolerances of kernels.
struct CompileOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool exact = true;
};

// What compile gives: is called as the function is. Copies share what was recorded. Thread-safe as
// the function is; one call at a time records or replays.
template <typename F>
class CompiledFunction {
 public:
  explicit CompiledFunction(F f, const CompileOptions& options = {}) {
    static_assert(detail::AreTensors<detail::ArgsOf<F>>::value,
                  "a compiled function takes tensors; what else it needs it holds, as constants");
    auto self = std::make_unique<F>(std::move(f));
    tn_compiled* made = nullptr;
    check(api()->compile_with(detail::call_function<F>, self.get(), detail::Held<F>::destroy,
                              options.exact ? 0 : TN_COMPILE_INEXACT, &made));
    self.release();
    compiled_ = {made, [](tn_compiled* c) { api()->release(c); }};
  }

  template <typename... T>
  detail::CompiledResult<F> operator()(const T&... tensors) const {
    static_assert(sizeof...(T) == detail::kArity<F>, "as many tensors as the function takes");
    using R = detail::CompiledResult<F>;
    constexpr size_t kResults = detail::TensorCount<R>::value;
    tn_tensor* const args[] = {tensors.get()..., nullptr};
    tn_tensor* results[kResults + 1] = {};
    check(api()->call(compiled_.get(), args, sizeof...(T), results, kResults));
    if constexpr (std::is_same_v<R, Tensor>) {
      return Tensor::take(results[0]);
    } else if constexpr (!std::is_void_v<R>) {
      return [&]<size_t... I>(std::index_sequence<I...>) { return R{Tensor::take(results[I])...}; }
      (std::make_index_sequence<kResults>());
    }
  }

  // For readers: what was recorded, and why calls run eagerly where they do.
  std::string describe() const {
    const char* text = nullptr;
    check(api()->describe(compiled_.get(), &text));
    return detail::take_text(text);
  }

 private:
  static const tn_capture_api* api() {
    static const auto* found = detail::find_interface<tn_capture_api>(host(), "capture/1");
    if (found == nullptr || found->size < sizeof(tn_capture_api))
      fail("compile: this libtenon.so has no capture/1 that compiles", TN_FAILED_PRECONDITION);
    return found;
  }
  std::shared_ptr<tn_compiled> compiled_;
};

// f as a function that is recorded at one call and replayed at later ones: forward, backward and
// the step of an optimizer included. The same values come out, bit for bit; what changes is that
// the host's work between kernels is gone. docs/capture.md says what is refused, and what a
// compiled function may lean on. Tensors and numbers that f holds are constants of a recording; the
// values of these tensors are not.
template <typename F>
requires(!std::is_base_of_v<Object, std::decay_t<F>>)
    CompiledFunction<std::decay_t<F>> compile(F&& f, const CompileOptions& options = {}) {
  return CompiledFunction<std::decay_t<F>>(std::forward<F>(f), options);
}

namespace detail {
template <typename M, typename... A>
auto forward_of(const M& module, std::type_identity<std::tuple<A...>>) {
  return [module](A... arguments) { return module(arguments...); };
}
}  // namespace detail
// A module as the function of its forward, which takes and gives tensors; of a plain Object that is of
// one tensor. Replayed where no result has a history: within NoGrad. A training is compiled as a step.
template <typename M>
requires(std::is_base_of_v<Object, M>) auto compile(const M& module,
                                                    const CompileOptions& options = {}) {
  static_assert(std::is_copy_constructible_v<M>,
                "compile takes the module that make<T> gave, and not its class");
  if constexpr (requires { &std::remove_cvref_t<decltype(*module)>::forward; }) {
    using Forward = decltype(&std::remove_cvref_t<decltype(*module)>::forward);
    return compile(detail::forward_of(module, std::type_identity<detail::ArgsOf<Forward>>()),
                   options);
  } else {
    return compile(detail::forward_of(module, std::type_identity<std::tuple<Tensor>>()), options);
  }
}

}  // namespace v0
}  // namespace tenon
