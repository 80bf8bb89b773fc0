// Layers and the batch norm behind them as one layer.
#include "layers_support.h"

#include <tenon/fusion.hpp>

using tn::Object, tn::Tensor;
namespace nn = tn::nn;

namespace {

class Fusion : public testing::Test {
 protected:
  void SetUp() override { tn::load_plugins(); }

  // Both with numbers of their own, as after a training.
  static void fill(const Object& layer, const Object& norm) {
    for (const Object& object : {layer, norm}) {
      for (const auto& [name, t] : object.state_dict()) {
        if (t.dtype().is_float()) t.copy_(tn::rand(t.sizes(), t.dtype()) + 0.5);
      }
      object.eval();
    }
  }
  template <typename F>
  static void expect_same(F fuse, const Object& layer, const Object& norm, const Tensor& x) {
    fill(layer, norm);
    const Object fused = fuse(layer, norm);
    EXPECT_EQ(fused.type_name(), layer.type_name());
    EXPECT_FALSE(fused.training());
    const Tensor expected = norm(layer(x)), y = fused(x);
    EXPECT_TRUE(y.allclose(expected, 1e-9, 1e-9)) << layer.to_string();
    EXPECT_TRUE(fused.tensor("bias").defined());
  }
  static void expect_fused(const Object& conv, const Object& norm, const Tensor& x) {
    conv.to(tn::float64);
    norm.to(tn::float64);
    expect_same(nn::utils::fuse_conv_bn_eval, conv, norm, x);
  }
};

TEST_F(Fusion, OfConvolutions) {
  const Tensor x = tn::randn({2, 4, 6, 7}, tn::float64);
  expect_fused(nn::Conv2d(4, 6, 3, {.bias = false}), nn::BatchNorm2d(6), x);
  expect_fused(nn::Conv2d(4, 6, 3, {.stride = 2, .padding = 1, .groups = 2}),
               nn::BatchNorm2d(6, {.eps = 0.1}), x);
  expect_fused(nn::Conv1d(6, 2, 2, {.padding = "same", .padding_mode = "circular"}),
               nn::BatchNorm1d(2, {.affine = false}), x[0]);
  expect_fused(nn::Conv3d(4, 3, 2), nn::BatchNorm3d(3), tn::randn({1, 4, 3, 4, 5}, tn::float64));
}

TEST_F(Fusion, OfTransposedConvolutions) {
  const Tensor x = tn::randn({2, 4, 6, 7}, tn::float64);
  expect_fused(nn::ConvTranspose2d(4, 6, 3), nn::BatchNorm2d(6), x);
  expect_fused(nn::ConvTranspose2d(4, 6, 3, {.stride = 2, .groups = 2, .bias = false}),
               nn::BatchNorm2d(6), x);
}

TEST_F(Fusion, OfLinear) {
  const Object linear = nn::Linear(3, 5, {.bias = false}), norm = nn::BatchNorm1d(5);
  linear.to(tn::float64);
  norm.to(tn::float64);
  expect_same(nn::utils::fuse_linear_bn_eval, linear, norm, tn::randn({4, 3}, tn::float64));
}

TEST_F(Fusion, KeepsWhatIsTrained) {
  const Object conv = nn::Conv2d(2, 3, 1), norm = nn::BatchNorm2d(3);
  fill(conv, norm);
  const Tensor before = conv.tensor("weight").clone();
  conv.requires_grad_(false);
  const Object fused = nn::utils::fuse_conv_bn_eval(conv, norm);
  EXPECT_FALSE(fused.tensor("weight").requires_grad());
  EXPECT_TRUE(conv.tensor("weight").equal(before));
}

TEST_F(Fusion, Refuses) {
  const auto refused = [](const Object& conv, const Object& norm, bool eval = true) {
    if (eval) {
      conv.eval();
      norm.eval();
    }
    return message_of([&] { nn::utils::fuse_conv_bn_eval(conv, norm); });
  };
  const Object conv = nn::Conv2d(2, 3, 1);
  EXPECT_EQ(refused(conv, nn::BatchNorm2d(3), false),
            "fuse_conv_bn_eval: Conv2d is in training, expected eval()");
  EXPECT_EQ(refused(nn::Linear(2, 3), nn::BatchNorm2d(3)),
            "fuse_conv_bn_eval: Linear is no convolution");
  EXPECT_EQ(refused(conv, nn::ReLU()), "fuse_conv_bn_eval: ReLU is no BatchNorm");
  EXPECT_EQ(refused(conv, nn::BatchNorm2d(3, {.track_running_stats = false})),
            "fuse_conv_bn_eval: BatchNorm2d has no running statistics, expected some");
  EXPECT_EQ(refused(conv, nn::BatchNorm2d(4)),
            "fuse_conv_bn_eval: Conv2d gives 3 channels and BatchNorm2d takes 4");
  EXPECT_EQ(message_of([&] { nn::utils::fuse_linear_bn_eval(conv, conv); }),
            "fuse_linear_bn_eval: Conv2d is no Linear");
}

}  // namespace
