// Hooks of modules in backward: Object::register_full_backward_hook. The inputs and the outputs of
// `forward` each go through a function that changes nothing and sees their gradients; where hooks are
// set, compiled functions run eagerly.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "tenon/custom_function.hpp"
#include "tenon/object.hpp"
#include "tenon/unregistered.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// One forward of a module that has such a hook, which is called once in backward: at the inputs
// where one of them needs a gradient, else at the outputs.
struct HookedCall {
  virtual ~HookedCall() = default;
  // Gradients of inputs that stand for those that were given; none: those stay.
  virtual std::vector<Tensor> hook(Object& module, std::vector<Tensor> grad_inputs,
                                   std::vector<Tensor> grad_outputs) = 0;
  // Once backward came to the outputs. The graph at the inputs does not hold the module: the module
  // may hold that graph, in what its forward keeps.
  std::weak_ptr<Object> module;
  std::vector<Tensor> grad_outputs;
  size_t n_inputs = 0, n_outputs = 0;
  bool at_inputs = false;
};

// Those of n tensors that need a gradient, and where they stand.
struct Places {
  std::vector<size_t> places;
  size_t n = 0;

  explicit Places(const std::vector<Tensor>& tensors) : n(tensors.size()) {
    for (size_t i = 0; i < n; ++i) {
      if (tensors[i].defined() && tensors[i].requires_grad()) places.push_back(i);
    }
  }
  std::vector<Tensor> pick(const std::vector<Tensor>& from) const {
    std::vector<Tensor> picked;
    for (const size_t i : places) picked.push_back(from[i]);
    return picked;
  }
  std::vector<Tensor> put(std::vector<Tensor> picked, std::vector<Tensor> into) const {
    into.resize(n);
    for (size_t k = 0; k < places.size(); ++k) into[places[k]] = std::move(picked[k]);
    return into;
  }
};

struct HookedContext : Context {
  std::shared_ptr<HookedCall> call;
  std::shared_ptr<const Places> where;
};
// What forward gives holds the module until backward.
struct HookedOutputContext : HookedContext {
  std::shared_ptr<Object> module;
};
struct BackwardHookInput : Function<BackwardHookInput> {
  using Context = HookedContext;
  static std::vector<Tensor> forward(Context& context, std::vector<Tensor> x,
                                     const std::shared_ptr<HookedCall>& call,
                                     const std::shared_ptr<const Places>& where) {
    context.call = call;
    context.where = where;
    return x;
  }
  static std::vector<Tensor> backward(Context& context, std::vector<Tensor> g) {
    HookedCall& call = *context.call;
    const std::shared_ptr<Object> module = std::exchange(call.module, {}).lock();
    // As in PyTorch, what did not come through the outputs is none of the hook's, as the gradient of
    // what forward keeps for others.
    if (!module) return g;
    std::vector<Tensor> others =
        call.hook(*module, context.where->put(g, {}), std::exchange(call.grad_outputs, {}));
    return others.empty() ? g : context.where->pick(others);
  }
};
struct BackwardHookOutput : Function<BackwardHookOutput> {
  using Context = HookedOutputContext;
  static std::vector<Tensor> forward(Context& context, std::vector<Tensor> y, const Object& module,
                                     const std::shared_ptr<HookedCall>& call,
                                     const std::shared_ptr<const Places>& where) {
    context.module = std::make_shared<Object>(module);
    context.call = call;
    context.where = where;
    return y;
  }
  static std::vector<Tensor> backward(Context& context, std::vector<Tensor> g) {
    HookedCall& call = *context.call;
    std::vector<Tensor> all = context.where->put(g, {});
    if (call.at_inputs) {
      call.module = context.module;
      call.grad_outputs = std::move(all);
    } else {
      call.hook(*context.module, std::vector<Tensor>(call.n_inputs), std::move(all));
    }
    return g;
  }
};

// The calls of one hook that began and did not return; NULL for one whose inputs need no gradient.
// Thread-safe.
class HookedCalls {
 public:
  void began(std::shared_ptr<HookedCall> call) {
    const int depth = CallDepth::now();
    const SpinLock::Scope scope(lock_);
    // Those of this thread that an exception ended. What is within another call is deeper.
    std::erase_if(calls_, [&](const Active& a) {
      return a.thread == CallDepth::thread() && a.depth >= depth;
    });
    calls_.push_back({CallDepth::thread(), depth, std::move(call)});
  }
  // The last one of this thread that began.
  std::shared_ptr<HookedCall> returned() {
    const SpinLock::Scope scope(lock_);
    const auto found = std::find_if(calls_.rbegin(), calls_.rend(), [](const Active& a) {
      return a.thread == CallDepth::thread();
    });
    if (found == calls_.rend()) return nullptr;
    std::shared_ptr<HookedCall> call = std::move(found->call);
    calls_.erase(std::next(found).base());
    return call;
  }

 private:
  struct Active {
    const void* thread;
    int depth;
    std::shared_ptr<HookedCall> call;
  };
  SpinLock lock_;
  std::vector<Active> calls_;
};

// What a hook makes of gradients, in lists: f is of one tensor in each place, or of lists.
template <typename F, typename Grads>
std::vector<Tensor> call_backward_hook(F& f, Object& self, const Grads& inputs,
                                       const Grads& outputs) {
  if constexpr (std::is_void_v<decltype(f(self, inputs, outputs))>) {
    f(self, inputs, outputs);
    return {};
  } else if constexpr (std::is_same_v<Grads, Tensor>) {
    Tensor other = f(self, inputs, outputs);
    return other.defined() ? std::vector<Tensor>{std::move(other)} : std::vector<Tensor>();
  } else {
    return f(self, inputs, outputs);
  }
}

template <typename F>
struct HookedCallOf : HookedCall {
  std::shared_ptr<F> f;
  explicit HookedCallOf(std::shared_ptr<F> function) : f(std::move(function)) {}
  std::vector<Tensor> hook(Object& module, std::vector<Tensor> grad_inputs,
                           std::vector<Tensor> grad_outputs) override {
    Object self = module;            // which the hook may change
    grad_outputs.resize(n_outputs);  // where none came
    if constexpr (takes_one<F, Tensor, Tensor>) {
      return call_backward_hook(*f, self, grad_inputs[0], grad_outputs[0]);
    } else {
      std::vector<Tensor> others = call_backward_hook(*f, self, grad_inputs, grad_outputs);
      if (!others.empty() && others.size() != grad_inputs.size()) {
        fail(
            joined({module.type_name(), ": a hook gives ", std::to_string(others.size()),
                    " gradients of inputs, and forward has ", std::to_string(grad_inputs.size())}));
      }
      return others;
    }
  }
};

// What the two forward hooks of a backward hook do.
template <typename F>
class BackwardHooks {
 public:
  explicit BackwardHooks(F f) : f_(std::make_shared<F>(std::move(f))) {}

  // The inputs that forward is to get; none: those that it has.
  std::vector<Tensor> before(const std::vector<Tensor>& inputs) const {
    const auto where = std::make_shared<const Places>(inputs);
    if (!grad_enabled() || where->places.empty()) {
      calls_->began(nullptr);
      return {};
    }
    const std::shared_ptr<HookedCall> call = begin(inputs);
    call->at_inputs = true;
    calls_->began(call);
    return where->put(BackwardHookInput::apply(where->pick(inputs), call, where), inputs);
  }
  // Likewise of its outputs.
  std::vector<Tensor> after(const Object& self, const std::vector<Tensor>& inputs,
                            const std::vector<Tensor>& outputs) const {
    std::shared_ptr<HookedCall> call = calls_->returned();
    const auto where = std::make_shared<const Places>(outputs);
    if (!grad_enabled() || where->places.empty()) return {};
    if (!call) call = begin(inputs);
    call->n_outputs = outputs.size();
    return where->put(
        BackwardHookOutput::apply(own(where->pick(outputs), inputs), self, call, where), outputs);
  }

 private:
  // Copies of those that show the memory of an input, as an Identity's: what is written to the one
  // would change the other.
  static std::vector<Tensor> own(std::vector<Tensor> outputs, const std::vector<Tensor>& inputs) {
    for (Tensor& y : outputs) {
      for (const Tensor& x : inputs)
        if (x.defined() && y.same_storage(x)) y = prim::copy(y);
    }
    return outputs;
  }
  std::shared_ptr<HookedCall> begin(const std::vector<Tensor>& inputs) const {
    const auto call = std::make_shared<HookedCallOf<F>>(f_);
    call->n_inputs = inputs.size();
    return call;
  }

  std::shared_ptr<F> f_;
  std::shared_ptr<HookedCalls> calls_ = std::make_shared<HookedCalls>();
};

}  // namespace detail

template <typename F>
BackwardHook Object::register_full_backward_hook(F f) const {
  const detail::BackwardHooks<F> hooks(std::move(f));
  if constexpr (detail::takes_one<F, Tensor, Tensor>) {
    const auto one = [](const std::vector<Tensor>& list) {
      return list.empty() ? Tensor() : list[0];
    };
    return {register_forward_pre_hook(
                [=](Object&, Tensor input) { return one(hooks.before({input})); }),
            register_forward_hook([=](Object& self, Tensor input, Tensor output) {
              return one(hooks.after(self, {input}, {output}));
            })};
  } else {
    return {register_forward_pre_hook(
                [=](Object&, const std::vector<Tensor>& inputs) { return hooks.before(inputs); }),
            register_forward_hook([=](Object& self, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& outputs) {
              return hooks.after(self, inputs, outputs);
            })};
  }
}

}  // namespace v0
}  // namespace tenon
