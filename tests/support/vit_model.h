// A small ViT (Dosovitskiy et al., arXiv:2010.11929) of encoder layers as an application writes one;
// PyTorch's twin is in tests/data/torch_network_models.py.
#pragma once

#include <tenon/containers.hpp>
#include <tenon/module.hpp>
#include <tenon/nn.hpp>
#include <tenon/ops.hpp>

namespace vit_model {

namespace tn = tenon;
using tn::Tensor;

// Images [n, 3, size, size] to logits [n, classes]; `size` is a multiple of `patch`.
struct ViT : tn::Module {
  ViT(int64_t size, int64_t patch, int64_t width, int64_t heads, int64_t n_layers,
      int64_t classes) {
    const int64_t per_side = size / patch;
    parameter("class_token", tn::zeros({1, 1, width}));
    parameter("places", tn::zeros({1, per_side * per_side + 1, width}));
    patches = child("patches", tn::nn::Conv2d(3, width, patch, {.stride = patch}));
    child("layers", layers);
    for (int64_t i = 0; i < n_layers; ++i)
      layers.append(tn::nn::TransformerEncoderLayer(width, heads,
                                                    {.dim_feedforward = 4 * width,
                                                     .dropout = 0,
                                                     .activation = "gelu",
                                                     .batch_first = true,
                                                     .norm_first = true}));
    norm = child("norm", tn::nn::LayerNorm(width));
    head = child("head", tn::nn::Linear(width, classes));
  }
  Tensor forward(Tensor x) {
    x = patches(x).flatten(2).transpose(1, 2);
    const Tensor token = tensor("class_token").expand({x.size(0), -1, -1});
    x = tn::cat({token, x}, 1) + tensor("places");
    for (const tn::Object& layer : layers) x = layer(x);
    return head(norm(x).select(1, 0));
  }
  tn::nn::ModuleList layers;
  tn::Object patches, norm, head;
};

}  // namespace vit_model
