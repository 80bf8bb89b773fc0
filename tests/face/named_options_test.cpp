// Options of ops: what may stand by its place stands by its name, too.
#include <string>
#include <tuple>
#include <vector>

#include "message_of.h"
#include "ops_support.h"

namespace {

class Options : public testing::Test {
 protected:
  void SetUp() override { load_all(); }
  Tensor x = tn::tensor({{1.0, -2.0, 3.0}, {4.0, 5.0, -6.0}});
};

TEST_F(Options, AListThatMayBeLeftOutHasAName) {
  EXPECT_TRUE(tn::sum(x, {.dim = 1}).equal(tn::sum(x, 1)));
  EXPECT_TRUE(tn::sum(x, {.dim = {0, 1}, .keepdim = true}).equal(tn::sum(x, {0, 1}, true)));
  EXPECT_TRUE(tn::mean(x, {.keepdim = true}).equal(tn::mean(x, {}, true)));
  EXPECT_TRUE(tn::amax(x, {.dim = 0}).equal(tn::amax(x, 0)));
}

TEST_F(Options, EmptyBracesAreWhatStandsByItsPlace) {
  EXPECT_TRUE(tn::sum(x, {}).equal(x.sum()));
  EXPECT_TRUE(tn::argmax(x, {}).equal(x.argmax()));
  EXPECT_TRUE(tn::layer_norm(x, {3}, {}).equal(tn::layer_norm(x, {3})));
}

TEST_F(Options, ATensorThatMayBeMissingHasAName) {
  const Tensor classes = tn::tensor({2, 0}), weight = tn::tensor({1.0, 2.0, 0.5});
  const Tensor expected = tn::cross_entropy(x, classes, weight, {.label_smoothing = 0.1});
  EXPECT_TRUE(
      tn::cross_entropy(x, classes, {.weight = weight, .label_smoothing = 0.1}).equal(expected));
  EXPECT_FALSE(tn::cross_entropy(x, classes, {.label_smoothing = 0.1}).equal(expected));

  const Tensor gain = tn::tensor({1.0, 2.0, 3.0});
  EXPECT_TRUE(tn::layer_norm(x, {3}, {.bias = gain, .eps = 1e-3})
                  .equal(tn::layer_norm(x, {3}, tn::none, gain, 1e-3)));
  const Tensor q = tn::randn({1, 2, 4, 3}), mask = tn::ones({4, 4}).tril().to(tn::bool_);
  EXPECT_TRUE(tn::scaled_dot_product_attention(q, q, q, {.attn_mask = mask})
                  .equal(tn::scaled_dot_product_attention(q, q, q, mask)));
  EXPECT_TRUE(tn::linear(x, tn::eye(3), {.bias = gain}).equal(x + gain));
  EXPECT_TRUE(tn::binary_cross_entropy_with_logits(x, tn::ones({2, 3}), {.pos_weight = gain})
                  .equal(tn::binary_cross_entropy_with_logits(x, tn::ones({2, 3}), tn::none,
                                                              {.pos_weight = gain})));
}

TEST_F(Options, NamesStandBehindTensorsThatMayBeMissing) {
  const Tensor gain = tn::tensor({1.0, 2.0, 3.0}), more = tn::tensor({0.5, 0.0, -1.0});
  const Tensor expected = tn::layer_norm(x, {3}, gain, more, 1e-2);
  EXPECT_TRUE(tn::layer_norm(x, 3, gain, more, {.eps = 1e-2}).equal(expected));
  EXPECT_TRUE(tn::layer_norm(x, 3, gain, {.bias = more, .eps = 1e-2}).equal(expected));
  EXPECT_TRUE(tn::layer_norm(x, 3, tn::none, more, {.eps = 1e-2})
                  .equal(tn::layer_norm(x, 3, {.bias = more, .eps = 1e-2})));
  EXPECT_TRUE(tn::rms_norm(x, gain, {.eps = 1e-2}).equal(tn::rms_norm(x, gain, 1e-2)));
  const Tensor image = x.reshape({1, 2, 3}), two = tn::tensor({2.0, 0.5});
  EXPECT_TRUE(tn::group_norm(image, 1, two, {.eps = 1e-2})
                  .equal(tn::group_norm(image, 1, two, tn::none, 1e-2)));
  EXPECT_TRUE(tn::batch_norm(x, gain, gain, gain, {.bias = more})
                  .equal(tn::batch_norm(x, gain, gain, gain, more)));
  const Tensor counted = tn::tensor({1, 2}), weights = tn::tensor({0.5, 1.5});
  const Tensor counts = tn::bincount(counted, weights, 5);
  EXPECT_TRUE(tn::bincount(counted, weights, {.minlength = 5}).equal(counts));
  EXPECT_TRUE(counted.bincount(weights, {.minlength = 5}).equal(counts));
  const Tensor p = tn::tensor({0.5, 0.25});
  EXPECT_TRUE(tn::binary_cross_entropy(p, p, p, {.reduction = "sum"})
                  .equal(tn::binary_cross_entropy(p, p, p, "sum")));
  EXPECT_TRUE(tn::multilabel_soft_margin_loss(x, x > 0, gain, {.reduction = "none"})
                  .equal(tn::multilabel_soft_margin_loss(x, x > 0, gain, "none")));
  // Braces without names are the one that is left, or none.
  EXPECT_TRUE(tn::layer_norm(x, 3, gain, {}).equal(tn::layer_norm(x, 3, gain)));
  EXPECT_TRUE(tn::rms_norm(x, gain, {1e-2}).equal(tn::rms_norm(x, gain, 1e-2)));
}

TEST_F(Options, NoneIsAListOfNothing) {
  EXPECT_TRUE(tn::sum(x, tn::none, true).equal(tn::sum(x, {}, true)));
  EXPECT_TRUE(x.mean(std::nullopt).equal(x.mean()));
  const Tensor image = tn::arange(16.0).reshape({1, 1, 4, 4});
  const Tensor doubled = tn::interpolate(image, {.scale_factor = 2.0, .mode = "bilinear"});
  EXPECT_TRUE(tn::interpolate(image, tn::none, 2.0, "bilinear").equal(doubled));
  EXPECT_TRUE(tn::interpolate(image, std::nullopt, 2.0, "bilinear").equal(doubled));
  EXPECT_TRUE(tn::interpolate(image, {.size = tn::none, .scale_factor = 2.0, .mode = "bilinear"})
                  .equal(doubled));
  EXPECT_TRUE(tn::max_pool2d(image, 2, tn::none).equal(tn::max_pool2d(image, 2)));
}

TEST_F(Options, OfInterpolateByPlaceAreInPyTorchsOrder) {
  const Tensor image = tn::arange(35.0).reshape({1, 1, 5, 7});
  EXPECT_TRUE(
      tn::interpolate(image, tn::none, 0.7, "bilinear", false, true)
          .equal(tn::interpolate(
              image, {.scale_factor = 0.7, .mode = "bilinear", .recompute_scale_factor = true})));
  EXPECT_TRUE(
      tn::interpolate(image, 3, tn::none, "bilinear", false, false, true)
          .equal(tn::interpolate(image, {.size = 3, .mode = "bilinear", .antialias = true})));
}

TEST_F(Options, OfPlaceAndNameOneIsGiven) {
  const Tensor classes = tn::tensor({2, 0}), weight = tn::ones({3});
  EXPECT_EQ(message_of([&] { tn::cross_entropy(x, classes, weight, {.weight = weight}); }),
            "cross_entropy: weight is given by its place and by its name");
  EXPECT_EQ(message_of([&] { tn::layer_norm(x, 3, weight, {.weight = weight}); }),
            "layer_norm: weight is given by its place and by its name");
}

TEST_F(Options, OperandsHaveNames) {
  EXPECT_TRUE(tn::clamp(x, {.min = 0}).equal(tn::relu(x)));
  EXPECT_TRUE(tn::clamp(x, {.max = 1.5}).equal(x.clamp_max(1.5)));
  EXPECT_TRUE(tn::clamp(x, {.min = -1, .max = 1}).equal(x.clamp(-1, 1)));
  tn::ClampOptions kept{.min = tn::zeros({3}) + 1};  // the tensor lives in it
  const tn::ClampOptions copy = kept;
  kept.min = 0;
  EXPECT_TRUE(tn::clamp(x, copy).equal(x.clamp_min(1)));
  EXPECT_TRUE(tn::clamp(x, kept).equal(x.clamp_min(0)));
  Tensor y = x.clone();
  tn::clamp_(y, {.min = 0});
  EXPECT_TRUE(y.equal(tn::relu(x)));
}

TEST_F(Options, OptionsOfVariantsHaveNames) {
  EXPECT_TRUE(tn::gelu(x, {.approximate = "tanh"}).equal(tn::gelu(x, "tanh")));
  EXPECT_TRUE(tn::add(x, 1, {.alpha = 3}).equal(x + 3));
  EXPECT_TRUE(tn::div(x, 2, {.rounding_mode = "floor"}).equal(tn::floor_divide(x, 2)));
  EXPECT_TRUE(tn::addcmul(x, x, x, {.value = 2}).equal(x + 2 * x * x));
  EXPECT_TRUE(tn::std(x, {.dim = 1, .correction = 0}).equal(tn::std(x, 1, 0)));
}

TEST_F(Options, OptionsOfMethodsHaveNames) {
  EXPECT_TRUE(x.sum({.dim = 1, .keepdim = true}).equal(x.sum(1, true)));
  EXPECT_TRUE(x.sum({}).equal(x.sum()));
  EXPECT_TRUE(x.sum({0, 1}).equal(x.sum()));
  EXPECT_TRUE(x.argmax({.dim = 1}).equal(x.argmax(1)));
  EXPECT_TRUE(x.clamp({.max = 1}).equal(x.clamp_max(1)));
  EXPECT_TRUE(x.add(1, {.alpha = 2}).equal(x + 2));
  EXPECT_TRUE(std::get<0>(x.max(1, {.keepdim = true})).equal(std::get<0>(x.max(1, true))));
  EXPECT_TRUE(std::get<0>(x.sort({.descending = true})).equal(std::get<0>(x.sort(-1, true))));
  EXPECT_TRUE(std::get<0>(x.topk(2, {.largest = false})).equal(std::get<0>(x.topk(2, -1, false))));
  EXPECT_TRUE(x.std({.dim = 1, .correction = 0}).equal(x.std(1, 0)));
  EXPECT_EQ(x.mean({.dtype = tn::float64}).dtype(), tn::float64);
}

TEST_F(Options, OptionsOfWhatIsWrittenByHandHaveNames) {
  EXPECT_EQ(tn::arange(4, {.dtype = tn::float32}).dtype(), tn::float32);
  EXPECT_EQ(tn::randint(10, {2}, {.dtype = tn::int32}).dtype(), tn::int32);
  EXPECT_TRUE(tn::allclose(x, x + 0.01, {.atol = 0.1}));
  EXPECT_FALSE(tn::allclose(x, x + 0.01, {.equal_nan = true}));
  EXPECT_TRUE(tn::isclose(x, x + 0.01, {.atol = 0.1}).all().item<bool>());
  EXPECT_TRUE(tn::repeat_interleave(x, 2, {.dim = 0}).equal(tn::repeat_interleave(x, 2, 0)));
  EXPECT_TRUE(tn::repeat_interleave(x, tn::tensor({1, 2}), {.dim = 0})
                  .equal(tn::repeat_interleave(x, tn::tensor({1, 2}), 0)));
  EXPECT_TRUE(tn::divide(x, 2, {.rounding_mode = "floor"}).equal(tn::floor_divide(x, 2)));
  const Tensor leaf = tn::ones({2}).requires_grad_();
  const Tensor y = leaf * 3;
  y.backward(tn::ones({2}), {.retain_graph = true});
  y.backward(tn::ones({2}));
  EXPECT_EQ(leaf.grad().sum().item<float>(), 12);
}

TEST_F(Options, DtypeAndDeviceHaveNames) {
  EXPECT_EQ(tn::zeros({2}, {.dtype = tn::int64}).dtype(), tn::int64);
  EXPECT_EQ(tn::ones({2}, {.device = "cpu"}).dtype(), tn::float32);
  EXPECT_EQ(tn::full({2}, 7, {.dtype = tn::float64}).dtype(), tn::float64);
  EXPECT_EQ(tn::arange(0, 4, {.dtype = tn::float32}).dtype(), tn::float32);
  EXPECT_EQ(tn::cumsum(x, 0, {.dtype = tn::float64}).dtype(), tn::float64);
}

}  // namespace
