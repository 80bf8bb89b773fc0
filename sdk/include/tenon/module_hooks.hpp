// Hooks of modules in backward: Object::register_full_backward_hook. The input and the output of
// `forward` each go through a function that changes nothing and sees its gradient; where hooks are
// set, compiled functions run eagerly.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"
#include "tenon/unregistered.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// One forward of a module that has such a hook, which is called once in backward: at the input
// where that needs a gradient, else at the output.
struct HookedCall {
  virtual ~HookedCall() = default;
  virtual Tensor hook(const Tensor& grad_input, const Tensor& grad_output) = 0;
  Tensor input;  // as `forward` gets it, until it returns
  Tensor grad_output;
  bool at_input = false;
};
struct HookedContext : Context {
  std::shared_ptr<HookedCall> call;
};
struct BackwardHookInput : Function<BackwardHookInput> {
  using Context = HookedContext;
  static Tensor forward(Context& context, Tensor x, const std::shared_ptr<HookedCall>& call) {
    context.call = call;
    return x;
  }
  static Tensor backward(Context& context, Tensor g) {
    Tensor other = context.call->hook(g, std::exchange(context.call->grad_output, {}));
    return other.defined() ? other : g;
  }
};
struct BackwardHookOutput : Function<BackwardHookOutput> {
  using Context = HookedContext;
  static Tensor forward(Context& context, Tensor y, const std::shared_ptr<HookedCall>& call) {
    context.call = call;
    return y;
  }
  static Tensor backward(Context& context, Tensor g) {
    if (context.call->at_input) {
      context.call->grad_output = g;
    } else {
      context.call->hook({}, g);
    }
    return g;
  }
};

// The calls of one hook that began and did not return. Thread-safe.
class HookedCalls {
 public:
  void began(std::shared_ptr<HookedCall> call) {
    const SpinLock::Scope scope(lock_);
    calls_.push_back(std::move(call));
  }
  // The call that got this input; NULL: it needed no gradient.
  std::shared_ptr<HookedCall> returned(const Tensor& input) {
    const SpinLock::Scope scope(lock_);
    const auto found = std::find_if(calls_.begin(), calls_.end(),
                                    [&](const auto& call) { return call->input.is_same(input); });
    if (found == calls_.end()) return nullptr;
    std::shared_ptr<HookedCall> call = std::move(*found);
    calls_.erase(found);
    call->input = {};
    return call;
  }

 private:
  SpinLock lock_;
  std::vector<std::shared_ptr<HookedCall>> calls_;
};

template <typename F>
struct HookedCallOf : HookedCall {
  std::shared_ptr<F> f;
  Object module;  // the graph holds it until backward
  HookedCallOf(std::shared_ptr<F> function, const Object& self)
      : f(std::move(function)), module(self) {}
  Tensor hook(const Tensor& grad_input, const Tensor& grad_output) override {
    Object self = module;
    if constexpr (std::is_void_v<decltype((*f)(self, grad_input, grad_output))>) {
      (*f)(self, grad_input, grad_output);
      return {};
    } else {
      return (*f)(self, grad_input, grad_output);
    }
  }
};

}  // namespace detail

template <typename F>
BackwardHook Object::register_full_backward_hook(F f) const {
  auto hook = std::make_shared<F>(std::move(f));
  auto calls = std::make_shared<detail::HookedCalls>();
  const auto call_of = [hook](const Object& self) -> std::shared_ptr<detail::HookedCall> {
    return std::make_shared<detail::HookedCallOf<F>>(hook, self);
  };
  const uint64_t before = register_forward_pre_hook([=](Object& self, Tensor input) -> Tensor {
    if (!grad_enabled() || !input.defined() || !input.requires_grad()) return {};
    const auto call = call_of(self);
    call->at_input = true;
    call->input = detail::BackwardHookInput::apply(input, call);
    calls->began(call);
    return call->input;
  });
  const uint64_t after =
      register_forward_hook([=](Object& self, Tensor input, Tensor output) -> Tensor {
        if (!grad_enabled() || !output.requires_grad()) return {};
        auto call = calls->returned(input);
        return detail::BackwardHookOutput::apply(output, call ? call : call_of(self));
      });
  return {before, after};
}

}  // namespace v0
}  // namespace tenon
