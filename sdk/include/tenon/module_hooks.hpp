// Hooks of modules in backward: Object::register_full_backward_hook and
// register_full_backward_pre_hook. The inputs and the outputs of `forward` each go through a function
// that changes nothing and sees their gradients; where hooks are set, compiled functions run eagerly.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/custom_function.hpp"
#include "tenon/object.hpp"
#include "tenon/unregistered.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// The backward hooks of a module in the order in which they run.
struct BackwardHookLists {
  BackwardHookFunctions hooks, pre_hooks;
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

// One forward of a module that has such hooks, which are called once in backward: at the inputs where
// one of them needs a gradient, else at the outputs.
struct HookedCall {
  std::shared_ptr<const BackwardHookLists> lists;  // as they were when forward was called
  // Once backward came to the outputs. The graph at the inputs does not hold the module: the module
  // may hold that graph, in what its forward keeps.
  std::weak_ptr<Object> module;
  std::vector<Tensor> grad_outputs;
  size_t n_inputs = 0;
  bool at_inputs = false;
};

inline std::string gradient_text(const Tensor& t) {
  return joined({sizes_text(t.sizes()), " ", t.dtype().name(), " on ", t.device().name()});
}

// Calls hooks one after the other, each with the gradients that the one before left. As in PyTorch
// what they give is of the sizes, the dtype and the device of what they replace; where they are given
// no gradient at all they give none.
template <typename Call>
void call_backward_hooks(const BackwardHookFunctions& hooks, const Object& module, const char* kind,
                         const char* of, std::vector<Tensor>& grads, Call call) {
  const std::vector<Tensor> first = grads;
  const bool none =
      std::none_of(first.begin(), first.end(), [](const Tensor& g) { return g.defined(); });
  for (size_t h = 0; h < hooks.size(); ++h) {
    if (hooks[h]->id == 0) continue;  // removed
    Object self = module;             // which the hook may change
    std::vector<Tensor> others = call(*hooks[h], self);
    if (others.empty()) continue;
    const auto refuse = [&](const std::string& given, const std::string& expected) {
      fail(joined({module.type_name(), ": ", kind, " ", std::to_string(h + 1), " gives ", given,
                   ", expected ", expected}));
    };
    for (size_t i = 0; none && i < others.size(); ++i) {
      if (others[i].defined()) {
        refuse(joined({"a gradient for ", of, " ", std::to_string(i)}),
               joined({"none, as no ", of, " needs a gradient"}));
      }
    }
    if (none) continue;
    if (others.size() != first.size()) {
      refuse(joined({std::to_string(others.size()), " gradients of ", of, "s"}),
             joined({std::to_string(first.size()), ", one for each ", of, " of forward"}));
    }
    for (size_t i = 0; i < first.size(); ++i) {
      const Tensor &g = others[i], &before = first[i];
      if (!g.defined() || !before.defined()) continue;
      if (g.sizes() != before.sizes() || g.dtype() != before.dtype() ||
          g.device() != before.device()) {
        refuse(joined({gradient_text(g), " for ", of, " ", std::to_string(i)}),
               gradient_text(before));
      }
    }
    grads = std::move(others);
  }
}
inline void call_full_backward_hooks(const HookedCall& call, const Object& module,
                                     std::vector<Tensor>& grad_inputs,
                                     const std::vector<Tensor>& grad_outputs) {
  call_backward_hooks(call.lists->hooks, module, "full backward hook", "input", grad_inputs,
                      [&](BackwardHookFunction& hook, Object& self) {
                        return hook.call(self, grad_outputs, grad_inputs);
                      });
}

struct HookedContext : Context {
  std::shared_ptr<HookedCall> call;
  std::shared_ptr<const Places> where;
  std::shared_ptr<Object> module;  // of outputs, which hold the module until backward
  std::string type;
};
template <typename Derived>
struct Hooked : Function<Derived> {
  using Context = HookedContext;
  static std::string node_name(const Context& context) {
    return context.type + " (full backward hooks)";
  }
};
struct BackwardHookInput : Hooked<BackwardHookInput> {
  static std::vector<Tensor> forward(Context& context, std::vector<Tensor> x, const Object& module,
                                     const std::shared_ptr<HookedCall>& call,
                                     const std::shared_ptr<const Places>& where) {
    context.call = call;
    context.where = where;
    context.type = module.type_name();
    return x;
  }
  static std::vector<Tensor> backward(Context& context, std::vector<Tensor> g) {
    HookedCall& call = *context.call;
    const std::shared_ptr<Object> module = std::exchange(call.module, {}).lock();
    // As in PyTorch, what did not come through the outputs is none of the hook's, as the gradient of
    // what forward keeps for others.
    if (!module) return g;
    std::vector<Tensor> all = context.where->put(std::move(g), {});
    call_full_backward_hooks(call, *module, all, std::exchange(call.grad_outputs, {}));
    return context.where->pick(all);
  }
};
struct BackwardHookOutput : Hooked<BackwardHookOutput> {
  static std::vector<Tensor> forward(Context& context, std::vector<Tensor> y, const Object& module,
                                     const std::shared_ptr<HookedCall>& call,
                                     const std::shared_ptr<const Places>& where) {
    context.module = std::make_shared<Object>(module);
    context.call = call;
    context.where = where;
    context.type = module.type_name();
    return y;
  }
  static std::vector<Tensor> backward(Context& context, std::vector<Tensor> g) {
    HookedCall& call = *context.call;
    std::vector<Tensor> all = context.where->put(std::move(g), {});
    call_backward_hooks(
        call.lists->pre_hooks, *context.module, "full backward pre-hook", "output", all,
        [&](BackwardHookFunction& hook, Object& self) { return hook.call(self, all, {}); });
    if (call.at_inputs) {
      call.module = context.module;
      call.grad_outputs = all;
    } else {
      std::vector<Tensor> inputs(call.n_inputs);
      call_full_backward_hooks(call, *context.module, inputs, all);
    }
    return context.where->pick(all);
  }
};

// The calls of a module that began and did not return; NULL for one whose inputs need no gradient.
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

// What calls the backward hooks of a module: a pre-hook and a forward hook, each the last of its kind,
// which pass the inputs of forward and its outputs through the two functions above. The lists of one
// BackwardHooks never change. When hooks are added or removed, and when a hook of forward is
// registered, another BackwardHooks takes its place, behind all others. A forward that has begun
// keeps the one that it found.
class BackwardHooks : public std::enable_shared_from_this<BackwardHooks> {
  using Shared = std::shared_ptr<BackwardHooks>;

 public:
  // Changes the lists of an object by `change`, unless that gives false. Returns what it gave.
  template <typename F>
  static bool change(tn_object* object, F change) {
    const Shared old = of(object);
    auto lists = std::make_shared<BackwardHookLists>();
    if (old) *lists = *old->lists_;
    for (BackwardHookFunctions* hooks : {&lists->hooks, &lists->pre_hooks})
      std::erase_if(*hooks, [](const auto& hook) { return hook->id == 0; });
    if (!change(*lists)) return false;
    replace(object, old, std::move(lists));
    return true;
  }
  static void keep_last(tn_object* object) {
    if (const Shared old = of(object)) replace(object, old, old->lists_);
  }
  static BackwardHook add(const Object& module, std::shared_ptr<BackwardHookFunction> hook,
                          BackwardHookFunctions BackwardHookLists::*list, bool prepend) {
    __atomic_store_n(&keep_backward_hooks_last, KeepLast(keep_last), __ATOMIC_RELEASE);
    const uint64_t id = hook->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
    change(module.get(), [&](BackwardHookLists& lists) {
      BackwardHookFunctions& hooks = lists.*list;
      hooks.insert(prepend ? hooks.begin() : hooks.end(), std::move(hook));
      return true;
    });
    return {module, id, remove};
  }
  // What removes a hook is often a destructor: where there is no memory for lists without it, its number
  // becomes 0, and no backward calls it.
  static bool remove(const Object& module, uint64_t id) {
    const auto has_id = [&](const auto& hook) { return hook->id == id; };
    try {
      return change(module.get(), [&](BackwardHookLists& lists) {
        return std::erase_if(lists.hooks, has_id) + std::erase_if(lists.pre_hooks, has_id) > 0;
      });
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      if (error.code() != TN_OUT_OF_MEMORY) throw;
    }
    const Shared there = of(module.get());
    if (!there) return false;
    for (const BackwardHookFunctions* hooks : {&there->lists_->hooks, &there->lists_->pre_hooks}) {
      const auto found = std::find_if(hooks->begin(), hooks->end(), has_id);
      if (found == hooks->end()) continue;
      (*found)->id = 0;
      return true;
    }
    return false;
  }

  explicit BackwardHooks(std::shared_ptr<const BackwardHookLists> lists)
      : lists_(std::move(lists)) {}
  BackwardHooks(const BackwardHooks&) = delete;
  ~BackwardHooks() { unlink(); }

 private:
  static Shared of(tn_object* object) {
    const SpinLock::Scope scope(lock);
    for (BackwardHooks* hooks = first; hooks; hooks = hooks->next_) {
      if (hooks->object_ != object) continue;
      if (Shared found = hooks->weak_from_this().lock()) return found;
    }
    return nullptr;
  }
  static void replace(tn_object* object, const Shared& old,
                      std::shared_ptr<const BackwardHookLists> lists) {
    if (!lists->hooks.empty() || !lists->pre_hooks.empty())
      std::make_shared<BackwardHooks>(std::move(lists))->hang_on(object);
    if (old) old->take_from(object);
  }
  void hang_on(tn_object* object) {
    before_ = hang(object, TN_HOOK_FORWARD_PRE, call_before);
    try {
      after_ = hang(object, TN_HOOK_FORWARD, call_after);
    } catch (...) {
      check_removed(api.object->remove_forward_hook(object, before_));
      throw;
    }
    const SpinLock::Scope scope(lock);
    object_ = object;
    next_ = std::exchange(first, this);
  }
  uint64_t hang(tn_object* object, tn_hook_kind kind, tn_forward_hook_fn call) {
    void* self = Held<Shared>::make(shared_from_this());
    uint64_t id = 0;
    if (tn_status* status =
            api.object->add_hook(object, kind, 0, call, self, Held<Shared>::destroy, &id)) {
      Held<Shared>::destroy(self);
      raise(status);
    }
    return id;
  }
  void take_from(tn_object* object) {
    unlink();
    check_removed(api.object->remove_forward_hook(object, before_));
    check_removed(api.object->remove_forward_hook(object, after_));
  }
  void unlink() {
    const SpinLock::Scope scope(lock);
    for (BackwardHooks** at = &first; *at; at = &(*at)->next_) {
      if (*at != this) continue;
      *at = next_;
      return;
    }
  }

  static tn_status* call_before(void* self, tn_object* object, const tn_value* args,
                                uint32_t n_args, tn_value* replaced, uint32_t) {
    return to_status([&] {
      std::vector<Tensor> others =
          Held<Shared>::get(self)->before(Object::borrow(object), tensors_among(args, n_args));
      if (!others.empty())
        give_tensors(object, "inputs", args, n_args, std::move(others), replaced);
    });
  }
  static tn_status* call_after(void* self, tn_object* object, const tn_value* args, uint32_t n_args,
                               tn_value* results, uint32_t n_results) {
    return to_status([&] {
      std::vector<Tensor> others = Held<Shared>::get(self)->after(
          Object::borrow(object), tensors_among(args, n_args), tensors_among(results, n_results));
      if (!others.empty())
        give_tensors(object, "outputs", results, n_results, std::move(others), results);
    });
  }

  // The inputs that forward is to get; none: those that it has.
  std::vector<Tensor> before(const Object& self, const std::vector<Tensor>& inputs) {
    const auto where = std::make_shared<const Places>(inputs);
    if (!grad_enabled() || where->places.empty() || lists_->hooks.empty()) {
      calls_.began(nullptr);
      return {};
    }
    const std::shared_ptr<HookedCall> call = begin(inputs);
    call->at_inputs = true;
    calls_.began(call);
    return where->put(BackwardHookInput::apply(where->pick(inputs), self, call, where), inputs);
  }
  // Likewise of its outputs.
  std::vector<Tensor> after(const Object& self, const std::vector<Tensor>& inputs,
                            const std::vector<Tensor>& outputs) {
    std::shared_ptr<HookedCall> call = calls_.returned();
    expect_one(self, lists_->hooks, inputs.size(), outputs.size());
    expect_one(self, lists_->pre_hooks, 1, outputs.size());
    const auto where = std::make_shared<const Places>(outputs);
    if (!grad_enabled() || where->places.empty()) return {};
    if (!call) call = begin(inputs);
    return where->put(
        BackwardHookOutput::apply(own(where->pick(outputs), inputs), self, call, where), outputs);
  }
  static void expect_one(const Object& self, const BackwardHookFunctions& hooks, size_t n_inputs,
                         size_t n_outputs) {
    for (const auto& hook : hooks) {
      if (hook->id == 0 || hook->takes_lists || (n_inputs > 0 && n_outputs == 1)) continue;
      fail(joined({self.type_name(),
                   ": a backward hook of one tensor in each place is set, and forward has ",
                   std::to_string(n_inputs), " tensors among its arguments and ",
                   std::to_string(n_outputs),
                   " among its results; expected a hook of std::vector<Tensor> gradients"}));
    }
  }
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
    const auto call = std::make_shared<HookedCall>();
    call->lists = lists_;
    call->n_inputs = inputs.size();
    return call;
  }

  // Those that hang on objects, in a list over next_.
  static inline constinit BackwardHooks* first = nullptr;
  static inline constinit SpinLock lock{};
  static inline constinit uint64_t last_id = 0;

  const std::shared_ptr<const BackwardHookLists> lists_;
  HookedCalls calls_;
  const tn_object* object_ = nullptr;
  uint64_t before_ = 0, after_ = 0;
  BackwardHooks* next_ = nullptr;
};

}  // namespace detail

template <typename F>
BackwardHook Object::register_full_backward_hook(F f, bool prepend) const {
  checked();
  return detail::BackwardHooks::add(*this,
                                    std::make_shared<detail::FullBackwardHook<F>>(std::move(f)),
                                    &detail::BackwardHookLists::hooks, prepend);
}
template <typename F>
BackwardHook Object::register_full_backward_pre_hook(F f, bool prepend) const {
  checked();
  return detail::BackwardHooks::add(*this,
                                    std::make_shared<detail::FullBackwardPreHook<F>>(std::move(f)),
                                    &detail::BackwardHookLists::pre_hooks, prepend);
}

}  // namespace v0
}  // namespace tenon
