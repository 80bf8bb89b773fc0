// The state of one backward: a slot for each node that it visits, with the gradients that have
// come. engine.cpp's alone.
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

// One backward. Each node that it visits has a slot; the node remembers its slot while no other run
// holds the node (several backwards may share nodes: nested ones, or threads), else a map does.
struct BackwardRun {
  // What few slots have.
  struct Rare {
    std::vector<Tensor*> more;  // gradients of outputs 1..., owned; NULL: none came yet
    Tensor* terms[kMaxTerms];   // n_terms of them, owned: to be added to grad
    uint32_t n_terms = 0;
  };
  struct Slot {
    Node* node = nullptr;    // alive: the roots are held, and each node holds those below it
    Tensor* grad = nullptr;  // of output 0, owned
    std::unique_ptr<Rare> rare_;
    uint32_t waits = 0;  // edges into the node that have not delivered
    bool needed = true;
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
    ~Slot() {
      if (grad != nullptr) grad->release();
      if (rare_ == nullptr) return;
      for (Tensor* t : rare_->more) {
        if (t != nullptr) t->release();
      }
      while (rare_->n_terms > 0) rare_->terms[--rare_->n_terms]->release();
    }
  };
  // Slots that stay where they are; the first few need no heap.
  class Slots {
   public:
    Slot* add() {
      if (n_ < kFirst) return &first_[n_++];
      const uint32_t at = (n_ - kFirst) % kChunk;
      if (at == 0) chunks_.push_back(std::make_unique<Slot[]>(kChunk));
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
    Slot first_[kFirst];
    std::vector<std::unique_ptr<Slot[]>> chunks_;
  };
  struct Target {
    Slot* slot;
    uint32_t output;
    size_t input;
  };

  bool create_graph = false, retain_graph = false;
  Slots slots;
  SmallVector<Target, 4> targets;
  SmallVector<Slot*, 8> ready;  // a heap by sequence
  std::optional<std::unordered_map<Node*, Slot*>> foreign;
  std::span<Tensor*> captured;

  ~BackwardRun() {
    slots.for_each([this](Slot& s) {
      if (s.node->run.load(std::memory_order_relaxed) == this)
        s.node->run.store(nullptr, std::memory_order_release);
    });
  }

  // The node's slot, or NULL when it has none yet.
  Slot* find(Node* node) const {
    if (node->run.load(std::memory_order_acquire) == this) [[likely]]
      return static_cast<Slot*>(node->slot);
    if (!foreign) return nullptr;
    const auto it = foreign->find(node);
    return it == foreign->end() ? nullptr : it->second;
  }

  Slot* add(Node* node) {
    Slot* slot = slots.add();
    slot->node = node;
    BackwardRun* nobody = nullptr;
    if (node->run.compare_exchange_strong(nobody, this, std::memory_order_acq_rel)) [[likely]] {
      node->slot = slot;
    } else {
      if (!foreign) foreign.emplace();
      foreign->emplace(node, slot);
    }
    return slot;
  }

  static bool earlier(const Slot* a, const Slot* b) {
    return a->node->sequence < b->node->sequence;
  }
  void push(Slot* slot) {
    ready.push_back(slot);
    if (ready.size() > 1) std::push_heap(ready.begin(), ready.end(), earlier);
  }
  Slot* pop() {
    if (ready.size() > 1) std::pop_heap(ready.begin(), ready.end(), earlier);
    Slot* slot = ready.back();
    ready.pop_back();
    return slot;
  }

  void discover(Slot* root);
  void mark_needed();
  Status deliver(Slot& slot, uint32_t output, TensorRef grad);
  Status add_terms(Slot& slot);
  Status run_hooks(Slot& slot);
  Status run_leaf(Slot& slot);
  Status run_node(Slot& slot);
  Status add_window(Node* node, Tensor* const* grads, Tensor** results);
  Status call_backward(Node* node, Tensor* const* grads, Tensor** results);
  Status call_on_its_stream(Node* node, Tensor* const* grads, Tensor** results);
  Status run_all();
};

}  // namespace tenon
