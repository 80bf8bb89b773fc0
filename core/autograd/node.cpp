#include "autograd/node.h"

#include "base/hot_thread_local.h"
#include "autograd/record.h"
#include "primitive/convert.h"
#include "launch/explain.h"
#include "registry/thread_state.h"
#include "tensor/view.h"

namespace tenon {
namespace {

TN_HOT thread_local uint64_t next_sequence = 0;

// Nodes whose last reference went while another was being destroyed: a list instead of recursion.
struct Pending {
  Node* head;
  bool draining;
};
TN_HOT constinit thread_local Pending pending{nullptr, false};

}  // namespace

uint64_t next_node_sequence() { return next_sequence; }

Node::Node() : sequence(next_sequence++) {}

Node::~Node() {
  for (uint32_t i = 0; i < n_edges_; ++i) {
    if (edges_[i].node != nullptr) edges_[i].node->release();
  }
  if (edges_ != inline_edges_) delete[] edges_;
  delete extras_.load(std::memory_order_relaxed);
}

Node::Extras& Node::make_extras() {
  auto made = std::make_unique<Extras>();
  Extras* found = nullptr;
  if (extras_.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *found;
}

std::mutex& extras_mutex() {
  static std::mutex mutex;
  return mutex;
}

EdgeList::~EdgeList() {
  for (const Edge& edge : *this) {
    if (edge.node != nullptr) edge.node->release();
  }
}

void push_hook(std::vector<GradHook>* hooks, uint64_t id, uint32_t output, tn_hook_fn fn,
               void* self, void (*destroy)(void*)) {
  auto held = std::make_shared<HookSelf>();
  const std::lock_guard lock(extras_mutex());
  hooks->push_back({id, output, fn, held});
  held->self = self;
  held->destroy = destroy;
}

void Node::set_edges(const Edge* edges, uint32_t n) {
  if (n > kInlineEdges) edges_ = new Edge[n];
  n_edges_ = n;
  for (uint32_t i = 0; i < n; ++i) edges_[i] = edges[i];
}

void Node::destroy() {
  if (pending.draining) {
    next_pending_ = pending.head;
    pending.head = this;
    return;
  }
  pending.draining = true;
  delete this;
  while (Node* node = pending.head) {
    pending.head = node->next_pending_;
    delete node;
  }
  pending.draining = false;
}

SavedTensor::SavedTensor(SavedTensor&& other) noexcept { *this = std::move(other); }

SavedTensor& SavedTensor::operator=(SavedTensor&& other) noexcept {
  std::swap(tensor_, other.tensor_);
  version_ = other.version_;
  output_ = other.output_;
  return *this;
}

void SavedTensor::save(Tensor* t) {
  t->retain();
  tensor_ = t;
  version_ = t->version();
  Tensor* root = t->base != nullptr ? t->base : t;
  if (root->is_saved.load(std::memory_order_relaxed) == 0)
    root->is_saved.store(1, std::memory_order_relaxed);
}

void SavedTensor::let_go(const Tensor* root) {
  if (tensor_ != root && (tensor_ == nullptr || tensor_->base != root)) return;
  if (tensor_->is_leaf() && tensor_->requires_grad()) return;  // what it lies in lives on with it
  Tensor* alias = make_alias(tensor_);
  if (tensor_->grad_fn != nullptr) {
    tensor_->grad_fn->retain();
    alias->output_number = tensor_->output_number;
    give_history(alias, grad_fn_of(tensor_));
  }
  std::exchange(tensor_, alias)->release();
}

Status SavedTensor::save_copy(const std::string& call, Tensor* t) {
  Tensor* copy;
  TN_TRY(copy_to(t, t->device, TN_DTYPE_NONE, &copy));
  TensorRef hold(copy);
  if ((thread_state.modes & kModeExplain) != 0) {
    explain_note("{} is copied before {} overwrites it, since its gradient reads it",
                 tensor_text(t), call);
  }
  if (needs_gradient(t)) {
    const Edge edge = gradient_edge(t);
    copy->output_number = edge.output;
    if (edge.node != nullptr) give_history(copy, edge.node);
  }
  tensor_ = hold.take();
  version_ = copy->version();
  return nullptr;
}

void SavedTensor::save_overwritten(Tensor* t) {
  tensor_ = make_alias(t);
  version_ = t->version();
}

void SavedTensor::save_output(Tensor* t, uint32_t output) {
  save_overwritten(t);
  output_ = output;
}

void SavedTensor::reset() {
  if (tensor_ != nullptr) std::exchange(tensor_, nullptr)->release();
}

Status SavedTensor::unpack(Node* node, TensorRef* tensor) const {
  if (tensor_ == nullptr) return unpack_packed(node, tensor);
  if (tensor_->version() != version_) {
    const Node* maker = is_output() ? node : grad_fn_of(tensor_);
    const std::string origin =
        is_output() ? fmt::format("output {} of {}", output_, node->name())
        : maker != nullptr
            ? fmt::format("output {} of {}{}", tensor_->output_number, maker->name(),
                          maker->sequence > node->sequence ? ", which wrote it since" : "")
        : tensor_->requires_grad() ? "a leaf"
                                   : "an argument without a gradient";
    return error(TN_FAILED_PRECONDITION,
                 "{}: a tensor saved for its gradient was changed in place: {}, {}, is at version "
                 "{}, expected {}; "
                 "clone it before the change, or use the out-of-place op",
                 node->name(), tensor_text(tensor_), origin, tensor_->version(), version_);
  }
  if (is_output() && (thread_state.modes & kModeNoGrad) == 0) {
    // a gradient of this gradient goes back through the node
    Tensor* attached = make_alias(tensor_);
    node->retain();
    attached->output_number = output_;
    give_history(attached, node);
    *tensor = TensorRef(attached);
    return nullptr;
  }
  *tensor = TensorRef::retaining(tensor_);
  return nullptr;
}

}  // namespace tenon
