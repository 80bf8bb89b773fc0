// tenon bench ops: single ops at sizes of ordinary networks. tests/benchmarks/compare/compare.py
// has the same in PyTorch, by the same names: change both.
#include <tenon/tenon.hpp>

#include "bench.h"

namespace tenon::cli {
namespace {

Case forward(const char* name, const char* what,
             std::function<Tensor(const std::vector<Tensor>&)> op,
             std::vector<std::vector<int64_t>> sizes) {
  return {name, what, [=] {
            std::vector<Tensor> in;
            for (const auto& s : sizes) in.push_back(randn(s));
            return [=] { op(in); };
          }};
}

// Forward, and backward from ones; the inputs are leaves.
Case both_ways(const char* name, const char* what,
               std::function<Tensor(const std::vector<Tensor>&)> op,
               std::vector<std::vector<int64_t>> sizes) {
  return {name, what, [=] {
            std::vector<Tensor> in;
            for (const auto& s : sizes) in.push_back(randn(s).requires_grad_());
            const Tensor g = ones_like(op(in));
            return [=] {
              op(in).backward(g);
              for (const Tensor& t : in) t.zero_grad();
            };
          }};
}

Tensor chain(const std::vector<Tensor>& in) {
  const Tensor &x = in[0], &y = in[1];
  return tanh(sigmoid(x * y + x) * exp(-(y * y)) - x * 0.5) * y + x;
}

Tensor convolution(const std::vector<Tensor>& in) { return conv2d(in[0], in[1], {.padding = 1}); }
Tensor attention(const std::vector<Tensor>& in) {
  return scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
}
Tensor normalized(const std::vector<Tensor>& in) { return layer_norm(in[0], 1024, in[1], in[2]); }

}  // namespace

std::vector<Case> op_cases() {
  const std::vector<int64_t> square = {1024, 1024}, rows = {4096, 1024};
  const std::vector<std::vector<int64_t>> images = {{32, 64, 32, 32}, {64, 64, 3, 3}};
  const std::vector<std::vector<int64_t>> heads = {
      {8, 8, 256, 64}, {8, 8, 256, 64}, {8, 8, 256, 64}};
  const std::vector<std::vector<int64_t>> normed = {rows, {1024}, {1024}};
  return {
      forward("add", "[1024, 1024] + [1024, 1024]", [](auto& in) { return in[0] + in[1]; },
              {square, square}),
      forward("gelu", "[1024, 1024], erf", [](auto& in) { return gelu(in[0]); }, {square}),
      forward("chain", "ten ops on [1024, 1024]", chain, {square, square}),
      both_ways("chain_backward", "the same, forward and backward", chain, {square, square}),
      forward("sum", "[4096, 1024] over dimension 1", [](auto& in) { return sum(in[0], 1); },
              {rows}),
      forward("transpose", "[4096, 1024] transposed and made contiguous",
              [](auto& in) { return in[0].t().contiguous(); }, {rows}),
      forward("matmul", "[512, 768] . [768, 3072]", [](auto& in) { return matmul(in[0], in[1]); },
              {{512, 768}, {768, 3072}}),
      both_ways("matmul_backward", "the same, forward and backward",
                [](auto& in) { return matmul(in[0], in[1]); }, {{512, 768}, {768, 3072}}),
      forward("conv2d", "[32, 64, 32, 32], 64 kernels of 3x3", convolution, images),
      both_ways("conv2d_backward", "the same, forward and backward", convolution, images),
      forward("softmax", "[4096, 1024]", [](auto& in) { return softmax(in[0], -1); }, {rows}),
      both_ways("softmax_backward", "the same, forward and backward",
                [](auto& in) { return softmax(in[0], -1); }, {rows}),
      forward("layer_norm", "[4096, 1024]", normalized, normed),
      both_ways("layer_norm_backward", "the same, forward and backward", normalized, normed),
      forward("attention", "[8, 8, 256, 64], causal", attention, heads),
      both_ways("attention_backward", "the same, forward and backward", attention, heads),
  };
}

}  // namespace tenon::cli
