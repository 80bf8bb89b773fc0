// Networks of gpu_bench in the sizes of their papers, or small ones. torch_bench.py has the same in
// PyTorch: change both.
#pragma once

#include <vector>

#include <tenon/tenon.hpp>

#include "gpt_model.h"

namespace gpu_models {

namespace tn = tenon;
namespace nn = tenon::nn;
using tn::Object;
using tn::Tensor;

// ---- ResNet-50 (He et al., arXiv:1512.03385)

inline Object conv(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return nn::Conv2d(in, out, kernel, {.stride = stride, .padding = kernel / 2, .bias = false});
}

struct Bottleneck : tn::Module {
  Bottleneck(int64_t in, int64_t width, int64_t stride) {
    const int64_t out = 4 * width;
    layers = child("layers", nn::Sequential(conv(in, width, 1), nn::BatchNorm2d(width), nn::ReLU(),
                                            conv(width, width, 3, stride), nn::BatchNorm2d(width),
                                            nn::ReLU(), conv(width, out, 1), nn::BatchNorm2d(out)));
    if (stride != 1 || in != out)
      downsample =
          child("downsample", nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
  }
  Tensor forward(Tensor x) { return tn::relu(layers(x) + (downsample ? downsample(x) : x)); }
  Object layers, downsample;
};

// blocks: of each of the four stages, {3, 4, 6, 3} for ResNet-50.
inline Object resnet(int64_t width, const std::vector<int64_t>& blocks, int64_t classes) {
  std::vector<Object> layers = {conv(3, width, 7, 2), nn::BatchNorm2d(width), nn::ReLU(),
                                nn::MaxPool2d(3, {.stride = 2, .padding = 1})};
  int64_t in = width;
  for (size_t stage = 0; stage < blocks.size(); ++stage) {
    for (int64_t k = 0; k < blocks[stage]; ++k) {
      layers.push_back(tn::make<Bottleneck>(in, width << stage, k == 0 && stage > 0 ? 2 : 1));
      in = 4 * (width << stage);
    }
  }
  layers.push_back(nn::AdaptiveAvgPool2d(1));
  layers.push_back(nn::Flatten());
  layers.push_back(nn::Linear(in, classes));
  return nn::Sequential(layers);
}

// ---- GPT-2 (Radford et al., 2019), whose last layer is the table of tokens

struct GptSizes {
  int64_t vocabulary, context, width, heads, layers;
};

struct Gpt2 : tn::Module {
  explicit Gpt2(const GptSizes& s) : sizes(s) {
    tokens = child("tokens", nn::Embedding(s.vocabulary, s.width));
    positions = child("positions", nn::Embedding(s.context, s.width));
    std::vector<Object> list;
    for (int64_t k = 0; k < s.layers; ++k) {
      blocks.push_back(tn::make<gpt_model::Block>(s.width, s.heads));
      list.push_back(blocks.back());
    }
    child("blocks", nn::Sequential(list));
    norm = child("norm", nn::LayerNorm(s.width));
  }
  // ids [n, t] to logits [n * t, vocabulary].
  Tensor forward(Tensor ids) {
    Tensor x = tokens(ids) + positions(tn::arange(0, ids.size(1), 1, tn::int64, ids.device()));
    for (const auto& block : blocks) x = block(x);
    return logits(x);
  }
  // One token behind context - 1 others, whose keys and values are in the caches [1, heads,
  // context, width / heads], two for each layer; its own go to the last place.
  Tensor decode(const Tensor& id, const std::vector<Tensor>& caches) {
    Tensor x = tokens(id) + positions(tn::full({1}, sizes.context - 1, tn::int64, id.device()));
    for (size_t k = 0; k < blocks.size(); ++k) {
      const gpt_model::Block& block = *blocks[k];
      std::vector<Tensor> qkv = tn::split(block.qkv(block.ln1(x)), sizes.width, 2);
      for (Tensor& part : qkv)
        part = part.reshape({1, 1, sizes.heads, sizes.width / sizes.heads}).transpose(1, 2);
      for (size_t i = 0; i < 2; ++i)
        caches[2 * k + i].narrow(2, sizes.context - 1, 1).copy_(qkv[i + 1]);
      const Tensor y = tn::scaled_dot_product_attention(qkv[0], caches[2 * k], caches[2 * k + 1]);
      x = x + block.proj(y.transpose(1, 2).reshape({1, 1, sizes.width}));
      x = x + block.fc2(tn::gelu(block.fc1(block.ln2(x))));
    }
    return logits(x);
  }

  GptSizes sizes;
  Object tokens, positions, norm;
  std::vector<tn::Made<gpt_model::Block>> blocks;

 private:
  Tensor logits(const Tensor& x) {
    return tn::linear(norm(x), tokens.tensor("weight")).flatten(0, 1);
  }
};

}  // namespace gpu_models
