// autograd/1, random/1 and amp/1.
#include "amp/autocast.h"
#include "autograd/saved_hooks.h"
#include "autograd/custom.h"
#include "autograd/engine.h"
#include "autograd/grad.h"
#include "autograd/record.h"
#include "host/tables.h"
#include "random/philox.h"
#include "registry/recording.h"

namespace tenon {
namespace {

int32_t mode() {
  const uint32_t modes = thread_state.modes;
  return (modes & kModeInference) != 0 ? TN_MODE_INFERENCE
         : (modes & kModeNoGrad) != 0  ? TN_MODE_NO_GRAD
                                       : TN_MODE_GRAD;
}

void set_mode(int32_t mode) {
  const uint32_t rest = thread_state.modes & ~uint32_t{kModeInference | kModeNoGrad};
  thread_state.modes = rest | (mode == TN_MODE_INFERENCE ? uint32_t{kModeInference | kModeNoGrad}
                               : mode == TN_MODE_NO_GRAD ? uint32_t{kModeNoGrad}
                                                         : 0u);
}

tn_status* requires_grad(tn_tensor* t, int32_t on) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("requires_grad", t));
    return set_requires_grad(as_tensor(t), on != 0);
  });
}

tn_tensor* get_grad(const tn_tensor* t) {
  return t != nullptr ? grad_of(as_tensor(t)).take() : nullptr;
}

tn_status* put_grad(tn_tensor* t, tn_tensor* grad) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("set_grad", t));
    return set_grad(as_tensor(t), as_tensor(grad));
  });
}

tn_status* keep_grad(tn_tensor* t) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("retain_grad", t));
    return retain_grad(as_tensor(t));
  });
}

TensorList list_of(tn_tensor* const* tensors, uint32_t n) {
  TensorList list(n, nullptr);
  for (uint32_t i = 0; tensors != nullptr && i < n; ++i) list[i] = as_tensor(tensors[i]);
  return list;
}

Status expect_defined(const char* what, tn_tensor* const* tensors, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    if (tensors[i] == nullptr) {
      return error(TN_FAILED_PRECONDITION,
                   "{} {} is undefined (None); expected a tensor that needs a gradient", what, i);
    }
  }
  return nullptr;
}

tn_status* run_backward(tn_tensor* const* tensors, tn_tensor* const* grads, uint32_t n,
                        uint32_t flags) {
  return guarded([&]() -> Status {
    TN_TRY(expect_list("backward: the list of tensors", tensors, n));
    TN_TRY(expect_defined("backward: tensor", tensors, n));
    return backward(list_of(tensors, n), list_of(grads, n), flags);
  });
}

tn_status* run_gradients(tn_tensor* const* outputs, tn_tensor* const* grads, uint32_t n_outputs,
                         tn_tensor* const* inputs, uint32_t n_inputs, uint32_t flags,
                         tn_tensor** results) {
  return guarded([&]() -> Status {
    TN_TRY(expect_list("gradients: the list of outputs", outputs, n_outputs));
    TN_TRY(expect_list("gradients: the list of inputs", inputs, n_inputs));
    TN_TRY(expect_list("gradients: the list of results", results, n_inputs));
    TN_TRY(expect_defined("grad: output", outputs, n_outputs));
    TN_TRY(expect_defined("grad: input", inputs, n_inputs));
    std::vector<Tensor*> made(n_inputs);
    TN_TRY(gradients(list_of(outputs, n_outputs), list_of(grads, n_outputs),
                     list_of(inputs, n_inputs), flags, made));
    for (uint32_t i = 0; i < n_inputs; ++i) results[i] = made[i];
    return nullptr;
  });
}

tn_status* custom(const char* name, tn_backward_fn fn, void* self, void (*destroy)(void*),
                  tn_tensor* const* inputs, uint32_t n_inputs, tn_tensor* const* outputs,
                  uint32_t n_outputs, tn_tensor* const* saved, uint32_t n_saved) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("custom: the name", name));
    TN_TRY(expect_given("custom: the backward", reinterpret_cast<const void*>(fn)));
    TN_TRY(expect_list("custom: the list of inputs", inputs, n_inputs));
    TN_TRY(expect_list("custom: the list of outputs", outputs, n_outputs));
    TN_TRY(expect_list("custom: the list of saved tensors", saved, n_saved));
    return record_custom(name, fn, self, destroy, {inputs, n_inputs}, {outputs, n_outputs},
                         {saved, n_saved});
  });
}

tn_status* get_custom_saved(uint32_t index, tn_tensor** result) {
  return guarded([&]() -> Status {
    TN_TRY(expect_place("custom_saved", result));
    Tensor* t;
    TN_TRY(custom_saved(index, &t));
    *result = t;
    return nullptr;
  });
}

tn_status* hook_add(tn_tensor* t, tn_hook_fn fn, void* self, void (*destroy)(void*), uint64_t* id) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("hook", t));
    TN_TRY(expect_given("hook: the function", reinterpret_cast<const void*>(fn)));
    return add_hook(as_tensor(t), fn, self, destroy, id);
  });
}

tn_status* accumulated_hook_add(tn_tensor* t, tn_hook_fn fn, void* self, void (*destroy)(void*),
                                uint64_t* id) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("register_post_accumulate_grad_hook", t));
    TN_TRY(expect_given("register_post_accumulate_grad_hook: the function",
                        reinterpret_cast<const void*>(fn)));
    return add_accumulated_hook(as_tensor(t), fn, self, destroy, id);
  });
}

tn_status* hook_remove(tn_tensor* t, uint64_t id) {
  return guarded([&]() -> Status {
    TN_TRY(expect_tensor("hook", t));
    return remove_hook(as_tensor(t), id);
  });
}

void set_anomaly(int32_t on) {
  thread_state.modes =
      (thread_state.modes & ~uint32_t{kModeAnomaly}) | (on != 0 ? uint32_t{kModeAnomaly} : 0u);
}

int32_t anomaly() { return (thread_state.modes & kModeAnomaly) != 0 ? 1 : 0; }

// tn_node is a Node; its name is made when it is asked for, and kept with the node.
Node* as_node(const tn_node* node) { return reinterpret_cast<Node*>(const_cast<tn_node*>(node)); }
tn_node* as_handle(Node* node) { return reinterpret_cast<tn_node*>(node); }

tn_node* grad_fn(const tn_tensor* t) {
  if (t == nullptr) return nullptr;
  auto* tensor = const_cast<Tensor*>(as_tensor(t));
  Edge edge;
  // A view's node may have to be made: where memory is exhausted there is none yet.
  free_status(guarded([&]() -> Status {
    edge = gradient_edge(tensor);
    return nullptr;
  }));
  if (edge.node != nullptr && edge.node->is_leaf()) {
    edge.node->release();
    return nullptr;
  }
  return as_handle(edge.node);
}

const char* node_name(const tn_node* node) {
  if (node == nullptr) return "";
  const char* name = "";  // where memory is exhausted
  free_status(guarded([&]() -> Status {
    auto& extras = as_node(node)->extras();
    const std::lock_guard lock(extras_mutex());
    if (extras.name.empty()) extras.name = as_node(node)->name();
    name = extras.name.c_str();
    return nullptr;
  }));
  return name;
}

uint32_t node_n_next(const tn_node* node) { return node != nullptr ? as_node(node)->n_edges() : 0; }

tn_node* node_next(const tn_node* node, uint32_t i) {
  if (i >= node_n_next(node)) return nullptr;
  Node* next = as_node(node)->edge(i).node;
  if (next != nullptr) next->retain();
  return as_handle(next);
}

tn_status* node_add_hook(tn_node* node, tn_hook_fn fn, void* self, void (*destroy)(void*)) {
  return guarded([&]() -> Status {
    TN_TRY(expect_given("node_add_hook: the node", node));
    TN_TRY(expect_given("node_add_hook: the function", reinterpret_cast<const void*>(fn)));
    push_hook(&as_node(node)->extras().hooks, 0, 0, fn, self, destroy);
    return nullptr;
  });
}

tn_status* saved_hooks_push(tn_pack_fn pack, tn_unpack_fn unpack,
                            void (*drop)(void* self, void* packed), void* self,
                            void (*destroy)(void*)) {
  return guarded([&]() -> Status {
    for (const void* fn :
         {reinterpret_cast<const void*>(pack), reinterpret_cast<const void*>(unpack),
          reinterpret_cast<const void*>(drop)})
      TN_TRY(expect_given("push_saved_hooks: a function", fn));
    return push_saved_hooks(pack, unpack, drop, self, destroy);
  });
}

tn_status* saved_hooks_pop() {
  return guarded([] { return pop_saved_hooks(); });
}

void node_release(tn_node* node) {
  if (node != nullptr) as_node(node)->release();
}

void get_random_state(uint64_t* seed, uint64_t* offset) {
  const RandomState state = random_state();
  if ((thread_state.modes & kModeRecord) != 0)
    thread_state.recording->see_random(state.seed, state.offset, false);
  if (seed != nullptr) *seed = state.seed;
  if (offset != nullptr) *offset = state.offset;
}

tn_status* amp_enter(tn_device device, tn_dtype lower, const char* policy) {
  return guarded([&] { return enter_autocast(device, lower, policy); });
}

tn_status* amp_leave() {
  return guarded([] { return leave_autocast(); });
}

// `seen`: the offset as a recording gets it; UINT64_MAX is that of no state.
void put_random_state(uint64_t seed, uint64_t offset, uint64_t seen) {
  if ((thread_state.modes & kModeRecord) != 0) thread_state.recording->see_random(seed, seen, true);
  set_random_state({seed, offset});
}

tn_random_state* use_own_random_state(tn_random_state* state) {
  if ((thread_state.modes & kModeRecord) != 0)
    thread_state.recording->refuse("generator: another generator is made the current one");
  return use_random_state(state);
}

}  // namespace

const tn_autograd_api* autograd_api() {
  static const tn_autograd_api table = {sizeof(tn_autograd_api),
                                        mode,
                                        set_mode,
                                        requires_grad,
                                        get_grad,
                                        put_grad,
                                        keep_grad,
                                        run_backward,
                                        run_gradients,
                                        custom,
                                        get_custom_saved,
                                        hook_add,
                                        hook_remove,
                                        set_anomaly,
                                        anomaly,
                                        grad_fn,
                                        node_name,
                                        node_n_next,
                                        node_next,
                                        node_add_hook,
                                        node_release,
                                        accumulated_hook_add,
                                        saved_hooks_push,
                                        saved_hooks_pop};
  return &table;
}

const tn_random_api* random_api() {
  static const tn_random_api table = {
      sizeof(tn_random_api), [](uint64_t seed) { put_random_state(seed, 0, UINT64_MAX); },
      get_random_state,
      [](uint64_t seed, uint64_t offset) { put_random_state(seed, offset, offset); },
      use_own_random_state};
  return &table;
}

const tn_amp_api* amp_api() {
  static const tn_amp_api table = {sizeof(tn_amp_api), amp_enter, amp_leave,
                                   [] { return autocast_enabled() ? 1 : 0; },
                                   [] { return guarded(suspend_autocast); }};
  return &table;
}

}  // namespace tenon
