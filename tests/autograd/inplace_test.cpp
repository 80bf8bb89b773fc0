// In-place ops and views under gradient: they behave as PyTorch's do. The values are closed forms;
// each refusal names what helps.
#include "autograd_support.h"

namespace {

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

// A view that asked for a gradient is a leaf, whatever it is a view of.
TEST(InPlace, OnAViewOfALeafThatIsAViewIsRefused) {
  Tensor x = tn::tensor({1.0, 2.0}, tn::float64).view({2, 1}).requires_grad_();
  expect_error([&] { tn::mul_(x, 2.0); }, "a leaf that requires a gradient");
  expect_error([&] { tn::mul_(x[0], 2.0); }, "a view of a leaf");
  expect_error([&] { x[{0, 0}] = 7.0; }, "a view of a leaf");
  EXPECT_TRUE(x.is_leaf());
  (x * x).sum().backward();
  expect_near(x.grad(), {2, 4});
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

// PyTorch 2.15: the gradient through y.fill_(3), y.zero_() is zero, also beside elements that were
// not written.
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

// As PyTorch does, the op keeps a copy of what it overwrites, where its gradient reads that, and
// only then.
TEST(InPlace, OpsThatNeedTheirInputKeepACopy) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = float64_tensor({2, 3}, {2}, d).requires_grad_(),
           w = float64_tensor({4, 5}, {2}, d).requires_grad_();
    Tensor y = x * 1.0;
    const std::string copied =
        "is copied before " + op_name("mul_") + " overwrites it, since its gradient reads it";
    EXPECT_NE(tn::explain([&] { tn::mul_(y, w); }).find(copied), std::string::npos);
    EXPECT_EQ(tn::explain([&] { tn::mul_(y, 2.0); }).find(copied), std::string::npos);
    y.sum().backward();
    expect_near(x.grad(), {8, 10});  // of 2 x w
    expect_near(w.grad(), {4, 6});
    // What is written stands twice: by itself and as a view.
    x.zero_grad();
    y = x * 1.0;
    tn::mul_(y, y);
    tn::mul_(y, y.view({2}));
    tn::mul_(y.slice(0, 0, 1), y.slice(0, 1, 2));
    y.sum().backward();  // x0^4 x1^4 + x1^4
    expect_near(x.grad(), {4 * 8 * 81, 4 * 16 * 27 + 4 * 27});
  }
}

// PyTorch 2.15's values. What reads its input keeps a copy of it, so that later writes to its
// output are none of its business.
TEST(InPlace, WritesOverWhatReadsItsInputAreFine) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor l = float64_tensor({3, 4}, {2}, d).requires_grad_();
    const auto gradient = [&](auto&& change) {
      l.zero_grad();
      change().sum().backward();
      return l.grad();
    };
    expect_near(gradient([&] {
                  Tensor x = l * 0.3;
                  tn::hardtanh_(x);
                  x *= 2;
                  return x;
                }),
                {0.6, 0});
    expect_near(gradient([&] {
                  Tensor x = l * 1.75;
                  tn::relu6_(x);
                  tn::exp_(x);
                  return x;
                }),
                {1.75 * std::exp(5.25), 0});
    expect_near(gradient([&] {
                  Tensor y = float64_tensor({3, 4}, {2}, d) * 1.0;
                  y /= l;
                  y += 1;
                  tn::exp_(y);
                  return y;
                }),
                {-std::exp(2) / 3, -std::exp(2) / 4});
  }
}

// Another call's input is refused; the message says what it was when it was saved.
TEST(InPlace, WhatAnotherCallSavedIsFound) {
  load_all();
  Tensor x = leaf({2, 3}), w = leaf({4, 5}),
         constant = Tensor::from(std::vector<double>{1, 2}, std::vector<int64_t>{2});
  const auto expect_origin = [&](const Tensor& saved, const std::string& origin) {
    Tensor z = saved * w;
    {
      tn::NoGrad off;
      tn::mul_(saved, 2.0);
    }
    expect_error([&] { z.sum().backward(); },
                 "changed in place: [2] float64 on cpu, " + origin + ", is at version");
  };
  expect_origin(x / 3.0, "output 0 of " + op_name("div"));
  expect_origin(leaf({1, 2}), "a leaf");
  expect_origin(constant, "an argument without a gradient");
  Tensor y = x / 3.0, z = y * w;
  tn::add_(y, 1.0);
  const std::string since =
      "output 0 of " + op_name("add_") + ", which wrote it since, is at version 1, expected 0";
  expect_error([&] { z.sum().backward(); }, "[2] float64 on cpu, " + since);
}

struct Squared : tn::Function<Squared> {
  static Tensor forward(tn::Context& context, Tensor x) {
    context.save({x});
    return x * x;
  }
  static Tensor backward(tn::Context& context, Tensor g) { return g * context.saved(0) * 2.0; }
};

// A formula, primitives, an op with a vjp, one with a pair on cpu, a function of an application:
// each saves y, or a view of it, and y is written with what they gave. Node and tensor must not own
// each other.
TEST(InPlace, AWriteOfWhatLedToItFreesAll) {
  std::vector<Tensor (*)(const Tensor&)> calls = {
      [](const Tensor& y) { return tn::exp(y) * y; },
      [](const Tensor& y) { return tn::matmul(y, y); },
      [](const Tensor& y) { return tn::cumprod(y, 0); },
      [](const Tensor& y) { return tn::logsumexp(y, {0}); },
      [](const Tensor& y) { return tn::softmax(y, -1); },
      [](const Tensor& y) { return tn::layer_norm(y, {4}); },
      [](const Tensor& y) { return Squared::apply(y); },
      [](const Tensor& y) { return y[0] * y[1]; },
      [](const Tensor& y) { return tn::matmul(y.t(), y.slice(1, 1, 3)); },
  };
  if (!renamed_ops()) {  // whose parts are called by their own names
    calls.push_back([](const Tensor& y) {
      return tn::conv2d(y.view({1, 1, 4, 4}),
                        tn::ones({1, 1, 2, 2}, {}, y.device()).requires_grad_());
    });
  }
  for (tn::Device d : devices()) {
    for (size_t i = 0; i < calls.size(); ++i) {
      SCOPED_TRACE(d.name() + " " + std::to_string(i));
      const Tensor x = tn::ones({4, 4}, {}, d).requires_grad_();
      const auto round = [&](bool through_view) {
        Tensor y = x * 1.f;
        Tensor z = calls[i](y);
        Tensor target = through_view ? y[2] : y;
        tn::add_(target, z.sum());
      };
      round(false);
      const uint64_t before = d.memory_stats().allocated;
      round(false);
      round(true);
      EXPECT_EQ(d.memory_stats().allocated, before);
    }
  }
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
  // What is written need not want a gradient: the values of y change.
  expect_error([&] { tn::mul_(view, 2.0); }, "made while gradients were off");
  expect_error([&] { tn::add_(view, tn::ones({})); }, "made while gradients were off");
  expect_error([&] { view.copy_(tn::ones({})); }, "made while gradients were off");
  expect_error([&] { view.fill_(2.0); }, "made while gradients were off");
  Tensor of_leaf;
  {
    tn::NoGrad off;
    of_leaf = x[0];
    of_leaf.mul_(2.0);  // as an optimizer does
  }
  expect_error([&] { of_leaf.mul_(2.0); }, "a view of a leaf that requires a gradient");
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 2}));
}

// Ops that make their result as a view of something of their own.
TEST(InPlace, ResultsOfOpsAreTheirOwn) {
  for (const tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor q = tn::tensor(1.5f, d).requires_grad_();
    expect_near(q.log_softmax(0).add_(2.0).detach(), {2});
    Tensor t = tn::ones({2, 3}, {}, d).requires_grad_() * 2;
    Tensor sums = t.logsumexp({1});
    sums.mul_(3.0);
    expect_near(sums.detach(), std::vector<double>(2, 3 * (2 + std::log(3.0))), 1e-5);
    expect_error([&] { sums.sum().backward(); }, "changed in place");
  }
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

// An embedding that is frozen, and what is added to it.
TEST(InPlace, WhatOpsMakeWithoutGradientIsWritten) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor w = tn::ones({1}, {.device = d}).requires_grad_();
    const Tensor x = tn::ones({2, 3, 3}, {.device = d}), m = tn::ones({3, 3}, {.device = d});
    const Tensor index = tn::tensor({0, 1}, tn::int64, d);
    TensorList results;
    {
      const tn::NoGrad guard;
      results = {tn::embedding(m, index),    tn::matmul(x, m),    tn::mv(m, m[0]),
                 tn::logsumexp(x, -1),       x.repeat({2, 1, 1}), tn::einsum("bij,jk->bik", {x, m}),
                 std::get<0>(tn::max(x, 1)), tn::group_norm(x, 1)};
    }
    for (const Tensor& y : results) {
      w.zero_grad();
      Tensor sum = y;
      sum += w;
      sum.sum().backward();
      expect_near(w.grad(), {double(y.numel())});
    }
    // A view of what somebody else sees stays outside of the graph.
    Tensor view;
    {
      const tn::NoGrad guard;
      view = m[0];
    }
    expect_error([&] { view += w; }, "a view made while gradients were off");
  }
}

// A quotient and what cuts off read no output of theirs, so it may be written.
TEST(InPlace, OnQuotients) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    const Tensor x = tn::ones({3}, {.device = d}).requires_grad_();
    Tensor y = x / x.sum();
    y[0] = 0.0;
    y.sum().backward();
    expect_near(x.grad(), {-2.0 / 9, 1.0 / 9, 1.0 / 9});
    for (const auto& f :
         {+[](const Tensor& t) { return 2 / t; }, +[](const Tensor& t) { return tn::relu6(t); },
          +[](const Tensor& t) { return tn::hardtanh(t, -2, 2); }}) {
      const Tensor z = f(x);
      z *= 2;
      EXPECT_NO_THROW(z.sum().backward());
    }
    gradcheck([](const TensorList& in) { return in[0] / in[1]; },
              {sample({2, 3}, d), sample({3}, d) + 3.0});
  }
}

}  // namespace
