// Activation checkpointing, which is torch.utils.checkpoint: a part of a model keeps for backward
// nothing but its inputs, and is computed again there. For models whose activations do not fit into
// memory; tenon.hpp does not include it. (Checkpoints of a training in files are checkpoint.hpp's.)
//
//   Tensor y = checkpoint_call(block, x);                    // a layer
//   Tensor z = checkpoint_call([=](Tensor t) { return mlp(t) + t; }, y);
//   Tensor out = checkpoint_sequential(model, 4, x);         // a Sequential in 4 parts
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/amp.hpp"
#include "tenon/custom_function.hpp"
#include "tenon/compiling.hpp"
#include "tenon/event_listener.hpp"
#include "tenon/object.hpp"
#include "tenon/ops/methods.hpp"
#include "tenon/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// The leaves that calls of this thread get as arguments, as long as it lives. There is no other way
// to see what a function uses besides its arguments.
class UsedLeaves {
 public:
  UsedLeaves() { listener_.listen(&UsedLeaves::see, this); }
  void stop() { listener_.stop(); }
  std::vector<Tensor> list;

 private:
  static void see(void* context, const tn_profile_event* event) {
    if (event->kind != TN_PROFILE_CALL || !event->begin) return;
    auto& self = *static_cast<UsedLeaves*>(context);
    for (uint32_t i = 0; i < event->n_args; ++i) {
      const tn_value& v = event->args[i];
      if (v.kind == TN_KIND_TENSOR) self.note(v.as.tensor);
      for (uint32_t k = 0; v.kind == TN_KIND_TENSORS && k < v.count; ++k)
        self.note(v.as.tensors[k]);
    }
  }
  void note(tn_tensor* t) {
    if (!t || !(t->flags & TN_TENSOR_REQUIRES_GRAD) || !(t->flags & TN_TENSOR_LEAF)) return;
    if (seen_.insert(t).second) list.push_back(Tensor::borrow(t));
  }
  std::set<tn_tensor*> seen_;
  EventListener listener_;
};

// The leaves of the graph below some tensors.
class LeavesBelow {
 public:
  explicit LeavesBelow(const std::vector<Tensor*>& tensors) {
    for (const Tensor* t : tensors) visit(OwnedNode(api.autograd->grad_fn(t->get())));
    while (!inner_.empty()) {
      tn_node* const node = inner_.back();
      inner_.pop_back();
      const uint32_t n = api.autograd->node_n_next(node);
      for (uint32_t i = 0; i < n; ++i) visit(OwnedNode(api.autograd->node_next(node, i)));
    }
  }
  // Whether the leaf that `view` is a view of was one of them, each of which is taken once.
  bool take_base_of(const Tensor& view) {
    const OwnedNode call(api.autograd->grad_fn(view.get()));
    const OwnedNode leaf(api.autograd->node_next(call.get(), 0));
    return leaves_.erase(leaf.get()) > 0;
  }
  bool empty() const { return leaves_.empty(); }

 private:
  void visit(OwnedNode owned) {
    tn_node* const node = owned.get();
    if (!node || seen_.contains(node)) return;
    seen_.emplace(node, std::move(owned));
    if (api.autograd->node_n_next(node) > 0) {
      inner_.push_back(node);
    } else {
      leaves_.insert(node);
    }
  }
  std::map<tn_node*, OwnedNode> seen_;
  std::set<tn_node*> leaves_;
  std::vector<tn_node*> inner_;
};

// An input as the function gets it under create_graph: with its history, which second gradients go
// through, while first ones stop here until all of them are there.
struct CheckpointBorder : Function<CheckpointBorder> {
  struct Context : tenon::Context {
    std::shared_ptr<bool> open;
  };
  static Tensor forward(Context& context, Tensor x, const std::shared_ptr<bool>& open) {
    context.open = open;
    return x;
  }
  static Tensor backward(Context& context, Tensor g) { return *context.open ? g : Tensor(); }
};

// A call that backward repeats: what the function depends on besides tensors, and what its results
// looked like. It is the state of a node of the graph. That node's inputs are those of the function
// and the leaves that it uses, and so are its saved tensors, whose changes are errors.
class CheckpointedCall {
 public:
  virtual ~CheckpointedCall() = default;

  // Before the call. An Error where the autocast scope is not known.
  void note_state() {
    random_ = random_state();
    if (!autocast_enabled()) return;
    const Autocast* scope = Autocast::innermost();
    if (!scope) {
      fail(
          "checkpoint_call: autocast is on, but by no tenon::Autocast of this library, and so "
          "backward could not open its scope again",
          TN_FAILED_PRECONDITION);
    }
    autocast_ = Scope{scope->device(), scope->lower(), scope->policy()};
  }
  // Inputs as the function gets them, so that its graph ends there. They are views of leaves and not
  // leaves: of leaves autocast would keep casts until its scope ends.
  static std::vector<Tensor> entrances(const std::vector<Tensor>& inputs) {
    const EnableGrad guard;
    std::vector<Tensor> list = inputs;
    for (Tensor& t : list) {
      if (t.defined() && t.requires_grad()) t = t.detach().requires_grad_().view(t.sizes());
    }
    return list;
  }
  // A view, which is not written in place while others hold the memory that it shows.
  static Tensor without_history(const Tensor& t) {
    const NoGrad guard;
    return prim::reshape(t, t.sizes());
  }
  // After the call: lets go of the graph of the results, and puts one node into its place. `given`
  // are the inputs as the function got them.
  static void record(std::unique_ptr<CheckpointedCall> call, const std::vector<Tensor>& inputs,
                     const std::vector<Tensor>& given, const UsedLeaves& used,
                     const std::vector<Tensor*>& results) {
    call->draws_ = random_state() != call->random_;
    call->n_inputs_ = inputs.size();
    std::vector<Tensor*> outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      call->results_.push_back(text_of(*results[i]));
      if (!results[i]->defined() || !results[i]->requires_grad()) continue;
      call->with_gradient_.push_back(i);
      outputs.push_back(results[i]);
    }
    if (outputs.empty()) return;
    std::vector<Tensor> all = inputs;
    for (Tensor& leaf : leaves_of(given, used, outputs)) all.push_back(std::move(leaf));
    std::vector<tn_tensor*> raw;
    for (Tensor* t : outputs) {
      *t = without_history(*t);
      raw.push_back(t->get());
    }
    const Tensors list(all);
    check(api.autograd->custom("checkpoint_call", &CheckpointedCall::backward, call.get(),
                               &CheckpointedCall::destroy, list.data(), list.size(), raw.data(),
                               uint32_t(raw.size()), list.data(), list.size()));
    call.release();
  }

 protected:
  // Calls the function, and gives its results in order.
  virtual std::vector<Tensor> run(const std::vector<Tensor>& inputs) = 0;

 private:
  struct Scope {
    Device device;
    Dtype lower;
    std::string policy;
  };
  // The random numbers of forward, until the end of the scope. A recording follows the state that is
  // set and set back, and no generator.
  class RandomScope {
   public:
    explicit RandomScope(RandomState state) : numbers_(state), before_(random_state()) {
      if (compiler::is_compiling()) {
        set_random_state(state);
      } else {
        guard_.emplace(numbers_);
      }
    }
    RandomScope(const RandomScope&) = delete;
    ~RandomScope() {
      if (!guard_) set_random_state(before_);
    }

   private:
    Generator numbers_;
    RandomState before_;
    std::optional<GeneratorGuard> guard_;
  };

  static std::string text_of(const Tensor& t) {
    if (!t.defined()) return "None";
    std::string text = "[";
    for (int64_t d = 0; d < t.dim(); ++d) text += (d ? ", " : "") + std::to_string(t.size(d));
    return text + joined({"] ", t.dtype().name(), " on ", t.device().name()});
  }
  // The leaves besides the inputs on which the results depend. An Error where there are others than
  // those that calls were seen to use: the way to them leads through a tensor with a history, which
  // backward would run through twice.
  static std::vector<Tensor> leaves_of(const std::vector<Tensor>& given, const UsedLeaves& used,
                                       const std::vector<Tensor*>& outputs) {
    const EnableGrad guard;
    LeavesBelow below(outputs);
    for (const Tensor& t : given) {
      if (t.defined() && t.requires_grad()) below.take_base_of(t);
    }
    std::vector<Tensor> leaves;
    for (const Tensor& leaf : used.list) {
      if (below.take_base_of(leaf.view(leaf.sizes()))) leaves.push_back(leaf);
    }
    for (const Tensor* t : outputs) {
      const auto same = [t](const Tensor& known) { return known.is_same(*t); };
      if (t->is_leaf() && std::none_of(leaves.begin(), leaves.end(), same)) leaves.push_back(*t);
    }
    if (!below.empty()) {
      fail(
          "checkpoint_call: the function uses a tensor that has a history and is none of its "
          "arguments; give it as an argument");
    }
    return leaves;
  }
  static void destroy(void* self) { delete static_cast<CheckpointedCall*>(self); }

  static tn_status* backward(void* self, tn_tensor* const* grads, uint32_t n_grads,
                             tn_tensor** results, uint32_t n_results) {
    return to_status([&] {
      std::vector<Tensor> saved;
      for (uint32_t i = 0; i < n_results; ++i) {
        tn_tensor* t = nullptr;
        check(api.autograd->custom_saved(i, &t));
        saved.push_back(Tensor::take(t));
      }
      std::vector<Tensor> gradients =
          static_cast<CheckpointedCall*>(self)->gradients_of(std::move(saved), grads, n_grads);
      for (uint32_t i = 0; i < n_results; ++i) results[i] = gradients[i].release();
    });
  }
  // Computes the call again, and gives the gradients of its inputs and leaves.
  std::vector<Tensor> gradients_of(std::vector<Tensor> saved, tn_tensor* const* grads,
                                   uint32_t n_grads) {
    const bool create_graph = grad_enabled();
    const auto open = std::make_shared<bool>(false);
    std::vector<Tensor> inputs(saved.begin(), saved.begin() + int64_t(n_inputs_));
    if (create_graph) {
      for (Tensor& t : inputs) {
        if (t.defined() && t.requires_grad()) t = CheckpointBorder::apply(t, open);
      }
    } else {
      inputs = entrances(inputs);
    }
    std::move(inputs.begin(), inputs.end(), saved.begin());
    const std::vector<Tensor> made = again({saved.begin(), saved.begin() + int64_t(n_inputs_)});
    std::vector<Tensor> outputs, grad_outputs, targets;
    for (uint32_t k = 0; k < n_grads; ++k) {
      if (!grads[k]) continue;
      outputs.push_back(made[with_gradient_[k]]);
      grad_outputs.push_back(Tensor::borrow(grads[k]));
    }
    for (const Tensor& t : saved) {
      if (t.defined() && t.requires_grad()) targets.push_back(t);
    }
    std::vector<Tensor> found = grad(outputs, targets,
                                     {.grad_outputs = std::move(grad_outputs),
                                      .create_graph = create_graph,
                                      .allow_unused = true});
    *open = true;
    std::vector<Tensor> gradients(saved.size());
    for (size_t i = 0, at = 0; i < saved.size(); ++i) {
      if (saved[i].defined() && saved[i].requires_grad()) gradients[i] = std::move(found[at++]);
    }
    return gradients;
  }
  // The results once more, as they were made in forward.
  std::vector<Tensor> again(const std::vector<Tensor>& inputs) {
    const EnableGrad grad_mode;
    std::optional<RandomScope> random;
    if (draws_) random.emplace(random_);
    std::optional<Autocast> autocast;
    if (autocast_) {
      const std::string& policy = autocast_->policy;
      autocast.emplace(autocast_->device, autocast_->lower,
                       policy.empty() ? nullptr : policy.c_str());
    }
    std::optional<NoAutocast> no_autocast;
    if (!autocast_ && autocast_enabled()) no_autocast.emplace();
    std::vector<Tensor> made = run(inputs);
    if (made.size() != results_.size()) {
      fail(joined({"checkpoint_call: the function gave ", std::to_string(results_.size()),
                   " tensors in forward and ", std::to_string(made.size()),
                   " in backward; it has to do the same both times"}));
    }
    for (size_t i = 0; i < made.size(); ++i) {
      const bool needs =
          std::find(with_gradient_.begin(), with_gradient_.end(), i) != with_gradient_.end();
      if (text_of(made[i]) == results_[i] && (!needs || made[i].requires_grad())) continue;
      fail(joined(
          {"checkpoint_call: result ", std::to_string(i), " was ", results_[i],
           " in forward and is ", text_of(made[i]),
           needs && made[i].defined() && !made[i].requires_grad() ? ", without a gradient," : "",
           " in backward; the function has to do the same both times"}));
    }
    return made;
  }

  RandomState random_{};
  bool draws_ = false;  // whether the function takes random numbers
  std::optional<Scope> autocast_;
  size_t n_inputs_ = 0;
  std::vector<std::string> results_;   // sizes, dtype and device
  std::vector<size_t> with_gradient_;  // which of the results
};

// Calls f with each tensor in an argument, or in a result.
template <typename T, typename F>
void each_checkpointed(T& x, F&& f) {
  if constexpr (std::is_same_v<T, Tensor>) {
    f(x);
  } else if constexpr (IsTuple<T>::value) {
    std::apply([&](auto&... part) { (each_checkpointed(part, f), ...); }, x);
  } else if constexpr (IsSequence<T>::value) {
    for (Tensor& t : x) f(t);
  } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
    if (x) f(*x);
  }
}

// Of a result, which may be a struct, or have one.
template <typename T, typename F>
void each_of_result(T& x, F&& f) {
  if constexpr (IsStructOfValues<T>) {
    std::apply([&](auto&... part) { (each_checkpointed(part, f), ...); }, fields_of(x));
  } else if constexpr (IsTuple<T>::value) {
    std::apply([&](auto&... part) { (each_of_result(part, f), ...); }, x);
  } else {
    each_checkpointed(x, f);
  }
}

// What may be a result: nothing that has tensors which each_of_result does not see.
template <typename T>
inline constexpr bool kCheckpointedResult =
    std::is_same_v<T, Tensor> || IsSequence<T>::value || std::is_same_v<T, std::optional<Tensor>> ||
    std::is_arithmetic_v<T> || IsNamedResults<T> || IsStructOfValues<T>;
template <typename... T>
inline constexpr bool kCheckpointedResult<std::tuple<T...>> = (kCheckpointedResult<T> && ...);
template <typename A, typename B>
inline constexpr bool kCheckpointedResult<std::pair<A, B>> =
    kCheckpointedResult<A>&& kCheckpointedResult<B>;

template <typename F, typename... Args>
class CheckpointedCallOf final : public CheckpointedCall {
 public:
  using Given = std::decay_t<std::invoke_result_t<F&, Args&...>>;
  using Result = std::conditional_t<TensorLike<Given>, Tensor, Given>;
  static_assert(
      kCheckpointedResult<Result>,
      "a checkpointed function gives a Tensor, or a tuple, pair, array, struct or vector of them");

  explicit CheckpointedCallOf(F f, const Args&... args) : f_(std::move(f)), args_(args...) {}

  // The tensors among the arguments, which are held by the node, and not here.
  std::vector<Tensor> take_inputs() {
    std::vector<Tensor> inputs;
    each_checkpointed(args_, [&](Tensor& t) { inputs.push_back(std::exchange(t, Tensor())); });
    return inputs;
  }
  Result call(const std::vector<Tensor>& inputs) {
    size_t at = 0;
    std::tuple<Args...> args = args_;
    each_checkpointed(args, [&](Tensor& t) { t = inputs[at++]; });
    return std::apply(f_, args);
  }

 protected:
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    Result result = call(inputs);
    std::vector<Tensor> list;
    each_of_result(result, [&](Tensor& t) { list.push_back(std::move(t)); });
    return list;
  }

 private:
  F f_;
  std::tuple<Args...> args_;
};

}  // namespace detail

// f(args...), which backward computes again instead of keeping what it needs. f is a layer or a
// function of tensors and other values that gives a Tensor, or a tuple, pair, array or vector of
// them. It is copied, and what it refers to has to live until backward is done.
//
// Values and gradients are those of f(args...). (Of an argument that is used elsewhere, too, the
// terms of the gradient may be added in another order.) Random numbers and autocast are as they were
// in forward, but for those of a generator that f uses itself and that lives outside of it, which goes
// on; the training mode, and whatever else f reads, are as they are at the time of backward.
// What a layer counts or averages in its buffers, as BatchNorm does, it does twice. Calls may be
// nested, gradients may have gradients, and leaves that f uses need not be arguments; tensors with a
// history do.
//
// Errors: in forward, a tensor with a history that is no argument; in backward, an argument or leaf
// that was changed in between, or results of other sizes, dtypes or devices than in forward.
template <typename F, typename... Args>
auto checkpoint_call(F f, const Args&... args) {
  using Call = detail::CheckpointedCallOf<F, std::decay_t<decltype(detail::as_tensor(args))>...>;
  auto call = std::make_unique<Call>(std::move(f), detail::as_tensor(args)...);
  const std::vector<Tensor> inputs = call->take_inputs();
  if (!grad_enabled()) return call->call(inputs);
  if (detail::substitutions > 0) {
    fail(
        "checkpoint_call: it is called within functional_call, whose tensors backward would no "
        "longer find",
        TN_FAILED_PRECONDITION);
  }
  call->note_state();
  const std::vector<Tensor> given = Call::entrances(inputs);
  detail::UsedLeaves used;
  typename Call::Result result = call->call(given);
  used.stop();
  std::vector<Tensor*> tensors;
  detail::each_of_result(result, [&](Tensor& t) { tensors.push_back(&t); });
  detail::CheckpointedCall::record(std::move(call), inputs, given, used, tensors);
  return result;
}

// The layers one after the other, in `segments` parts of the same number of layers, each of which is
// a checkpoint_call. The last part has what remains, and is a plain call, as backward begins there.
inline Tensor checkpoint_sequential(const std::vector<Object>& layers, int64_t segments,
                                    const Tensor& input) {
  const auto n = int64_t(layers.size());
  if (segments < 1 || segments > n) {
    fail(detail::joined({"checkpoint_sequential: segments is ", std::to_string(segments),
                         ", expected 1 to ", std::to_string(n), ", the number of layers"}));
  }
  const auto part = [&](int64_t begin, int64_t end) {
    return [part = std::vector<Object>(layers.begin() + begin, layers.begin() + end)](Tensor x) {
      for (const Object& layer : part) x = layer(x);
      return x;
    };
  };
  const int64_t size = n / segments, last = size * (segments - 1);
  Tensor x = input;
  for (int64_t begin = 0; begin < last; begin += size)
    x = checkpoint_call(part(begin, begin + size), x);
  return part(last, n)(x);
}
// Of a Sequential, whose hooks are passed over.
inline Tensor checkpoint_sequential(const Object& model, int64_t segments, const Tensor& input) {
  return checkpoint_sequential(model.children(), segments, input);
}

}  // namespace v0
}  // namespace tenon
