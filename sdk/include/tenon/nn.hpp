// Layers by PyTorch's names, and how they are composed. Each is a factory that a layer pack brings;
// an Error names the packs that are loaded when there is none of that name. Parameters are on the
// CPU in float32 until `.to` moves them. The functions that make them are generated, in nn/; first
// values of weights by other rules are in nn/init.hpp, nn::Sequential in nn/sequential.hpp.
#pragma once

#include <concepts>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/nn/activation.hpp"
#include "tenon/nn/attention.hpp"
#include "tenon/nn/conv.hpp"
#include "tenon/nn/dropout.hpp"
#include "tenon/nn/embedding.hpp"
#include "tenon/nn/init.hpp"
#include "tenon/nn/linear.hpp"
#include "tenon/nn/loss.hpp"
#include "tenon/nn/norm.hpp"
#include "tenon/nn/padding.hpp"
#include "tenon/nn/packed.hpp"
#include "tenon/nn/pool.hpp"
#include "tenon/nn/recurrent.hpp"
#include "tenon/nn/resize.hpp"
#include "tenon/nn/sequential.hpp"
#include "tenon/nn/shape.hpp"
#include "tenon/object.hpp"
#include "tenon/random.hpp"

namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace detail {
// The layer that `make` gives for a table of these sizes, with this table; whole numbers, where they may
// be, are not trained. Nothing is drawn that the program would miss.
template <typename Make>
Object with_table(const Tensor& table, bool freeze, bool floats_alone, Make make) {
  const bool is_float = table.defined() && table.is_floating_point();
  if (!table.defined() || table.dim() != 2 || (!is_float && floats_alone)) {
    fail(joined({"from_pretrained: the table is ",
                 table.defined() ? joined({table.dtype().name(), " ", sizes_text(table.sizes())})
                                 : std::string("None"),
                 floats_alone ? ", expected floats [num_embeddings, embedding_dim]"
                              : ", expected [num_embeddings, embedding_dim]"}));
  }
  if (!is_float && !freeze) {
    fail(joined({"from_pretrained: the table is ", table.dtype().name(),
                 " and freeze false, expected floats where the table is trained"}));
  }
  Generator others(0);
  const GeneratorGuard scope(others);
  const Object layer = make(table.size(0), table.size(1));
  layer.set("weight", table.detach());
  if (is_float) layer.requires_grad_(!freeze);
  return layer;
}
}  // namespace detail

namespace nn {

// A MultiheadAttention as a function that gives its weights, too: auto [y, weights] = layer(x, x, x).
class MultiheadAttentionLayer : public Object {
 public:
  MultiheadAttentionLayer() = default;
  MultiheadAttentionLayer(Object layer) : Object(std::move(layer)) {}
  std::tuple<Tensor, Tensor> operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                        const Tensor& key_padding_mask = {},
                                        const Tensor& attn_mask = {},
                                        bool average_attn_weights = true,
                                        bool is_causal = false) const {
    return invoke<std::tuple<Tensor, Tensor>>("forward_with_weights", query, key, value,
                                              key_padding_mask, attn_mask, average_attn_weights,
                                              is_causal);
  }
  // In the order of PyTorch's forward. Without need_weights the second is undefined. (A template, so that {} in
  // its place is no mask.)
  template <std::same_as<bool> B>
  std::tuple<Tensor, Tensor> operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                        const Tensor& key_padding_mask, B need_weights,
                                        const Tensor& attn_mask = {},
                                        bool average_attn_weights = true,
                                        bool is_causal = false) const {
    if (need_weights) {
      return (*this)(query, key, value, key_padding_mask, attn_mask, average_attn_weights,
                     is_causal);
    }
    return {invoke<Tensor>("forward", query, key, value, key_padding_mask, attn_mask, is_causal),
            Tensor()};
  }
  template <typename... Args>
  std::tuple<Tensor, Tensor> forward(const Args&... args) const {
    return (*this)(args...);
  }
};

// The mask [size, size] of a decoder: -inf where a position may not look, which is behind it.
inline Tensor generate_square_subsequent_mask(int64_t size, Device device = {},
                                              Dtype dtype = float32) {
  return triu(full({size, size}, -std::numeric_limits<double>::infinity(), dtype, device), 1);
}

// An Embedding, or an EmbeddingBag, of a table that is there, [num_embeddings, embedding_dim], whose
// memory it shares; freeze: it is not trained. An Embedding may be one of whole numbers, whose rows it
// gives. PyTorch's Embedding.from_pretrained.
inline Object embedding_from_pretrained(const Tensor& table, bool freeze = true,
                                        const EmbeddingOptions& options = {}) {
  return detail::with_table(table, freeze, /*floats_alone=*/false,
                            [&](int64_t n, int64_t width) { return Embedding(n, width, options); });
}
inline Object embedding_bag_from_pretrained(const Tensor& table, bool freeze = true,
                                            const EmbeddingBagOptions& options = {}) {
  return detail::with_table(table, freeze, /*floats_alone=*/true, [&](int64_t n, int64_t width) {
    return EmbeddingBag(n, width, options);
  });
}

// x plus what the modules, one after the other, make of x. Children "0", "1", ...
template <typename... Modules>
Object Residual(Modules&&... modules) {
  const std::vector<Object> list = {as_module(std::forward<Modules>(modules))...};
  return Object::create("Residual", detail::to_value(list));
}

// A neighbour for each place, and in between the mean of them where the corners stay the corners.
struct UpsamplingOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  KeptInts size = {};
  KeptFloats scale_factor = {};
};
inline Object UpsamplingNearest2d(const UpsamplingOptions& options) {
  return Upsample({.size = options.size, .scale_factor = options.scale_factor, .mode = "nearest"});
}
inline Object UpsamplingBilinear2d(const UpsamplingOptions& options) {
  return Upsample({.size = options.size,
                   .scale_factor = options.scale_factor,
                   .mode = "bilinear",
                   .align_corners = true});
}
template <detail::Placed<Ints> P>
Object UpsamplingNearest2d(const P& size, Floats scale_factor = {}) {
  return UpsamplingNearest2d({.size = Ints(size), .scale_factor = scale_factor});
}
template <detail::Placed<Ints> P>
Object UpsamplingBilinear2d(const P& size, Floats scale_factor = {}) {
  return UpsamplingBilinear2d({.size = Ints(size), .scale_factor = scale_factor});
}

struct BranchesOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::string join = "add";  // or "mul", "concat"
  Int dim = 1;               // of "concat"
};
// What each of the named modules makes of x, joined. Children have the names.
inline Object Branches(const std::vector<std::pair<std::string, Object>>& branches,
                       const BranchesOptions& options = {}) {
  std::vector<Object> modules;
  std::string names;
  for (const auto& [name, module] : branches) {
    modules.push_back(module);
    names += (names.empty() ? "" : ",") + name;
  }
  return Object::create("Branches", detail::to_value(modules), detail::to_value(names),
                        detail::to_value(options.join), detail::to_value(options.dim));
}

// All functions of tenon, where PyTorch has them: namespace F = tenon::nn::functional; F::relu(x).
namespace functional {
using namespace tenon;  // NOLINT: a name for the other one
}  // namespace functional

}  // namespace nn
}  // namespace v0
}  // namespace tenon
