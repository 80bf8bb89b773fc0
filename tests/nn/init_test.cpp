// nn::init: bounds, moments and structure by torch.nn.init's definitions.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "second_device.h"
#include "tenon/tenon.hpp"

namespace tn = tenon;
namespace init = tn::nn::init;

namespace {

using Values = std::vector<double>;

class Init : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    tn::manual_seed(7);
    device = tn::Device(GetParam());
  }
  // A weight as a layer has it: a leaf that asks for its gradient.
  tn::Tensor weight(std::vector<int64_t> sizes, tn::Dtype dtype = tn::float32) const {
    return tn::full(sizes, 9, dtype, device).requires_grad_();
  }
  // Mean, standard deviation and greatest absolute value.
  static Values moments(const tn::Tensor& t) {
    double sum = 0, squares = 0, most = 0;
    for (const double x : t.to_vector<double>()) {
      sum += x;
      squares += x * x;
      most = std::max(most, std::abs(x));
    }
    const double n = double(t.numel()), mean = sum / n;
    return {mean, std::sqrt(squares / n - mean * mean), most};
  }
  // The standard error of both is about std / sqrt(n).
  static void expect_moments(const tn::Tensor& t, double mean, double std,
                             double most = std::numeric_limits<double>::infinity()) {
    const Values found = moments(t);
    const double error = 5 * std / std::sqrt(double(t.numel()));
    EXPECT_NEAR(found[0], mean, error);
    EXPECT_NEAR(found[1], std, error);
    EXPECT_LE(found[2], most);
    EXPECT_TRUE(std::isinf(most) || found[2] > 0.99 * most) << found[2];
    EXPECT_TRUE(t.requires_grad() && !t.grad().defined());
  }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, Init, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Init, Constants) {
  EXPECT_EQ(init::constant_(weight({3}), 0.25).to_vector<double>(), (Values{0.25, 0.25, 0.25}));
  EXPECT_EQ(init::zeros_(weight({2})).to_vector<double>(), (Values{0, 0}));
  EXPECT_EQ(init::ones_(weight({2})).to_vector<double>(), (Values{1, 1}));
  EXPECT_EQ(init::eye_(weight({2, 3})).to_vector<double>(), (Values{1, 0, 0, 0, 1, 0}));
  const tn::Tensor t = weight({2});
  EXPECT_EQ(init::ones_(t).get(), t.get());
}

TEST_P(Init, UniformAndNormalHaveTheirMoments) {
  expect_moments(init::uniform_(weight({200, 100}), -3, 3), 0, 3 / std::sqrt(3.0), 3);
  expect_moments(init::normal_(weight({200, 100}), 2, 0.5), 2, 0.5);
}

// The moments of a normal that is cut at both sides, in closed form (Johnson and Kotz).
TEST_P(Init, TruncatedNormalsHaveTheirMoments) {
  const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); };
  const auto below = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  for (const init::TruncNormalOptions& o : {init::TruncNormalOptions{},
                                            {.mean = 1, .std = 0.5, .a = 0, .b = 3},
                                            {.mean = 0, .std = 1, .a = 2, .b = 3},
                                            {.std = 100, .a = -1, .b = 1}}) {
    const double a = (o.a - o.mean) / o.std, b = (o.b - o.mean) / o.std, z = below(b) - below(a);
    const double shift = (density(a) - density(b)) / z,
                 variance = 1 + (a * density(a) - b * density(b)) / z - shift * shift;
    const tn::Tensor t = init::trunc_normal_(weight({200, 100}), o);
    expect_moments(t, o.mean + o.std * shift, o.std * std::sqrt(variance));
    for (const double x : t.to_vector<double>()) ASSERT_TRUE(x >= o.a && x <= o.b) << x;
  }
}

TEST_P(Init, XavierAndKaimingGoByTheFans) {
  // Fan in 50 * 4 = 200, fan out 100 * 4 = 400.
  const std::vector<int64_t> sizes = {100, 50, 2, 2};
  const double xavier = std::sqrt(2.0 / 600);
  expect_moments(init::xavier_uniform_(weight(sizes), 2), 0, 2 * xavier,
                 2 * xavier * std::sqrt(3.0));
  expect_moments(init::xavier_normal_(weight(sizes)), 0, xavier);
  const double in = std::sqrt(2.0 / 200), out = std::sqrt(2.0 / 400);
  expect_moments(init::kaiming_uniform_(weight(sizes)), 0, in, in * std::sqrt(3.0));
  expect_moments(init::kaiming_normal_(weight(sizes), {.mode = "fan_out", .nonlinearity = "relu"}),
                 0, out);
  expect_moments(init::kaiming_normal_(weight(sizes), {.a = std::sqrt(5.0)}), 0,
                 std::sqrt(2.0 / 6 / 200));
}

TEST(InitGain, IsThatOfPyTorch) {
  EXPECT_EQ(init::calculate_gain("linear"), 1);
  EXPECT_EQ(init::calculate_gain("conv2d"), 1);
  EXPECT_EQ(init::calculate_gain("sigmoid"), 1);
  EXPECT_DOUBLE_EQ(init::calculate_gain("tanh"), 5.0 / 3);
  EXPECT_DOUBLE_EQ(init::calculate_gain("relu"), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(init::calculate_gain("leaky_relu"), std::sqrt(2 / 1.0001));
  EXPECT_DOUBLE_EQ(init::calculate_gain("leaky_relu", 0.2), std::sqrt(2 / 1.04));
  EXPECT_EQ(init::calculate_gain("selu"), 0.75);
}

TEST_P(Init, OrthogonalRowsOrColumns) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{5, 20}, {20, 5}, {6, 3, 2, 2}, {4, 4}}) {
    const tn::Tensor t = init::orthogonal_(weight(sizes, tn::float64), 3);
    const tn::Tensor flat = t.detach().to(tn::cpu).reshape({sizes[0], -1});
    const int64_t n = std::min(flat.size(0), flat.size(1));
    const tn::Tensor product =
        flat.size(0) <= flat.size(1) ? tn::matmul(flat, flat.t()) : tn::matmul(flat.t(), flat);
    const Values found = product.to_vector<double>();
    for (int64_t i = 0; i < n * n; ++i)
      EXPECT_NEAR(found[size_t(i)], i % (n + 1) == 0 ? 9 : 0, 1e-12);
  }
}

TEST_P(Init, SparseColumns) {
  const tn::Tensor t = init::sparse_(weight({30, 400}), 0.31, 0.5);
  const Values values = t.to_vector<double>();
  Values kept;
  std::vector<int> zeros_of_row(30);
  for (size_t column = 0; column < 400; ++column) {
    int zeros = 0;
    for (size_t row = 0; row < 30; ++row) {
      const double x = values[row * 400 + column];
      if (x == 0) ++zeros, ++zeros_of_row[row];
      if (x != 0) kept.push_back(x);
    }
    EXPECT_EQ(zeros, 10);  // 9.3, rounded up
  }
  for (const int zeros : zeros_of_row) EXPECT_NEAR(zeros, 400 / 3.0, 50);  // places are random
  double squares = 0;
  for (const double x : kept) squares += x * x;
  EXPECT_NEAR(std::sqrt(squares / double(kept.size())), 0.5, 0.02);
}

TEST_P(Init, DiracGivesItsInputsOn) {
  for (const int64_t groups : {1, 2}) {
    const tn::Tensor w = init::dirac_(weight({4, 4 / groups, 3, 3}), groups).detach();
    const tn::Tensor x = tn::randn({1, 4, 5, 5}).to(device);
    const tn::Tensor y = tn::conv2d(x, w, {.padding = 1, .groups = groups});
    EXPECT_EQ(y.to_vector<double>(), x.to_vector<double>());
  }
  EXPECT_EQ(tn::sum(init::dirac_(weight({2, 3, 4, 4, 4})).detach()).item<double>(), 2);
}

TEST_P(Init, ASeedDecides) {
  const auto values = [&] { return init::sparse_(weight({4, 4}), 0.5).to_vector<double>(); };
  tn::manual_seed(3);
  const Values first = values();
  EXPECT_NE(values(), first);
  tn::manual_seed(3);
  EXPECT_EQ(values(), first);
}

TEST_P(Init, WhatDoesNotFitIsRefused) {
  const tn::Tensor v = weight({3}), m = weight({2, 3});
  const auto refused = [](const auto& f) { return message_of([&] { f(); }); };
  EXPECT_EQ(refused([&] { init::eye_(v); }), "eye_: the tensor is [3], expected 2 dimensions");
  EXPECT_EQ(refused([&] { init::sparse_(v, 0.5); }),
            "sparse_: the tensor is [3], expected 2 dimensions");
  EXPECT_EQ(refused([&] { init::sparse_(m, 1.5); }), "sparse_: sparsity is 1.5, expected 0 to 1");
  EXPECT_EQ(refused([&] { init::dirac_(m); }),
            "dirac_: the tensor is [2, 3], expected 3 to 5 dimensions");
  EXPECT_EQ(refused([&] {
              init::dirac_(weight({3, 2, 1}), 2);
            }),
            "dirac_: groups is 2, expected a divisor of 3, the first size");
  EXPECT_EQ(refused([&] { init::orthogonal_(v); }),
            "orthogonal_: the tensor is [3], expected at least 2 dimensions");
  EXPECT_EQ(refused([&] { init::xavier_normal_(v); }),
            "xavier_normal_: the tensor is [3], expected at least 2 dimensions");
  EXPECT_EQ(refused([&] { init::kaiming_uniform_(m, {.mode = "fan"}); }),
            "kaiming_uniform_: mode is 'fan', expected fan_in or fan_out");
  EXPECT_EQ(refused([&] { init::kaiming_uniform_(m, {.nonlinearity = "gelu"}); }),
            "calculate_gain: the nonlinearity is 'gelu', expected linear, conv1d, conv2d, conv3d, "
            "sigmoid, tanh, relu, leaky_relu or selu");
  EXPECT_EQ(refused([&] { init::uniform_(m, 1, 0); }),
            "uniform_: a is 1 and b is 0, expected a of at most b");
  EXPECT_EQ(refused([&] { init::normal_(m, 0, -1); }), "normal_: std is -1, expected at least 0");
  EXPECT_EQ(refused([&] { init::trunc_normal_(m, {.a = 2, .b = 1}); }),
            "trunc_normal_: std is 1, a is 2 and b is 1, expected a std above 0 and a below b");
}

}  // namespace
