// What SummaryWriter::add_graph writes: the recorded calls of a forward, in the folders of the layers
// that made them, as a GraphDef (TensorFlow's core/framework/graph.proto). Used by tensorboard.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"
#include "tenon/tensorboard/event_file.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

class ModelGraph {
 public:
  explicit ModelGraph(Object model) : model_(std::move(model)) {}
  ModelGraph(const ModelGraph&) = delete;
  ModelGraph& operator=(const ModelGraph&) = delete;
  ~ModelGraph() {
    for (const ForwardHook& hook : hooks_) hook.remove();
    for (const auto& [layer, was_training] : modes_) layer.train(was_training);
  }

  // The graph of one forward in evaluation.
  std::string of(const std::vector<Tensor>& inputs) {
    const InferenceMode recorded(false);
    std::vector<tn_value> arguments;
    std::vector<Tensor> leaves;
    for (const Tensor& input : inputs) {
      const bool is_float = input.defined() && input.dtype().is_float();
      leaves.push_back(is_float ? input.detach().requires_grad_() : input);
      if (is_float)
        name_leaf(joined({"input/", std::to_string(leaves.size() - 1)}), "Input", leaves.back());
    }
    for (const Tensor& leaf : leaves) arguments.push_back(to_value(leaf));
    const std::string root = model_.type_name();
    for (const auto& [path, tensor] : model_.named_parameters())
      name_leaf(joined({root, "/", folders(path)}), "Parameter", tensor);
    for (const auto& [path, layer] : model_.named_modules()) {
      modes_.emplace_back(layer, layer.training());
      const std::string folder = path.empty() ? root : joined({root, "/", folders(path)});
      hooks_.push_back(layer.register_forward_hook(
          [this, folder](Object&, const std::vector<Tensor>& args,
                         const std::vector<Tensor>& results) { place(folder, args, results); }));
    }
    model_.eval();
    write(call(arguments));
    return graph_.message(4, ProtoMessage().varint(1, kProducer)).text();
  }

 private:
  static constexpr uint64_t kProducer = 22;  // the version of TensorFlow's graphs

  // "0.conv" as "0/conv".
  static std::string folders(std::string path) {
    for (char& c : path) {
      if (c == '.') c = '/';
    }
    return path;
  }
  // Keeps it, so that no other node comes to lie where it was.
  tn_node* hold(OwnedNode owned) {
    tn_node* const node = owned.get();
    if (node != nullptr && !held_.contains(node)) held_.emplace(node, std::move(owned));
    return node;
  }
  tn_node* node_of(const Tensor& t) { return hold(OwnedNode(api.autograd->grad_fn(t.get()))); }
  tn_node* next_of(const tn_node* node, uint32_t i) {
    return hold(OwnedNode(api.autograd->node_next(node, i)));
  }

  // A leaf is what a view of it leads to.
  void name_leaf(const std::string& name, const char* op, const Tensor& leaf) {
    if (!leaf.defined() || !leaf.requires_grad() || !leaf.is_leaf()) return;
    tn_node* const of_view = node_of(leaf.view(leaf.sizes()));
    tn_node* const node = of_view != nullptr ? next_of(of_view, 0) : nullptr;
    if (node != nullptr) leaves_[node] = {name, op, leaf.sizes()};
  }

  // What lies between the results of a layer and its arguments is in its folder, unless it is in that
  // of a layer within, which ended before.
  void place(const std::string& folder, const std::vector<Tensor>& args,
             const std::vector<Tensor>& results) {
    std::unordered_set<const tn_node*> seen;
    for (const Tensor& arg : args) {
      if (arg.defined()) seen.insert(node_of(arg));
    }
    std::vector<tn_node*> left;
    const auto meet = [&](tn_node* node) {
      if (node != nullptr && !leaves_.contains(node) && seen.insert(node).second)
        left.push_back(node);
    };
    for (const Tensor& result : results) {
      if (result.defined()) meet(node_of(result));
    }
    while (!left.empty()) {
      tn_node* const node = left.back();
      left.pop_back();
      folders_.try_emplace(node, folder);
      for (uint32_t i = 0; i < api.autograd->node_n_next(node); ++i) meet(next_of(node, i));
    }
  }

  std::vector<Tensor> call(const std::vector<tn_value>& arguments) {
    uint32_t n = 0;
    const auto see = [](void* count, const tn_schema* read) {
      *static_cast<uint32_t*>(count) = read->n_results;
    };
    check(api.schema->read(model_.method_schema("forward").c_str(), see, &n));
    std::vector<tn_value> results(n);
    check(api.object->invoke(model_.get(), "forward", arguments.data(),
                             static_cast<uint32_t>(arguments.size()), results.data(), n));
    std::vector<Tensor> tensors = tensors_among(results.data(), n);
    for (tn_value& result : results) host()->value_release(&result);
    return tensors;
  }

  void write(const std::vector<Tensor>& results) {
    std::vector<tn_node*> left;
    const auto meet = [&](tn_node* node) {
      if (names_.contains(node)) return;
      names_[node] = name(node);
      left.push_back(node);
    };
    for (size_t i = 0; i < results.size(); ++i) {
      tn_node* const node = results[i].defined() ? node_of(results[i]) : nullptr;
      if (node == nullptr) continue;
      meet(node);
      ProtoMessage output;
      output.bytes(1, joined({"output/", std::to_string(i)})).bytes(2, "Output");
      output.bytes(3, names_[node]).message(5, shape_of(results[i].sizes()));
      graph_.message(1, output);
    }
    if (left.empty()) {
      fail(joined({"add_graph: nothing that ", model_.type_name(),
                   " gives has a history: none of its parameters asks for a gradient, and no input "
                   "is of floats"}));
    }
    while (!left.empty()) {
      tn_node* const node = left.back();
      left.pop_back();
      ProtoMessage written;
      written.bytes(1, names_[node]);
      if (const auto leaf = leaves_.find(node); leaf != leaves_.end()) {
        written.bytes(2, leaf->second.op).message(5, shape_of(leaf->second.sizes));
      } else {
        written.bytes(2, api.autograd->node_name(node));
        for (uint32_t i = 0; i < api.autograd->node_n_next(node); ++i) {
          tn_node* const next = next_of(node, i);
          if (next == nullptr) continue;
          meet(next);
          written.bytes(3, names_[next]);
        }
      }
      graph_.message(1, written);
    }
  }

  // Its folder and op, with a number where the name is taken.
  std::string name(const tn_node* node) {
    const auto leaf = leaves_.find(node);
    const auto folder = folders_.find(node);
    std::string name = leaf != leaves_.end()
                           ? leaf->second.name
                           : joined({folder != folders_.end() ? folder->second : "other", "/",
                                     api.autograd->node_name(node)});
    for (char& c : name) {
      if (c == ' ') c = '_';
    }
    const int64_t same = taken_[name]++;
    return same == 0 ? name : joined({name, "_", std::to_string(same)});
  }

  // The attribute of a node that has the sizes of what it gives.
  static ProtoMessage shape_of(const std::vector<int64_t>& sizes) {
    ProtoMessage shape, list, value, attribute;
    for (const int64_t size : sizes)
      shape.message(2, ProtoMessage().varint(1, static_cast<uint64_t>(size)));
    list.message(7, shape);
    value.message(1, list);
    attribute.bytes(1, "_output_shapes").message(2, value);
    return attribute;
  }

  struct Leaf {
    std::string name;
    const char* op;
    std::vector<int64_t> sizes;
  };

  Object model_;
  std::vector<std::pair<Object, bool>> modes_;
  std::vector<ForwardHook> hooks_;
  std::unordered_map<tn_node*, OwnedNode> held_;
  std::unordered_map<const tn_node*, Leaf> leaves_;
  std::unordered_map<const tn_node*, std::string> folders_, names_;
  std::unordered_map<std::string, int64_t> taken_;
  ProtoMessage graph_;
};

}  // namespace detail
}  // namespace v0
}  // namespace tenon
