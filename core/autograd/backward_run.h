// The state of one backward: a Visit for each node below its roots, with the gradients that have
// come. Of engine.cpp and backward.cpp alone.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "autograd/accumulate.h"
#include "autograd/node.h"

namespace tenon {

// One backward. Each node below the roots has a Visit; the node remembers it while no other run
// holds the node (several backwards may share nodes: nested ones, or threads), else a map does.
struct BackwardRun {
  // What few visits have.
  struct Rare {
    std::vector<Tensor*> more;  // gradients of outputs 1..., owned; NULL: none came yet
    Tensor* terms[kMaxTerms];   // n_terms of them, owned: to be added to grad
    uint32_t n_terms = 0;
  };
  struct Visit {
    Node* node = nullptr;    // alive: the roots are held, and each node holds those below it
    Tensor* grad = nullptr;  // of output 0, owned
    std::unique_ptr<Rare> rare_;
    uint32_t waits = 0;  // edges into the node that have not delivered
    bool needed = true;  // its gradients lead to a target, or are one
    bool runs = true;    // they lead to one: a node that is a target alone keeps what it saved
    enum : uint8_t { kNew, kOpen, kDone } mark = kNew;  // of mark_needed

    Rare& rare() {
      if (rare_ == nullptr) rare_ = std::make_unique<Rare>();
      return *rare_;
    }
    Tensor*& place(uint32_t output) {
      if (output == 0) [[likely]]
        return grad;
      std::vector<Tensor*>& more = rare().more;
      if (more.size() < output) more.resize(output);
      return more[output - 1];
    }
    // NULL: none came.
    Tensor* gradient(uint32_t output) const {
      if (output == 0) [[likely]]
        return grad;
      return rare_ != nullptr && output <= rare_->more.size() ? rare_->more[output - 1] : nullptr;
    }
    bool has_terms() const { return rare_ != nullptr && rare_->n_terms > 0; }
    ~Visit() {
      if (grad != nullptr) grad->release();
      if (rare_ == nullptr) return;
      for (Tensor* t : rare_->more) {
        if (t != nullptr) t->release();
      }
      while (rare_->n_terms > 0) rare_->terms[--rare_->n_terms]->release();
    }
  };
  // Visits that stay where they are; the first few need no heap.
  class Visits {
   public:
    Visit* add() {
      if (n_ < kFirst) return &first_[n_++];
      const uint32_t at = (n_ - kFirst) % kChunk;
      if (at == 0) chunks_.push_back(std::make_unique<Visit[]>(kChunk));
      ++n_;  // once it is there
      return &chunks_.back()[at];
    }
    template <typename F>
    void for_each(F f) {
      for (uint32_t i = 0; i < n_; ++i)
        f(i < kFirst ? first_[i] : chunks_[(i - kFirst) / kChunk][(i - kFirst) % kChunk]);
    }

   private:
    static constexpr uint32_t kFirst = 6, kChunk = 64;
    uint32_t n_ = 0;
    Visit first_[kFirst];
    std::vector<std::unique_ptr<Visit[]>> chunks_;
  };
  struct Target {
    Visit* visit;
    uint32_t output;
    size_t input;
  };

  bool create_graph = false, retain_graph = false;
  bool accumulates = false;  // into the chosen inputs, instead of giving their gradients back
  Visits visits;
  SmallVector<Target, 4> targets;
  SmallVector<Visit*, 8> ready;  // a heap by sequence
  std::optional<std::unordered_map<Node*, Visit*>> foreign;
  std::span<Tensor*> captured;

  ~BackwardRun() {
    visits.for_each([this](Visit& s) {
      if (s.node->run.load(std::memory_order_relaxed) == this)
        s.node->run.store(nullptr, std::memory_order_release);
    });
  }

  // The node's visit, or NULL when it has none yet.
  Visit* find(Node* node) const {
    if (node->run.load(std::memory_order_acquire) == this) [[likely]]
      return static_cast<Visit*>(node->visit);
    if (!foreign) return nullptr;
    const auto it = foreign->find(node);
    return it == foreign->end() ? nullptr : it->second;
  }

  Visit* add(Node* node) {
    Visit* visit = visits.add();
    visit->node = node;
    BackwardRun* nobody = nullptr;
    if (node->run.compare_exchange_strong(nobody, this, std::memory_order_acq_rel)) [[likely]] {
      node->visit = visit;
    } else {
      if (!foreign) foreign.emplace();
      foreign->emplace(node, visit);
    }
    return visit;
  }

  static bool earlier(const Visit* a, const Visit* b) {
    return a->node->sequence < b->node->sequence;
  }
  void push(Visit* visit) {
    ready.push_back(visit);
    if (ready.size() > 1) std::push_heap(ready.begin(), ready.end(), earlier);
  }
  Visit* pop() {
    if (ready.size() > 1) std::pop_heap(ready.begin(), ready.end(), earlier);
    Visit* visit = ready.back();
    ready.pop_back();
    return visit;
  }

  void discover(Visit* root);
  void mark_needed();
  Status deliver(Visit& visit, uint32_t output, TensorRef grad);
  Status add_terms(Visit& visit);
  Status run_hooks(Visit& visit, const std::vector<GradHook>& hooks);
  Status run_extras(Visit& visit);
  void capture(const Target& target);
  Status run_leaf(Visit& visit);
  Status run_accumulated_hooks(Leaf* leaf);
  Status run_node(Visit& visit);
  Status add_window(Node* node, Tensor* const* grads, Tensor** results);
  Status call_backward(Node* node, Tensor* const* grads, Tensor** results);
  Status call_on_its_stream(Node* node, Tensor* const* grads, Tensor** results);
  Status run_all();
};

}  // namespace tenon
