// tenon bench ops: single ops at sizes of ordinary networks. tests/benchmarks/compare/compare.py
// has the same in PyTorch, by the same names: change both.
#include <tenon/tenon.hpp>

#include "bench.h"

namespace tenon::cli {
namespace {

Case forward(const std::string& name, const char* what,
             std::function<Tensor(const std::vector<Tensor>&)> op,
             std::vector<std::vector<int64_t>> sizes) {
  return {name, what, [=] {
            std::vector<Tensor> in;
            for (const auto& s : sizes) in.push_back(randn(s));
            return [=] { op(in); };
          }};
}

// Forward, and backward from ones; the inputs are leaves.
Case both_ways(const std::string& name, const char* what,
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

// An activation of [1024, 1024], forward, and forward and backward.
void add_activation(std::vector<Case>* cases, const std::string& name,
                    const std::function<Tensor(const Tensor&)>& f) {
  const auto op = [f](const std::vector<Tensor>& in) { return f(in[0]); };
  cases->push_back(forward(name, "[1024, 1024]", op, {{1024, 1024}}));
  cases->push_back(
      both_ways(name + "_backward", "the same, forward and backward", op, {{1024, 1024}}));
}

// batch_norm by statistics that are given, as in a network that is served.
Case served(const char* name, const char* what, const std::vector<int64_t>& sizes) {
  return {name, what, [=] {
            const Tensor x = randn(sizes), mean = randn({sizes[1]}),
                         var = square(randn({sizes[1]}));
            const Tensor weight = randn({sizes[1]}), bias = randn({sizes[1]});
            return [=] { batch_norm(x, mean, var, weight, bias); };
          }};
}

Tensor mapped(const std::vector<Tensor>& in) { return linear(in[0], in[1], in[2]); }

Tensor convolution(const std::vector<Tensor>& in) { return conv2d(in[0], in[1], {.padding = 1}); }
Tensor depthwise(const std::vector<Tensor>& in) {
  return conv1d(in[0], in[1], {.padding = 3, .groups = in[1].size(0)});
}
Tensor attention(const std::vector<Tensor>& in) {
  return scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
}
// A layer of the inputs x, h, c (of an LSTM), weights and biases.
Tensor lstm_layer(const std::vector<Tensor>& in) {
  return std::get<0>(lstm(in[0], {in[1], in[2]}, {in[3], in[4], in[5], in[6]}));
}
// Its sequences, half of which would be padding: of 64, 62, .. 2 steps, as one row a step.
Tensor lstm_packed(const std::vector<Tensor>& in) {
  std::vector<int64_t> sizes;
  for (int64_t t = 0; t < 64; ++t) sizes.push_back((65 - t) / 2);
  return std::get<0>(
      lstm(in[0], {in[1], in[2]}, {in[3], in[4], in[5], in[6]}, {.batch_sizes = sizes}));
}
Tensor gru_layer(const std::vector<Tensor>& in) {
  return std::get<0>(gru(in[0], in[1], {in[2], in[3], in[4], in[5]}));
}
// The same LSTM as one would write it, an op after the other.
Tensor lstm_by_hand(const std::vector<Tensor>& in) {
  Tensor h = in[1][0], c = in[2][0];
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < in[0].size(0); ++t) {
    const auto [i, f, g, o] = chunk<4>(linear(in[0][t], in[3], in[5]) + linear(h, in[4], in[6]), 1);
    c = sigmoid(f) * c + sigmoid(i) * tanh(g);
    h = sigmoid(o) * tanh(c);
    outputs.push_back(h);
  }
  return stack(outputs, 0);
}
Tensor normalized(const std::vector<Tensor>& in) { return layer_norm(in[0], 1024, in[1], in[2]); }

}  // namespace

std::vector<Case> op_cases() {
  const std::vector<int64_t> square = {1024, 1024}, rows = {4096, 1024};
  const std::vector<std::vector<int64_t>> images = {{32, 64, 32, 32}, {64, 64, 3, 3}};
  const std::vector<std::vector<int64_t>> filters = {{2, 512, 512}, {512, 1, 4}};
  const std::vector<std::vector<int64_t>> heads = {
      {8, 8, 256, 64}, {8, 8, 256, 64}, {8, 8, 256, 64}};
  const std::vector<std::vector<int64_t>> normed = {rows, {1024}, {1024}};
  const std::vector<std::vector<int64_t>> mapping = {{256, 1024}, {1024, 1024}, {1024}};
  const std::vector<std::vector<int64_t>> lstm_inputs = {
      {64, 32, 256}, {1, 32, 256}, {1, 32, 256}, {1024, 256}, {1024, 256}, {1024}, {1024}};
  std::vector<std::vector<int64_t>> packed_inputs = lstm_inputs;
  packed_inputs[0] = {1056, 256};
  const std::vector<std::vector<int64_t>> gru_inputs = {{64, 32, 256}, {1, 32, 256}, {768, 256},
                                                        {768, 256},    {768},        {768}};
  std::vector<Case> cases = {
      forward("add", "[1024, 1024] + [1024, 1024]", [](auto& in) { return in[0] + in[1]; },
              {square, square}),
      forward("chain", "ten ops on [1024, 1024]", chain, {square, square}),
      both_ways("chain_backward", "the same, forward and backward", chain, {square, square}),
      forward("sum", "[4096, 1024] over dimension 1", [](auto& in) { return sum(in[0], 1); },
              {rows}),
      forward("transpose", "[4096, 1024] transposed and made contiguous",
              [](auto& in) { return in[0].t().contiguous(); }, {rows}),
      forward("sort", "[1024, 1024]", [](auto& in) { return std::get<0>(sort(in[0])); }, {square}),
      forward("topk", "50 of each row of [64, 50257]",
              [](auto& in) { return std::get<0>(topk(in[0], 50)); }, {{64, 50257}}),
      forward("topk_short", "2 of each row of [65536, 8]",
              [](auto& in) { return std::get<0>(topk(in[0], 2)); }, {{65536, 8}}),
      forward("median", "[1048576]", [](auto& in) { return std::get<0>(median(in[0])); },
              {{1024 * 1024}}),
      forward("flip", "[1048576]", [](auto& in) { return flip(in[0], 0); }, {{1024 * 1024}}),
      forward("cummax", "[1024, 1024]", [](auto& in) { return std::get<0>(cummax(in[0], 1)); },
              {square}),
      forward("randn", "[1024, 1024]",
              [](auto&) {
                return randn({1024, 1024});
              },
              {}),
      forward("matmul", "[512, 768] . [768, 3072]", [](auto& in) { return matmul(in[0], in[1]); },
              {{512, 768}, {768, 3072}}),
      both_ways("matmul_backward", "the same, forward and backward",
                [](auto& in) { return matmul(in[0], in[1]); }, {{512, 768}, {768, 3072}}),
      forward("conv2d", "[32, 64, 32, 32], 64 kernels of 3x3", convolution, images),
      both_ways("conv2d_backward", "the same, forward and backward", convolution, images),
      forward("depthwise", "[2, 512, 512], a filter of 4 for each channel", depthwise, filters),
      both_ways("depthwise_backward", "the same, forward and backward", depthwise, filters),
      forward("softmax", "[4096, 1024]", [](auto& in) { return softmax(in[0], -1); }, {rows}),
      both_ways("softmax_backward", "the same, forward and backward",
                [](auto& in) { return softmax(in[0], -1); }, {rows}),
      forward("layer_norm", "[4096, 1024]", normalized, normed),
      both_ways("layer_norm_backward", "the same, forward and backward", normalized, normed),
      forward("attention", "[8, 8, 256, 64], causal", attention, heads),
      both_ways("attention_backward", "the same, forward and backward", attention, heads),
      forward("linear", "[256, 1024], weight [1024, 1024]", mapped, mapping),
      both_ways("linear_backward", "the same, forward and backward", mapped, mapping),
      forward("lstm", "256 to 256, 64 steps of 32", lstm_layer, lstm_inputs),
      both_ways("lstm_backward", "the same, forward and backward", lstm_layer, lstm_inputs),
      forward("lstm_packed", "the same of 1056 steps in 32 sequences, which would be 2048 padded",
              lstm_packed, packed_inputs),
      both_ways("lstm_packed_backward", "the same, forward and backward", lstm_packed,
                packed_inputs),
      forward("gru", "256 to 256, 64 steps of 32", gru_layer, gru_inputs),
      both_ways("gru_backward", "the same, forward and backward", gru_layer, gru_inputs),
      both_ways("lstm_by_hand_backward", "the LSTM in ops, forward and backward", lstm_by_hand,
                lstm_inputs),
      served("batch_norm_served", "[16, 64, 32, 32]", {16, 64, 32, 32}),
      served("batch_norm_served_small", "[16, 512, 4, 4]", {16, 512, 4, 4}),
      served("batch_norm_served_rows", "[256, 1024]", {256, 1024}),
  };
  add_activation(&cases, "gelu", [](const Tensor& x) { return gelu(x); });
  add_activation(&cases, "gelu_tanh", [](const Tensor& x) { return gelu(x, "tanh"); });
  add_activation(&cases, "silu", [](const Tensor& x) { return silu(x); });
  add_activation(&cases, "mish", [](const Tensor& x) { return mish(x); });
  add_activation(&cases, "softplus", [](const Tensor& x) { return softplus(x); });
  add_activation(&cases, "sigmoid", [](const Tensor& x) { return sigmoid(x); });
  add_activation(&cases, "tanh", [](const Tensor& x) { return tanh(x); });
  add_activation(&cases, "exp", [](const Tensor& x) { return exp(x); });
  add_activation(&cases, "erf", [](const Tensor& x) { return erf(x); });
  return cases;
}

}  // namespace tenon::cli
