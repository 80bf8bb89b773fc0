// The recorded graph: nodes, edges, saved tensors, leaves. record.h makes nodes, engine.h runs
// them.
//
// Invariants
//  1. Edges point to nodes that were there before, so the graph has no cycle; a node never owns an
//     output of its own (saved outputs are aliases without grad_fn).
//  2. A chain of any length is freed without recursion (Node::destroy).
//  3. `run` and `visit` belong to the one backward that claimed the node; see engine.cpp.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/small_vector.h"
#include "registry/registry.h"
#include "tensor/tensor.h"

namespace tenon {

class Node;
struct BackwardRun;
struct PackedTensors;  // saved_hooks.h
class SavedPacker;

struct Edge {
  Node* node = nullptr;  // owned; NULL: no gradient is wanted
  uint32_t output = 0;
};

// Edges on their way to a node: given up with the list, unless the node took them.
class EdgeList : public SmallVector<Edge, 8> {
 public:
  using SmallVector<Edge, 8>::SmallVector;
  EdgeList(const EdgeList&) = delete;
  EdgeList(EdgeList&& other) : SmallVector<Edge, 8>(std::move(other)) { other.clear(); }
  ~EdgeList();
};

// The number that the next node of this thread gets.
uint64_t next_node_sequence();

// What a hook's function works on. Whoever calls the hook holds it, too: a hook may remove itself.
struct HookSelf {
  void* self = nullptr;
  void (*destroy)(void*) = nullptr;
  HookSelf() = default;
  HookSelf(const HookSelf&) = delete;
  HookSelf& operator=(const HookSelf&) = delete;
  ~HookSelf() {
    if (destroy != nullptr) destroy(self);
  }
};

// A hook on the gradient of one output of a node.
struct GradHook {
  uint64_t id;
  uint32_t output;
  tn_hook_fn fn;
  std::shared_ptr<HookSelf> held;
};

// Held while the hooks and the kept gradients of any node are read or changed: threads may share a
// tensor, and one adds a hook while another goes backward. What is taken out is destroyed behind it.
std::mutex& extras_mutex();

// Takes `self` unless memory is exhausted. Takes the mutex.
void push_hook(std::vector<GradHook>* hooks, uint64_t id, uint32_t output, tn_hook_fn fn,
               void* self, void (*destroy)(void*));

class GradKeeper;

// A tensor whose gradient is kept (retain_grad): that of this output, after all hooks.
struct RetainedOutput {
  uint32_t output;
  Ref<GradKeeper> keeper;
};

class Node : public Counted {
 public:
  // Name of the forward call, for messages and the graph: "mul".
  virtual std::string name() const = 0;
  // grads: n_outputs of them, borrowed, NULL where zero, not all NULL. results: n_edges entries,
  // NULL before; owned by the caller afterwards. Only those with an edge are read.
  virtual Status backward(Tensor* const* grads, Tensor** results) = 0;
  // Nodes that say `adds` have one edge, and their result is zero but for windows: they add it to
  // `sum`, which nobody else sees, instead of making a tensor full of zeros, and record that under
  // create_graph. *added: false when sum is not as it must be.
  virtual Status add_to(Tensor* const* grads, Tensor* sum, bool* added) {
    (void)grads, (void)sum;
    *added = false;
    return nullptr;
  }
  // Drops what backward needs; a released node cannot run again.
  virtual void release_saved() = 0;
  // Of what is saved, root and its views become aliases. See break_cycles in inplace.h.
  virtual void let_go(const Tensor* root) { (void)root; }
  // Gives each tensor that is saved to the packer. Throws.
  virtual void pack_saved(SavedPacker* packer) { (void)packer; }
  virtual bool is_leaf() const { return false; }

  uint32_t n_edges() const { return n_edges_; }
  const Edge& edge(uint32_t i) const { return edges_[i]; }
  // Takes one reference per non-NULL node, unless memory is exhausted.
  void set_edges(const Edge* edges, uint32_t n);
  void take_edges(EdgeList* edges) {
    set_edges(edges->data(), static_cast<uint32_t>(edges->size()));
    edges->clear();
  }
  uint32_t n_outputs = 1;
  uint64_t sequence;         // of creation: later ones run first
  Stream* stream = nullptr;  // of the forward; backward runs there
  bool released = false;
  // A part of several graphs that keeps nothing: a backward of one leaves it to the others.
  bool is_shared = false;
  bool adds = false;  // see add_to

  // Rare things, made on demand by one of the threads that ask for them. The lists and `values` are read
  // and changed under extras_mutex(), `forward` is set before the node is seen.
  struct Extras {
    std::vector<GradHook> hooks;
    std::vector<RetainedOutput> retained;
    // Of a leaf: what runs when its gradient was accumulated, and what shows the leaf's values to
    // it. The leaf itself would hold a hook that holds it.
    std::vector<GradHook> accumulated;
    TensorRef values;
    std::string forward;  // anomaly mode: the call that made this node
    std::string name;     // as autograd/1 gave it out
    // What is saved, where functions of the program packed it: until backward is done with it.
    std::shared_ptr<PackedTensors> packed;
  };
  Extras& extras() {
    Extras* found = extras_.load(std::memory_order_acquire);
    return found != nullptr ? *found : make_extras();
  }
  const Extras* extras_if_any() const { return extras_.load(std::memory_order_acquire); }

  std::atomic<BackwardRun*> run{nullptr};
  void* visit = nullptr;  // a BackwardRun::Visit

 protected:
  Node();
  ~Node() override;
  void destroy() final;

 private:
  Extras& make_extras();

  static constexpr uint32_t kInlineEdges = 3;
  uint32_t n_edges_ = 0;
  Edge* edges_ = inline_edges_;
  Edge inline_edges_[kInlineEdges];
  std::atomic<Extras*> extras_{nullptr};
  Node* next_pending_ = nullptr;
};

// The end of the graph at a tensor that asks for a gradient, and the home of that gradient. Owned
// by the tensor (meta) and by edges.
class Leaf final : public Node {
 public:
  std::string name() const override { return "leaf"; }
  Status backward(Tensor* const* grads, Tensor** results) override;
  void release_saved() override {}
  bool is_leaf() const override { return true; }

  // Accumulates; in place when nobody else can see the difference.
  Status accumulate(Tensor* grad, bool create_graph);
  TensorRef grad() const;
  void set_grad(TensorRef grad);
  // A tensor that asks for no gradient any more gets none of graphs that were made before.
  void set_wanted(bool wanted) { wanted_.store(wanted, std::memory_order_relaxed); }

 private:
  mutable std::atomic_flag lock_;
  std::atomic<bool> wanted_{true};
  TensorRef grad_;
};

// Where a node finds the kept gradient of a tensor, as long as the tensor lives. It owns neither: a
// gradient with a graph of its own (create_graph) leads back to the node.
class GradKeeper final : public Counted {
 public:
  // Adds a gradient to the kept one. Thread-safe.
  Status keep(Tensor* grad, bool create_graph);
  TensorRef grad() const;
  void set_grad(TensorRef grad);
  void end();  // the tensor is gone

 private:
  mutable std::atomic_flag lock_;
  bool ended_ = false;
  TensorRef grad_;
};

// meta of a non-leaf that keeps its gradient (retain_grad). The keeper hangs on the tensor's node
// and moves with its history.
struct RetainedGrad final : Counted {
  Ref<GradKeeper> keeper{new GradKeeper};
  ~RetainedGrad() override { keeper->end(); }
};

// A tensor that backward needs, with the version at which it is right.
class SavedTensor {
 public:
  SavedTensor() = default;
  SavedTensor(SavedTensor&& other) noexcept;
  SavedTensor& operator=(SavedTensor&& other) noexcept;
  ~SavedTensor() { reset(); }
  void save(Tensor* t);  // an input
  // An input that the call itself overwrites: its values as they are, with the history that they
  // have.
  [[nodiscard]] Status save_copy(const std::string& call, Tensor* t);
  // An input that the call itself overwrites, and whose values only an unusual backward asks for:
  // then it is refused.
  void save_overwritten(Tensor* t);
  // An output: saved as an alias, and given its grad_fn again when it is unpacked.
  void save_output(Tensor* t, uint32_t output);
  void reset();
  // If it is root or a view of it: an alias from now on, with the history of this moment, which
  // owns neither.
  void let_go(const Tensor* root);
  explicit operator bool() const { return tensor_ != nullptr; }
  // Functions of the program keep it in another form (saved_hooks.h), from which unpack makes it.
  void set_packed() {
    reset();
    version_ = kPacked;
  }
  bool is_packed() const { return tensor_ == nullptr && version_ == kPacked; }
  bool is_there() const { return tensor_ != nullptr || version_ == kPacked; }
  // Fails when the tensor was changed since. `node` is the one that saved it.
  Status unpack(Node* node, TensorRef* tensor) const;
  bool is_current() const { return tensor_->version() == version_; }
  bool is_output() const { return output_ != kInput; }
  Tensor* get() const { return tensor_; }

 private:
  Status unpack_packed(Node* node, TensorRef* tensor) const;

  static constexpr uint32_t kInput = ~0u, kPacked = ~0u;
  Tensor* tensor_ = nullptr;
  uint32_t version_ = 0;
  uint32_t output_ = kInput;  // which output of the node it is
};

// Shape, dtype and device of a tensor that is not saved itself.
struct TensorInfo {
  SmallVector<int64_t, 6> sizes;
  tn_dtype dtype = TN_DTYPE_NONE;
  tn_device device{};
  TensorInfo() = default;
  explicit TensorInfo(const tn_tensor* t)
      : sizes(t->sizes, t->sizes + t->ndim), dtype(t->dtype), device(t->device) {}
};

inline Node* grad_fn_of(const Tensor* t) { return static_cast<Node*>(t->grad_fn); }

}  // namespace tenon
