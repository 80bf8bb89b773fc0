// Which layer what a profiler sees is of: hooks on the forwards of a model's layers tell their paths, and
// which nodes of backward they made. Used by profiler.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/function.hpp"
#include "tenon/object.hpp"
#include "tenon/profiler_track.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// Nodes that forwards of known layers made. A hook on each says whose it is before its backward runs, on
// whichever thread, as long as the graph lives. Thread-safe.
class NodeLayers : public std::enable_shared_from_this<NodeLayers> {
 public:
  // Of the node that was noted last.
  uint64_t last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  // What lies between the results of a forward and its arguments, but for nodes up to number `before`,
  // which were there when it began, and those of the layers in it.
  void note(const std::string& layer, uint64_t before, const tn_value* args, uint32_t n_args,
            const tn_value* results, uint32_t n_results) {
    Walk walk;
    each_node(args, n_args, [&](tn_node* node) { walk.take(node); });
    const size_t first = walk.nodes.size();
    each_node(results, n_results, [&](tn_node* node) { walk.take(node); });
    for (size_t i = first; i < walk.nodes.size(); ++i) {  // it grows meanwhile
      tn_node* const node = walk.nodes[i].get();
      const uint32_t n_next = api.autograd->node_n_next(node);
      if (n_next == 0) continue;  // the gradient of a leaf
      const uint64_t number = number_of(node);
      if (number != 0 && number <= before) continue;
      if (number == 0) mark(node, layer);
      for (uint32_t k = 0; k < n_next; ++k) walk.take(api.autograd->node_next(node, k));
    }
  }

 private:
  struct Walk {
    std::vector<OwnedNode> nodes;
    std::unordered_set<const tn_node*> seen;

    void take(tn_node* node) {
      OwnedNode held(node);
      if (node == nullptr || !seen.insert(node).second) return;
      nodes.push_back(std::move(held));
    }
  };
  // What a node's hook holds, until the node is gone.
  struct Mark {
    std::weak_ptr<NodeLayers> of;
    const tn_node* node;
    std::string name, layer;
    ~Mark() {
      if (const auto all = of.lock()) all->forget(node);
    }
  };

  template <typename F>
  static void each_node(const tn_value* values, uint32_t n, const F& f) {
    const auto see = [&](const tn_tensor* t) {
      if (t != nullptr) f(api.autograd->grad_fn(t));
    };
    for (uint32_t i = 0; i < n; ++i) {
      const tn_value& v = values[i];
      if (v.kind == TN_KIND_TENSOR) see(v.as.tensor);
      for (uint32_t k = 0; v.kind == TN_KIND_TENSORS && k < v.count; ++k) see(v.as.tensors[k]);
    }
  }
  static tn_status* passes(void* self, tn_tensor*, tn_tensor**) {
    const auto* mark = static_cast<const Mark*>(self);
    if (const auto track = ProfileTrack::current()) track->expect_node(mark->name, mark->layer);
    return nullptr;
  }

  uint64_t number_of(const tn_node* node) {
    const std::lock_guard lock(mutex_);
    const auto found = numbers_.find(node);
    return found == numbers_.end() ? 0 : found->second;
  }
  void forget(const tn_node* node) {
    const std::lock_guard lock(mutex_);
    numbers_.erase(node);
  }
  void mark(tn_node* node, const std::string& layer) {
    std::unique_ptr<Mark> mark(
        new Mark{weak_from_this(), node, api.autograd->node_name(node), layer});
    if (mark->name.empty()) throw std::bad_alloc();  // as the host's table says it
    {
      const std::lock_guard lock(mutex_);
      numbers_[node] = ++last_;
    }
    check(api.autograd->node_add_hook(node, &NodeLayers::passes, mark.get(),
                                      [](void* held) { delete static_cast<Mark*>(held); }));
    (void)mark.release();
  }

  std::mutex mutex_;
  std::unordered_map<const tn_node*, uint64_t> numbers_;
  uint64_t last_ = 0;
};

// The hooks on a model and what is in it, while a profiler runs. Nothing that they do makes a forward
// fail.
class LayerHooks {
 public:
  LayerHooks() = default;
  LayerHooks(const LayerHooks&) = delete;
  LayerHooks& operator=(const LayerHooks&) = delete;
  ~LayerHooks() { clear(); }

  void add(const Object& model) {
    for (std::unique_ptr<List> left = take_left(); left != nullptr;) {
      std::unique_ptr<List> next = std::move(left->next);
      remove(std::move(left));
      left = std::move(next);
    }
    list_ = std::make_unique<List>();
    const auto nodes = std::make_shared<NodeLayers>();
    // An object that is in several places has the name of the first.
    for (const auto& [path, object] : model.named_modules()) {
      const std::string type = object.type_name();
      const Named named{path.empty() ? type : joined({path, " (", type, ")"}), nodes};
      hook(object, named, api.object->add_forward_pre_hook, &LayerHooks::begins);
      hook(object, named, api.object->add_forward_hook, &LayerHooks::ended);
    }
  }
  void clear() noexcept {
    if (list_) remove(std::move(list_));
  }

 private:
  struct Named {
    std::string layer;
    std::shared_ptr<NodeLayers> nodes;
  };
  using Self = Held<Named>;
  struct List {
    std::vector<std::pair<Object, uint64_t>> hooks;
    std::unique_ptr<List> next;
  };

  // Lists of hooks that could not be removed, as memory was exhausted: the next one that adds hooks
  // removes them.
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::unique_ptr<List>& left() {
    static std::unique_ptr<List> first;
    return first;
  }
  static std::unique_ptr<List> take_left() {
    const std::lock_guard lock(mutex());
    return std::move(left());
  }
  static void remove(std::unique_ptr<List> list) noexcept {
    std::erase_if(list->hooks, [](const auto& hook) {
      tn_status* const status = api.object->remove_forward_hook(hook.first.get(), hook.second);
      const bool stays = status != nullptr && host()->status_code(status) == TN_OUT_OF_MEMORY;
      ignore(status);
      return !stays;
    });
    if (list->hooks.empty()) return;
    const std::lock_guard lock(mutex());
    list->next = std::move(left());
    left() = std::move(list);
  }

  template <typename Add>
  void hook(const Object& object, const Named& named, Add add, tn_forward_hook_fn see) {
    auto& hooks = list_->hooks;
    hooks.emplace_back(object, 0);
    void* self = nullptr;
    try {
      self = Self::make(named);
      check(add(object.get(), see, self, Self::destroy, &hooks.back().second));
    } catch (...) {
      if (self != nullptr) Self::destroy(self);
      hooks.pop_back();
      throw;
    }
  }
  static tn_status* begins(void* self, tn_object*, const tn_value*, uint32_t, tn_value*, uint32_t) {
    const Named& named = Self::get(self);
    if (const auto track = ProfileTrack::current()) {
      track->name_layer(named.layer);
      track->note_nodes(named.nodes->last());
    }
    return nullptr;
  }
  static tn_status* ended(void* self, tn_object*, const tn_value* args, uint32_t n_args,
                          tn_value* results, uint32_t n_results) {
    const Named& named = Self::get(self);
    const auto track = ProfileTrack::current();
    uint64_t before = 0;
    if (!track || !track->method_nodes(&before)) return nullptr;
    // Where memory is exhausted, nodes are of no layer.
    try {
      named.nodes->note(named.layer, before, args, n_args, results, n_results);
    } catch (...) {
      track->miss();
    }
    return nullptr;
  }

  std::unique_ptr<List> list_;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
