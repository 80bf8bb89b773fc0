#include "autograd/node.h"

#include "dispatch/thread_state.h"
#include "tensor/view.h"

namespace tenon {
namespace {

thread_local uint64_t next_sequence = 0;

// Nodes whose last reference went while another was being destroyed: a list instead of recursion.
struct Pending {
  Node* head;
  bool draining;
};
constinit thread_local Pending pending{nullptr, false};

}  // namespace

Node::Node() : sequence(next_sequence++) {}

Node::~Node() {
  for (uint32_t i = 0; i < n_edges_; ++i) {
    if (edges_[i].node != nullptr) edges_[i].node->release();
  }
  if (edges_ != inline_edges_) delete[] edges_;
}

Node::Extras::~Extras() {
  for (const GradHook& hook : hooks) {
    if (hook.destroy != nullptr) hook.destroy(hook.self);
  }
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
}

void SavedTensor::save_alias(Tensor* t, bool is_output, uint32_t output) {
  tensor_ = make_alias(t);
  version_ = t->version();
  output_ = is_output ? output : kInput;
}

void SavedTensor::reset() {
  if (tensor_ != nullptr) std::exchange(tensor_, nullptr)->release();
}

Status SavedTensor::unpack(Node* node, TensorRef* tensor) const {
  if (tensor_ == nullptr) {
    return error(TN_INTERNAL, "{}: a saved tensor is missing", node->name());
  }
  if (tensor_->version() != version_) {
    const Node* maker = is_output() ? node : grad_fn_of(tensor_);
    const std::string origin =
        is_output() ? fmt::format("output {} of {}", output_, node->name())
        : maker != nullptr ? fmt::format("output {} of {}", tensor_->output_number, maker->name())
                           : "a leaf or an argument without gradient";
    return error(TN_FAILED_PRECONDITION,
                 "{}: a tensor saved for its gradient was changed in place: {}, {}, is at version {}, expected {}; "
                 "clone it before the change, or use the out-of-place op",
                 node->name(), tensor_text(tensor_), origin, tensor_->version(), version_);
  }
  if (is_output() && (thread_state.modes & kModeNoGrad) == 0) {
    Tensor* attached = make_alias(tensor_);  // a gradient of this gradient goes back through the node
    node->retain();
    attached->grad_fn = node;
    attached->output_number = output_;
    attached->flags = (attached->flags | TN_TENSOR_REQUIRES_GRAD) & ~uint32_t{TN_TENSOR_LEAF};
    *tensor = TensorRef(attached);
    return nullptr;
  }
  *tensor = TensorRef::retaining(tensor_);
  return nullptr;
}

}  // namespace tenon
