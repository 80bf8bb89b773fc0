// Stacks of the layers of transformers, and the model of encoder and decoder (Vaswani et al.,
// 2017), with PyTorch's options and names. The layers are in attention.cpp.
#include "tenon/containers.hpp"

#include "layers.h"

namespace layers {
namespace {

// num_layers copies of a layer as the child "layers", and a norm behind them, where there is one.
void add_stack(const Object& self, const Object& layer, int64_t num_layers, const Object& norm) {
  expect_layers("num_layers", num_layers);
  const Object layers = self.child("layers", nn::ModuleList());
  for (int64_t i = 0; i < num_layers; ++i) layers.child(std::to_string(i), layer.clone());
  if (norm) self.child("norm", norm);
}

// x through all layers, f(layer, x) by f(layer, x), and the norm.
template <typename F>
Tensor through_stack(const Object& self, Tensor x, F f) {
  for (const Object& layer : self.child("layers").children()) x = f(layer, x);
  for (const auto& [name, child] : self.named_children())
    if (name == "norm") x = child(x);
  return x;
}

void define_stacks() {
  layer(
      "TransformerEncoder(object encoder_layer, int num_layers, object? norm=None)",
      "layer(src, mask, src_key_padding_mask, is_causal): num_layers copies of encoder_layer, one "
      "after the other, and norm. The copies begin with the same values, as PyTorch's. Vaswani et "
      "al., arXiv:1706.03762.",
      [](Object& self, Object encoder_layer, int64_t num_layers, Object norm) {
        add_stack(self, encoder_layer, num_layers, norm);
        self.method(
            "forward(Tensor src, Tensor? mask=None, Tensor? src_key_padding_mask=None, bool "
            "is_causal=False) -> Tensor",
            [](Object& self, Tensor src, Tensor mask, Tensor padding, bool is_causal) {
              return through_stack(self, src, [&](const Object& layer, const Tensor& x) {
                return layer(x, mask, padding, is_causal);
              });
            });
      });
  layer(
      "TransformerDecoder(object decoder_layer, int num_layers, object? norm=None)",
      "layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, "
      "tgt_is_causal, memory_is_causal): num_layers copies of decoder_layer, one after the other, "
      "and norm. Vaswani et al., arXiv:1706.03762.",
      [](Object& self, Object decoder_layer, int64_t num_layers, Object norm) {
        add_stack(self, decoder_layer, num_layers, norm);
        self.method(
            "forward(Tensor tgt, Tensor memory, Tensor? tgt_mask=None, Tensor? memory_mask=None, "
            "Tensor? tgt_key_padding_mask=None, Tensor? memory_key_padding_mask=None, bool "
            "tgt_is_causal=False, bool memory_is_causal=False) -> Tensor",
            [](Object& self, Tensor tgt, Tensor memory, Tensor tgt_mask, Tensor memory_mask,
               Tensor tgt_padding, Tensor memory_padding, bool tgt_is_causal,
               bool memory_is_causal) {
              return through_stack(self, tgt, [&](const Object& layer, const Tensor& x) {
                return layer(x, memory, tgt_mask, memory_mask, tgt_padding, memory_padding,
                             tgt_is_causal, memory_is_causal);
              });
            });
      });
}

void expect_pair(const Tensor& src, const Tensor& tgt, int64_t d_model, bool batch_first) {
  for (const auto& [name, x] : {std::pair{"src", src}, std::pair{"tgt", tgt}}) {
    if ((x.dim() == 2 || x.dim() == 3) && x.size(-1) == d_model) continue;
    fail(std::string(name) + " is " + sizes_text(x) + ", expected " +
         (batch_first ? "[n, t, " : "[t, n, ") + std::to_string(d_model) + "] or [t, " +
         std::to_string(d_model) + "]");
  }
  const int64_t batch = batch_first ? 0 : 1;
  if (src.dim() == tgt.dim() && (src.dim() == 2 || src.size(batch) == tgt.size(batch))) return;
  fail("src is " + sizes_text(src) + " and tgt " + sizes_text(tgt) +
       ", expected the same number of sequences");
}

void define_transformer() {
  layer(
      "Transformer(int d_model=512, int nhead=8, int num_encoder_layers=6, int "
      "num_decoder_layers=6, int dim_feedforward=2048, float dropout=0.1, str "
      "activation=\"relu\", float layer_norm_eps=1e-5, bool batch_first=False, bool "
      "norm_first=False, bool bias=True)",
      "layer(src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, "
      "tgt_key_padding_mask, memory_key_padding_mask, src_is_causal, tgt_is_causal, "
      "memory_is_causal): an encoder, and a decoder that looks at what it gives. Vaswani et al., "
      "arXiv:1706.03762.",
      [](Object& self, int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
         int64_t num_decoder_layers, int64_t dim_feedforward, double dropout,
         std::string activation, double layer_norm_eps, bool batch_first, bool norm_first,
         bool bias) {
        expect_layers("num_encoder_layers", num_encoder_layers);
        expect_layers("num_decoder_layers", num_decoder_layers);
        const auto part = [&](const char* stack, const char* layer, int64_t n) {
          return Object::create(
              stack,
              Object::create(layer, d_model, nhead, dim_feedforward, dropout, activation,
                             layer_norm_eps, batch_first, norm_first, bias),
              n, nn::LayerNorm(d_model, {.eps = layer_norm_eps, .bias = bias}));
        };
        self.child("encoder",
                   part("TransformerEncoder", "TransformerEncoderLayer", num_encoder_layers));
        self.child("decoder",
                   part("TransformerDecoder", "TransformerDecoderLayer", num_decoder_layers));
        for (const Tensor& p : self.parameters())
          if (p.dim() > 1) nn::init::xavier_uniform_(p);
        self.method(
            "forward(Tensor src, Tensor tgt, Tensor? src_mask=None, Tensor? tgt_mask=None, "
            "Tensor? memory_mask=None, Tensor? src_key_padding_mask=None, Tensor? "
            "tgt_key_padding_mask=None, Tensor? memory_key_padding_mask=None, bool "
            "src_is_causal=False, bool tgt_is_causal=False, bool memory_is_causal=False) -> "
            "Tensor",
            [d_model, batch_first](Object& self, Tensor src, Tensor tgt, Tensor src_mask,
                                   Tensor tgt_mask, Tensor memory_mask, Tensor src_padding,
                                   Tensor tgt_padding, Tensor memory_padding, bool src_is_causal,
                                   bool tgt_is_causal, bool memory_is_causal) {
              expect_pair(src, tgt, d_model, batch_first);
              const Tensor memory =
                  self.child("encoder")(src, src_mask, src_padding, src_is_causal);
              return self.child("decoder")(tgt, memory, tgt_mask, memory_mask, tgt_padding,
                                           memory_padding, tgt_is_causal, memory_is_causal);
            });
      });
}

}  // namespace

void add_transformer_layers() {
  define_stacks();
  define_transformer();
}

}  // namespace layers
