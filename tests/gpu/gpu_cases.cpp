// The cases of gpu_bench.
#include "gpu_bench.h"
#include "gpu_models.h"

namespace gpu_bench {
namespace {

namespace tn = tenon;
namespace nn = tenon::nn;
using tn::Object;
using tn::Tensor;

Tensor classes(int64_t n, int64_t of, tn::Device device) {
  return tn::remainder(tn::arange(n), of).to(device);
}
Tensor normal(const std::vector<int64_t>& sizes, tn::Device device, tn::Dtype dtype = tn::float32) {
  return tn::randn(sizes, tn::float32, device).to(dtype);
}

// Forward, backward and the optimizer's step; in bfloat16 by autocast, or in float32.
Run training(const Object& model, const tn::optim::Optimizer& optimizer, const Tensor& x,
             const Tensor& y, bool in_bfloat16) {
  return [=] {
    Tensor loss;
    {
      std::optional<tn::Autocast> scope;
      if (in_bfloat16) scope.emplace(x.device(), tn::bfloat16);
      loss = tn::cross_entropy(model(x), y);
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
}

Run launches(const Sizes& s, int64_t n) {
  const Tensor x = normal({8}, s.device), y = normal({8}, s.device);
  return [=] {
    Tensor sum = x;
    for (int64_t k = 0; k < n; ++k) sum = sum + y;
    return sum;
  };
}

Run mlp(const Sizes& s) {
  const int64_t in = s.of(784, 16), width = s.of(1024, 32), rows = s.of(256, 8);
  const Object model = nn::Sequential(nn::Linear(in, width), nn::ReLU(), nn::Linear(width, width),
                                      nn::ReLU(), nn::Linear(width, 10));
  model.to(s.device);
  return training(model, tn::optim::Adam(model.parameters(), {.lr = 1e-3}),
                  normal({rows, in}, s.device), classes(rows, 10, s.device), false);
}

Run resnet50(const Sizes& s) {
  const int64_t images = s.of(256, 2), pixels = s.of(224, 32);
  const Object model = s.is_small ? gpu_models::resnet(4, {1, 1, 1, 1}, 10)
                                  : gpu_models::resnet(64, {3, 4, 6, 3}, 1000);
  model.to(s.device);
  return training(model, tn::optim::SGD(model.parameters(), {.lr = 0.01, .momentum = 0.9}),
                  tn::contiguous(normal({images, 3, pixels, pixels}, s.device), "channels_last"),
                  classes(images, 10, s.device), true);
}

gpu_models::GptSizes gpt_sizes(const Sizes& s) {
  return {s.of(50257, 65), s.of(1024, 16), s.of(768, 32), s.of(12, 2), s.of(12, 2)};
}

Run gpt2(const Sizes& s) {
  const gpu_models::GptSizes sizes = gpt_sizes(s);
  const int64_t rows = s.of(8, 2), n = rows * sizes.context;
  const Object model = tn::make<gpu_models::Gpt2>(sizes);
  model.to(s.device);
  const Tensor ids = classes(n, sizes.vocabulary, s.device);
  return training(model, tn::optim::AdamW(model.parameters(), {.lr = 1e-4}),
                  ids.view({rows, sizes.context}), ids, true);
}

Run decode(const Sizes& s) {
  const gpu_models::GptSizes sizes = gpt_sizes(s);
  const auto model = tn::make<gpu_models::Gpt2>(sizes);
  model.to(s.device, tn::bfloat16);
  std::vector<Tensor> caches;
  for (int64_t k = 0; k < 2 * sizes.layers; ++k)
    caches.push_back(
        normal({1, sizes.heads, sizes.context, sizes.width / sizes.heads}, s.device, tn::bfloat16));
  const Tensor id = classes(1, 2, s.device).view({1, 1});
  return [=] {
    const tn::NoGrad no_grad;
    id.copy_(tn::argmax(model->decode(id, caches), {1}, true));
    return id.clone();
  };
}

Run chain(const Sizes& s) {
  const int64_t n = s.of(64 << 20, 4096);
  const Tensor x = normal({n}, s.device), y = normal({n}, s.device);
  return [=] { return tn::tanh(tn::sigmoid(x * y + x) * tn::exp(-(y * y)) - x * 0.5) * y; };
}

// Forward, and backward with a gradient of ones.
template <class Op>
Run both_ways(const Sizes& s, int64_t columns, int64_t small_columns, const Op& op) {
  const int64_t rows = s.of(8192, 8);
  const Tensor x = normal({rows, s.of(columns, small_columns)}, s.device).requires_grad_();
  return [=] {
    const Tensor y = op(x);
    x.zero_grad();
    y.backward(tn::ones_like(y));
    return x.grad();
  };
}

Run layer_norm(const Sizes& s) {
  const int64_t columns = s.of(8192, 16);
  const Object layer = nn::LayerNorm(columns);
  layer.to(s.device);
  return both_ways(s, 8192, 16, [=](const Tensor& x) { return layer(x); });
}

Run cross_entropy(const Sizes& s) {
  const Tensor y = classes(s.of(8192, 8), s.of(50257, 65), s.device);
  return both_ways(s, 50257, 65, [=](const Tensor& x) { return tn::cross_entropy(x, y); });
}

// The step alone, of GPT-2's parameters.
Run adamw(const Sizes& s) {
  const Object model = tn::make<gpu_models::Gpt2>(gpt_sizes(s));
  model.to(s.device);
  for (const Tensor& p : model.parameters()) p.set_grad(tn::randn_like(p));
  const auto optimizer = tn::optim::AdamW(model.parameters(), {.lr = 1e-4});
  const Tensor first = model.parameters()[0];
  return [=] {
    optimizer.step();
    return first.narrow(0, 0, 1).clone();
  };
}

Run product(const Sizes& s, tn::Dtype dtype) {
  const int64_t n = s.of(8192, 32);
  const Tensor a = normal({n, n}, s.device, dtype), b = normal({n, n}, s.device, dtype);
  return [=] { return tn::matmul(a, b); };
}

}  // namespace

std::vector<Case> cases(const Sizes& s) {
  const int64_t launched = s.of(1000, 20);
  const double tokens = static_cast<double>(s.of(8 * 1024, 2 * 16));
  const double side = static_cast<double>(s.of(8192, 32)), flops = 2e-12 * side * side * side;
  const auto gigabytes = [&](double arrays, int64_t full, int64_t small) {
    return arrays * 4e-9 * static_cast<double>(s.of(full, small));
  };
  const int64_t square = 8192 * 8192, table = 8192 * 50257;
  return {
      {"launch", "additions of 8 floats, one after the other", "launches/s",
       static_cast<double>(launched), [=](const Sizes& z) { return launches(z, launched); }},
      {"mlp", "784-1024-1024-10, 256 rows, Adam, float32", "steps/s", 1, mlp},
      {"resnet50", "256 images of 3x224x224, SGD with momentum, bfloat16, channels-last",
       "images/s", static_cast<double>(s.of(256, 2)), resnet50},
      {"gpt2", "124M parameters, 8 windows of 1,024 tokens, AdamW, bfloat16", "tokens/s", tokens,
       gpt2},
      {"decode", "GPT-2, one token behind 1,023 others, bfloat16", "tokens/s", 1, decode},
      {"chain", "ten ops over 64M floats; the rate is that of 2 reads and a write", "GB/s",
       gigabytes(3, 64 << 20, 4096), chain},
      {"softmax", "[8192, 8192] floats, forward and backward; 2 reads and a write each", "GB/s",
       gigabytes(5, square, 8 * 16),
       [](const Sizes& z) {
         return both_ways(z, 8192, 16, [](const Tensor& x) { return tn::softmax(x, 1); });
       }},
      {"layer_norm", "[8192, 8192] floats, forward and backward", "GB/s",
       gigabytes(5, square, 8 * 16), layer_norm},
      {"cross_entropy", "[8192, 50257] floats, forward and backward", "GB/s",
       gigabytes(3, table, 8 * 65), cross_entropy},
      {"adamw", "the step alone, of GPT-2's parameters", "steps/s", 1, adamw},
      {"matmul", "8192x8192x8192, bfloat16", "TFLOP/s", flops,
       [](const Sizes& z) { return product(z, tn::bfloat16); }},
      {"matmul_f32", "8192x8192x8192, float32 without TF32", "TFLOP/s", flops,
       [](const Sizes& z) { return product(z, tn::float32); }},
  };
}

}  // namespace gpu_bench
