// Stacks of the layers of transformers, and the whole model, against PyTorch's.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "layers_support.h"
#include "second_device.h"

using tn::Object, tn::Tensor;
using tn::nn::LayerNorm, tn::nn::Linear, tn::nn::Transformer, tn::nn::TransformerDecoder;
using tn::nn::TransformerDecoderLayer, tn::nn::TransformerEncoder, tn::nn::TransformerEncoderLayer;

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

// f(i) for each element i, float64.
template <typename F>
Tensor counted(std::vector<int64_t> sizes, tn::Device device, F f) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(f(double(i)));
  return Tensor::from(values, sizes).to(device);
}
// The sum of the elements, each times sin(1 + i).
double weighed(const Tensor& t) {
  double sum = 0, i = 1;
  for (const double v : t.to_vector<double>()) sum += v * std::sin(i++);
  return sum;
}

// Parameter k is 0.4 sin(k + 0.7 i), input k is cos(k + 0.9 i). Weighed: the output, and the
// gradients of inputs and of parameters of the weighed output, added up.
template <typename F>
void expect_values(const Object& layer, tn::Device device, std::vector<std::vector<int64_t>> inputs,
                   F call, double output, double of_inputs, double of_parameters) {
  layer.to(device, tn::float64).eval();
  double k = 0;
  for (const Tensor& p : layer.parameters()) {
    const std::vector<int64_t> sizes(p.sizes().begin(), p.sizes().end());
    p.detach().copy_(counted(sizes, device, [&](double i) { return 0.4 * std::sin(k + 0.7 * i); }));
    ++k;
  }
  std::vector<Tensor> in;
  for (const auto& sizes : inputs) {
    const double n = double(in.size());
    in.push_back(counted(sizes, device, [&](double i) { return std::cos(n + 0.9 * i); }));
    in.back().requires_grad_();
  }
  const Tensor y = call(in);
  EXPECT_NEAR(weighed(y), output, 1e-10);
  const std::vector<int64_t> sizes(y.sizes().begin(), y.sizes().end());
  y.backward(counted(sizes, device, [](double i) { return std::sin(1 + i); }));
  double gradients = 0;
  for (const Tensor& x : in) gradients += weighed(x.grad());
  EXPECT_NEAR(gradients, of_inputs, 1e-9);
  gradients = 0;
  for (const Tensor& p : layer.parameters()) gradients += weighed(p.grad());
  EXPECT_NEAR(gradients, of_parameters, 1e-8);
}

// Values: PyTorch 2.15, float64.
TEST_P(Layers, StacksOfTransformersArePyTorchs) {
  const Tensor causal = on(tn::triu(tn::ones({3, 3}, tn::bool_), 1));
  const Tensor padding = on(tn::tensor({{false, false, true}, {false, true, false}}));
  const Object encoder = TransformerEncoder(
      TransformerEncoderLayer(4, 2, {.dim_feedforward = 6, .dropout = 0}), 2, LayerNorm(4));
  // A query that may look at nothing has NaN in PyTorch's slow path, and no gradient: none is here.
  expect_values(
      encoder, device, {{3, 2, 4}},
      [&](const std::vector<Tensor>& in) { return encoder(in[0], causal, padding); },
      -0.8006845578958395, -0.34167447876524737, 2.896500722671325);

  const Tensor memory_padding =
      on(tn::tensor({{false, false, false, false, true}, {false, false, false, true, true}}));
  const Object decoder = TransformerDecoder(
      TransformerDecoderLayer(
          4, 2, {.dim_feedforward = 6, .dropout = 0, .batch_first = true, .norm_first = true}),
      3);
  expect_values(
      decoder, device, {{2, 3, 4}, {2, 5, 4}},
      [&](const std::vector<Tensor>& in) {
        return decoder(in[0], in[1], causal, tn::none, tn::none, memory_padding);
      },
      9.018705496805346, 12.669306684261064, 11.182747170557159);
}

TEST_P(Layers, ATransformerIsPyTorchs) {
  const Object model = Transformer({.d_model = 4,
                                    .nhead = 2,
                                    .num_encoder_layers = 2,
                                    .num_decoder_layers = 1,
                                    .dim_feedforward = 6,
                                    .dropout = 0,
                                    .activation = "gelu"});
  const Tensor mask = tn::nn::generate_square_subsequent_mask(3, device, tn::float64);
  EXPECT_EQ(mask[0].to_vector<double>(), (std::vector<double>{0, -INFINITY, -INFINITY}));
  expect_values(
      model, device, {{5, 2, 4}, {3, 2, 4}},
      [&](const std::vector<Tensor>& in) { return model(in[0], in[1], tn::none, mask); },
      0.06514088408946589, -0.00678791610185983, 1.498253430775779);
}

TEST(TransformerLayers, NamesArePyTorchsAndCopiesAreApart) {
  tn::load_plugins();
  const Object layer = TransformerEncoderLayer(4, 2, {.dim_feedforward = 6});
  const Object encoder = TransformerEncoder(layer, 2, LayerNorm(4));
  const std::vector<std::string> names = names_of(encoder.state_dict());
  EXPECT_EQ(names.size(), 26u);
  EXPECT_EQ(names[12], "layers.1.self_attn.in_proj_weight");
  EXPECT_EQ(names[24], "norm.weight");
  const Tensor first = encoder.get_parameter("layers.0.linear1.weight");
  const Tensor second = encoder.get_parameter("layers.1.linear1.weight");
  EXPECT_TRUE(first.equal(second)) << "the copies begin alike, as PyTorch's";
  EXPECT_FALSE(first.same_storage(second));
  EXPECT_FALSE(first.same_storage(layer.get_parameter("linear1.weight")));
  EXPECT_EQ(names_of(encoder.clone().state_dict()), names);

  const Object model = Transformer({.d_model = 4,
                                    .nhead = 2,
                                    .num_encoder_layers = 1,
                                    .num_decoder_layers = 1,
                                    .dim_feedforward = 6});
  EXPECT_EQ(model.parameters().size(), 34u);
  EXPECT_EQ(names_of(model.state_dict())[14], "decoder.layers.0.self_attn.in_proj_weight");
}

TEST(TransformerLayers, WhatDoesNotFitIsSaid) {
  tn::load_plugins();
  const Object layer = TransformerEncoderLayer(4, 2);
  EXPECT_EQ(message_of([&] { TransformerEncoder(layer, 0); }),
            "TransformerEncoder could not be made\n"
            "  because num_layers is 0, expected at least 1");
  EXPECT_EQ(message_of([&] { TransformerEncoder(layer, 10001); }),
            "TransformerEncoder could not be made\n"
            "  because num_layers is 10001, expected at most 10000");
  const Object model = Transformer({.d_model = 4,
                                    .nhead = 2,
                                    .num_encoder_layers = 1,
                                    .num_decoder_layers = 1,
                                    .dim_feedforward = 6});
  EXPECT_EQ(message_of([&] {
              model(tn::ones({3, 2, 5}), tn::ones({3, 2, 4}));
            }),
            "Transformer: src is [3, 2, 5], expected [t, n, 4] or [t, 4]");
  EXPECT_EQ(
      message_of([&] {
        model(tn::ones({3, 2, 4}), tn::ones({3, 1, 4}));
      }),
      "Transformer: src is [3, 2, 4] and tgt [3, 1, 4], expected the same number of sequences");
  EXPECT_EQ(message_of([&] {
              model(tn::ones({3, 4}), tn::ones({3, 1, 4}));
            }),
            "Transformer: src is [3, 4] and tgt [3, 1, 4], expected the same number of sequences");
}

TEST(TransformerLayers, OneBatchDoesNotBroadcastToAnother) {
  tn::load_plugins();
  const Object first = tn::nn::MultiheadAttention(4, 2, {.batch_first = true});
  const Object layer = tn::nn::MultiheadAttention(4, 2);
  const auto ones = [](tn::Ints sizes) { return tn::ones(sizes); };
  EXPECT_EQ(message_of([&] {
              first(ones({2, 3, 4}), ones({1, 3, 4}), ones({1, 3, 4}));
            }),
            "MultiheadAttention: key is [1, 3, 4], a batch of 1, and query [2, 3, 4], a batch of "
            "2; expected the same");
  EXPECT_EQ(message_of([&] {
              first(ones({1, 3, 4}), ones({2, 3, 4}), ones({2, 3, 4}));
            }),
            "MultiheadAttention: key is [2, 3, 4], a batch of 2, and query [1, 3, 4], a batch of "
            "1; expected the same");
  EXPECT_EQ(message_of([&] {
              layer(ones({3, 2, 4}), ones({5, 3, 4}), ones({5, 3, 4}));
            }),
            "MultiheadAttention: key is [5, 3, 4], a batch of 3, and query [3, 2, 4], a batch of "
            "2; expected the same");
  EXPECT_EQ(message_of([&] {
              layer(ones({3, 2, 4}), ones({3, 2, 4}), ones({3, 1, 4}));
            }),
            "MultiheadAttention: value is [3, 1, 4], a batch of 1, and query [3, 2, 4], a batch of "
            "2; expected the same");
  EXPECT_NE(message_of([&] {
              TransformerDecoderLayer(4, 2)(ones({3, 1, 4}), ones({3, 2, 4}));
            }).find("key is [3, 2, 4], a batch of 2, and query [3, 1, 4], a batch of 1"),
            std::string::npos);
}

TEST_P(Layers, MasksOfFloat32StandBesideHalves) {
  const Tensor bias = tn::tensor({{0.5, -1.0}, {-INFINITY, 0.25}}).to(GetParam());
  const Tensor x = tn::tensor({1.0, 0.0, -1.0, 0.5, 0.25, 1.0, 0.0, 2.0}).reshape({2, 1, 4});
  const Tensor padding = tn::tensor({{0.0, -INFINITY}}).to(GetParam());
  for (const tn::Dtype dtype : {tn::bfloat16, tn::float16}) {
    const Object layer = tn::nn::MultiheadAttention(4, 2).to(tn::Device(GetParam())).to(dtype);
    const Object block = TransformerEncoderLayer(4, 2, {.dim_feedforward = 8, .dropout = 0})
                             .to(tn::Device(GetParam()))
                             .to(dtype);
    const Tensor half = x.to(GetParam()).to(dtype);
    EXPECT_TRUE(layer(half, half, half, tn::none, bias)
                    .equal(layer(half, half, half, tn::none, bias.to(dtype))));
    EXPECT_TRUE(layer(half, half, half, padding).equal(layer(half, half, half, padding.to(dtype))));
    EXPECT_TRUE(block(half, bias).equal(block(half, bias.to(dtype))));
    const auto [y, weights] =
        tn::nn::MultiheadAttentionLayer(layer)(half, half, half, tn::none, bias);
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(weights.dtype(), dtype);
    EXPECT_TRUE(y.allclose(layer(half, half, half, tn::none, bias), 2e-2, 2e-2));
  }
}

TEST(TransformerLayers, AttentionGivesItsWeights) {
  tn::load_plugins();
  const tn::nn::MultiheadAttentionLayer attention =
      tn::nn::MultiheadAttention(4, 2, {.batch_first = true});
  const Tensor x = tn::randn({3, 5, 4});
  auto [y, weights] = attention(x, x, x);
  EXPECT_EQ(weights.sizes(), (std::vector<int64_t>{3, 5, 5}));
  EXPECT_TRUE(weights.sum(-1).allclose(tn::ones({3, 5})));
  EXPECT_TRUE(y.allclose(static_cast<const Object&>(attention)(x, x, x), 1e-5, 1e-6));
  EXPECT_EQ(std::get<1>(attention(x, x, x, {}, {}, false)).sizes(),
            (std::vector<int64_t>{3, 2, 5, 5}));
}

// PyTorch's places: key_padding_mask, need_weights, attn_mask, average_attn_weights.
TEST(TransformerLayers, AttentionTakesItsArgumentsInPyTorchsOrder) {
  tn::load_plugins();
  const tn::nn::MultiheadAttentionLayer attention =
      tn::nn::MultiheadAttention(4, 2, {.batch_first = true});
  const Tensor x = tn::randn({3, 5, 4}), mask = tn::nn::generate_square_subsequent_mask(5);
  const auto expected = attention(x, x, x, tn::none, mask);
  const auto [y, weights] = attention(x, x, x, tn::none, true, mask);
  EXPECT_TRUE(y.equal(std::get<0>(expected)));
  EXPECT_TRUE(weights.equal(std::get<1>(expected)));
  const auto [alone, none] = attention(x, x, x, tn::none, /*need_weights=*/false, mask);
  EXPECT_TRUE(alone.allclose(y, 1e-5, 1e-6));
  EXPECT_FALSE(none.defined());
  const auto heads = attention(x, x, x, tn::none, true, mask, /*average_attn_weights=*/false);
  EXPECT_EQ(std::get<1>(heads).sizes(), (std::vector<int64_t>{3, 2, 5, 5}));
}

}  // namespace
