// What a program of PyTorch hands on as it is: options of ops by their places, tensors that may not be
// there, gradients of what is no tensor.
#include <tenon/data.hpp>
#include <tenon/data/datasets.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"

namespace tn = tenon;
using tn::Tensor;
using Sizes = std::vector<int64_t>;

namespace {

class OptionsOfCalls : public testing::Test {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }
};

TEST_F(OptionsOfCalls, StandByTheirPlacesInPyTorchsOrder) {
  const Tensor x = tn::randn({1, 2, 8, 8}), w = tn::randn({3, 2, 3, 3});
  EXPECT_TRUE(tn::max_pool2d(x, 3, 2, 1).equal(tn::max_pool2d(x, 3, {.stride = 2, .padding = 1})));
  EXPECT_TRUE(
      tn::avg_pool2d(x, 2, 2, 1, false, false)
          .equal(tn::avg_pool2d(x, 2, {.stride = 2, .padding = 1, .count_include_pad = false})));
  EXPECT_TRUE(
      tn::conv2d(x, w, tn::none, 2, 1).equal(tn::conv2d(x, w, {.stride = 2, .padding = 1})));
  EXPECT_TRUE(tn::conv2d(x, w, {}, 1, "same").equal(tn::conv2d(x, w, {.padding = 1})));
  EXPECT_TRUE(tn::normalize(x, 1, -1).equal(tn::normalize(x, {.p = 1, .dim = -1})));
  EXPECT_EQ(tn::gumbel_softmax(x, 1.0, true).sum().item(), 1 * 2 * 8);
  const Tensor q = tn::randn({1, 2, 4, 8});
  EXPECT_TRUE(tn::scaled_dot_product_attention(q, q, q, tn::none, 0.0, true)
                  .equal(tn::scaled_dot_product_attention(q, q, q, {.is_causal = true})));
  const Tensor target = tn::tensor({1, -100});
  EXPECT_TRUE(tn::cross_entropy(tn::ones({2, 3}), target, tn::none, -100, "sum")
                  .allclose(tn::cross_entropy(tn::ones({1, 3}), tn::tensor({1}))));
  Tensor t = tn::empty({400});
  tn::nn::init::trunc_normal_(t, 3.0, 0.5, 2.5, 3.5);
  EXPECT_GE(t.min().item(), 2.5);
  EXPECT_LE(t.max().item(), 3.5);
  t = tn::empty({50, 4});
  tn::nn::init::kaiming_uniform_(t, std::sqrt(5));
  EXPECT_LE(t.abs().max().item(), 0.5);  // 1 / sqrt(fan_in)
  tn::nn::init::kaiming_normal_(t, 0, "fan_out", "relu");
  EXPECT_LT(t.std().item(), 0.3);
}

TEST_F(OptionsOfCalls, OfFormsInPlaceAreByNameToo) {
  const Tensor x = tn::ones({4}), index = tn::tensor({1, 2}), y = tn::tensor({-1.0, -2.0});
  EXPECT_TRUE(x.clone()
                  .index_reduce_(0, index, y, "amax", {.include_self = false})
                  .equal(tn::tensor({1.0, -1.0, -2.0, 1.0})));
  EXPECT_TRUE(x.clone()
                  .scatter_reduce_(0, index, y, "sum", {.include_self = false})
                  .equal(tn::tensor({1.0, -1.0, -2.0, 1.0})));
}

TEST_F(OptionsOfCalls, NewTensorsMayAskForTheirGradients) {
  EXPECT_TRUE(tn::zeros({2}, {.requires_grad = true}).requires_grad());
  EXPECT_TRUE(tn::randn({2}, {.dtype = tn::float64, .requires_grad = true}).is_leaf());
  EXPECT_TRUE(tn::full({2}, 1.5, {.requires_grad = true}).requires_grad());
  EXPECT_FALSE(tn::zeros({2}, {.dtype = tn::float64}).requires_grad());
  EXPECT_NE(message_of([&] { tn::zeros({2}, {.dtype = tn::int64, .requires_grad = true}); }), "");
  // Numbers in a program, too.
  EXPECT_TRUE(tn::tensor(1.5, {.requires_grad = true}).requires_grad());
  EXPECT_TRUE(tn::tensor({1., 2.}, {.requires_grad = true}).is_leaf());
  EXPECT_EQ(tn::tensor({1, 2}, {.dtype = tn::float64, .requires_grad = true}).dtype(), tn::float64);
  EXPECT_TRUE(tn::tensor({{1., 2.}}, {.requires_grad = true}).requires_grad());
  EXPECT_TRUE(tn::tensor({{{1., 2.}}}, {.requires_grad = true}).requires_grad());
  EXPECT_TRUE(tn::tensor({1, 2.5}, {.requires_grad = true}).requires_grad());
  EXPECT_TRUE(tn::tensor({{1, 2.5}, {3, 4}}, {.requires_grad = true}).requires_grad());
  EXPECT_TRUE(tn::tensor({{{1, 2.5}}}, {.requires_grad = true}).requires_grad());
  const std::vector<float> row = {1, 2};
  EXPECT_TRUE(tn::tensor(row, {.requires_grad = true}).requires_grad());
  EXPECT_TRUE(tn::tensor(std::vector{row, row}, {.requires_grad = true}).requires_grad());
  EXPECT_EQ(tn::tensor({1, 2}, {.device = "cpu"}).dtype(), tn::int64);
  EXPECT_EQ(tn::tensor({1, 2}, "cpu").dtype(), tn::int64);
  EXPECT_NE(message_of([&] { tn::tensor({1, 2}, {.requires_grad = true}); }), "");
}

struct Attention : tn::Module {
  Tensor forward(Tensor q, std::optional<Tensor> mask) {
    return tn::scaled_dot_product_attention(q, q, q, mask);
  }
};

TEST_F(OptionsOfCalls, TakeATensorThatMayNotBeThere) {
  const auto attention = tn::make<Attention>();
  const Tensor q = tn::randn({1, 1, 3, 4}), mask = tn::tril(tn::ones({3, 3})).to(tn::bool_);
  EXPECT_TRUE(attention(q).equal(tn::scaled_dot_product_attention(q, q, q)));
  EXPECT_TRUE(attention(q, mask).equal(tn::scaled_dot_product_attention(q, q, q, mask)));
  const std::optional<Tensor> none, bias = tn::ones({2});
  EXPECT_TRUE(tn::linear(tn::ones({1, 2}), tn::eye(2), none).equal(tn::ones({1, 2})));
  EXPECT_TRUE(tn::linear(tn::ones({1, 2}), tn::eye(2), bias).equal(tn::full({1, 2}, 2.0)));
  const Tensor t = none;
  EXPECT_FALSE(t.defined());
}

struct Several : tn::Module {
  Tensor forward(Tensor x, std::optional<Tensor> shift, std::vector<Tensor> more,
                 int64_t times = 3) {
    x = x * double(times) + double(more.size());
    return shift ? x + *shift : x;
  }
};
struct Stacked : tn::Module {
  Tensor forward(std::vector<Tensor> list) { return tn::stack(list); }
};

TEST_F(OptionsOfCalls, ArgumentsOfAModuleMayStandInBraces) {
  const auto model = tn::make<Several>();
  const Tensor x = tn::ones({2});
  EXPECT_TRUE(model(x, {}, {x, x}).equal(tn::full({2}, 5.0)));
  EXPECT_TRUE(model(x, {}, {}).equal(tn::full({2}, 3.0)));
  EXPECT_TRUE(model(x, x, {}, 2).equal(tn::full({2}, 3.0)));
  EXPECT_TRUE(model(x[0], {}, {x[1], x}, 1).equal(tn::tensor(3.0)));
  EXPECT_TRUE(model(x, tn::none, std::vector<Tensor>{x}).equal(tn::full({2}, 4.0)));
  EXPECT_EQ(tn::make<Stacked>()({x, x, x}).sizes(), (Sizes{3, 2}));
}

TEST_F(OptionsOfCalls, LoopsOverLayersAndBatchesTakeReferences) {
  tn::nn::ModuleList layers(tn::nn::Linear(2, 2), tn::nn::ReLU());
  Tensor x = tn::ones({1, 2});
  for (auto& layer : layers) x = layer(x);
  EXPECT_GE(x.min().item(), 0);
  tn::data::DataLoader loader(tn::data::TensorDataset(tn::arange(5), tn::arange(5)),
                              {.batch_size = 2});
  int64_t n = 0;
  for (auto& [a, b] : loader) n += a.size(0) + b.size(0);
  EXPECT_EQ(n, 10);
  for (auto [a, b] : loader) a = a + b;
  const std::vector<tn::Object> kept(layers.begin(), layers.end());
  EXPECT_NE(kept[0], kept[1]);
}

struct Scaled : tn::Function<Scaled> {
  static Tensor forward(Context&, Tensor x, double factor, Tensor y) { return x * factor + y; }
  static std::tuple<Tensor, Tensor, Tensor> backward(Context&, Tensor g) {
    return {g * 2, Tensor(), g * 3};
  }
};
struct Wrong : tn::Function<Wrong> {
  static Tensor forward(Context&, Tensor x, double factor) { return x * factor; }
  static std::tuple<Tensor, Tensor> backward(Context&, Tensor g) { return {g, g}; }
};

TEST_F(OptionsOfCalls, AFunctionMayGiveNoneForWhatIsNoTensor) {
  const Tensor x = tn::ones({2}, {.requires_grad = true}),
               y = tn::ones({2}, {.requires_grad = true});
  Scaled::apply(x, 5.0, y).sum().backward();
  EXPECT_TRUE(x.grad().equal(tn::full({2}, 2.0)));
  EXPECT_TRUE(y.grad().equal(tn::full({2}, 3.0)));
  EXPECT_NE(
      message_of([&] {
        Wrong::apply(x, 5.0).sum().backward();
      }).find("Wrong: backward gives a gradient for an argument of forward that is no tensor"),
      std::string::npos);
}

struct Polymorphic : tn::Module {
  virtual Tensor act(Tensor x) { return x + 1; }
  Tensor forward(Tensor x) { return act(x); }
};

TEST_F(OptionsOfCalls, AModuleMayHaveVirtualFunctions) {
  EXPECT_EQ(tn::make<Polymorphic>()(tn::ones({1})).item(), 2);
}

}  // namespace
