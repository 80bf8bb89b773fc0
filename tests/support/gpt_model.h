// A small GPT as an application writes one, for tests that train it: parity with PyTorch, and
// allocations that fail.
#pragma once

#include <vector>

#include <tenon/module.hpp>
#include <tenon/nn.hpp>
#include <tenon/ops.hpp>

namespace gpt_model {

namespace tn = tenon;
using tn::Tensor;

struct Block : tn::Module {
  Block(int64_t width, int64_t n_heads) : heads(n_heads) {
    ln1 = child("ln1", tn::nn::LayerNorm(width));
    qkv = child("qkv", tn::nn::Linear(width, 3 * width));
    proj = child("proj", tn::nn::Linear(width, width));
    ln2 = child("ln2", tn::nn::LayerNorm(width));
    fc1 = child("fc1", tn::nn::Linear(width, 4 * width));
    fc2 = child("fc2", tn::nn::Linear(4 * width, width));
  }
  Tensor forward(Tensor x) {
    const int64_t n = x.size(0), t = x.size(1), c = x.size(2);
    std::vector<Tensor> parts = tn::split(qkv(ln1(x)), c, 2);
    for (Tensor& part : parts) part = part.reshape({n, t, heads, c / heads}).transpose(1, 2);
    Tensor y = tn::scaled_dot_product_attention(parts[0], parts[1], parts[2], {.is_causal = true});
    x = x + proj(y.transpose(1, 2).reshape({n, t, c}));
    return x + fc2(tn::gelu(fc1(ln2(x))));
  }
  int64_t heads;
  tn::Object ln1, qkv, proj, ln2, fc1, fc2;
};

// ids [n, t] to logits [n * t, vocabulary]; t is at most `context`.
struct Gpt : tn::Module {
  Gpt(int64_t vocabulary, int64_t context, int64_t width, int64_t heads, int64_t layers) {
    tokens = child("tokens", tn::nn::Embedding(vocabulary, width));
    positions = child("positions", tn::nn::Embedding(context, width));
    std::vector<tn::Object> list;
    for (int64_t i = 0; i < layers; ++i) list.push_back(tn::make<Block>(width, heads));
    blocks = child("blocks", tn::nn::Sequential(list));
    norm = child("norm", tn::nn::LayerNorm(width));
    head = child("head", tn::nn::Linear(width, vocabulary, /*bias=*/false));
  }
  Tensor forward(Tensor ids) {
    Tensor places = tn::arange(0, ids.size(1), 1, tn::int64, ids.device());
    return head(norm(blocks(tokens(ids) + positions(places)))).flatten(0, 1);
  }
  tn::Object tokens, positions, blocks, norm, head;
};

}  // namespace gpt_model
