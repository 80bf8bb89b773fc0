// What the cpu's kernels of ops do not take, and the reason that explain shows; the decomposition
// does it then.
#include <cstdlib>
#include <string>

#include "kernel_answers.h"
#include "ops_support.h"

namespace {

class CpuRefusals : public testing::Test {
 protected:
  void SetUp() override {
    const char* kernels = std::getenv("TENON_KERNELS");
    if (kernels && *kernels) GTEST_SKIP() << "TENON_KERNELS is set";
    load_all();
  }
};

TEST_F(CpuRefusals, Convolutions) {
  const Tensor w = tn::ones({4, 3, 2, 2}), x = tn::ones({2, 3, 5, 5});
  EXPECT_EQ(kernel_answer("conv2d",
                          [&] {
                            tn::conv2d(tn::zeros({0, 3, 5, 5}), w);
                          }),
            "oneDNN takes no empty tensors");
  EXPECT_EQ(kernel_answer("conv2d", [&] { tn::conv2d(x.to(tn::float64), w.to(tn::float64)); }),
            "dtype float64 is not among its own");
  const std::string plain = kernel_answer("conv2d", [&] { tn::conv2d(x, w); });
  const char* wish = std::getenv("TENON_CPU_DNNL");
  const bool without = wish && std::string(wish) == "0";
  if (without || plain != "taken") {
    EXPECT_EQ(plain, "oneDNN is not there");
  }
}

TEST_F(CpuRefusals, Norms) {
  EXPECT_EQ(kernel_answer("softmax",
                          [] {
                            tn::softmax(tn::ones({2, 3, 4}), 1);
                          }),
            "takes the last dimension, not 1 of 3");
  EXPECT_EQ(kernel_answer("softmax", [] { tn::softmax(tn::ones({2, 3, 4}), 2); }), "taken");
  EXPECT_EQ(kernel_answer("log_softmax", [] { tn::log_softmax(tn::ones({}), 0); }),
            "takes the last dimension, not 0 of 0");
  EXPECT_EQ(kernel_answer("layer_norm",
                          [] {
                            tn::layer_norm(tn::ones({2, 0}), 0);
                          }),
            "takes no empty rows");
  EXPECT_EQ(kernel_answer("layer_norm", [] { tn::layer_norm(tn::ones({0, 2}), 2); }), "taken");
  EXPECT_EQ(kernel_answer("group_norm",
                          [] {
                            tn::group_norm(tn::ones({2, 4, 3}), 2);
                          }),
            "takes channels of 4 or more places");
  EXPECT_EQ(kernel_answer("group_norm",
                          [] {
                            tn::group_norm(tn::ones({0, 4, 5}), 2);
                          }),
            "takes no empty tensors");
  EXPECT_EQ(kernel_answer("batch_norm",
                          [] {
                            tn::batch_norm(tn::ones({5, 4}), {.training = true});
                          }),
            "takes channels of 4 or more places");
  EXPECT_EQ(kernel_answer("batch_norm",
                          [] {
                            tn::batch_norm(tn::ones({1, 4, 5}), {.training = true});
                          }),
            "taken");
}

TEST_F(CpuRefusals, Attention) {
  const Tensor q = tn::ones({2, 3, 4, 5});
  auto attend = [](const Tensor& q, const Tensor& k, const Tensor& mask = {}) {
    return kernel_answer("attention", [&] { tn::scaled_dot_product_attention(q, k, k, mask); });
  };
  EXPECT_EQ(attend(q, q), "taken");
  EXPECT_EQ(attend(q, tn::ones({3, 4, 5})),
            "takes query, key and value of equal leading dimensions");
  EXPECT_EQ(attend(tn::ones({2, 3, 0, 5}), q), "takes no empty tensors");
  EXPECT_EQ(attend(q, q, tn::zeros({4, 4})), "taken");
  EXPECT_EQ(attend(q, q, tn::zeros({4, 4}).requires_grad_()), "has no gradient of attn_mask");
}

// Of these the steps inside bear the name of the layer.
TEST_F(CpuRefusals, RecurrentLayers) {
  const auto told = [](const Tensor& x, int64_t proj_size = 0) {
    const tn::nn::LSTMLayer layer = tn::nn::LSTM(3, 4, {.proj_size = proj_size});
    return tn::explain([&] { layer(x); });
  };
  EXPECT_NE(told(tn::ones({2, 3, 3})).find("ops._lstm_layer"), std::string::npos);
  EXPECT_EQ(told(tn::ones({2, 3, 3})).find("has no projection"), std::string::npos);
  EXPECT_NE(told(tn::ones({2, 3, 3}), 2).find("has no projection"), std::string::npos);
  EXPECT_NE(told(tn::ones({2, 0, 3})).find("takes no empty tensors"), std::string::npos);
}

// What was wrong stays the decomposition's to say.
TEST_F(CpuRefusals, ArgumentsThatDoNotFit) {
  const Tensor x = tn::ones({2, 3, 5, 5});
  expect_error([&] { tn::conv2d(x, tn::ones({4, 2, 2, 2})); }, "conv2d: x is [2, 3, 5, 5]");
  expect_error([&] { tn::max_pool2d(x, 9); }, "max_pool2d: a window of [9, 9]");
  expect_error([&] { tn::avg_pool2d(x, 2, {.divisor_override = 0}); }, "divisor_override is 0");
  expect_error([&] { tn::adaptive_avg_pool2d(x, {1, 2, 3}); }, "adaptive_avg_pool2d: output_size");
  expect_error([&] { tn::layer_norm(x, 4); }, "layer_norm: x is [2, 3, 5, 5]");
  expect_error([&] { tn::group_norm(x, 2); }, "num_groups = 2");
  expect_error([&] { tn::softmax(x, 4); }, "softmax");
}

}  // namespace
