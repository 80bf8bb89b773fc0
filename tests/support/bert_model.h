// A small BERT (Devlin et al., arXiv:1810.04805) of encoder layers as an application writes one;
// PyTorch's twin is in tests/data/torch_network_models.py.
#pragma once

#include <tenon/containers.hpp>
#include <tenon/module.hpp>
#include <tenon/nn.hpp>
#include <tenon/ops.hpp>

namespace bert_model {

namespace tn = tenon;
using tn::Tensor;

// ids [n, t], of which 0 is padding and the second half another sentence, to logits of the words
// [n * t, vocabulary]; t is at most `context`. The words' own vectors are the weights of the last
// layer, too.
struct Bert : tn::Module {
  Bert(int64_t vocabulary, int64_t context, int64_t width, int64_t heads, int64_t n_layers) {
    parameter("bias", tn::zeros({vocabulary}));
    words = child("words", tn::nn::Embedding(vocabulary, width, {.padding_idx = 0}));
    places = child("places", tn::nn::Embedding(context, width));
    sentences = child("sentences", tn::nn::Embedding(2, width));
    norm = child("norm", tn::nn::LayerNorm(width, {.eps = 1e-12}));
    child("layers", layers);
    for (int64_t i = 0; i < n_layers; ++i)
      layers.append(tn::nn::TransformerEncoderLayer(width, heads,
                                                    {.dim_feedforward = 4 * width,
                                                     .dropout = 0,
                                                     .activation = "gelu",
                                                     .layer_norm_eps = 1e-12,
                                                     .batch_first = true}));
    transform = child("transform", tn::nn::Linear(width, width));
    transform_norm = child("transform_norm", tn::nn::LayerNorm(width, {.eps = 1e-12}));
  }
  Tensor forward(Tensor ids) {
    const Tensor at = tn::arange(0, ids.size(1), 1, tn::int64, ids.device());
    const Tensor sentence = (at >= ids.size(1) / 2).to(tn::int64), padding = ids == 0;
    Tensor x = norm(words(ids) + places(at) + sentences(sentence));
    for (const tn::Object& layer : layers) x = layer(x, Tensor(), padding);
    x = transform_norm(tn::gelu(transform(x)));
    return tn::linear(x, words.tensor("weight"), tensor("bias")).flatten(0, 1);
  }
  tn::nn::ModuleList layers;
  tn::Object words, places, sentences, norm, transform, transform_norm;
};

}  // namespace bert_model
