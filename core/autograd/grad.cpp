#include "autograd/grad.h"

#include <algorithm>
#include <atomic>
#include <unordered_set>

#include "autograd/record.h"
#include "primitive/loop.h"
#include "registry/recording.h"
#include "tensor/rows.h"
#include "tensor/view.h"

namespace tenon {
namespace {

std::atomic<uint64_t> next_hook_id{1};

// The node whose output the tensor is, to hang a hook on. Owned.
Status hook_point(const char* what, Tensor* t, Edge* edge) {
  *edge = gradient_edge(t);
  if (edge->node != nullptr) return nullptr;
  return error(TN_FAILED_PRECONDITION, "{}: {} needs no gradient, so no gradient will come", what,
               tensor_text(t));
}

GradKeeper* keeper_of(const Tensor* t) {
  const auto* retained = t->is_leaf() ? nullptr : dynamic_cast<const RetainedGrad*>(t->meta);
  return retained != nullptr ? retained->keeper.get() : nullptr;
}

// Of a leaf, made where it has none yet: by one of the threads that share the tensor.
Leaf* leaf_of(Tensor* t) {
  const std::atomic_ref<Counted*> meta(t->meta);
  Counted* found = meta.load(std::memory_order_acquire);
  if (found != nullptr) return static_cast<Leaf*>(found);
  Ref<Leaf> made(new Leaf);
  if (!meta.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
    return static_cast<Leaf*>(found);
  return made.take();
}

// Under extras_mutex(). What it gives is destroyed behind it: that may have hooks, too.
std::shared_ptr<HookSelf> take_hook(std::vector<GradHook>* hooks, uint64_t id) {
  const auto it = std::ranges::find(*hooks, id, &GradHook::id);
  if (it == hooks->end()) return nullptr;
  std::shared_ptr<HookSelf> last = it->held;
  hooks->erase(it);
  return last;
}

void push_retained(Node* node, uint32_t output, Ref<GradKeeper> keeper) {
  std::vector<RetainedOutput>& retained = node->extras().retained;
  const std::lock_guard lock(extras_mutex());
  retained.push_back({output, std::move(keeper)});
}

// For compiled functions, before it is so.
void note_requires_grad(const Tensor* t, bool on) {
  if (thread_state.recording != nullptr) thread_state.recording->see_requires_grad(t, on);
  if (t->requires_grad() != on) note_watched_requires_grad(t, on);
}

}  // namespace

Status set_requires_grad(Tensor* t, bool on) {
  if (!t->is_leaf()) {
    if (on) return nullptr;
    return error(TN_FAILED_PRECONDITION,
                 "requires_grad: {} is not a leaf; detach it to leave the graph", tensor_text(t));
  }
  if (!on) {
    note_requires_grad(t, false);
    t->flags &= ~uint32_t{TN_TENSOR_REQUIRES_GRAD};
    if (t->meta != nullptr) leaf_of(t)->set_wanted(false);
    return nullptr;
  }
  if (!is_float(t->dtype)) {
    return invalid("requires_grad: {} has no gradient, only float dtypes have", tensor_text(t));
  }
  // Within inference mode it is a promise that nothing asks for yet, so that layers can be made
  // there; calls outside refuse it.
  if ((t->flags & TN_TENSOR_INFERENCE) != 0 && (thread_state.modes & kModeInference) == 0) {
    return error(TN_FAILED_PRECONDITION,
                 "requires_grad: {} was made in inference mode; clone it outside inference mode",
                 tensor_text(t));
  }
  leaf_of(t)->set_wanted(true);
  note_requires_grad(t, true);
  t->flags |= TN_TENSOR_REQUIRES_GRAD;
  return nullptr;
}

TensorRef grad_of(const Tensor* t) {
  if (t->meta == nullptr) {
    if ((thread_state.modes & kModeRecord) == 0 || !t->is_leaf()) [[likely]]
      return {};
    leaf_of(const_cast<Tensor*>(t));  // in which a recording sees that there was none
  }
  if (t->is_leaf()) return static_cast<const Leaf*>(t->meta)->grad();
  const GradKeeper* keeper = keeper_of(t);
  return keeper != nullptr ? keeper->grad() : TensorRef();
}

Status set_grad(Tensor* t, Tensor* grad) {
  if (grad != nullptr &&
      (!same_sizes(grad, t) || grad->dtype != t->dtype || !(grad->device == t->device))) {
    return invalid("grad: {} for a tensor of {}; expected the same", tensor_text(grad),
                   tensor_text(t));
  }
  if (grad != nullptr && is_rows(grad) && !t->is_leaf())
    return refuse_rows("grad: that of a tensor that is no leaf", grad);
  if (GradKeeper* keeper = keeper_of(t)) {
    keeper->set_grad(TensorRef::retaining(grad));
    return nullptr;
  }
  if (!t->is_leaf()) {
    return error(TN_FAILED_PRECONDITION,
                 "grad: {} is not a leaf, and keeps no gradient (retain_grad)", tensor_text(t));
  }
  if (t->meta == nullptr && grad == nullptr) return nullptr;
  leaf_of(t)->set_grad(TensorRef::retaining(grad));
  return nullptr;
}

Status retain_grad(Tensor* t) {
  if (t->is_leaf()) {
    return t->requires_grad()
               ? nullptr
               : error(TN_FAILED_PRECONDITION, "retain_grad: {} needs no gradient", tensor_text(t));
  }
  if (keeper_of(t) != nullptr) return nullptr;
  Edge edge;
  TN_TRY(hook_point("retain_grad", t, &edge));
  Ref<Node> node(edge.node);
  Ref<RetainedGrad> retained(new RetainedGrad);
  push_retained(node.get(), edge.output, retained->keeper);
  // One that was a leaf until it was written in place may have a leaf's.
  if (t->meta != nullptr) t->meta->release();
  t->meta = retained.take();
  return nullptr;
}

void move_retained_grad(const Tensor* t, Node* from, Node* to, uint32_t number) {
  GradKeeper* keeper = keeper_of(t);
  if (keeper == nullptr || from == to) return;
  // Here it lives on while `from` lets it go.
  const Ref<GradKeeper> hold = Ref<GradKeeper>::retaining(keeper);
  push_retained(to, number, hold);
  if (from != nullptr && from->extras_if_any() != nullptr) {
    const std::lock_guard lock(extras_mutex());
    std::erase_if(from->extras().retained,
                  [&](const RetainedOutput& r) { return r.keeper.get() == keeper; });
  }
}

Status add_hook(Tensor* t, tn_hook_fn fn, void* self, void (*destroy)(void*), uint64_t* id) {
  Edge edge;
  TN_TRY(hook_point("hook", t, &edge));
  Ref<Node> node(edge.node);
  note_watched_change(t);
  const uint64_t number = next_hook_id.fetch_add(1);
  push_hook(&node->extras().hooks, number, edge.output, fn, self, destroy);
  if (id != nullptr) *id = number;
  return nullptr;
}

Status add_accumulated_hook(Tensor* t, tn_hook_fn fn, void* self, void (*destroy)(void*),
                            uint64_t* id) {
  if (!t->is_leaf() || !t->requires_grad()) {
    return error(TN_FAILED_PRECONDITION,
                 "register_post_accumulate_grad_hook: {} is no leaf that asks for a gradient",
                 tensor_text(t));
  }
  Leaf* leaf = leaf_of(t);
  note_watched_change(t);
  TensorRef values(make_alias(t));
  Node::Extras& extras = leaf->extras();
  const uint64_t number = next_hook_id.fetch_add(1);
  {
    const std::lock_guard lock(extras_mutex());
    std::swap(extras.values, values);
  }
  push_hook(&extras.accumulated, number, 0, fn, self, destroy);
  if (id != nullptr) *id = number;
  return nullptr;
}

void renew_hooked_values(Tensor* t) {
  if (!t->is_leaf() || t->meta == nullptr) return;
  Leaf* leaf = static_cast<Leaf*>(t->meta);
  if (leaf->extras_if_any() == nullptr) return;
  TensorRef values(make_alias(t));
  const std::lock_guard lock(extras_mutex());
  if (leaf->extras().values) std::swap(leaf->extras().values, values);
}

// A hook stays with the values that it was hung on: after a write in place its node lies below the
// tensor's.
Status remove_hook(Tensor* t, uint64_t id) {
  Edge edge;
  TN_TRY(hook_point("hook", t, &edge));
  Ref<Node> root(edge.node);
  std::vector<Node*> stack{root.get()};
  std::unordered_set<Node*> seen{root.get()};
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    if (node->extras_if_any() != nullptr) {
      Node::Extras& extras = node->extras();
      std::shared_ptr<HookSelf> taken;
      {
        const std::lock_guard lock(extras_mutex());
        taken = take_hook(&extras.hooks, id);
        if (!taken) taken = take_hook(&extras.accumulated, id);
      }
      if (taken) return nullptr;
    }
    for (uint32_t i = 0; i < node->n_edges(); ++i) {
      Node* next = node->edge(i).node;
      if (next != nullptr && seen.insert(next).second) stack.push_back(next);
    }
  }
  return error(TN_NOT_FOUND, "remove_hook: no hook {} on {}", id, tensor_text(t));
}

Tensor* detach(Tensor* t) { return make_alias(t); }

}  // namespace tenon
