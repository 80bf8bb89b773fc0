#include "autograd/engine.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "autograd/accumulate.h"
#include "autograd/prim.h"
#include "autograd/record.h"
#include "dispatch/convert.h"
#include "dispatch/explain.h"
#include "dispatch/loop.h"
#include "dispatch/primitives.h"
#include "memory/memory.h"

namespace tenon {

// One backward. Each node that it visits has a slot; the node remembers its number while no other run holds the node (several
// backwards may share nodes: nested ones, or threads), else a map does.
struct BackwardRun {
  struct Slot {
    Node* node;               // alive: the roots are held, and each node holds those below it
    uint32_t waits = 0;       // edges into the node that have not delivered
    bool needed = true;
    Tensor* grad = nullptr;   // of output 0, owned
    std::unique_ptr<std::vector<Tensor*>> more;  // of outputs 1..., owned; NULL: none came yet

    Tensor*& place(uint32_t output) {
      if (output == 0) return grad;
      if (more == nullptr) more = std::make_unique<std::vector<Tensor*>>();
      if (more->size() < output) more->resize(output);
      return (*more)[output - 1];
    }
    // NULL: none came.
    Tensor* gradient(uint32_t output) const {
      if (output == 0) return grad;
      return more != nullptr && output <= more->size() ? (*more)[output - 1] : nullptr;
    }
  };
  struct Target {
    uint32_t slot;
    uint32_t output;
    size_t input;
  };

  bool create_graph = false, retain_graph = false;
  SmallVector<Slot, 8> slots;
  SmallVector<Target, 4> targets;
  SmallVector<uint32_t, 8> ready;  // a heap by sequence
  std::unordered_map<Node*, uint32_t> foreign;
  std::span<Tensor*> captured;

  ~BackwardRun() {
    for (Slot& s : slots) {
      if (s.node->run.load(std::memory_order_relaxed) == this) s.node->run.store(nullptr, std::memory_order_release);
      if (s.grad != nullptr) s.grad->release();
      for (uint32_t i = 1; s.more != nullptr && i <= s.more->size(); ++i) {
        if (Tensor* t = s.gradient(i)) t->release();
      }
    }
  }

  // The node's slot, or -1 when it has none yet.
  int64_t find(Node* node) const {
    if (node->run.load(std::memory_order_acquire) == this) return node->slot;
    if (foreign.empty()) return -1;
    const auto it = foreign.find(node);
    return it == foreign.end() ? -1 : static_cast<int64_t>(it->second);
  }

  uint32_t add(Node* node) {
    const auto number = static_cast<uint32_t>(slots.size());
    slots.push_back({});
    slots.back().node = node;
    BackwardRun* nobody = nullptr;
    if (node->run.compare_exchange_strong(nobody, this, std::memory_order_acq_rel)) {
      node->slot = number;
    } else {
      foreign.emplace(node, number);
    }
    return number;
  }

  bool later(uint32_t a, uint32_t b) const { return slots[a].node->sequence < slots[b].node->sequence; }

  void push(uint32_t slot) {
    ready.push_back(slot);
    std::push_heap(ready.begin(), ready.end(), [this](uint32_t a, uint32_t b) { return later(a, b); });
  }
  uint32_t pop() {
    if (ready.size() > 1) std::pop_heap(ready.begin(), ready.end(), [this](uint32_t a, uint32_t b) { return later(a, b); });
    const uint32_t slot = ready.back();
    ready.pop_back();
    return slot;
  }

  void discover(uint32_t root);
  void mark_needed();
  Status deliver(Slot& slot, uint32_t output, TensorRef grad);
  Status run_hooks(Slot& slot);
  Status run_node(uint32_t number);
  Status run_all();
};

namespace {

bool has_nan(Tensor* t) {
  if (!is_float(t->dtype) || t->device.type == TN_DEVICE_META) return false;
  Tensor* converted;
  StatusHolder failed(copy_to(t, kCpu, TN_FLOAT64, &converted));
  if (failed) return false;
  TensorRef values(converted);
  const auto* data = static_cast<const double*>(values->data);
  return std::any_of(data, data + values->numel, [](double v) { return std::isnan(v); });
}

// A node's backward as an entry of explain, so that the kernels that it launches itself are seen.
void open_entry(const Node* node, std::span<Tensor* const> grads, std::optional<ExplainScope>* scope) {
  std::vector<tn_value> args;
  for (Tensor* grad : grads) {
    if (grad != nullptr) args.push_back(tensor_value(grad));
  }
  scope->emplace(node->name() + " backward", args);
}

Status check_anomaly(Node* node, Tensor* const* results) {
  for (uint32_t i = 0; i < node->n_edges(); ++i) {
    if (results[i] == nullptr || node->edge(i).node == nullptr || !has_nan(results[i])) continue;
    const Node::Extras* extras = node->extras_if_any();
    return error(TN_FAILED_PRECONDITION, "backward of {} gave NaN for input {}; forward call: {}", node->name(), i,
                 extras != nullptr && !extras->forward.empty() ? extras->forward
                                                               : "not known (anomaly mode was off then)");
  }
  return nullptr;
}

Status describe_failure(Node* node, Status cause) {
  const Node::Extras* extras = node->extras_if_any();
  const std::string forward =
      extras != nullptr && !extras->forward.empty() ? fmt::format(" (forward call: {})", extras->forward) : "";
  return make_status(cause->code, fmt::format("backward of {} failed{}", node->name(), forward), cause);
}

}  // namespace

// Gives slots to all nodes below the root, and counts the edges into each.
void BackwardRun::discover(uint32_t root) {
  SmallVector<uint32_t, 16> stack{root};
  while (!stack.empty()) {
    Node* node = slots[stack.back()].node;
    stack.pop_back();
    for (uint32_t i = 0; i < node->n_edges(); ++i) {
      Node* next = node->edge(i).node;
      if (next == nullptr) continue;
      int64_t slot = find(next);
      if (slot < 0) {
        slot = add(next);
        if (next->n_edges() > 0) stack.push_back(static_cast<uint32_t>(slot));
      }
      ++slots[slot].waits;
    }
  }
}

// With chosen inputs only nodes on a path to one of them run. Walks each node after those that its edges lead to.
void BackwardRun::mark_needed() {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(slots.size(), kNew);
  for (Slot& s : slots) s.needed = false;
  for (const Target& t : targets) slots[t.slot].needed = true;
  std::vector<uint32_t> stack;
  for (uint32_t start = 0; start < slots.size(); ++start) {
    if (state[start] == kNew) stack.push_back(start);
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      Node* node = slots[at].node;
      if (state[at] == kNew) {
        state[at] = kOpen;
        for (uint32_t i = 0; i < node->n_edges(); ++i) {
          if (node->edge(i).node == nullptr) continue;
          const auto next = static_cast<uint32_t>(find(node->edge(i).node));
          if (state[next] == kNew) stack.push_back(next);
        }
        continue;
      }
      stack.pop_back();
      if (state[at] == kDone) continue;
      state[at] = kDone;
      for (uint32_t i = 0; i < node->n_edges(); ++i) {
        if (node->edge(i).node == nullptr) continue;
        slots[at].needed |= slots[find(node->edge(i).node)].needed;
      }
    }
  }
}

Status BackwardRun::deliver(Slot& slot, uint32_t output, TensorRef grad) {
  Tensor*& place = slot.place(output);
  if (place == nullptr) {
    place = grad.take();
    return nullptr;
  }
  TensorRef sum(std::exchange(place, nullptr));
  TN_TRY(add_into(&sum, grad.get(), create_graph));
  place = sum.take();
  return nullptr;
}

Status BackwardRun::run_hooks(Slot& slot) {
  // By index: a hook may add hooks.
  for (size_t h = 0; h < slot.node->extras().hooks.size(); ++h) {
    const GradHook hook = slot.node->extras().hooks[h];
    Tensor* grad = slot.gradient(hook.output);
    if (grad == nullptr) continue;
    tn_tensor* replacement = nullptr;
    if (Status status = hook.fn(hook.self, grad, &replacement)) return status;
    if (replacement == nullptr) continue;
    TensorRef replaced(as_tensor(replacement));
    if (!same_sizes(replacement, grad->size_span()) || replacement->dtype != grad->dtype) {
      return invalid("a hook on a gradient of {} gave {}, expected {}", slot.node->name(), tensor_text(replacement),
                     tensor_text(grad));
    }
    Tensor*& place = slot.place(hook.output);
    place->release();
    place = replaced.take();
  }
  return nullptr;
}

Status BackwardRun::run_node(uint32_t number) {
  constexpr uint32_t kInline = 8;
  Node* node = slots[number].node;
  if (node->extras_if_any() != nullptr) [[unlikely]] {
    if (!node->extras().hooks.empty()) TN_TRY(run_hooks(slots[number]));
  }
  for (const Target& t : targets) {
    if (t.slot != number) continue;
    Tensor* grad = slots[number].gradient(t.output);
    if (grad != nullptr && captured[t.input] == nullptr) {
      grad->retain();
      captured[t.input] = grad;
    }
  }
  // The gradients leave the slot: the node may drop them as soon as it is done.
  const uint32_t n_outputs = node->n_outputs;
  Tensor* inline_grads[kInline];
  std::vector<Tensor*> more_grads(n_outputs > kInline ? n_outputs : 0);
  Tensor** grads = n_outputs > kInline ? more_grads.data() : inline_grads;
  bool any = false;
  for (uint32_t i = 0; i < n_outputs; ++i) {
    grads[i] = slots[number].gradient(i);
    any = any || grads[i] != nullptr;
  }
  slots[number].grad = nullptr;
  slots[number].more.reset();
  const uint32_t n_edges = node->n_edges();
  Tensor* inline_results[kInline];
  std::vector<Tensor*> more_results(n_edges > kInline ? n_edges : 0);
  Tensor** results = n_edges > kInline ? more_results.data() : inline_results;
  for (uint32_t i = 0; i < n_edges; ++i) results[i] = nullptr;
  Status status = nullptr;
  const bool runs = any && slots[number].needed && (targets.empty() || !node->is_leaf());
  if (runs) {
    if (node->is_leaf()) {
      status = static_cast<Leaf*>(node)->accumulate(grads[0], create_graph);
    } else if (node->released) [[unlikely]] {
      status = error(TN_FAILED_PRECONDITION,
                     "backward: the graph of {} was used already and its saved tensors are freed; say retain_graph the "
                     "first time to go through it twice",
                     node->name());
    } else {
      std::optional<ExplainScope> explain;
      if ((thread_state.modes & kModeExplain) != 0) [[unlikely]] open_entry(node, {grads, n_outputs}, &explain);
      if (node->stream != nullptr) [[unlikely]] {
        Stream* before = nullptr;
        status = current_stream(node->stream->device, &before);
        if (status == nullptr) status = set_current_stream(node->stream->device, node->stream);
        if (status == nullptr) status = node->backward(grads, results);
        StatusHolder ignored(set_current_stream(node->stream->device, before));
      } else {
        status = node->backward(grads, results);
      }
      if (status != nullptr) status = describe_failure(node, status);
      if (status == nullptr && (thread_state.modes & kModeAnomaly) != 0) status = check_anomaly(node, results);
      if (!retain_graph) {
        node->release_saved();
        node->released = true;
      }
    }
  }
  for (uint32_t i = 0; i < n_outputs; ++i) {
    if (grads[i] != nullptr) grads[i]->release();
  }
  for (uint32_t i = 0; i < n_edges; ++i) {
    TensorRef result(results[i]);
    const Edge& edge = node->edge(i);
    if (edge.node == nullptr || status != nullptr) continue;
    const auto next = static_cast<uint32_t>(find(edge.node));
    if (result && slots[next].needed) status = deliver(slots[next], edge.output, std::move(result));
    if (--slots[next].waits == 0) push(next);
  }
  return status;
}

Status BackwardRun::run_all() {
  while (!ready.empty()) TN_TRY(run_node(pop()));
  return nullptr;
}

namespace {

Status make_seed(Tensor* tensor, Tensor* given, TensorRef* seed) {
  if (given != nullptr) {
    if (!same_sizes(given, tensor->size_span())) {
      return invalid("backward: the gradient is {} for a tensor of {}; expected one shape", sizes_text(given),
                     sizes_text(tensor));
    }
    *seed = prim::convert(given, tensor->device, tensor->dtype);
    return nullptr;
  }
  if (tensor->numel != 1) {
    return invalid("backward: a gradient is needed for a tensor of {}: only one-element tensors start from 1 by themselves",
                   sizes_text(tensor));
  }
  Tensor* ones;
  TN_TRY(empty_tensor(tensor->size_span(), tensor->dtype, tensor->device, &ones));
  *seed = TensorRef(ones);
  if (tensor->device.type == TN_DEVICE_CPU && tensor->dtype == TN_FLOAT32) {  // spares the common case a launch
    *static_cast<float*>(ones->data) = 1;
    return nullptr;
  }
  tn_value one{};
  one.kind = TN_FLOAT;
  one.as.f = 1;
  return fill(ones, one);
}

Status run_backward(std::span<Tensor* const> tensors, std::span<Tensor* const> seeds,
                    std::span<Tensor* const> inputs, uint32_t flags, std::span<Tensor*> results) {
  BackwardRun run;
  run.create_graph = (flags & TN_CREATE_GRAPH) != 0;
  run.retain_graph = run.create_graph || (flags & TN_RETAIN_GRAPH) != 0;
  run.captured = results;
  const uint32_t off = run.create_graph ? uint32_t{kModeNoGrad} : 0u;
  ModeScope modes(run.create_graph ? 0u : uint32_t{kModeNoGrad}, kModeAutocast | kModeInference | off);
  SmallVector<Ref<Node>, 4> hold;
  SmallVector<uint32_t, 4> roots;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Edge edge = tensors[i] != nullptr ? gradient_edge(tensors[i]) : Edge{};
    if (edge.node == nullptr) {
      return error(TN_FAILED_PRECONDITION,
                   "backward: tensor {} ({}) needs no gradient: no call that made it was recorded, and it is no leaf that "
                   "asks for one",
                   i, tensors[i] != nullptr ? tensor_text(tensors[i]) : "none");
    }
    hold.emplace_back(edge.node);
    TensorRef seed;
    TN_TRY(make_seed(tensors[i], i < seeds.size() ? seeds[i] : nullptr, &seed));
    int64_t slot = run.find(edge.node);
    if (slot < 0) {
      slot = run.add(edge.node);
      run.discover(static_cast<uint32_t>(slot));
    }
    roots.push_back(static_cast<uint32_t>(slot));
    TN_TRY(run.deliver(run.slots[slot], edge.output, std::move(seed)));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Edge edge = gradient_edge(inputs[i]);
    if (edge.node == nullptr) {
      return error(TN_FAILED_PRECONDITION, "gradients: input {} ({}) needs no gradient", i, tensor_text(inputs[i]));
    }
    hold.emplace_back(edge.node);
    const int64_t slot = run.find(edge.node);
    if (slot >= 0) run.targets.push_back({static_cast<uint32_t>(slot), edge.output, i});
  }
  if (!inputs.empty()) run.mark_needed();
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  for (const uint32_t root : roots) {
    if (run.slots[root].waits == 0) run.push(root);
  }
  return inputs.empty() || !run.targets.empty() ? run.run_all() : nullptr;
}

}  // namespace

Status backward(std::span<Tensor* const> tensors, std::span<Tensor* const> seeds, uint32_t flags) {
  return guarded([&] { return run_backward(tensors, seeds, {}, flags, {}); });
}

Status gradients(std::span<Tensor* const> outputs, std::span<Tensor* const> seeds, std::span<Tensor* const> inputs,
                 uint32_t flags, std::span<Tensor*> results) {
  std::fill(results.begin(), results.end(), nullptr);
  if (inputs.empty()) return invalid("gradients: no inputs were given");
  Status status = guarded([&] { return run_backward(outputs, seeds, inputs, flags, results); });
  for (size_t i = 0; i < results.size() && status == nullptr; ++i) {
    if (results[i] == nullptr && (flags & TN_ALLOW_UNUSED) == 0) {
      status = error(TN_FAILED_PRECONDITION,
                     "gradients: input {} ({}) was not used for the outputs; allow_unused gives none for it", i,
                     tensor_text(inputs[i]));
    }
  }
  if (status != nullptr) {
    for (Tensor*& t : results) {
      if (t != nullptr) std::exchange(t, nullptr)->release();
    }
  }
  return status;
}

}  // namespace tenon
