// Forms of dropout and other draws within networks: what is kept and what it becomes, gradients by
// what was drawn, errors.
#include <cmath>

#include "ops_support.h"

namespace {

int64_t count_of(const Tensor& mask) { return tn::sum(mask.to(tn::int64)).item<int64_t>(); }

TEST(Dropout, NativeGivesTheMaskToo) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(3);
    const Tensor x = tn::ones({1000}, {}, d).requires_grad_();
    const auto [y, mask] = tn::native_dropout(x, 0.2);
    EXPECT_EQ(mask.dtype(), tn::bool_);
    EXPECT_NEAR(double(count_of(mask)), 800, 60);
    expect_near(tn::amax(tn::abs(y.detach() - mask.to(tn::float32) * 1.25f)), {0}, 1e-6);
    y.sum().backward();
    expect_near(tn::amax(tn::abs(x.grad() - y.detach())), {0}, 1e-6);
    const auto [same, all] = tn::native_dropout(x, 0.2, false);
    EXPECT_FALSE(same.same_storage(x));
    EXPECT_EQ(count_of(all), 1000);
  }
}

TEST(Dropout, OfFeaturesDropsWholeChannels) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(5);
    const Tensor x = tn::ones({20, 30, 4}, {}, d);
    const Tensor y = tn::feature_dropout(x, 0.5);
    expect_near(tn::amax(tn::abs(tn::amax(y, -1) - tn::amin(y, -1))), {0}, 0);
    EXPECT_NEAR(double(count_of(y > 0)) / 4, 300, 60);
    const Tensor z = tn::feature_alpha_dropout(x, 0.5, true);
    expect_near(tn::amax(tn::abs(tn::amax(z, -1) - tn::amin(z, -1))), {0}, 0);
    EXPECT_TRUE(tn::feature_dropout(x, 0.5, false).is_same(x));
    EXPECT_TRUE(tn::feature_alpha_dropout(x).is_same(x));
  }
}

// What is one channel in x of these sizes: PyTorch's F.dropout1d, 2d and 3d.
TEST(Dropout, OfChannelsByTheNumberOfDimensions) {
  using Sizes = std::vector<int64_t>;
  const auto dropped = [](int n, const Tensor& x, bool training = true) {
    return n == 1   ? tn::dropout1d(x, 0.5, training)
           : n == 2 ? tn::dropout2d(x, 0.5, training)
                    : tn::dropout3d(x, 0.5, training);
  };
  const struct {
    int n;
    Sizes sizes;
    int64_t channels;  // in front, as one dimension
  } cases[] = {{1, {400, 3}, 400},       {1, {20, 20, 3}, 400},
               {2, {20, 20, 3, 2}, 400}, {2, {20, 20, 3}, 400},
               {2, {20, 20}, 400},       {2, {20, 20, 3, 2, 2}, 400},
               {3, {400, 3, 2, 2}, 400}, {3, {20, 20, 3, 2, 2}, 400},
               {3, {400, 3, 2}, 400},    {3, {400, 3}, 400},
               {3, {400}, 400}};
  for (tn::Device d : devices()) {
    tn::manual_seed(21);
    for (const auto& c : cases) {
      SCOPED_TRACE(d.name() + " dropout" + std::to_string(c.n) +
                   "d, dimensions: " + std::to_string(c.sizes.size()));
      const Tensor x = tn::ones(c.sizes, {}, d);
      const Tensor y = dropped(c.n, x).reshape({c.channels, -1});
      EXPECT_TRUE(tn::equal(tn::amax(y, 1), tn::amin(y, 1)));
      EXPECT_TRUE(tn::equal(tn::amax(y, 1) * (2 - tn::amax(y, 1)), tn::zeros({c.channels}, {}, d)));
      EXPECT_NEAR(double(count_of(tn::amax(y, 1) > 0)), 200, 60);
      EXPECT_TRUE(dropped(c.n, x, false).is_same(x));
    }
  }
}

TEST(Dropout, OfOtherDimensionsThanTheNamesIsWarnedOfOnce) {
  for (tn::Device d : devices()) {
    const Tensor x = tn::ones({2, 2, 2, 2, 2, 2}, {}, d);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 2; ++i) tn::dropout2d(x), tn::dropout3d(x), tn::dropout2d(x[0][0]);
    const std::string log = testing::internal::GetCapturedStderr();
    const char* const texts[] = {
        "dropout2d: x has 6 dimensions, expected 4; it is taken as [n, channels, ..], as in "
        "PyTorch",
        "dropout3d: x has 6 dimensions, expected 4 or 5; it is taken as [channels, ..], as in "
        "PyTorch"};
    for (const std::string text : texts) {
      const size_t at = log.find(text);
      EXPECT_EQ(at != std::string::npos, d == tn::cpu) << log;  // the others come later
      if (at != std::string::npos) EXPECT_EQ(log.find(text, at + 1), std::string::npos) << log;
    }
    EXPECT_EQ(log.find("x has 4"), std::string::npos) << log;
  }
}

// Mean 0 and variance 1 stay: 100,000 draws are off by about 0.003 and 0.005.
TEST(Dropout, AlphaKeepsMeanAndVariance) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(7);
    const Tensor x = tn::randn({100000}, {}, d).requires_grad_();
    const Tensor y = tn::alpha_dropout(x, 0.3, true);
    const auto [variance, mean] = tn::var_mean(y.detach());
    EXPECT_NEAR(mean.item<double>(), 0, 0.02);
    EXPECT_NEAR(variance.item<double>(), 1, 0.03);
    y.sum().backward();
    // Either 0 or the scale 1 / sqrt(0.7 (1 + 0.3 * 1.758..²)).
    const double scale = 1 / std::sqrt(0.7 * (1 + 0.3 * 1.7580993408473766 * 1.7580993408473766));
    EXPECT_NEAR(double(count_of(x.grad() > 0)), 70000, 1000);
    expect_near(tn::amax(x.grad()), {scale}, 1e-6);
    expect_near(tn::alpha_dropout(tn::ones({3}, {}, d), 1, true), {0, 0, 0});
    EXPECT_TRUE(tn::alpha_dropout(x).is_same(x));
  }
}

TEST(Dropout, RreluDrawsASlopeForEach) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(9);
    const Tensor x = tn::full({1000}, -2.0, {}, d).requires_grad_();
    const Tensor y = tn::rrelu(x, {.lower = 0.1, .upper = 0.3, .training = true});
    y.sum().backward();
    expect_near(tn::amax(tn::abs(x.grad() * x.detach() - y.detach())), {0}, 1e-6);
    EXPECT_GE(tn::amin(x.grad()).item<double>(), 0.1 - 1e-7);
    EXPECT_LT(tn::amax(x.grad()).item<double>(), 0.3 + 1e-7);
    EXPECT_NEAR(tn::mean(x.grad()).item<double>(), 0.2, 0.01);
    expect_near(tn::rrelu(tn::tensor({-2.f, 0.f, 3.f}, d), {.lower = 0.1, .upper = 0.3}),
                {-0.4, 0, 3}, 1e-6);
  }
}

// The largest of the noisy logits is category i with probability softmax(logits)[i].
TEST(Dropout, GumbelSoftmaxDrawsByTheLogits) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(11);
    const Tensor p = tn::tensor({0.1f, 0.6f, 0.3f}, d);
    const Tensor logits = tn::log(p).expand({5000, 3}).clone().requires_grad_();
    const Tensor hard = tn::gumbel_softmax(logits, {.tau = 0.7, .hard = true});
    expect_near(tn::amax(tn::abs(tn::sum(hard.detach(), 1) - 1)), {0}, 0);
    expect_near(tn::mean(hard.detach(), 0), {0.1, 0.6, 0.3}, 0.03);
    tn::manual_seed(13);
    const Tensor soft = tn::gumbel_softmax(logits, {.tau = 0.7});
    tn::manual_seed(13);
    const Tensor same = tn::gumbel_softmax(logits, {.tau = 0.7, .hard = true});
    expect_near(tn::amax(tn::abs(tn::sum(soft.detach(), 1) - 1)), {0}, 1e-5);
    const Tensor w = tn::tensor({1.f, -2.f, 3.f}, d);
    const Tensor a = tn::grad({(soft * w).sum()}, {logits})[0];
    const Tensor b = tn::grad({(same * w).sum()}, {logits})[0];
    expect_near(tn::amax(tn::abs(a - b)), {0}, 0);
    EXPECT_GT(tn::amax(tn::abs(a)).item<double>(), 0.01);
  }
}

TEST(Dropout, Errors) {
  const Tensor x = tn::ones({4}), whole = tn::ones({2, 2}, tn::int64);
  expect_error([&] { tn::native_dropout(x, 1.5); }, "native_dropout: p is 1.5, expected 0 to 1");
  expect_error([&] { tn::alpha_dropout(x, -1, true); }, "alpha_dropout: p is -1, expected 0 to 1");
  expect_error([&] { tn::feature_dropout(x); },
               "feature_dropout: x is [4], expected [n, channels, ..]");
  expect_error([&] { tn::dropout1d(x); }, "dropout1d: x has 1 dimensions, expected 2 or 3");
  expect_error([&] { tn::dropout2d(x); }, "dropout2d: x is [4], expected [n, channels, ..]");
  expect_error([&] { tn::dropout3d(tn::ones({})); }, "dropout3d: x is [], expected [channels, ..]");
  expect_error([&] { tn::dropout3d(whole); }, "dropout3d: x is int64, expected a floating dtype");
  expect_error(
      [&] {
        tn::dropout2d(tn::ones({1, 1, 1, 1}), 2);
      },
      "dropout2d: p is 2, expected 0 to 1");
  expect_error([&] { tn::feature_alpha_dropout(x, 0.5, true); },
               "feature_alpha_dropout: x is [4], expected [n, channels, ..]");
  expect_error([&] { tn::feature_dropout(whole); },
               "feature_dropout: x is int64, expected a floating dtype");
  expect_error([&] { tn::rrelu(x, {.lower = 0.5, .upper = 0.25}); },
               "rrelu: lower is 0.5, above upper, 0.25");
  expect_error([&] { tn::gumbel_softmax(x, {.tau = 0}); },
               "gumbel_softmax: tau is 0, expected a number above 0");
}

}  // namespace
