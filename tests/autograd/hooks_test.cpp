// Hooks on gradients, and gradients that are kept where no leaf is. Values are closed forms.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

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

// A hook may take itself away while it runs, and those behind it run all the same.
TEST(Hooks, RemoveThemselves) {
  load_all();
  Tensor x = leaf({1});
  int first = 0, second = 0;
  tn::TensorHook handle;
  const auto held = std::make_shared<int>(3);
  handle = x.register_hook([&, held](Tensor g) {
    handle.remove();
    first += *held;  // which the hook still holds
    return g * 2.0;
  });
  x.register_hook([&](Tensor) { ++second; });
  (x * 1.0).backward();
  (x * 1.0).backward();
  EXPECT_EQ(first, 3);
  EXPECT_EQ(second, 2);
  EXPECT_EQ(held.use_count(), 1);
  expect_near(x.grad(), {3});
}

// As PyTorch's register_post_accumulate_grad_hook: behind the sum, once a backward, with the leaf.
TEST(PostAccumulateHooks, StepAndFreeTheGradient) {
  load_all();
  for (const tn::Device device : devices()) {
    Tensor x = tn::tensor({1., 2.}, {.device = device, .requires_grad = true});
    Tensor y = tn::tensor({3., 4.}, {.device = device, .requires_grad = true});
    std::vector<double> seen;
    x.register_post_accumulate_grad_hook([&](Tensor p) {
      EXPECT_TRUE(p.is_leaf() && p.requires_grad());
      seen.push_back(p.grad().sum().item<double>());
      const tn::NoGrad guard;
      p.sub_(p.grad() * 0.5);
      p.zero_grad();
    });
    for (int i = 0; i < 2; ++i) (x * y + x).sum().backward();
    EXPECT_EQ(seen, (std::vector<double>{9, 9}));
    EXPECT_FALSE(x.grad().defined());
    expect_near(x, {-3, -3});
    EXPECT_GT(x.version(), 1u);
    expect_near(y.grad(), {0, 1.5});
    tn::grad((x * y).sum(), {x});  // which adds nothing to .grad
    EXPECT_EQ(seen.size(), 2u);
    (x * y).sum().backward({.inputs = {x}});
    EXPECT_EQ(seen.size(), 3u);
  }
}

TEST(PostAccumulateHooks, AreRemovedInOrderAndOnce) {
  load_all();
  Tensor x = leaf({1});
  std::string order;
  x.register_hook([&](Tensor) { order += "h"; });
  auto a = x.register_post_accumulate_grad_hook([&](Tensor) { order += "a"; });
  tn::TensorHook b;
  b = x.register_post_accumulate_grad_hook([&](Tensor) {
    order += "b";
    b.remove();
  });
  x.register_post_accumulate_grad_hook([&](Tensor) { order += "c"; });
  (x * 2.0).backward();
  a.remove();
  a.remove();
  (x * 2.0).backward();
  EXPECT_EQ(order, "habchc");
  x.requires_grad_(false);
  order.clear();
  Tensor y = leaf({1});
  (x * y).backward();
  EXPECT_EQ(order, "");
}

// The hook's tensor shows where a module's tensor went.
TEST(PostAccumulateHooks, FollowAModuleToAnotherDtype) {
  load_all();
  tn::Object holder = tn::Object::empty("Holder");
  Tensor weight = holder.parameter("weight", tn::ones({2}));
  tn::Dtype seen;
  weight.register_post_accumulate_grad_hook([&](Tensor p) {
    seen = p.dtype();
    const tn::NoGrad guard;
    p.fill_(7.0);
  });
  holder.to(tn::cpu, tn::float64);
  (weight * 3.0).sum().backward();
  EXPECT_EQ(seen, tn::float64);
  expect_near(weight, {7, 7});
}

TEST(PostAccumulateHooks, HoldNothingBehindTheTensor) {
  load_all();
  const auto held = std::make_shared<int>(0);
  const int64_t before = tn::Device().memory_stats().allocated;
  {
    Tensor x = leaf({1, 2, 3});
    x.register_post_accumulate_grad_hook([held](Tensor p) { p.zero_grad(); });
    (x * 2.0).sum().backward();
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(tn::Device().memory_stats().allocated, before);
}

TEST(PostAccumulateHooks, Refuse) {
  load_all();
  Tensor x = leaf({1});
  expect_error([&] { (x * 2.0).register_post_accumulate_grad_hook([](Tensor) {}); },
               "register_post_accumulate_grad_hook: [1] float64 on cpu is no leaf that asks for a "
               "gradient");
  expect_error([] { tn::ones({2}).register_post_accumulate_grad_hook([](Tensor) {}); },
               "is no leaf that asks for a gradient");
  x.register_post_accumulate_grad_hook([](Tensor) { throw Surprise("behind the sum"); });
  EXPECT_THROW((x * 2.0).backward(), Surprise);
  expect_near(x.grad(), {2});
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
