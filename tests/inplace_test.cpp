// In-place ops and views under gradient: they behave as PyTorch's do. The values are closed forms; each refusal names what helps.
#include "ops_support.h"

namespace {

Tensor leaf(const std::vector<double>& values, std::vector<int64_t> sizes = {}) {
  if (sizes.empty()) sizes = {int64_t(values.size())};
  return Tensor::from(values, sizes).requires_grad_();
}

TEST(InPlace, OnALeafIsRefused) {
  load_all();
  Tensor x = leaf({1, 2});
  expect_error([&] { tn::mul_(x, 2.0); }, "a leaf that requires a gradient");
  expect_error([&] { tn::mul_(x[0], 2.0); }, "a view of a leaf");
  expect_error([&] { x[0].copy_(tn::zeros({}, tn::float64)); }, "a view of a leaf");
  tn::NoGrad off;
  tn::mul_(x, 2.0);
  expect_near(x, {2, 4});
}

TEST(InPlace, OnANonLeafIsRecorded) {
  load_all();
  Tensor x = leaf({1, 2}), w = leaf({5, 7});
  Tensor y = x * 3.0;
  tn::mul_(y, 2.0);
  tn::add_(y, w);
  expect_near(y, {11, 19});
  y.sum().backward();
  expect_near(x.grad(), {6, 6});
  expect_near(w.grad(), {1, 1});
}

TEST(InPlace, OpsThatNameTheirOutputHaveAGradient) {
  load_all();
  Tensor x = leaf({0.5, -1});
  Tensor y = x * 1.0;
  tn::sigmoid_(y);
  y.sum().backward();
  std::vector<double> expected;
  for (double v : {0.5, -1.0}) expected.push_back(std::exp(-v) / std::pow(1 + std::exp(-v), 2));
  expect_near(x.grad(), expected);
}

// PyTorch 2.15: the gradient through y.fill_(3), y.zero_() is zero, also beside elements that were not written.
TEST(InPlace, AWriteThatReadsNothingEndsTheHistory) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({3}, {}, d).requires_grad_();
    Tensor y = x * 2.f;
    tn::fill_(y, 3);
    EXPECT_TRUE(y.requires_grad());
    (y * y).sum().backward();
    expect_near(x.grad(), {0, 0, 0});
    x.zero_grad();
    y = x * 2.f;
    tn::fill_(y.slice(0, 0, 2), 3);
    (y * y).sum().backward();
    expect_near(x.grad(), {0, 0, 8});
    expect_near(y, {3, 3, 2});
    for (auto f : {tn::eq_, tn::ne_, tn::lt_, tn::le_, tn::gt_, tn::ge_, tn::logical_and_,
                   tn::logical_or_, tn::logical_xor_}) {
      x.zero_grad();
      y = x * 2.f;
      f(y, 2.f);
      EXPECT_EQ(y.dtype(), tn::float32);
      (y * y).sum().backward();
      expect_near(x.grad(), {0, 0, 0});
      expect_error([&] { f(x, 2.f); }, "leaf");
    }
    y = tn::tensor({2.f, 0.f}, d);
    tn::logical_not_(y);
    expect_near(y, {0, 1});
    EXPECT_FALSE((x == x * 2.f).requires_grad());
  }
}

TEST(InPlace, OpsThatNeedTheirInputAreFound) {
  load_all();
  Tensor x = leaf({2, 3}), w = leaf({4, 5});
  Tensor y = x * 1.0;
  tn::mul_(y, w);  // w's gradient wants the old y
  expect_error([&] { y.sum().backward(); }, "changed in place");
}

TEST(InPlace, OnAViewChangesItsBase) {
  load_all();
  Tensor x = leaf({1, 2, 3, 4}, {2, 2});
  Tensor y = x * 1.0;
  Tensor row = y[0];
  tn::mul_(row, 10.0);
  expect_near(y, {10, 20, 3, 4});
  (y * y).sum().backward();  // sum 100 x0^2 + x1^2
  expect_near(x.grad(), {200, 400, 6, 8});
}

TEST(InPlace, OnAViewGivesTheViewAGradientToo) {
  load_all();
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1.0;
  Tensor view = y.slice(0, 1, 3);
  tn::mul_(view, 2.0);
  (view * view).sum().backward();
  expect_near(x.grad(), {0, 16, 24});
}

TEST(InPlace, OnTheBaseReachesItsViews) {
  load_all();
  Tensor x = leaf({1, 2, 3});
  Tensor y = x * 1.0;
  Tensor view = y.slice(0, 0, 2);
  tn::mul_(y, 5.0);
  view.sum().backward();
  expect_near(x.grad(), {5, 5, 0});
}

TEST(InPlace, OnAViewOfAView) {
  load_all();
  Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor y = x * 1.0;
  Tensor corner = y.transpose(0, 1).slice(0, 1, 3)[0];  // column 1
  tn::mul_(corner, 3.0);
  expect_near(y, {1, 6, 3, 4, 15, 6});
  y.sum().backward();
  expect_near(x.grad(), {1, 3, 1, 1, 3, 1});
}

TEST(InPlace, WritesWithGradientIntoABaseWithout) {
  load_all();
  Tensor w = leaf({2, 3});
  Tensor buffer = tn::zeros({2, 2}, tn::float64);
  Tensor before = buffer[1];  // a view from before the write
  buffer[0].copy_(w);
  EXPECT_TRUE(buffer.requires_grad());
  buffer[1].copy_(w * w);
  expect_near(buffer, {2, 3, 4, 9});
  (buffer.sum() + before.sum()).backward();
  expect_near(w.grad(), {1 + 2 * 4, 1 + 2 * 6});
}

TEST(InPlace, CopyBroadcastsAndCasts) {
  load_all();
  Tensor w = leaf({2});
  Tensor y = tn::zeros({3}, tn::float32);
  y.copy_(w);
  y.sum().backward();
  expect_near(w.grad(), {3});
  EXPECT_EQ(w.grad().dtype(), tn::float64);
}

TEST(InPlace, TwiceThroughViewsToSecondOrder) {
  load_all();
  gradcheck(
      [](const TensorList& in) {
        Tensor y = in[0] * in[0];
        Tensor row = y[1];
        tn::mul_(row, 3.0);
        tn::add_(y.transpose(0, 1)[0], in[1][0]);
        y[0].copy_(in[1] * in[1]);
        return y;
      },
      {sample({2, 3}), sample({3}, {}, 1)});
}

TEST(InPlace, WritesThatOverlapAreRefused) {
  load_all();
  Tensor x = tn::ones({1, 3}).expand({2, 3});
  expect_error([&] { tn::add_(x, 1.0); }, "share memory");
  Tensor y = Tensor::from(std::vector<double>{1, 2, 3, 4}, {4});
  tn::add_(y.slice(0, 1, 4), y.slice(0, 0, 3));  // reads what it writes: as if read first
  expect_near(y, {1, 3, 5, 7});
}

TEST(InPlace, KeepsShapeAndDtype) {
  load_all();
  expect_error([] { tn::add_(tn::ones({3}), tn::ones({2, 3})); }, "cannot hold the result");
  expect_error([] { tn::add_(tn::ones({3}, tn::int64), 1.5); }, "int64");
}

TEST(InPlace, ViewsMadeWithoutGradientStayOutside) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = x * 1.0, view;
  {
    tn::NoGrad off;
    view = y[0];
  }
  EXPECT_FALSE((view * 2.0).requires_grad());
  expect_error([&] { tn::mul_(view, x[0]); }, "made while gradients were off");
}

TEST(InPlace, VersionsCountInEveryMode) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = x * 1.0, z = y * y;
  {
    tn::NoGrad off;
    tn::mul_(y, 2.0);
  }
  expect_error([&] { z.sum().backward(); }, "changed in place");
}

}  // namespace
