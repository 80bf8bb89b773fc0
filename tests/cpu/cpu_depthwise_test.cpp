// Depthwise convolutions in float32 beside what the op means in float64, where it is a product of matrices.
#include "ops_support.h"

namespace {

using tn::Conv1dOptions;
using tn::Conv2dOptions;

// x of these sizes; kernel and the options of each dimension.
struct Case {
  std::vector<int64_t> x, kernel, padding, dilation;
  std::string text() const {
    std::string all;
    for (const auto* list : {&x, &kernel, &padding, &dilation}) {
      for (const int64_t n : *list) all += std::to_string(n) + " ";
      all += "| ";
    }
    return all;
  }
};

Tensor conv(const Case& c, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const int64_t channels = weight.size(0);
  if (c.kernel.size() == 1) {
    return tn::conv1d(x, weight, bias,
                      {.padding = c.padding, .dilation = c.dilation, .groups = channels});
  }
  return tn::conv2d(x, weight, bias,
                    {.padding = c.padding, .dilation = c.dilation, .groups = channels});
}

void expect_like_float64(const Case& c, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  SCOPED_TRACE(c.text());
  std::vector<Tensor> near, exact;
  for (const Tensor& t : {x, weight, bias}) {
    if (!t.defined()) continue;
    near.push_back(t.detach().requires_grad_());
    exact.push_back(t.detach().to(tn::float64).requires_grad_());
  }
  const auto run = [&](std::vector<Tensor>& leaves) {
    const Tensor y = conv(c, leaves[0], leaves[1], leaves.size() > 2 ? leaves[2] : Tensor());
    const Tensor g = 1.5 + tn::cos(tn::arange(0, y.numel(), 1, tn::float32)).reshape(y.sizes());
    std::vector<Tensor> results = tn::grad({y}, leaves, {.grad_outputs = {g.to(y.dtype())}});
    results.push_back(y.detach());
    return results;
  };
  const std::vector<Tensor> a = run(near), b = run(exact);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].sizes().size(), b[i].sizes().size());
    const double scale = 1 + tn::amax(tn::abs(b[i])).item<double>();
    EXPECT_LT(tn::amax(tn::abs(a[i].to(tn::float64) - b[i])).item<double>(), 3e-6 * scale) << i;
  }
}

const std::vector<Case> kCases = {
    {{2, 3, 20}, {4}, {3}, {1}},
    {{2, 3, 1}, {4}, {3}, {1}},
    {{1, 2, 5}, {1}, {0}, {1}},
    {{3, 17}, {5}, {2}, {3}},         // without a batch
    {{2, 5, 9}, {3}, {7}, {1}},       // more padding than the window
    {{2, 2, 40}, {2}, {300}, {250}},  // spans more than the row
    {{1, 2, 5000}, {7}, {3}, {2}},    // several tiles
    {{2, 2, 2048 + 6}, {7}, {0}, {1}},
    {{4, 130, 33}, {31}, {15}, {1}},  // several lanes
    {{2, 4, 8, 8}, {5, 5}, {2, 2}, {1, 1}},
    {{2, 4, 1, 9}, {1, 3}, {0, 1}, {1, 1}},
    {{2, 3, 7, 5}, {3, 3}, {2, 2}, {2, 2}},
    {{1, 2, 13, 70}, {4, 3}, {1, 4}, {1, 2}},
    {{2, 2, 130, 90}, {5, 3}, {0, 2}, {1, 1}},
    {{1, 2, 9, 2100}, {4, 4}, {2, 1}, {2, 3}},
    {{1, 2, 6, 6}, {5, 5}, {9, 5}, {1, 1}},
    {{1, 2, 40, 40}, {31, 31}, {15, 15}, {1, 1}},
};

TEST(Depthwise, IsWhatTheOpMeans) {
  load_all();
  tn::manual_seed(1);
  for (const Case& c : kCases) {
    const int64_t channels = c.x[c.x.size() - c.kernel.size() - 1];
    std::vector<int64_t> sizes = {channels, 1};
    sizes.insert(sizes.end(), c.kernel.begin(), c.kernel.end());
    const Tensor x = tn::randn(c.x), weight = tn::randn(sizes);
    expect_like_float64(c, x, weight, tn::randn({channels}));
    expect_like_float64(c, x, weight, Tensor());
  }
}

// Tensors that do not lie behind each other, or of which one is wanted.
TEST(Depthwise, TakesWhateverLiesOtherwise) {
  load_all();
  tn::manual_seed(2);
  const Case row = {{2, 6, 30}, {4}, {3}, {1}}, plane = {{2, 6, 9, 11}, {4, 4}, {1, 2}, {1, 1}};
  const Tensor bias = tn::randn({6}), w1 = tn::randn({6, 1, 4}), w2 = tn::randn({6, 1, 4, 4});
  expect_like_float64(row, tn::randn({30, 2, 6}).permute({1, 2, 0}), w1, bias);
  expect_like_float64(row, tn::randn({1, 6, 30}).expand({2, 6, 30}), w1, bias);
  expect_like_float64(row, tn::randn({2, 6, 30}), tn::randn({4, 1, 6}).permute({2, 1, 0}), bias);
  expect_like_float64(plane, tn::randn({2, 9, 11, 6}).permute({0, 3, 1, 2}), w2, bias);
  expect_like_float64(plane, tn::randn({2, 6, 9, 11}), tn::randn({6, 1, 4, 4}).transpose(2, 3),
                      bias);
  expect_like_float64(plane, tn::randn({2, 6, 9, 22}).narrow(3, 3, 11), w2, bias);

  const Tensor x = tn::randn({2, 6, 30}), g = tn::randn({2, 6, 33});
  const Tensor xg = x.clone().requires_grad_(), wg = w1.clone().requires_grad_();
  const Tensor bg = bias.clone().requires_grad_();
  const auto all = tn::grad({conv(row, xg, wg, bg)}, {xg, wg, bg}, {.grad_outputs = {g}});
  EXPECT_TRUE(
      tn::equal(tn::grad({conv(row, xg, w1, bias)}, {xg}, {.grad_outputs = {g}})[0], all[0]));
  EXPECT_TRUE(
      tn::equal(tn::grad({conv(row, x, wg, bias)}, {wg}, {.grad_outputs = {g}})[0], all[1]));
  EXPECT_TRUE(tn::equal(tn::grad({conv(row, x, w1, bg)}, {bg}, {.grad_outputs = {g}})[0], all[2]));
}

// What is not finite stays where it is.
TEST(Depthwise, KeepsNanAndInfinityToTheirWindows) {
  load_all();
  Tensor x = tn::zeros({1, 2, 40});
  x[0][0][5].fill_(NAN);
  x[0][1][30].fill_(INFINITY);
  const Tensor y = tn::conv1d(x, tn::ones({2, 1, 3}), {}, {.padding = 1, .groups = 2});
  EXPECT_EQ(tn::isnan(y).sum().item<int64_t>(), 3);
  EXPECT_EQ(tn::isinf(y).sum().item<int64_t>(), 3);
  EXPECT_TRUE(tn::isnan(y[0][0].narrow(0, 4, 3)).all().item<bool>());
  EXPECT_TRUE(tn::isinf(y[0][1].narrow(0, 29, 3)).all().item<bool>());
  // Of the weights' gradient an element of the first column is the first tap's alone.
  Tensor plane = tn::ones({1, 2, 12, 12});
  plane[0][0][3][0].fill_(INFINITY);
  plane[0][1][4][11].fill_(NAN);
  const Tensor w = tn::ones({2, 1, 5, 5}).requires_grad_();
  tn::conv2d(plane, w, {}, {.groups = 2}).sum().backward();
  EXPECT_EQ(tn::isinf(w.grad()[0][0].select(1, 0)).sum().item<int64_t>(), 4);  // rows 0 to 3
  EXPECT_TRUE(tn::isfinite(w.grad()[0][0].narrow(1, 1, 4)).all().item<bool>());
  EXPECT_EQ(tn::isnan(w.grad()[1][0].select(1, 4)).sum().item<int64_t>(), 5);
  EXPECT_TRUE(tn::isfinite(w.grad()[1][0].narrow(1, 0, 4)).all().item<bool>());
}

}  // namespace
