// The group 'embedding' of the plugin 'layers', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/object.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {
namespace nn {

// Rows of weight [num_embeddings, embedding_dim], normal at first, by index; that of padding_idx is
// 0 at first, and gets no gradient. sparse: the gradient is row-sparse, for SGD, Adagrad and
// SparseAdam. max_norm: rows with a larger norm of order norm_type are scaled down to it before
// they are read, which changes weight. scale_grad_by_freq: the gradient of a row is divided by how
// often x has it.
struct EmbeddingOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Int> padding_idx = {};
  std::optional<Float> max_norm = {};
  Float norm_type = 2.0;
  bool scale_grad_by_freq = false;
  bool sparse = false;
};
inline Object Embedding(Int num_embeddings, Int embedding_dim, const EmbeddingOptions& options = {}) { return Object::create("Embedding", {num_embeddings, embedding_dim, options.padding_idx, options.max_norm, options.norm_type, options.scale_grad_by_freq, options.sparse}); }
template <detail::Placed<std::optional<Int>> P>
Object Embedding(Int num_embeddings, Int embedding_dim, const P& padding_idx, std::optional<Float> max_norm = {}, Float norm_type = 2.0, Bool scale_grad_by_freq = false, Bool sparse = false) { return Object::create("Embedding", {num_embeddings, embedding_dim, std::optional<Int>(padding_idx), max_norm, norm_type, scale_grad_by_freq, sparse}); }
template <detail::Placed<std::optional<Int>> P1, detail::PlacedOr<std::optional<Float>, EmbeddingOptions> P2 = EmbeddingOptions, detail::PlacedOr<Float, EmbeddingOptions> P3 = EmbeddingOptions, detail::PlacedOr<Bool, EmbeddingOptions> P4 = EmbeddingOptions, detail::PlacedOr<Bool, EmbeddingOptions> P5 = EmbeddingOptions>
Object Embedding(Int num_embeddings, Int embedding_dim, const P1& padding_idx, const P2& max_norm, const P3& norm_type = detail::unset<P3>(), const P4& scale_grad_by_freq = detail::unset<P4>(), const P5& sparse = detail::unset<P5>()) { return Embedding(num_embeddings, embedding_dim, detail::behind<EmbeddingOptions, 6, 1>("Embedding", padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)); }
// layer(x, offsets, per_sample_weights): sums, means or maxima (mode) of rows of weight
// [num_embeddings, embedding_dim], normal at first: a bag for each row of x [bags, n], or beginning
// at each of offsets [bags] in x [n], the last of which ends the last bag with include_last_offset.
// The row padding_idx is 0 at first, and belongs to no bag. sparse, max_norm, scale_grad_by_freq:
// as Embedding's.
struct EmbeddingBagOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<Float> max_norm = {};
  Float norm_type = 2.0;
  bool scale_grad_by_freq = false;
  std::string mode = "mean";
  bool sparse = false;
  bool include_last_offset = false;
  std::optional<Int> padding_idx = {};
};
inline Object EmbeddingBag(Int num_embeddings, Int embedding_dim, const EmbeddingBagOptions& options = {}) { return Object::create("EmbeddingBag", {num_embeddings, embedding_dim, options.max_norm, options.norm_type, options.scale_grad_by_freq, options.mode, options.sparse, options.include_last_offset, options.padding_idx}); }
template <detail::Placed<std::optional<Float>> P>
Object EmbeddingBag(Int num_embeddings, Int embedding_dim, const P& max_norm, Float norm_type = 2.0, Bool scale_grad_by_freq = false, TextRef mode = "mean", Bool sparse = false, Bool include_last_offset = false, std::optional<Int> padding_idx = {}) { return Object::create("EmbeddingBag", {num_embeddings, embedding_dim, std::optional<Float>(max_norm), norm_type, scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx}); }
template <detail::Placed<std::optional<Float>> P1, detail::PlacedOr<Float, EmbeddingBagOptions> P2 = EmbeddingBagOptions, detail::PlacedOr<Bool, EmbeddingBagOptions> P3 = EmbeddingBagOptions, detail::PlacedOr<std::string, EmbeddingBagOptions> P4 = EmbeddingBagOptions, detail::PlacedOr<Bool, EmbeddingBagOptions> P5 = EmbeddingBagOptions, detail::PlacedOr<Bool, EmbeddingBagOptions> P6 = EmbeddingBagOptions, detail::PlacedOr<std::optional<Int>, EmbeddingBagOptions> P7 = EmbeddingBagOptions>
Object EmbeddingBag(Int num_embeddings, Int embedding_dim, const P1& max_norm, const P2& norm_type, const P3& scale_grad_by_freq = detail::unset<P3>(), const P4& mode = detail::unset<P4>(), const P5& sparse = detail::unset<P5>(), const P6& include_last_offset = detail::unset<P6>(), const P7& padding_idx = detail::unset<P7>()) { return EmbeddingBag(num_embeddings, embedding_dim, detail::behind<EmbeddingBagOptions, 8, 1>("EmbeddingBag", max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx)); }
// x [.., n, embedding_dim] plus the first n rows of weight [num_embeddings, embedding_dim], normal
// at first.
inline Object PositionalEmbedding(Int num_embeddings, Int embedding_dim) { return Object::create("PositionalEmbedding", {num_embeddings, embedding_dim}); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
