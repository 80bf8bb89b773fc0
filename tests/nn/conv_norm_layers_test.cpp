// Convolutions, pools and normalizations as layers.
#include <cmath>
#include <string>
#include <vector>

#include "layers_support.h"
#include "second_device.h"

namespace {

INSTANTIATE_TEST_SUITE_P(Devices, Layers, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Layers, ConvolutionsStartUniformWithinPyTorchsBound) {
  const tn::Object layer = tn::nn::Conv2d(4, 60, {3, 2}, {.groups = 2});
  const tn::Tensor weight = layer.tensor("weight");
  EXPECT_EQ(std::vector<int64_t>(weight.sizes().begin(), weight.sizes().end()),
            (std::vector<int64_t>{60, 2, 3, 2}));
  const double bound = 1 / std::sqrt(12.0);  // 2 channels of 3 x 2
  double squares = 0;
  for (const double w : weight.to_vector<double>()) {
    ASSERT_LE(std::abs(w), bound + 1e-7);
    squares += w * w;
  }
  const double n = double(weight.numel());
  EXPECT_NEAR(squares / n, bound * bound / 3, 5 * bound * bound * std::sqrt(4 / (45 * n)));
  for (const double b : layer.tensor("bias").to_vector<double>())
    ASSERT_LE(std::abs(b), bound + 1e-7);
  EXPECT_EQ(names_of(tn::nn::Conv1d(1, 1, 1, {.bias = false}).state_dict()),
            (std::vector<std::string>{"weight"}));
}

// Each layer against its op, with options that are told apart.
TEST_P(Layers, ConvolutionsAndPoolsAreTheirOps) {
  using namespace tn::nn;
  const auto same = [&](const tn::Object& layer, const tn::Tensor& y, const tn::Tensor& x) {
    EXPECT_EQ(layer(x).to_vector<float>(), y.to_vector<float>()) << layer.to_string();
  };
  const tn::Tensor x1 = tn::randn({2, 4, 9}, {}, device), x2 = tn::randn({2, 4, 6, 7}, {}, device),
                   x3 = tn::randn({2, 4, 5, 6, 7}, {}, device);
  const tn::Object
      c1 = Conv1d(4, 6, 3, {.stride = 2, .padding = 1, .dilation = 2, .groups = 2}).to(device),
      c2 = Conv2d(4, 6, {3, 2},
                  {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 2})
               .to(device),
      c3 = Conv3d(4, 2, 2, {.stride = {1, 2, 1}, .padding = 1}).to(device);
  same(c1,
       tn::conv1d(x1, c1.tensor("weight"), c1.tensor("bias"),
                  {.stride = 2, .padding = 1, .dilation = 2, .groups = 2}),
       x1);
  same(c2,
       tn::conv2d(x2, c2.tensor("weight"), c2.tensor("bias"),
                  {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 2}),
       x2);
  same(c3,
       tn::conv3d(x3, c3.tensor("weight"), c3.tensor("bias"), {.stride = {1, 2, 1}, .padding = 1}),
       x3);
  same(MaxPool1d(3, {.stride = 2, .padding = 1, .dilation = 2, .ceil_mode = true}),
       tn::max_pool1d(x1, 3, {.stride = 2, .padding = 1, .dilation = 2, .ceil_mode = true}), x1);
  same(MaxPool2d(2), tn::max_pool2d(x2, 2), x2);
  same(MaxPool2d({3, 2}, {.stride = {1, 3}, .padding = 1}),
       tn::max_pool2d(x2, {3, 2}, {.stride = {1, 3}, .padding = 1}), x2);
  same(MaxPool3d(2, {.padding = {0, 1, 0}}), tn::max_pool3d(x3, 2, {.padding = {0, 1, 0}}), x3);
  same(AvgPool1d(3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false}),
       tn::avg_pool1d(x1, 3,
                      {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false}),
       x1);
  same(AvgPool2d({2, 3}), tn::avg_pool2d(x2, {2, 3}), x2);
  same(AvgPool3d(2, {.stride = 2, .padding = 1, .count_include_pad = false}),
       tn::avg_pool3d(x3, 2, {.stride = 2, .padding = 1, .count_include_pad = false}), x3);
  same(AdaptiveAvgPool1d(4), tn::adaptive_avg_pool1d(x1, 4), x1);
  same(AdaptiveAvgPool2d({3, 2}), tn::adaptive_avg_pool2d(x2, {3, 2}), x2);
  same(AdaptiveAvgPool3d(1), tn::adaptive_avg_pool3d(x3, 1), x3);
  same(AdaptiveMaxPool1d(4), tn::adaptive_max_pool1d(x1, 4), x1);
  same(AdaptiveMaxPool2d({3, 2}), tn::adaptive_max_pool2d(x2, {3, 2}), x2);
  same(AdaptiveMaxPool3d(2), tn::adaptive_max_pool3d(x3, 2), x3);
  same(Unflatten(1, {2, -1}), x2.reshape({2, 2, 2, 6, 7}), x2);
  same(Unflatten(-1, {7, 1}), x2, x2);
  EXPECT_EQ(Unflatten(1, {2, -1})(x2).dim(), 5);
  // A dimension below the first is none: it is counted from the end once.
  for (const int64_t dim : {-5, -6, -8, 4}) {
    EXPECT_NE(message_of([&] {
                Unflatten(dim, {2, -1})(x2);
              }).find("dimension " + std::to_string(dim) + " is out of range"),
              std::string::npos);
  }
}

TEST_P(Layers, BatchNormTracksInTrainingAndUsesInEvaluation) {
  const tn::Object layer = tn::nn::BatchNorm1d(2, {.eps = 0, .momentum = 0.25}).to(device);
  EXPECT_EQ(names_of(layer.state_dict()),
            (std::vector<std::string>{"weight", "bias", "running_mean", "running_var",
                                      "num_batches_tracked"}));
  EXPECT_EQ(names_of(layer.named_parameters()), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(layer.tensor("num_batches_tracked").dtype(), tn::int64);
  // Means 2 and 20, biased variances 1 and 100, unbiased twice that.
  const tn::Tensor x = on(tn::tensor({{1.f, 10.f}, {3.f, 30.f}}));
  const auto near = [&](const tn::Tensor& t, const std::vector<float>& expected) {
    const std::vector<float> values = t.to_vector<float>();
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-5) << i;
  };
  near(layer(x), {-1, -1, 1, 1});
  near(layer.tensor("running_mean"), {0.5, 5});
  near(layer.tensor("running_var"), {0.75 + 0.5, 0.75 + 50});
  EXPECT_EQ(layer.tensor("num_batches_tracked").item<int64_t>(), 1);
  layer.eval();
  near(layer(on(tn::tensor({{0.5f, 5.f}}))), {0, 0});
  EXPECT_EQ(layer.tensor("num_batches_tracked").item<int64_t>(), 1);
  near(layer.tensor("running_mean"), {0.5, 5});
  // A batch that is refused does not count.
  layer.train();
  EXPECT_NE(message_of([&] {
              layer(on(tn::ones({1, 2})));
            }).find("more than 1 value"),
            std::string::npos);
  EXPECT_EQ(layer.tensor("num_batches_tracked").item<int64_t>(), 1);
  near(layer.tensor("running_mean"), {0.5, 5});

  // Without momentum: the means of all batches.
  const tn::Object all = tn::nn::BatchNorm1d(2, {.eps = 0, .momentum = std::nullopt}).to(device);
  all(x);
  all(x * 3.f);
  near(all.tensor("running_mean"), {(2 + 6) / 2.f, (20 + 60) / 2.f});
  near(all.tensor("running_var"), {(2 + 18) / 2.f, (200 + 1800) / 2.f});

  // Without running values: by the batch in evaluation too.
  const tn::Object none =
      tn::nn::BatchNorm1d(2, {.eps = 0, .affine = false, .track_running_stats = false}).to(device);
  EXPECT_TRUE(none.state_dict().empty());
  none.eval();
  near(none(x), {-1, -1, 1, 1});

  EXPECT_EQ(message_of([&] { tn::nn::BatchNorm2d(2).to(device)(x); }),
            "BatchNorm2d: x has 2 dimensions, expected 4");
  EXPECT_EQ(message_of([&] {
              layer(tn::zeros({2, 2, 2, 2}, {}, device));
            }),
            "BatchNorm1d: x has 4 dimensions, expected 2 or 3");
}

TEST_P(Layers, LayerNormAndGroupNorm) {
  const tn::Tensor x = tn::randn({2, 4, 3}, {}, device);
  const tn::Object layer = tn::nn::LayerNorm({4, 3}, {.eps = 0.1}).to(device);
  EXPECT_EQ(names_of(layer.state_dict()), (std::vector<std::string>{"weight", "bias"}));
  layer.tensor("weight").detach().copy_(tn::randn({4, 3}));
  EXPECT_EQ(layer(x).to_vector<float>(),
            tn::layer_norm(x, {4, 3}, layer.tensor("weight"), layer.tensor("bias"), 0.1)
                .to_vector<float>());
  EXPECT_EQ(names_of(tn::nn::LayerNorm(3, {.bias = false}).state_dict()),
            (std::vector<std::string>{"weight"}));
  EXPECT_TRUE(tn::nn::LayerNorm(3, {.elementwise_affine = false}).state_dict().empty());
  const tn::Object group = tn::nn::GroupNorm(2, 4).to(device);
  group.tensor("bias").detach().copy_(tn::randn({4}));
  EXPECT_EQ(group(x).to_vector<float>(),
            tn::group_norm(x, 2, group.tensor("weight"), group.tensor("bias")).to_vector<float>());
  EXPECT_TRUE(tn::nn::GroupNorm(2, 4, {.affine = false}).state_dict().empty());
}

TEST_P(Layers, OptionsOfConvolutionsPoolsAndNormsAreChecked) {
  using namespace tn::nn;
  EXPECT_EQ(
      message_of([] {
        Conv2d(3, 4, {3, 3, 3});
      }),
      "Conv2d could not be made\n  because kernel_size is [3, 3, 3], expected one or 2 numbers "
      "of at least 1");
  EXPECT_EQ(message_of([] { Conv1d(3, 4, 3, {.stride = 0}); }),
            "Conv1d could not be made\n  because stride is [0], expected one number of at least 1");
  EXPECT_EQ(
      message_of([] { Conv2d(3, 4, 3, {.groups = 2}); }),
      "Conv2d could not be made\n  because in_channels is 3 and out_channels 4, expected both "
      "divisible by groups, 2");
  EXPECT_EQ(
      message_of([] { MaxPool2d(0); }),
      "MaxPool2d could not be made\n  because kernel_size is [0], expected one or 2 numbers of "
      "at least 1");
  EXPECT_EQ(message_of([] { GroupNorm(3, 4); }),
            "GroupNorm could not be made\n  because num_channels is 4, expected it divisible by "
            "num_groups, 3");
  EXPECT_EQ(
      message_of([] { LayerNorm({}); }),
      "LayerNorm could not be made\n  because normalized_shape is empty, expected at least one "
      "size");
  EXPECT_EQ(
      message_of([] { Unflatten(1, {}); }),
      "Unflatten could not be made\n  because unflattened_size is empty, expected at least one "
      "size");
}

// PyTorch 2.15's: constant pads want no rank, and norms may be without their bias.
TEST(NormLayers, WithoutBiasAndOfNothing) {
  tn::load_plugins();
  for (const tn::Object& norm :
       {tn::nn::BatchNorm1d(4, {.bias = false}), tn::nn::BatchNorm2d(4, {.bias = false}),
        tn::nn::InstanceNorm2d(4, {.affine = true, .bias = false}),
        tn::nn::GroupNorm(2, 4, {.bias = false})}) {
    EXPECT_EQ(norm.parameters().size(), 1u);
    EXPECT_FALSE(norm.state_dict().contains("bias"));
  }
  const tn::Object mean = tn::nn::BatchNorm2d(3, {.momentum = tn::none});
  mean(tn::zeros({0, 3, 6, 6}));
  EXPECT_EQ(mean.tensor("running_var").to_vector<double>(), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(mean.tensor("num_batches_tracked").item<int64_t>(), 1);
  EXPECT_EQ(tn::nn::ZeroPad2d(1)(tn::ones({2, 3})).sizes(), tn::Ints(4, 5));
  EXPECT_EQ(tn::nn::ConstantPad1d(1, 0.5)(tn::ones({2, 3, 4, 5})).sizes(), tn::Ints(2, 3, 4, 7));
  EXPECT_EQ(message_of([] { tn::nn::ConstantPad2d(1, 0.5)(tn::ones({3})); }),
            "ConstantPad2d: x has 1 dimensions, expected at least 2");
  EXPECT_EQ(message_of([] {
              tn::nn::ReflectionPad2d(1)(tn::ones({3, 3}));
            }),
            "ReflectionPad2d: x has 2 dimensions, expected 3 or 4");
}

}  // namespace
