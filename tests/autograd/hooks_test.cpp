// Hooks on gradients, and gradients that are kept where no leaf is. Values are closed forms.
#include <stdexcept>

#include "autograd_support.h"

namespace {

TEST(Hooks, SeeAndReplaceGradients) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = x * 3.0;
  double seen = 0;
  y.register_hook([&](Tensor g) { seen = g.sum().item<double>(); });
  y.register_hook([](Tensor g) { return g * 10.0; });
  y.sum().backward();
  EXPECT_EQ(seen, 2);
  expect_near(x.grad(), {30, 30});
}

// As PyTorch's: what is kept is the gradient after all hooks, whenever these were hung.
TEST(RetainGrad, KeepsTheGradientAfterAllHooks) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = x * 3.0;
  y.retain_grad();
  y.register_hook([](Tensor g) { return g * 10.0; });
  y.sum().backward();
  expect_near(y.grad(), {10, 10});
  y = x * 3.0;
  y.register_hook([](Tensor g) { return g * 10.0; });
  y.retain_grad();
  const uint64_t id = y.register_hook([](Tensor g) { return g * 7.0; });
  y.register_hook([](Tensor g) { return g * 2.0; });
  y.remove_hook(id);
  y.sum().backward();
  expect_near(y.grad(), {20, 20});
  x = leaf({1, 2});
  x.register_hook([](Tensor g) { return g * 10.0; });
  x.retain_grad();
  (x * 3.0).sum().backward();
  expect_near(x.grad(), {30, 30});
}

TEST(RetainGrad, AddsUpAndIsCleared) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = x * 3.0, loss = y.sum();
  y.retain_grad();
  loss.backward({}, true);
  loss.backward({}, true);
  expect_near(y.grad(), {2, 2});
  const Tensor seen = y.grad();
  loss.backward({}, true);
  expect_near(y.grad(), {3, 3});
  expect_near(seen, {2, 2});
  y.zero_grad();
  loss.backward();
  expect_near(y.grad(), {1, 1});
  expect_error([&] { (x * 3.0).zero_grad(); }, "keeps no gradient");
}

// A hook stays with the values that it was hung on; what is kept is the gradient of the values at
// the end.
TEST(RetainGrad, FollowsInPlaceWrites) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = x * 3.0;
  y.retain_grad();
  y.register_hook([](Tensor g) { return g * 10.0; });
  tn::mul_(y, 4.0);
  y.register_hook([](Tensor g) { return g * 7.0; });
  y.sum().backward();
  expect_near(y.grad(), {7, 7});
  expect_near(x.grad(), {840, 840});
  y = x * 3.0;
  const uint64_t id = y.register_hook([](Tensor g) { return g * 10.0; });
  tn::mul_(y, 4.0);
  y.remove_hook(id);
  expect_error([&] { y.remove_hook(id); }, "no hook");
  x.zero_grad();
  y.sum().backward();
  expect_near(x.grad(), {12, 12});
  // A view whose base is written, a base whose view is, and the view itself.
  y = x * 3.0;
  Tensor view = y[0];
  view.retain_grad();
  tn::mul_(y, 4.0);
  (view * 5.0).backward();
  expect_near(view.grad(), {5});
  y = x * 3.0;
  y.retain_grad();
  view = y[0];
  view.retain_grad();
  tn::mul_(view, 4.0);
  ((y * 5.0).sum() + view).backward();
  expect_near(y.grad(), {6, 5});
  expect_near(view.grad(), {1});
  // One that was a leaf, and has what leaves have.
  Tensor z = tn::zeros({2}, tn::float64);
  z.requires_grad_().requires_grad_(false);
  tn::add_(z, x);
  z.retain_grad();
  (z * 2.0).sum().backward();
  expect_near(z.grad(), {2, 2});
}

// A gradient with a graph leads back to the node that it is kept for.
TEST(RetainGrad, OwnsNothingThatOwnsIt) {
  load_all();
  const auto round = [] {
    Tensor x = leaf({1, 2});
    Tensor y = x * x;
    y.retain_grad();
    (y * y).sum().backward({}, false, true);
    expect_near(y.grad(), {2, 8});
    x.zero_grad();
  };
  round();
  const uint64_t before = tn::Device().memory_stats().allocated;
  round();
  EXPECT_EQ(tn::Device().memory_stats().allocated, before);
}

struct Surprise : std::runtime_error {
  using std::runtime_error::runtime_error;
  int code = 42;
};

TEST(Hooks, ExceptionsComeOutAsThemselves) {
  load_all();
  Tensor x = leaf({1});
  Tensor y = x * 2.0;
  y.register_hook([](Tensor) -> void { throw Surprise("from the hook"); });
  try {
    y.backward();
    FAIL();
  } catch (const Surprise& e) {
    EXPECT_STREQ(e.what(), "from the hook");
    EXPECT_EQ(e.code, 42);
  }
  (x * 2.0).backward();  // the process goes on
  expect_near(x.grad(), {2});
}

TEST(Hooks, OnWhatNeedsNoGradientAreRefused) {
  load_all();
  expect_error([] { tn::ones({2}).register_hook([](Tensor) {}); }, "needs no gradient");
}

// A gradient that is given for a tensor stays the caller's own.
TEST(RetainGrad, KeepsATensorOfItsOwn) {
  load_all();
  for (const tn::Device device : devices()) {
    Tensor a = tn::ones({2}, {}, device).requires_grad_(), z = a * 1.0;
    z.retain_grad();
    Tensor given = tn::ones({2}, {}, device);
    z.backward(given);
    Tensor kept = z.grad();
    tn::mul_(kept, 7.0);
    expect_near(given, {1, 1});
    z = a * 1.0;
    z.retain_grad();
    z.sum().backward();  // whose gradient is an expanded number
    kept = z.grad();
    tn::mul_(kept, 7.0);
    expect_near(z.grad(), {7, 7});
  }
}

}  // namespace
