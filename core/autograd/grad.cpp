#include "autograd/grad.h"

#include <algorithm>

#include "autograd/record.h"
#include "dispatch/loop.h"
#include "tensor/view.h"

namespace tenon {
namespace {

std::atomic<uint64_t> next_hook_id{1};

// The node whose output the tensor is, to hang a hook on. Owned.
Status hook_point(Tensor* t, Edge* edge) {
  *edge = gradient_edge(t);
  if (edge->node != nullptr) return nullptr;
  return error(TN_FAILED_PRECONDITION, "hook: {} needs no gradient, so no gradient will come", tensor_text(t));
}

Status keep_grad(void* self, tn_tensor* grad, tn_tensor**) {
  static_cast<RetainedGrad*>(self)->grad = TensorRef::retaining(as_tensor(grad));
  return nullptr;
}

}  // namespace

Status set_requires_grad(Tensor* t, bool on) {
  if (!t->is_leaf()) {
    if (on) return nullptr;
    return error(TN_FAILED_PRECONDITION, "requires_grad: {} is not a leaf; detach it to leave the graph", tensor_text(t));
  }
  if (!on) {
    t->flags &= ~uint32_t{TN_TENSOR_REQUIRES_GRAD};
    return nullptr;
  }
  if (!is_float(t->dtype)) {
    return invalid("requires_grad: {} has no gradient, only float dtypes have", tensor_text(t));
  }
  // Within inference mode it is a promise that nothing asks for yet, so that layers can be made there; calls outside refuse it.
  if ((t->flags & TN_TENSOR_INFERENCE) != 0 && (thread_state.modes & kModeInference) == 0) {
    return error(TN_FAILED_PRECONDITION, "requires_grad: {} was made in inference mode; clone it outside inference mode",
                 tensor_text(t));
  }
  if (t->meta == nullptr) t->meta = new Leaf;
  t->flags |= TN_TENSOR_REQUIRES_GRAD;
  return nullptr;
}

TensorRef grad_of(const Tensor* t) {
  if (t->meta == nullptr) return {};
  if (t->is_leaf()) return static_cast<const Leaf*>(t->meta)->grad();
  const auto* retained = dynamic_cast<const RetainedGrad*>(t->meta);
  return retained != nullptr ? retained->grad : TensorRef();
}

Status set_grad(Tensor* t, Tensor* grad) {
  if (grad != nullptr && (!same_sizes(grad, t) || grad->dtype != t->dtype || !(grad->device == t->device))) {
    return invalid("grad: {} for a tensor of {}; expected the same", tensor_text(grad), tensor_text(t));
  }
  if (!t->is_leaf()) return error(TN_FAILED_PRECONDITION, "grad: {} is not a leaf", tensor_text(t));
  if (t->meta == nullptr) {
    if (grad == nullptr) return nullptr;
    t->meta = new Leaf;
  }
  static_cast<Leaf*>(t->meta)->set_grad(TensorRef::retaining(grad));
  return nullptr;
}

Status retain_grad(Tensor* t) {
  if (t->is_leaf()) {
    return t->requires_grad() ? nullptr
                              : error(TN_FAILED_PRECONDITION, "retain_grad: {} needs no gradient", tensor_text(t));
  }
  if (t->meta != nullptr) return nullptr;
  auto* retained = new RetainedGrad;
  t->meta = retained;
  retained->retain();
  const auto release = [](void* self) { static_cast<RetainedGrad*>(self)->release(); };
  const Status status = add_hook(t, keep_grad, retained, release, nullptr);
  if (status != nullptr) retained->release();
  return status;
}

Status add_hook(Tensor* t, tn_hook_fn fn, void* self, void (*destroy)(void*), uint64_t* id) {
  Edge edge;
  TN_TRY(hook_point(t, &edge));
  Ref<Node> node(edge.node);
  const uint64_t number = next_hook_id.fetch_add(1);
  node->extras().hooks.push_back({number, edge.output, fn, self, destroy});
  if (id != nullptr) *id = number;
  return nullptr;
}

Status remove_hook(Tensor* t, uint64_t id) {
  Edge edge;
  TN_TRY(hook_point(t, &edge));
  Ref<Node> node(edge.node);
  auto& hooks = node->extras().hooks;
  const auto it = std::find_if(hooks.begin(), hooks.end(), [&](const GradHook& h) { return h.id == id; });
  if (it == hooks.end()) return error(TN_NOT_FOUND, "remove_hook: no hook {} on {}", id, tensor_text(t));
  if (it->destroy != nullptr) it->destroy(it->self);
  hooks.erase(it);
  return nullptr;
}

Tensor* detach(Tensor* t) { return make_alias(t); }

}  // namespace tenon
