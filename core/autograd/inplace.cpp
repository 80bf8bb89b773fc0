#include "autograd/inplace.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "autograd/prim.h"
#include "autograd/view_nodes.h"
#include "call/call.h"
#include "primitive/convert.h"
#include "tensor/view.h"

namespace tenon {
namespace {

// A write to a view, as a node of the base: the view's part of the gradient goes through the write,
// the rest passes.
class WriteThroughView final : public Node {
 public:
  WriteThroughView(const Tensor* base, const Tensor* view, Ref<Node> write, uint32_t number,
                   uint32_t written)
      : base_(base),
        view_(view),
        info_(base),
        write_(std::move(write)),
        number_(number),
        written_(written) {}
  std::string name() const override { return write_->name(); }

  Status backward(Tensor* const* grads, Tensor** results) override {
    return guarded([&]() -> Status {
      // The gradient in the base's own layout, apart from the incoming one, which others may hold.
      const Frame frame(base_, {&view_, 1});
      const int64_t extent = frame.extent();
      TensorRef buffer = prim::zeros({&extent, 1}, info_.dtype, info_.device);
      TensorRef grad =
          prim::as_strided(buffer.get(), base_.sizes, base_.strides, frame.place(base_));
      throw_if(copy_recorded(grad.get(), grads[0]));
      TensorRef window =
          prim::as_strided(buffer.get(), view_.sizes, view_.strides, frame.place(view_));
      Tensor* copied;
      {
        TensorRef dense = prim::elementwise("copy(Tensor x) -> Tensor", "x", {window.get()});
        copied = dense.take();
      }
      TensorRef write_grad(copied);
      std::vector<Tensor*> write_grads(write_->n_outputs, nullptr);
      std::vector<Tensor*> write_results(write_->n_edges(), nullptr);
      write_grads[number_] = write_grad.get();
      const Status status = write_->backward(write_grads.data(), write_results.data());
      TensorRef through(write_results[written_]);
      for (uint32_t i = 0; i < write_->n_edges(); ++i) {
        if (i != written_) results[1 + (i < written_ ? i : i - 1)] = write_results[i];
      }
      throw_if(status);
      // Read the window anew: recording may have made it stale.
      window = prim::as_strided(buffer.get(), view_.sizes, view_.strides, frame.place(view_));
      TensorRef part = through ? through : prim::zeros(view_.sizes, info_.dtype, info_.device);
      throw_if(copy_recorded(window.get(), part.get()));
      results[0] =
          prim::as_strided(buffer.get(), base_.sizes, base_.strides, frame.place(base_)).take();
      return nullptr;
    });
  }
  // What the write saved stays while another graph leads to it, as that of its gradient does under
  // create_graph.
  void release_saved() override {
    if (write_->retained_once()) write_->release_saved();
  }
  void let_go(const Tensor* root) override { write_->let_go(root); }

 private:
  ViewGeometry base_, view_;
  TensorInfo info_;
  Ref<Node> write_;
  uint32_t number_, written_;
};

class CopyNode final : public Node {
 public:
  explicit CopyNode(const Tensor* src) : src_(src) {}
  std::string name() const override { return "copy_"; }
  Status backward(Tensor* const* grads, Tensor** results) override {
    return guarded([&]() -> Status {
      if (edge(0).node != nullptr) results[0] = nullptr;  // the old values are gone
      if (edge(1).node != nullptr) results[1] = prim::reduce_to(grads[0], src_).take();
      return nullptr;
    });
  }
  void release_saved() override {}

 private:
  TensorInfo src_;
};

// In the place of a view's history that leads through a custom function, once the memory that it shows
// was written: the function's backward is for what was there before.
class OutdatedView final : public Node {
 public:
  explicit OutdatedView(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  Status backward(Tensor* const*, Tensor**) override {
    return error(TN_FAILED_PRECONDITION,
                 "{}: its result shows memory that others hold, its input's mostly, which an op in "
                 "place has changed since; let forward give a copy (clone)",
                 name_);
  }
  void release_saved() override {}

 private:
  std::string name_;
};

}  // namespace

bool let_view_go(Tensor* view) {
  Tensor* base = view->base;
  if (!base->retained_once()) return false;
  if (Counted* history = std::exchange(base->grad_fn, nullptr)) history->release();
  if (view->storage->refs.load(std::memory_order_acquire) != 2) return false;
  std::exchange(view->base, nullptr)->release();
  view->view_flags &= static_cast<uint16_t>(~(kViewOfCustom | kViewNoGrad));
  return true;
}

void give_as_view(Tensor* view) {
  if (!let_view_go(view)) view->view_flags |= kViewOfCustom;
}

void refresh_view(Tensor* t) {
  Tensor* base = t->base;
  if (base == nullptr) return;
  if ((t->view_flags & kViewOfCustom) != 0) {
    if (t->grad_fn == nullptr || t->grad_fn_version == t->version()) return;
    Ref<Node> node(new OutdatedView(grad_fn_of(t)->name()));
    EdgeList edges(1);  // what asks for gradients behind it comes to it
    t->grad_fn->retain();
    edges[0] = {grad_fn_of(t), t->output_number};
    node->take_edges(&edges);
    set_history(t, node.get(), 0);
    return;
  }
  if ((t->view_flags & kViewNoGrad) != 0 || !base->requires_grad()) return;
  if (t->grad_fn != nullptr && t->grad_fn_version == t->version()) return;
  Ref<Node> node(make_view_node(base, t, "view"));
  set_history(t, node.get(), 0);
}

Status check_writable(const char* what, Tensor* t) {
  if (t == nullptr) return nullptr;
  if (t->base != nullptr && (t->view_flags & kViewOfCustom) != 0) let_view_go(t);
  if (t->is_leaf() && t->requires_grad()) {
    return error(TN_FAILED_PRECONDITION,
                 "{}: a leaf that requires a gradient ({}) cannot be changed in place; do it "
                 "without gradients (NoGrad), or "
                 "on a clone",
                 what, tensor_text(t));
  }
  if (t->base == nullptr) return nullptr;
  if ((t->view_flags & kViewOfCustom) != 0) {
    return error(
        TN_FAILED_PRECONDITION,
        "{}: what a custom function, a backward hook or checkpoint_call gave of memory that others "
        "hold ({}) cannot be changed in place; let forward give a copy (clone), or write to a copy",
        what, tensor_text(t));
  }
  // The leaf is the base, or a view of a base without gradient that asked for one.
  const bool of_leaf_view = !t->base->requires_grad() && t->requires_grad();
  if (of_leaf_view || (t->base->is_leaf() && t->base->requires_grad())) {
    return error(TN_FAILED_PRECONDITION,
                 "{}: a view of a leaf that requires a gradient ({}) cannot be changed in place; "
                 "do it without gradients "
                 "(NoGrad), or on a clone",
                 what, tensor_text(t));
  }
  // Most of those without gradient show what an op made for itself, as the rows of a product.
  if ((t->view_flags & kViewNoGrad) != 0 && !let_view_go(t)) {
    return error(
        TN_FAILED_PRECONDITION,
        "{}: a view made while gradients were off ({}) cannot be changed in place under gradient",
        what, tensor_text(t));
  }
  return nullptr;
}

// Replaces what nodes behind `node` saved of this tensor by aliases that do not own it. Their
// backward is refused, since the values are out of date by then: this happens to graphs that are
// used in part, and to mistakes. Only the first line needs to be fast.
void break_cycles(Tensor* t, Node* node) {
  const Tensor* root = t->base != nullptr ? t->base : t;
  if (root->is_saved.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  std::vector<Node*> stack{node};
  std::unordered_set<Node*> seen{node};
  while (!stack.empty()) {
    Node* at = stack.back();
    stack.pop_back();
    at->let_go(root);
    for (uint32_t i = 0; i < at->n_edges(); ++i) {
      Node* next = at->edge(i).node;
      if (next != nullptr && !next->is_leaf() && seen.insert(next).second) stack.push_back(next);
    }
  }
}

Status rebase_history(Tensor* tensor, Node* node, uint32_t number, uint32_t written) {
  break_cycles(tensor, node);
  note_watched_change(tensor);
  Tensor* base = tensor->base;
  if (base == nullptr) {
    set_history(tensor, node, number);
    return nullptr;
  }
  Ref<WriteThroughView> through(
      new WriteThroughView(base, tensor, Ref<Node>::retaining(node), number, written));
  EdgeList edges(node->n_edges());
  edges[0] = gradient_edge(base);
  for (uint32_t i = 0; i < node->n_edges(); ++i) {
    if (i == written) continue;
    Edge edge = node->edge(i);
    if (edge.node != nullptr) edge.node->retain();
    edges[1 + (i < written ? i : i - 1)] = edge;
  }
  through->take_edges(&edges);
  through->stream = node->stream;
  set_history(base, through.get(), 0);
  // The tensor's own node is made from the base when it is asked for.
  tensor->flags = (tensor->flags | TN_TENSOR_REQUIRES_GRAD) & ~uint32_t{TN_TENSOR_LEAF};
  tensor->grad_fn_version = tensor->version() - 1;
  free_status(guarded([&]() -> Status {
    refresh_view(tensor);
    return nullptr;
  }));
  return nullptr;
}

Status copy_recorded(Tensor* dst, Tensor* src) {
  TN_TRY(check_inference_write("copy_", dst));
  const bool may_record =
      (thread_state.modes & (kModeNoGrad | kModeInference)) == 0 && is_float(dst->dtype);
  const bool records = may_record && (needs_gradient(dst) || needs_gradient(src));
  if (records || (may_record && dst->base != nullptr && dst->base->requires_grad()))
    TN_TRY(check_writable("copy_", dst));
  if (!records) return copy_into(dst, src);
  auto* node = new CopyNode(src);
  Ref<Node> hold(node);
  EdgeList edges;
  edges.push_back(gradient_edge(dst));
  edges.push_back(is_float(src->dtype) ? gradient_edge(src) : Edge{});
  node->take_edges(&edges);
  {
    NoGradScope no_grad;
    TN_TRY(copy_into(dst, src));
  }
  const tn_value args[2] = {{TN_KIND_TENSOR, 0, {dst}}, {TN_KIND_TENSOR, 0, {src}}};
  note_place(node, args, dst->device);
  TN_TRY(rebase_history(dst, node, 0, 0));
  note_saved(node);
  return nullptr;
}

}  // namespace tenon
