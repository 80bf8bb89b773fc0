// The engine: finds the nodes below the roots, runs them youngest first, and hands gradients down.
// backward.cpp begins it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "autograd/backward_run.h"
#include "autograd/grad.h"
#include "autograd/nesting.h"
#include "autograd/record.h"
#include "primitive/convert.h"
#include "launch/explain.h"
#include "profile/profile.h"
#include "registry/recording.h"
#include "primitive/loop.h"
#include "primitive/primitives.h"
#include "memory/memory.h"
#include "tensor/rows.h"
#include "tensor/view.h"

namespace tenon {

namespace {

// n owned tensors, NULL at first; few of them on the stack.
class TensorArray {
 public:
  explicit TensorArray(uint32_t n) : n_(n), begin_(inline_) {
    if (n > kInline) [[unlikely]] {
      more_ = std::make_unique<Tensor*[]>(n);
      begin_ = more_.get();
    }
  }
  TensorArray(const TensorArray&) = delete;
  ~TensorArray() { release(); }
  // Leaves an array of none.
  void release() {
    while (n_ > 0) {
      if (Tensor* t = begin_[--n_]) t->release();
    }
  }
  Tensor** begin() { return begin_; }
  Tensor*& operator[](uint32_t i) { return begin_[i]; }

 private:
  static constexpr uint32_t kInline = 4;
  uint32_t n_;
  Tensor** begin_;
  Tensor* inline_[kInline] = {};
  std::unique_ptr<Tensor*[]> more_;
};

// The stream of a node's forward, until the end of the scope.
class StreamScope {
 public:
  [[nodiscard]] Status enter(Stream* stream) {
    device_ = stream->device;
    TN_TRY(current_stream(device_, &before_));
    return set_current_stream(device_, stream);
  }
  ~StreamScope() {
    if (before_ != nullptr) StatusHolder ignored(set_current_stream(device_, before_));
  }

 private:
  Stream* before_ = nullptr;
  tn_device device_{};
};

bool has_nan(Tensor* t) {
  if (is_rows(t)) return has_nan(rows_of(t)->values.get());
  if (!is_float(t->dtype) || t->device.type == TN_DEVICE_META) return false;
  Tensor* converted;
  StatusHolder failed(copy_to(t, kCpu, TN_FLOAT64, &converted));
  if (failed) return false;
  TensorRef values(converted);
  const auto* data = static_cast<const double*>(values->data);
  return std::any_of(data, data + values->numel, [](double v) { return std::isnan(v); });
}

// A node's backward as an entry of explain and of the profiler, so that the kernels that it launches
// itself are seen.
class NodeEntry {
 public:
  NodeEntry(const Node* node, std::span<Tensor* const> grads) : name_(node->name()) {
    for (Tensor* grad : grads) {
      if (grad != nullptr) args_.push_back(tensor_value(grad));
    }
    if ((thread_state.modes & kModeExplain) != 0) explain_.emplace(name_ + " backward", args_);
    if ((thread_state.modes & kModeProfile) != 0)
      profile_.emplace(profile_event(TN_PROFILE_NODE, name_.c_str(), args_));
  }

 private:
  const std::string name_;
  std::vector<tn_value> args_;
  std::optional<ExplainScope> explain_;
  std::optional<ProfileScope> profile_;
};

Status check_anomaly(Node* node, Tensor* const* results) {
  for (uint32_t i = 0; i < node->n_edges(); ++i) {
    if (results[i] == nullptr || node->edge(i).node == nullptr || !has_nan(results[i])) continue;
    const Node::Extras* extras = node->extras_if_any();
    return error(TN_FAILED_PRECONDITION, "backward of {} gave NaN for input {}; forward call: {}",
                 node->name(), i,
                 extras != nullptr && !extras->forward.empty()
                     ? extras->forward
                     : "not known (anomaly mode was off then)");
  }
  return nullptr;
}

Status used_already(const Node* node) {
  return error(TN_FAILED_PRECONDITION,
               "backward: the graph of {} was used already and its saved tensors are freed; say "
               "retain_graph the first time to go through it twice",
               node->name());
}

Status describe_failure(Node* node, Status cause) {
  if (NestedBackward::is_deep()) return cause;
  return wrap(cause, [&] {
    const Node::Extras* extras = node->extras_if_any();
    const std::string forward = extras != nullptr && !extras->forward.empty()
                                    ? fmt::format(" (forward call: {})", extras->forward)
                                    : "";
    return fmt::format("backward of {} failed{}", node->name(), forward);
  });
}

}  // namespace

// Makes a Visit of each node below the root, and counts the edges into each.
void BackwardRun::discover(Visit* root) {
  Recording* const recording =
      (thread_state.modes & kModeRecord) != 0 ? thread_state.recording : nullptr;
  const auto note = [&](const Node* node) {
    if (recording != nullptr && !node->is_leaf()) recording->see_node(node->sequence);
  };
  note(root->node);
  SmallVector<Node*, 16> stack{root->node};
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (uint32_t i = 0; i < node->n_edges(); ++i) {
      Node* next = node->edge(i).node;
      if (next == nullptr) continue;
      Visit* visit = find(next);
      if (visit == nullptr) {
        visit = add(next);
        note(next);
        if (next->n_edges() > 0) stack.push_back(next);
      }
      ++visit->waits;
    }
  }
}

// With chosen inputs only nodes on a path to one of them run. Walks each node after those that its
// edges lead to.
void BackwardRun::mark_needed() {
  visits.for_each([](Visit& s) { s.needed = s.runs = false; });
  for (const Target& t : targets) t.visit->needed = true;
  std::vector<Visit*> stack;
  visits.for_each([&](Visit& start) {
    if (start.mark == Visit::kNew) stack.push_back(&start);
    while (!stack.empty()) {
      Visit& at = *stack.back();
      if (at.mark == Visit::kNew) {
        at.mark = Visit::kOpen;
        for (uint32_t i = 0; i < at.node->n_edges(); ++i) {
          if (at.node->edge(i).node == nullptr) continue;
          Visit* next = find(at.node->edge(i).node);
          if (next->mark == Visit::kNew) stack.push_back(next);
        }
        continue;
      }
      stack.pop_back();
      if (at.mark == Visit::kDone) continue;
      at.mark = Visit::kDone;
      for (uint32_t i = 0; i < at.node->n_edges(); ++i) {
        if (at.node->edge(i).node == nullptr) continue;
        at.runs |= find(at.node->edge(i).node)->needed;
      }
      at.needed |= at.runs;
    }
  });
}

Status BackwardRun::deliver(Visit& visit, uint32_t output, TensorRef grad) {
  constexpr int64_t kSmall = 16384;  // elements
  Tensor*& place = visit.place(output);
  if (place == nullptr) {
    place = grad.take();
    return nullptr;
  }
  // A small tensor that is used often (the weights of a recurrent cell) adds several gradients in
  // one pass.
  if (output == 0 && place->numel <= kSmall && !create_graph) {
    Rare& rare = visit.rare();
    rare.terms[rare.n_terms++] = grad.take();
    return rare.n_terms == kMaxTerms ? add_terms(visit) : nullptr;
  }
  TensorRef sum(std::exchange(place, nullptr));
  Tensor* term = grad.get();
  TN_TRY(add_into(&sum, {&term, 1}, create_graph));
  place = sum.take();
  return nullptr;
}

Status BackwardRun::add_terms(Visit& visit) {
  TensorRef sum(std::exchange(visit.grad, nullptr));
  Rare& rare = visit.rare();
  const Status status = add_into(&sum, {rare.terms, rare.n_terms}, create_graph);
  while (rare.n_terms > 0) rare.terms[--rare.n_terms]->release();
  visit.grad = sum.take();
  return status;
}

Status BackwardRun::run_hooks(Visit& visit, const std::vector<GradHook>& hooks) {
  if ((thread_state.modes & kModeRecord) != 0)
    thread_state.recording->refuse("backward: a gradient hook runs code of the host");
  for (const GradHook& hook : hooks) {
    Tensor* grad = visit.gradient(hook.output);
    if (grad == nullptr) continue;
    tn_tensor* replacement = nullptr;
    if (Status status = hook.fn(hook.held->self, grad, &replacement)) return status;
    if (replacement == nullptr) continue;
    TensorRef replaced(as_tensor(replacement));
    if (!same_sizes(replacement, grad) || replacement->dtype != grad->dtype ||
        !(replacement->device == grad->device)) {
      return invalid("a hook on a gradient of {} gave {}, expected {}", visit.node->name(),
                     tensor_text(replacement), tensor_text(grad));
    }
    if (is_rows(replaced.get()) && !visit.node->is_leaf()) {
      return refuse_rows(fmt::format("what a hook on a gradient of {} gave", visit.node->name()),
                         replaced.get());
    }
    Tensor*& place = visit.place(hook.output);
    place->release();
    place = replaced.take();
  }
  return nullptr;
}

// A leaf takes its gradient, unless those of chosen inputs are given back.
Status BackwardRun::run_leaf(Visit& visit) {
  TensorRef grad(std::exchange(visit.grad, nullptr));
  if (!grad || !visit.needed || (!targets.empty() && !accumulates)) return nullptr;
  TN_TRY(static_cast<Leaf*>(visit.node)->accumulate(grad.get(), create_graph));
  grad = {};
  if (visit.node->extras_if_any() == nullptr) [[likely]]
    return nullptr;
  return run_accumulated_hooks(static_cast<Leaf*>(visit.node));
}

// Each is given a tensor of its own, which is the leaf for all that it can do: its values, its
// gradient, the version.
[[gnu::noinline]] Status BackwardRun::run_accumulated_hooks(Leaf* leaf) {
  std::vector<GradHook> hooks;
  TensorRef values;
  {
    const std::lock_guard lock(extras_mutex());
    hooks = leaf->extras().accumulated;
    values = leaf->extras().values;
  }
  if (!hooks.empty() && (thread_state.modes & kModeRecord) != 0)
    thread_state.recording->refuse("backward: a gradient hook runs code of the host");
  for (const GradHook& hook : hooks) {
    TensorRef tensor(make_alias(values.get()));
    tensor->flags |= TN_TENSOR_REQUIRES_GRAD;
    tensor->meta = leaf;
    leaf->retain();
    tn_tensor* ignored = nullptr;
    const Status status = hook.fn(hook.held->self, tensor.get(), &ignored);
    if (ignored != nullptr) as_tensor(ignored)->release();
    if (status != nullptr) return status;
  }
  return nullptr;
}

// A view's gradient goes into the sum that its tensor has already, where there is one: a tensor
// that is cut into n pieces gets n small additions, and not n tensors of its own size.
[[gnu::noinline]] Status BackwardRun::add_window(Node* node, Tensor* const* grads,
                                                 Tensor** results) {
  const Edge& edge = node->edge(0);
  Visit* next = edge.node != nullptr ? find(edge.node) : nullptr;
  Tensor* sum = next != nullptr && next->needed ? next->gradient(edge.output) : nullptr;
  bool added = false;
  if (sum != nullptr && !is_rows(sum) && is_unseen(sum) &&
      (thread_state.modes & kModeAnomaly) == 0) {
    TN_TRY(node->add_to(grads, sum, &added));
  }
  return added ? nullptr : node->backward(grads, results);
}

inline Status BackwardRun::call_backward(Node* node, Tensor* const* grads, Tensor** results) {
  return node->adds ? add_window(node, grads, results) : node->backward(grads, results);
}

[[gnu::noinline]] Status BackwardRun::call_on_its_stream(Node* node, Tensor* const* grads,
                                                         Tensor** results) {
  StreamScope scope;
  TN_TRY(scope.enter(node->stream));
  return call_backward(node, grads, results);
}

// Of hooks and retained gradients.
[[gnu::noinline]] Status BackwardRun::run_extras(Visit& visit) {
  const auto copy_of = [](const auto& list) {  // a hook, or another thread, may add and remove some
    const std::lock_guard lock(extras_mutex());
    return list;
  };
  const std::vector<GradHook> hooks = copy_of(visit.node->extras().hooks);
  if (!hooks.empty()) TN_TRY(run_hooks(visit, hooks));
  for (const RetainedOutput& r : copy_of(visit.node->extras().retained)) {
    if (Tensor* grad = visit.gradient(r.output)) TN_TRY(r.keeper->keep(grad, create_graph));
  }
  return nullptr;
}

// For the caller, who asked for the gradients of chosen inputs.
void BackwardRun::capture(const Target& target) {
  Tensor* grad = target.visit->gradient(target.output);
  if (grad == nullptr || captured[target.input] != nullptr) return;
  grad->retain();
  captured[target.input] = grad;
}

Status BackwardRun::run_node(Visit& visit) {
  Node* node = visit.node;
  if (visit.has_terms()) TN_TRY(add_terms(visit));
  if (node->extras_if_any() != nullptr) [[unlikely]]
    TN_TRY(run_extras(visit));
  for (const Target& t : targets) {
    if (t.visit == &visit && !accumulates) capture(t);
  }
  if (node->is_leaf()) return run_leaf(visit);
  // The gradients leave the visit: the node may drop them as soon as it is done.
  const uint32_t n_outputs = node->n_outputs;
  const uint32_t n_edges = node->n_edges();
  TensorArray grads(n_outputs), results(n_edges);
  bool any = false;
  for (uint32_t i = 0; i < n_outputs; ++i) {
    grads[i] = visit.gradient(i);
    any = any || grads[i] != nullptr;
  }
  visit.grad = nullptr;
  if (n_outputs > 1 && visit.rare_ != nullptr) visit.rare_->more.clear();
  Status status = nullptr;
  if (any && visit.runs) {
    if (node->released) [[unlikely]] {
      status = used_already(node);
    } else {
      std::optional<NodeEntry> entry;
      if ((thread_state.modes & (kModeExplain | kModeProfile)) != 0) [[unlikely]]
        entry.emplace(node, std::span<Tensor* const>(grads.begin(), n_outputs));
      status = guarded([&] {
        return node->stream == nullptr ? call_backward(node, grads.begin(), results.begin())
                                       : call_on_its_stream(node, grads.begin(), results.begin());
      });
      if (status != nullptr) status = describe_failure(node, status);
      if (status == nullptr && (thread_state.modes & kModeAnomaly) != 0)
        status = check_anomaly(node, results.begin());
      if (!retain_graph && !node->is_shared) {
        node->release_saved();
        node->released = true;
        if (node->extras_if_any() != nullptr) [[unlikely]]
          node->extras().packed = nullptr;
      }
    }
  }
  grads.release();
  for (uint32_t i = 0; i < n_edges; ++i) {
    const Edge& edge = node->edge(i);
    if (edge.node == nullptr || status != nullptr) continue;
    Visit& next = *find(edge.node);
    if (results[i] != nullptr && next.needed) {
      status = deliver(next, edge.output, TensorRef(std::exchange(results[i], nullptr)));
    }
    if (--next.waits != 0) continue;
    if (!edge.node->is_leaf()) {
      push(&next);
    } else if (status == nullptr) {
      status = run_node(next);  // a leaf at once, so that its gradient need not wait in memory
    }
  }
  return status;
}

Status BackwardRun::run_all() {
  while (!ready.empty()) TN_TRY(run_node(*pop()));
  return nullptr;
}

}  // namespace tenon
