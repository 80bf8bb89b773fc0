// The graph that backward walks, as text for Graphviz's `dot`. tenon.hpp does not include it.
//
//   std::ofstream("graph.dot") << graph_dot(loss, model.named_parameters());
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/autograd.hpp"
#include "tenon/object.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {

// Numbers nodes as they are met, from the results on, and writes a line for each and for each edge.
class GraphWriter {
 public:
  GraphWriter() = default;
  GraphWriter(const GraphWriter&) = delete;

  // A leaf has no node of its own to ask for: it is what a view of it leads to.
  void name_leaf(const std::string& name, const Tensor& leaf) {
    if (!leaf.requires_grad() || !leaf.is_leaf()) return;
    const InferenceMode recorded(false);
    const Tensor view = leaf.view(leaf.sizes());
    const OwnedNode of_view(api.autograd->grad_fn(view.get()));
    if (!of_view) return;
    OwnedNode node(api.autograd->node_next(of_view.get(), 0));
    if (!node) return;
    held_.push_back(std::move(node));  // until the end, so that no other comes to lie where it was
    leaves_[held_.back().get()] =
        joined({name, "\n", sizes_text(leaf.sizes()), " ", leaf.dtype().name()});
  }

  std::string text(const Tensor& y) {
    OwnedNode root(api.autograd->grad_fn(y.get()));
    if (!root) fail("graph_dot: the tensor has no history: it is a leaf, or needs no gradient");
    keep(std::move(root));
    std::string text =
        "digraph backward {\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n";
    std::string edges;
    // `kept_` grows meanwhile: it has what was met and is not written yet.
    for (size_t i = 0; i < kept_.size(); ++i) {
      tn_node* const node = kept_[i].get();
      const auto leaf = leaves_.find(node);
      const bool is_leaf = leaf != leaves_.end();
      text += joined({"  n", std::to_string(i), " [label=\"",
                      escaped(is_leaf ? leaf->second : api.autograd->node_name(node)), "\"",
                      is_leaf ? ", style=filled, fillcolor=\"#dbeafe\"" : "", "];\n"});
      for (uint32_t k = 0; k < api.autograd->node_n_next(node); ++k) {
        OwnedNode next(api.autograd->node_next(node, k));
        if (!next) continue;
        const size_t number = keep(std::move(next));
        edges += joined({"  n", std::to_string(i), " -> n", std::to_string(number), ";\n"});
      }
    }
    return joined({text, edges, "}\n"});
  }

 private:
  // Gives the node's number.
  size_t keep(OwnedNode node) {
    const auto [found, is_new] = numbers_.emplace(node.get(), kept_.size());
    if (is_new) kept_.push_back(std::move(node));
    return found->second;
  }
  static std::string escaped(std::string_view text) {
    std::string label;
    for (const char c : text) {
      if (c == '"' || c == '\\') label += '\\';
      if (c == '\n') {
        label += "\\n";
      } else {
        label += c;
      }
    }
    return label;
  }

  std::vector<OwnedNode> kept_, held_;
  std::unordered_map<tn_node*, size_t> numbers_;
  std::unordered_map<tn_node*, std::string> leaves_;
};

}  // namespace detail

// A box for each recorded call behind y, by its op's name, and for each tensor that gets a gradient;
// arrows go the way that gradients go. `names` are those of leaves, as of a model's parameters. An
// Error where y has no history.
inline std::string graph_dot(const Tensor& y, const NamedTensors& names = {}) {
  detail::GraphWriter writer;
  for (const auto& [name, leaf] : names) writer.name_leaf(name, leaf);
  return writer.text(y);
}

}  // namespace v0
}  // namespace tenon
