// The group 'attention' of the plugin 'layers', written by `tenon header`: changes belong into the
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

// attention(query, key, value, key_padding_mask, attn_mask, is_causal) on [t, n, embed_dim], with
// batch_first on [n, t, embed_dim], or without n. forward_with_weights gives the weights [n, t, m]
// too, the mean of the heads, or of each. In masks of bool, true is where it may not look; others
// are added. add_bias_kv and add_zero_attn put a learned key and value and one of zeros behind
// those of the call, which all may look at. Vaswani et al., arXiv:1706.03762.
struct MultiheadAttentionOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Float dropout = 0.0;
  bool bias = true;
  bool add_bias_kv = false;
  bool add_zero_attn = false;
  std::optional<Int> kdim = {};
  std::optional<Int> vdim = {};
  bool batch_first = false;
};
inline Object MultiheadAttention(Int embed_dim, Int num_heads, const MultiheadAttentionOptions& options = {}) { return Object::create("MultiheadAttention", {embed_dim, num_heads, options.dropout, options.bias, options.add_bias_kv, options.add_zero_attn, options.kdim, options.vdim, options.batch_first}); }
template <detail::Placed<Float> P>
Object MultiheadAttention(Int embed_dim, Int num_heads, const P& dropout, Bool bias = true, Bool add_bias_kv = false, Bool add_zero_attn = false, std::optional<Int> kdim = {}, std::optional<Int> vdim = {}, Bool batch_first = false) { return Object::create("MultiheadAttention", {embed_dim, num_heads, Float(dropout), bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first}); }
template <detail::Placed<Float> P1, detail::PlacedOr<Bool, MultiheadAttentionOptions> P2 = MultiheadAttentionOptions, detail::PlacedOr<Bool, MultiheadAttentionOptions> P3 = MultiheadAttentionOptions, detail::PlacedOr<Bool, MultiheadAttentionOptions> P4 = MultiheadAttentionOptions, detail::PlacedOr<std::optional<Int>, MultiheadAttentionOptions> P5 = MultiheadAttentionOptions, detail::PlacedOr<std::optional<Int>, MultiheadAttentionOptions> P6 = MultiheadAttentionOptions, detail::PlacedOr<Bool, MultiheadAttentionOptions> P7 = MultiheadAttentionOptions>
Object MultiheadAttention(Int embed_dim, Int num_heads, const P1& dropout, const P2& bias, const P3& add_bias_kv = detail::unset<P3>(), const P4& add_zero_attn = detail::unset<P4>(), const P5& kdim = detail::unset<P5>(), const P6& vdim = detail::unset<P6>(), const P7& batch_first = detail::unset<P7>()) { return MultiheadAttention(embed_dim, num_heads, detail::behind<MultiheadAttentionOptions, 8, 1>("MultiheadAttention", dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first)); }
// layer(src, src_mask, src_key_padding_mask, is_causal). The option is_causal holds for each call,
// so that the layer can stand in a Sequential. activation: relu or gelu. Vaswani et al.,
// arXiv:1706.03762.
struct TransformerEncoderLayerOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int dim_feedforward = 2048;
  Float dropout = 0.1;
  std::string activation = "relu";
  Float layer_norm_eps = 1e-05;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
  bool is_causal = false;
};
inline Object TransformerEncoderLayer(Int d_model, Int nhead, const TransformerEncoderLayerOptions& options = {}) { return Object::create("TransformerEncoderLayer", {d_model, nhead, options.dim_feedforward, options.dropout, options.activation, options.layer_norm_eps, options.batch_first, options.norm_first, options.bias, options.is_causal}); }
template <detail::Placed<Int> P>
Object TransformerEncoderLayer(Int d_model, Int nhead, const P& dim_feedforward, Float dropout = 0.1, TextRef activation = "relu", Float layer_norm_eps = 1e-05, Bool batch_first = false, Bool norm_first = false, Bool bias = true, Bool is_causal = false) { return Object::create("TransformerEncoderLayer", {d_model, nhead, Int(dim_feedforward), dropout, activation, layer_norm_eps, batch_first, norm_first, bias, is_causal}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Float, TransformerEncoderLayerOptions> P2 = TransformerEncoderLayerOptions, detail::PlacedOr<std::string, TransformerEncoderLayerOptions> P3 = TransformerEncoderLayerOptions, detail::PlacedOr<Float, TransformerEncoderLayerOptions> P4 = TransformerEncoderLayerOptions, detail::PlacedOr<Bool, TransformerEncoderLayerOptions> P5 = TransformerEncoderLayerOptions, detail::PlacedOr<Bool, TransformerEncoderLayerOptions> P6 = TransformerEncoderLayerOptions, detail::PlacedOr<Bool, TransformerEncoderLayerOptions> P7 = TransformerEncoderLayerOptions, detail::PlacedOr<Bool, TransformerEncoderLayerOptions> P8 = TransformerEncoderLayerOptions>
Object TransformerEncoderLayer(Int d_model, Int nhead, const P1& dim_feedforward, const P2& dropout, const P3& activation = detail::unset<P3>(), const P4& layer_norm_eps = detail::unset<P4>(), const P5& batch_first = detail::unset<P5>(), const P6& norm_first = detail::unset<P6>(), const P7& bias = detail::unset<P7>(), const P8& is_causal = detail::unset<P8>()) { return TransformerEncoderLayer(d_model, nhead, detail::behind<TransformerEncoderLayerOptions, 9, 1>("TransformerEncoderLayer", dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, is_causal)); }
// layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
// tgt_is_causal, memory_is_causal); the option is_causal is tgt_is_causal for each call. Vaswani et
// al., arXiv:1706.03762.
using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;
inline Object TransformerDecoderLayer(Int d_model, Int nhead, const TransformerDecoderLayerOptions& options = {}) { return Object::create("TransformerDecoderLayer", {d_model, nhead, options.dim_feedforward, options.dropout, options.activation, options.layer_norm_eps, options.batch_first, options.norm_first, options.bias, options.is_causal}); }
template <detail::Placed<Int> P>
Object TransformerDecoderLayer(Int d_model, Int nhead, const P& dim_feedforward, Float dropout = 0.1, TextRef activation = "relu", Float layer_norm_eps = 1e-05, Bool batch_first = false, Bool norm_first = false, Bool bias = true, Bool is_causal = false) { return Object::create("TransformerDecoderLayer", {d_model, nhead, Int(dim_feedforward), dropout, activation, layer_norm_eps, batch_first, norm_first, bias, is_causal}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Float, TransformerDecoderLayerOptions> P2 = TransformerDecoderLayerOptions, detail::PlacedOr<std::string, TransformerDecoderLayerOptions> P3 = TransformerDecoderLayerOptions, detail::PlacedOr<Float, TransformerDecoderLayerOptions> P4 = TransformerDecoderLayerOptions, detail::PlacedOr<Bool, TransformerDecoderLayerOptions> P5 = TransformerDecoderLayerOptions, detail::PlacedOr<Bool, TransformerDecoderLayerOptions> P6 = TransformerDecoderLayerOptions, detail::PlacedOr<Bool, TransformerDecoderLayerOptions> P7 = TransformerDecoderLayerOptions, detail::PlacedOr<Bool, TransformerDecoderLayerOptions> P8 = TransformerDecoderLayerOptions>
Object TransformerDecoderLayer(Int d_model, Int nhead, const P1& dim_feedforward, const P2& dropout, const P3& activation = detail::unset<P3>(), const P4& layer_norm_eps = detail::unset<P4>(), const P5& batch_first = detail::unset<P5>(), const P6& norm_first = detail::unset<P6>(), const P7& bias = detail::unset<P7>(), const P8& is_causal = detail::unset<P8>()) { return TransformerDecoderLayer(d_model, nhead, detail::behind<TransformerDecoderLayerOptions, 9, 1>("TransformerDecoderLayer", dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, is_causal)); }
// layer(src, mask, src_key_padding_mask, is_causal): num_layers copies of encoder_layer, one after
// the other, and norm. The copies begin with the same values, as PyTorch's. Vaswani et al.,
// arXiv:1706.03762.
struct TransformerEncoderOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Object norm = {};
};
inline Object TransformerEncoder(const Object& encoder_layer, Int num_layers, const TransformerEncoderOptions& options = {}) { return Object::create("TransformerEncoder", {encoder_layer, num_layers, options.norm}); }
template <detail::Placed<Object> P>
Object TransformerEncoder(const Object& encoder_layer, Int num_layers, const P& norm) { return Object::create("TransformerEncoder", {encoder_layer, num_layers, Object(norm)}); }
// layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
// tgt_is_causal, memory_is_causal): num_layers copies of decoder_layer, one after the other, and
// norm. Vaswani et al., arXiv:1706.03762.
using TransformerDecoderOptions = TransformerEncoderOptions;
inline Object TransformerDecoder(const Object& decoder_layer, Int num_layers, const TransformerDecoderOptions& options = {}) { return Object::create("TransformerDecoder", {decoder_layer, num_layers, options.norm}); }
template <detail::Placed<Object> P>
Object TransformerDecoder(const Object& decoder_layer, Int num_layers, const P& norm) { return Object::create("TransformerDecoder", {decoder_layer, num_layers, Object(norm)}); }
// layer(src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask,
// memory_key_padding_mask, src_is_causal, tgt_is_causal, memory_is_causal): an encoder, and a
// decoder that looks at what it gives. Vaswani et al., arXiv:1706.03762.
struct TransformerOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  Int d_model = 512;
  Int nhead = 8;
  Int num_encoder_layers = 6;
  Int num_decoder_layers = 6;
  Int dim_feedforward = 2048;
  Float dropout = 0.1;
  std::string activation = "relu";
  Float layer_norm_eps = 1e-05;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
};
inline Object Transformer(const TransformerOptions& options = {}) { return Object::create("Transformer", {options.d_model, options.nhead, options.num_encoder_layers, options.num_decoder_layers, options.dim_feedforward, options.dropout, options.activation, options.layer_norm_eps, options.batch_first, options.norm_first, options.bias}); }
template <detail::Placed<Int> P>
Object Transformer(const P& d_model, Int nhead = 8, Int num_encoder_layers = 6, Int num_decoder_layers = 6, Int dim_feedforward = 2048, Float dropout = 0.1, TextRef activation = "relu", Float layer_norm_eps = 1e-05, Bool batch_first = false, Bool norm_first = false, Bool bias = true) { return Object::create("Transformer", {Int(d_model), nhead, num_encoder_layers, num_decoder_layers, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias}); }
template <detail::Placed<Int> P1, detail::PlacedOr<Int, TransformerOptions> P2 = TransformerOptions, detail::PlacedOr<Int, TransformerOptions> P3 = TransformerOptions, detail::PlacedOr<Int, TransformerOptions> P4 = TransformerOptions, detail::PlacedOr<Int, TransformerOptions> P5 = TransformerOptions, detail::PlacedOr<Float, TransformerOptions> P6 = TransformerOptions, detail::PlacedOr<std::string, TransformerOptions> P7 = TransformerOptions, detail::PlacedOr<Float, TransformerOptions> P8 = TransformerOptions, detail::PlacedOr<Bool, TransformerOptions> P9 = TransformerOptions, detail::PlacedOr<Bool, TransformerOptions> P10 = TransformerOptions, detail::PlacedOr<Bool, TransformerOptions> P11 = TransformerOptions>
Object Transformer(const P1& d_model, const P2& nhead, const P3& num_encoder_layers = detail::unset<P3>(), const P4& num_decoder_layers = detail::unset<P4>(), const P5& dim_feedforward = detail::unset<P5>(), const P6& dropout = detail::unset<P6>(), const P7& activation = detail::unset<P7>(), const P8& layer_norm_eps = detail::unset<P8>(), const P9& batch_first = detail::unset<P9>(), const P10& norm_first = detail::unset<P10>(), const P11& bias = detail::unset<P11>()) { return Transformer(detail::behind<TransformerOptions, 12, 1>("Transformer", d_model, nhead, num_encoder_layers, num_decoder_layers, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)); }

}  // namespace nn
}  // namespace v0
}  // namespace tenon
