// Functions with a gradient of one's own: classes that derive from Function, PyTorch's
// torch.autograd.Function.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {

// What a custom function keeps from forward to backward. A function that keeps more than tensors
// states its own, derived from this one, as its member `Context`.
class Context {
 public:
  // In forward: tensors for backward, which are checked there for in-place changes. Inputs and
  // outputs may be among them.
  void save(std::vector<Tensor> tensors) { saved_ = std::move(tensors); }
  // The same by PyTorch's name, of a list, one tensor or several.
  void save_for_backward(const detail::SomeTensors& tensors) { save(tensors.to_vector()); }
  template <typename... T>
  requires(sizeof...(T) > 1 &&
           (detail::TensorLike<const T&> && ...)) void save_for_backward(const T&... tensors) {
    save({Tensor(tensors)...});
  }
  // In forward: those of the outputs that need no gradient, of floats too. backward is given a
  // gradient of zeros for each. A second call replaces the list.
  void mark_non_differentiable(std::vector<Tensor> outputs) {
    non_differentiable_ = std::move(outputs);
  }
  // In forward: inputs that it wrote in place, and gives back: they become its results, with the
  // gradient that backward gives in the place of their own. An Error where one is not given back.
  void mark_dirty(std::vector<Tensor> inputs) { dirty_ = std::move(inputs); }
  // In forward: with false, backward is given None instead of zeros for an output that no gradient
  // came to.
  void set_materialize_grads(bool on) { materialize_grads_ = on; }
  // Whether tensor i among the arguments, None or not, asks for a gradient.
  bool needs_input_grad(size_t i) const { return needs_.at(i); }
  // In backward.
  Tensor saved(uint32_t i) const {
    tn_tensor* t = nullptr;
    check(detail::api.autograd->custom_saved(i, &t));
    return Tensor::take(t);
  }
  // All of them, under PyTorch's name and libtorch's.
  std::vector<Tensor> saved_tensors() const {
    std::vector<Tensor> tensors;
    for (uint32_t i = 0; i < n_saved_; ++i) tensors.push_back(saved(i));
    return tensors;
  }
  std::vector<Tensor> get_saved_variables() const { return saved_tensors(); }

 private:
  template <typename Derived>
  friend class Function;
  struct Output {
    std::vector<int64_t> sizes;
    Dtype dtype;
    Device device;
    bool is_differentiable;
  };
  static bool has(const std::vector<Tensor>& list, const Tensor& tensor) {
    for (const Tensor& t : list)
      if (t.is_same(tensor)) return true;
    return false;
  }
  std::vector<Tensor> saved_, non_differentiable_, dirty_;
  uint32_t n_saved_ = 0;
  std::vector<Output> outputs_;
  bool materialize_grads_ = true;
  std::vector<bool> tensors_;  // of each argument, or each tensor in one, whether it is a tensor
  std::vector<bool> given_;    // of each tensor among the arguments, whether it was not None
  std::vector<bool> needs_;    // and whether it asks for a gradient
};

namespace detail {
template <typename Derived>
using ForwardParameters = typename Tail<ArgsOf<decltype(&Derived::forward)>>::type;
template <typename Derived, size_t... I>
constexpr bool takes_first(std::index_sequence<I...>) {
  using Parameters = ForwardParameters<Derived>;
  return requires(typename Derived::Context & c, std::tuple_element_t<I, Parameters> & ... p) {
    Derived::forward(c, p...);
  };
}
// How many arguments forward is called with where n are given: those, where the parameters behind
// them have defaults, or all, where these are optional tensors. -1: forward is a template or
// overloaded, or takes no n.
template <typename Derived, size_t n>
constexpr int forward_arguments() {
  if constexpr (requires { &Derived::forward; }) {
    constexpr size_t kCount = std::tuple_size_v<ForwardParameters<Derived>>;
    if constexpr (n <= kCount) {
      if constexpr (takes_first<Derived>(std::make_index_sequence<n>())) {
        return int(n);
      } else if constexpr (!takes_first<Derived>(std::make_index_sequence<kCount>())) {
        return -1;
      } else {
        bool optional = true;
        [&]<size_t... I>(std::index_sequence<I...>) {
          using Parameters = ForwardParameters<Derived>;
          ((optional =
                optional &&
                (I < n ||
                 std::is_same_v<std::tuple_element_t<I, Parameters>, std::optional<Tensor>>)),
           ...);
        }
        (std::make_index_sequence<kCount>());
        return optional ? int(kCount) : -1;
      }
    }
  }
  return -1;
}
}  // namespace detail

// A function with a gradient of its own:
//   struct Twice : tenon::Function<Twice> {
//     static Tensor forward(Context& context, Tensor x) { return x * 2; }
//     static Tensor backward(Context& context, Tensor g) { return g * 2; }
//   };
//   auto y = Twice::apply(x);
// forward runs unrecorded, and gives a Tensor, or a tuple, array or vector of them. backward takes
// the context and a gradient for each output (or a vector of them; zeros where none came), and
// gives one for each tensor among the arguments of forward, null for zero; or one more for each
// argument that is no tensor, null, in its place. Nulls behind these are passed over. An input that
// forward writes in place is said with mark_dirty and given back. Any other result that
// shows memory that others hold, its input's mostly, is not written in place: that is an Error, and so
// is a backward through it after a write to that memory.
template <typename Derived>
class Function {
 public:
  using Context = tenon::Context;
  using Tensor = tenon::Tensor;

  struct Apply {
    template <typename... Given>
    auto operator()(const Given&... given) const {
      constexpr int kCount = detail::forward_arguments<Derived, sizeof...(Given)>();
      if constexpr (kCount >= 0) {
        return Function::template run_as<detail::ForwardParameters<Derived>>(
            std::tie(given...), std::make_index_sequence<size_t(kCount)>());
      } else {
        return Function::run(detail::as_tensor(given)...);
      }
    }
  };
  static constexpr Apply apply{};

 private:
  // Arguments as forward's parameters want them: an optional tensor may be left out at the end, and
  // is not there where it is None.
  template <typename Parameters, typename Given, size_t... I>
  static auto run_as(const Given& given, std::index_sequence<I...>) {
    return run(passed<std::tuple_element_t<I, Parameters>, I>(given)...);
  }
  template <typename P, size_t i, typename Given>
  static decltype(auto) passed(const Given& given) {
    if constexpr (i >= std::tuple_size_v<Given>) {
      return P();
    } else {
      using A = std::remove_cvref_t<std::tuple_element_t<i, Given>>;
      if constexpr (!std::is_same_v<P, std::optional<tenon::Tensor>>) {
        return detail::as_tensor(std::get<i>(given));
      } else if constexpr (std::is_same_v<A, NoneType>) {
        return P();
      } else if constexpr (detail::TensorLike<A>) {
        const tenon::Tensor t = detail::as_tensor(std::get<i>(given));
        return t.defined() ? P(t) : P();
      } else {
        return P(std::get<i>(given));
      }
    }
  }
  template <typename... Args>
  static auto run(const Args&... args) {
    using State = typename Derived::Context;
    static_assert(
        requires(State & context) { Derived::forward(context, args...); },
        "forward of a Function, which is static and public, cannot be called with a Context& and "
        "what apply was given: look at the number and the types of the arguments");
    auto* state = new State();
    struct Drop {
      State* state;
      ~Drop() { delete state; }
    } drop{state};
    std::vector<tenon::Tensor> inputs;
    const auto note = [&](const auto& arg) {
      const size_t before = inputs.size();
      note_input(inputs, arg);
      state->tensors_.insert(state->tensors_.end(), inputs.size() - before, true);
      if (!kHasTensors<std::remove_cvref_t<decltype(arg)>>) state->tensors_.push_back(false);
    };
    (note(args), ...);
    for (const auto& input : inputs) {
      state->given_.push_back(input.defined());
      state->needs_.push_back(input.defined() && grad_enabled() && input.requires_grad());
    }
    std::erase_if(inputs, [](const auto& input) { return !input.defined(); });
    bool wanted = false;
    std::vector<uint64_t> versions;
    for (const auto& input : inputs) {
      wanted |= input.requires_grad();
      versions.push_back(input.version());
    }
    wanted = wanted && grad_enabled();
    auto result = [&] {
      NoGrad guard;
      return Derived::forward(*state, args...);
    }();
    const std::vector<tenon::Tensor> dirty = std::move(state->dirty_);
    if (wanted) expect_marked(inputs, versions, dirty);
    size_t dirty_given = 0;
    for (const auto& t : dirty) {
      bool is_given = false;
      each_tensor(result, [&](const tenon::Tensor& given) { is_given |= t.is_same(given); });
      dirty_given += is_given;
    }
    if (dirty_given < dirty.size()) {
      fail(
          name() +
          ": forward does not give back a tensor that it says in mark_dirty, expected it among its "
          "results");
    }
    std::vector<tn_tensor*> outputs;
    each_tensor(result, [&](tenon::Tensor& t) {
      if (!t.defined() && wanted) fail(name() + ": forward gives None, expected a tensor");
      const bool is_marked = wanted && Context::has(state->non_differentiable_, t);
      if (is_marked) t = t.detach();
      for (const auto& input : inputs) {
        // A result is a tensor of its own, recorded or not, but for an input that was written.
        if (t.is_same(input) && !Context::has(dirty, t)) t = shown_again(input, wanted);
      }
      if (!wanted) return;
      if (!is_marked) outputs.push_back(t.get());
      state->outputs_.push_back(
          {{t.sizes().begin(), t.sizes().end()}, t.dtype(), t.device(), !is_marked});
    });
    state->non_differentiable_.clear();
    if (!wanted || outputs.empty()) return result;
    std::vector<tenon::Tensor> saved = std::move(state->saved_);
    state->n_saved_ = uint32_t(saved.size());
    Tensors in(inputs), kept(saved);
    check(detail::api.autograd->custom(name_of_node(*state).c_str(), run_backward, state, destroy,
                                       in.data(), in.size(), outputs.data(),
                                       uint32_t(outputs.size()), kept.data(), kept.size()));
    drop.state = nullptr;
    return result;
  }

  static tn_status* run_backward(void* self, tn_tensor* const* grads, uint32_t n_grads,
                                 tn_tensor** results, uint32_t n_results) {
    return to_status([&] {
      auto& state = *static_cast<typename Derived::Context*>(self);
      std::vector<tenon::Tensor> in;
      uint32_t given_grads = 0;
      for (const auto& output : state.outputs_) {
        tn_tensor* const grad =
            output.is_differentiable && given_grads < n_grads ? grads[given_grads++] : nullptr;
        if (grad) {
          in.push_back(tenon::Tensor::borrow(grad));
        } else if (state.materialize_grads_) {
          in.push_back(prim::fill(output.sizes, 0, output.dtype, output.device));
        } else {
          in.emplace_back();
        }
      }
      auto result = call_backward(state, in);
      std::vector<tenon::Tensor> given;
      each_tensor(result, [&](const tenon::Tensor& t) { given.push_back(t); });
      // As in PyTorch None may stand behind the last argument, and for each that is no tensor.
      while (given.size() > state.tensors_.size() && !given.back().defined()) given.pop_back();
      if (given.size() == state.tensors_.size()) {
        size_t i = 0;
        std::erase_if(given, [&](const tenon::Tensor& t) {
          const bool is_tensor = state.tensors_[i++];
          if (!is_tensor && t.defined())
            fail(name() +
                 ": backward gives a gradient for an argument of forward that is no tensor");
          return !is_tensor;
        });
      }
      // The gradient of an argument that was None is left out by some, a null by others.
      if (given.size() == state.given_.size()) {
        size_t i = 0;
        std::erase_if(given, [&](const auto&) { return !state.given_[i++]; });
      }
      if (given.size() != n_results) {
        fail(detail::joined({name(), ": backward gives ", std::to_string(given.size()),
                             " gradients for ", std::to_string(n_results), " tensors"}));
      }
      for (uint32_t i = 0; i < n_results; ++i) results[i] = given[i].release();
    });
  }
  template <typename State>
  static auto call_backward(State& state, std::vector<tenon::Tensor>& grads) {
    using Parameters = typename detail::Tail<detail::ArgsOf<decltype(&Derived::backward)>>::type;
    if constexpr (std::is_same_v<Parameters, std::tuple<std::vector<tenon::Tensor>>>) {
      return Derived::backward(state, grads);
    } else {
      constexpr size_t kCount = std::tuple_size_v<Parameters>;
      if (grads.size() != kCount) {
        fail(detail::joined({name(), ": backward takes ", std::to_string(kCount),
                             " gradients, forward gives ", std::to_string(grads.size()),
                             " tensors"}));
      }
      return [&]<size_t... I>(std::index_sequence<I...>) {
        return Derived::backward(state, grads[I]...);
      }
      (std::make_index_sequence<kCount>());
    }
  }
  static void destroy(void* self) { delete static_cast<typename Derived::Context*>(self); }

  // An input that was written has another history than before, which nobody would learn of.
  static void expect_marked(const std::vector<tenon::Tensor>& inputs,
                            const std::vector<uint64_t>& versions,
                            const std::vector<tenon::Tensor>& dirty) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const tenon::Tensor& input = inputs[i];
      if (input.version() == versions[i] || !input.requires_grad() || is_dirty(dirty, input))
        continue;
      fail(detail::joined({name(), ": forward changed tensor ", std::to_string(i),
                           " among its arguments in place, which needs a gradient; say "
                           "context.mark_dirty({x}) and give it back, or change a copy (clone)"}),
           TN_FAILED_PRECONDITION);
    }
  }
  // Itself, or another that shows the memory of one, which was written with it.
  static bool is_dirty(const std::vector<tenon::Tensor>& dirty, const tenon::Tensor& input) {
    for (const tenon::Tensor& t : dirty)
      if (t.is_same(input) || t.same_storage(input)) return true;
    return false;
  }

  // A result that is an input: a view of it, which cannot be written in place while others hold the
  // input.
  static tenon::Tensor shown_again(const tenon::Tensor& input, bool recorded) {
    const GradModeGuard scope(recorded ? TN_MODE_NO_GRAD : detail::api.autograd->mode());
    return prim::reshape(input, input.sizes());
  }
  template <typename T>
  static constexpr bool kHasTensors = detail::TensorLike<T> || std::is_same_v<T, Tensors> ||
                                      requires(T arg) {
    requires detail::TensorLike<decltype(*arg)>;
  }
  || requires(T arg) { requires detail::TensorLike<decltype(*arg.begin())>; };
  template <typename T>
  static void note_input(std::vector<tenon::Tensor>& inputs, const T& arg) {
    if constexpr (detail::TensorLike<T>) {
      inputs.push_back(arg);
    } else if constexpr (std::is_same_v<T, Tensors>) {
      for (uint32_t i = 0; i < arg.size(); ++i) inputs.push_back(arg[i]);
    } else if constexpr (requires { requires detail::TensorLike<decltype(*arg)>; }) {
      inputs.push_back(arg ? Tensor(*arg) : Tensor());  // optional
    } else if constexpr (requires { requires detail::TensorLike<decltype(*arg.begin())>; }) {
      inputs.insert(inputs.end(), arg.begin(), arg.end());
    }
  }
  template <typename R, typename F>
  static void each_tensor(R& result, F&& f) {
    if constexpr (detail::TensorLike<R>) {
      f(result);
    } else if constexpr (detail::IsTuple<R>::value) {
      std::apply([&](auto&... t) { (f(t), ...); }, result);
    } else {
      for (auto& t : result) f(t);
    }
  }
  static std::string name() { return detail::class_name<Derived>(); }
  // What errors of backward, traces and profiles call the function.
  template <typename State>
  static std::string name_of_node(const State& state) {
    if constexpr (requires { Derived::node_name(state); }) {
      return Derived::node_name(state);
    } else {
      return name();
    }
  }
};

}  // namespace v0
}  // namespace tenon
