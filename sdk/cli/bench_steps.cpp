// tenon bench steps: whole training steps. tests/benchmarks/compare/compare.py has the same
// networks in PyTorch, by the same names: change both.
#include <algorithm>
#include <optional>

#include <tenon/tenon.hpp>

#include "bench.h"

namespace tenon::cli {
namespace {

// He et al., arXiv:1512.03385.
struct BasicBlock : Module {
  BasicBlock(int64_t in, int64_t out, int64_t stride)
      : conv1(child("conv1",
                    nn::Conv2d(in, out, 3, {.stride = stride, .padding = 1, .bias = false}))),
        bn1(child("bn1", nn::BatchNorm2d(out))),
        conv2(child("conv2", nn::Conv2d(out, out, 3, {.padding = 1, .bias = false}))),
        bn2(child("bn2", nn::BatchNorm2d(out))) {
    if (stride != 1 || in != out) {
      downsample = child("downsample",
                         nn::Sequential(nn::Conv2d(in, out, 1, {.stride = stride, .bias = false}),
                                        nn::BatchNorm2d(out)));
    }
  }
  Tensor forward(Tensor x) {
    const Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
    return relu(y + (downsample ? downsample(x) : x));
  }
  Object conv1, bn1, conv2, bn2, downsample;
};

// In its form for images of 32x32: a stem of 3x3 without pooling.
Object resnet18() {
  std::vector<Object> layers = {nn::Conv2d(3, 64, 3, {.padding = 1, .bias = false}),
                                nn::BatchNorm2d(64), nn::ReLU()};
  int64_t in = 64;
  for (const int64_t out : {64, 128, 256, 512}) {
    layers.push_back(make<BasicBlock>(in, out, out == 64 ? 1 : 2));
    layers.push_back(make<BasicBlock>(out, out, 1));
    in = out;
  }
  layers.push_back(nn::AdaptiveAvgPool2d(1));
  layers.push_back(nn::Flatten());
  layers.push_back(nn::Linear(512, 10));
  return nn::Sequential(layers);
}

Object mlp() {
  return nn::Sequential(nn::Linear(784, 1024), nn::ReLU(), nn::Linear(1024, 1024), nn::ReLU(),
                        nn::Linear(1024, 10));
}

// That of examples/text/gpt.json, with windows of 64 characters, of which there are 65, where the width is 128.
Object gpt(int64_t width) {
  std::vector<Object> layers = {nn::Embedding(65, width), nn::PositionalEmbedding(64, width)};
  for (int i = 0; i < 4; ++i) {
    layers.push_back(nn::TransformerEncoderLayer(width, 4,
                                                 {.dim_feedforward = 4 * width,
                                                  .dropout = 0,
                                                  .activation = "gelu",
                                                  .batch_first = true,
                                                  .norm_first = true,
                                                  .is_causal = true}));
  }
  layers.push_back(nn::LayerNorm(width));
  layers.push_back(nn::Linear(width, 65));
  layers.push_back(nn::Flatten({.start_dim = 0, .end_dim = 1}));
  return nn::Sequential(layers);
}

// Forward in the lower precision, if there is one.
std::function<void()> step(const Object& model, const optim::Optimizer& optimizer, const Tensor& x,
                           const Tensor& y, Dtype lower) {
  return [=] {
    Tensor loss;
    {
      std::optional<Autocast> scope;
      if (lower) scope.emplace(cpu, lower);
      loss = cross_entropy(model(x), y);
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  };
}

// The step alone, of parameters as a GPT-2 of 85 million has them, 12 layers of width 768; their
// gradients stay.
std::function<void()> optimizer_step() {
  std::vector<Tensor> parameters;
  for (int layer = 0; layer < 12; ++layer) {
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{768},
                                                                               {768},
                                                                               {2304, 768},
                                                                               {2304},
                                                                               {768, 768},
                                                                               {768},
                                                                               {768},
                                                                               {768},
                                                                               {3072, 768},
                                                                               {3072},
                                                                               {768, 3072},
                                                                               {768}}) {
      parameters.push_back(randn(sizes).requires_grad_());
      parameters.back().set_grad(randn(sizes));
    }
  }
  const auto optimizer = optim::AdamW(parameters, {.lr = 1e-3});
  return [=] { optimizer.step(); };
}

// Other rows of the table at each step, as in training: none of them is in a cache.
std::function<void()> embedding_step() {
  const Tensor table = randn({1000000, 64}).requires_grad_();
  const auto optimizer = optim::SGD({table}, {.lr = 0.1});
  std::vector<Tensor> batches;
  for (int i = 0; i < 16; ++i) batches.push_back(randint(0, 1000000, {2048, 20}));
  return [=, next = size_t{0}]() mutable {
    optimizer.zero_grad();
    mean(embedding(table, batches[next++ % batches.size()], {}, true)).backward();
    optimizer.step();
  };
}

Tensor classes(int64_t n, int64_t of) { return remainder(arange(n), of); }

}  // namespace

std::vector<Case> network_cases(Dtype lower) {
  const auto gpt_step = [lower](int64_t width) {
    const Object model = gpt(width);
    return step(model, optim::AdamW(model.parameters(), {.lr = 1e-3}),
                classes(32 * 64, 65).view({32, 64}), classes(32 * 64, 65), lower);
  };
  return {
      {"mlp", "784-1024-1024-10, 256 rows, Adam",
       [lower] {
         const Object model = mlp();
         return step(model, optim::Adam(model.parameters(), {.lr = 1e-3}), randn({256, 784}),
                     classes(256, 10), lower);
       }},
      {"resnet18", "16 images of 3x32x32, SGD with momentum",
       [lower] {
         const Object model = resnet18();
         return step(model, optim::SGD(model.parameters(), {.lr = 0.01, .momentum = 0.9}),
                     randn({16, 3, 32, 32}), classes(16, 10), lower);
       }},
      {"gpt", "4 layers of width 128, 32 windows of 64 characters, AdamW",
       [gpt_step] { return gpt_step(128); }},
      {"gpt_wide", "the same of width 512", [gpt_step] { return gpt_step(512); }},
  };
}

std::vector<Case> step_cases() {
  std::vector<Case> cases = network_cases({});
  std::erase_if(cases, [](const Case& c) { return c.name == "gpt_wide"; });
  cases.push_back(
      {"adamw", "AdamW's step alone: 85 million parameters in 144 tensors", optimizer_step});
  cases.push_back({"embedding",
                   "2,048 times 20 rows of a table of 1,000,000x64, row-sparse gradient, SGD",
                   embedding_step});
  return cases;
}

std::vector<Case> compiled_cases() {
  std::vector<Case> cases = {{"perceptron", "32-32-32-2, 16 rows, AdamW", [] {
                                const Object model = nn::Sequential(nn::Linear(32, 32), nn::ReLU(),
                                                                    nn::Linear(32, 32), nn::ReLU(),
                                                                    nn::Linear(32, 2));
                                return step(model, optim::AdamW(model.parameters(), {.lr = 1e-3}),
                                            randn({16, 32}), classes(16, 2), {});
                              }}};
  // Those that need more memory come later: what was needed is known of the process.
  const std::vector<Case> steps = step_cases();
  for (const char* name : {"mlp", "gpt", "resnet18"})
    cases.push_back(
        *std::ranges::find_if(steps, [&](const Case& c) { return name == std::string(c.name); }));
  return cases;
}

}  // namespace tenon::cli
