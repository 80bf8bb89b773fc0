// The group 'attention' of the plugin 'ops', written by `tenon header`: changes belong into the
// plugin.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// softmax(query key^T * scale + mask) value: query [.., n, e], key [.., m, e], value [.., m, v].
// attn_mask is bool (true: looked at) or added; scale None: 1 / sqrt(e). Vaswani et al.,
// arXiv:1706.03762.
struct ScaledDotProductAttentionOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Tensor attn_mask = {};
  Float dropout_p = 0.0;
  bool is_causal = false;
  std::optional<Float> scale = {};
  bool enable_gqa = false;
};
inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask = {}, const ScaledDotProductAttentionOptions& options = {}) { return detail::call<Tensor>(detail::op<"scaled_dot_product_attention">, {query, key, value, detail::one_of("scaled_dot_product_attention", "attn_mask", attn_mask, options.attn_mask), options.dropout_p, options.is_causal, options.scale, options.enable_gqa}); }
template <detail::Placed<Float> P>
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, const P& dropout_p, Bool is_causal = false, std::optional<Float> scale = {}, Bool enable_gqa = false) { return detail::call<Tensor>(detail::op<"scaled_dot_product_attention">, {query, key, value, attn_mask, Float(dropout_p), is_causal, scale, enable_gqa}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Bool, ScaledDotProductAttentionOptions> P2 = ScaledDotProductAttentionOptions, detail::PlacedOr<std::optional<Float>, ScaledDotProductAttentionOptions> P3 = ScaledDotProductAttentionOptions, detail::PlacedOr<Bool, ScaledDotProductAttentionOptions> P4 = ScaledDotProductAttentionOptions>
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, const P1& dropout_p, const P2& is_causal, const P3& scale = detail::unset<P3>(), const P4& enable_gqa = detail::unset<P4>()) { return scaled_dot_product_attention(query, key, value, attn_mask, detail::behind<ScaledDotProductAttentionOptions, 6, 2>("scaled_dot_product_attention", dropout_p, is_causal, scale, enable_gqa)); }
template <std::same_as<ScaledDotProductAttentionOptions> O = ScaledDotProductAttentionOptions>
inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const O& options) { return detail::call<Tensor>(detail::op<"scaled_dot_product_attention">, {query, key, value, options.attn_mask, options.dropout_p, options.is_causal, options.scale, options.enable_gqa}); }
// x [.., n, d] turned by angles, whose cos and sin are [.., n, d / 2] or fewer: halves, or
// interleaved pairs. Su et al., arXiv:2104.09864.
inline Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, Bool interleaved = false) { return detail::call<Tensor>(detail::op<"rotary_embedding">, {x, cos, sin, interleaved}); }
struct RotaryEmbeddingOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool interleaved = false;
};
template <std::same_as<RotaryEmbeddingOptions> O = RotaryEmbeddingOptions>
inline Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, const O& options) { return detail::call<Tensor>(detail::op<"rotary_embedding">, {x, cos, sin, options.interleaved}); }

}  // namespace v0
}  // namespace tenon
