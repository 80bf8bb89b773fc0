// Attention. Each line agrees with its op's schema.
#pragma once

#include "tenon/op.hpp"

// clang-format off
namespace tenon {
inline namespace TENON_HIDDEN v0 {

// query [.., n, e], key [.., m, e], value [.., m, v]; attn_mask bool (true: looked at) or added to
// the scores.
inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask = {}, double dropout_p = 0, bool is_causal = false, std::optional<double> scale = {}, bool enable_gqa = false) { return detail::call<Tensor>(detail::op<"scaled_dot_product_attention">, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa); }
// x [.., n, d] turned by angles, whose cos and sin are [.., n, d / 2] or fewer: halves, or
// interleaved pairs. Su et al., arXiv:2104.09864.
inline Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved = false) { return detail::call<Tensor>(detail::op<"rotary_embedding">, x, cos, sin, interleaved); }

}  // namespace v0
}  // namespace tenon
