// The autograd engine through the face: what backward accumulates, what it refuses, hooks, custom
// functions, modes, and graphs too long for recursion. Values are closed forms.
#include <stdexcept>
#include <thread>

#include "ops_support.h"

namespace {

using tn::float64;

Tensor leaf(const std::vector<double>& values) {
  return Tensor::from(values, {int64_t(values.size())}).requires_grad_();
}

TEST(Backward, AccumulatesIntoLeaves) {
  load_all();
  Tensor x = leaf({1, 2, 3}), w = leaf({4, 5, 6});
  (x * w).sum().backward();
  expect_near(x.grad(), {4, 5, 6});
  expect_near(w.grad(), {1, 2, 3});
  (x * x).sum().backward();
  expect_near(x.grad(), {4 + 2, 5 + 4, 6 + 6});
}

TEST(Backward, AddsTheGradientsOfEveryUse) {
  load_all();
  Tensor x = leaf({2, 3});
  Tensor y = x * x;      // 2x
  Tensor z = y * x + y;  // 3x^2 + 2x
  z.sum().backward();
  expect_near(x.grad(), {3 * 4 + 4, 3 * 9 + 6});
}

// Fewer uses than the engine adds in one pass, as many, and more; of a small tensor and a large
// one.
TEST(Backward, AddsManyUsesOnceAndBeforeHooks) {
  load_all();
  for (const int64_t size : {2, 20000}) {
    for (int uses = 1; uses <= 11; ++uses) {
      Tensor x = tn::ones({size}, float64).requires_grad_();
      // 5 x^4, and its slope 20 x^3
      const Tensor twice = tn::grad(((x * x) * (x * x) * x).sum(), x, {.create_graph = true});
      EXPECT_EQ(tn::grad(twice.sum(), x)[0].item<double>(), 20);
      int seen = 0;
      x.register_hook([&](Tensor g) {
        ++seen;
        EXPECT_EQ(g[1].item<double>(), uses * (uses + 1) / 2);
      });
      Tensor y = tn::zeros({size}, float64);
      for (int i = 1; i <= uses; ++i) y = y + x * static_cast<double>(i);
      y.sum().backward();
      EXPECT_EQ(seen, 1);
      EXPECT_EQ(x.grad()[size - 1].item<double>(), uses * (uses + 1) / 2) << uses;
    }
  }
}

TEST(Backward, TwiceIsAnErrorThatSaysWhatHelps) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = (x * x).sum();
  y.backward();
  expect_error([&] { y.backward(); }, "retain_graph");
  Tensor z = (x * x).sum();
  z.backward({}, true);
  z.backward();
  expect_near(x.grad(), {6, 12});
}

TEST(Backward, NeedsAGradientForMoreThanOneElement) {
  load_all();
  Tensor x = leaf({1, 2});
  expect_error([&] { (x * 2.0).backward(); }, "only one-element tensors");
  expect_error([&] { (x * 2.0).backward(Tensor::from(std::vector<double>{1, 1, 1}, {3})); }, "[3]");
}

TEST(Backward, OfWhatNeedsNoGradientIsAnError) {
  load_all();
  Tensor x = Tensor::from(std::vector<double>{1, 2}, {2});
  expect_error([&] { x.sum().backward(); }, "needs no gradient");
}

TEST(Backward, FindsASavedTensorThatWasChanged) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = tn::exp(x);  // saves its output
  tn::add_(y, 1.0);
  expect_error([&] { y.sum().backward(); }, "changed in place");
  Tensor a = leaf({1, 2}), b = a * 2.0, c = b * b;
  tn::mul_(b, 3.0);
  expect_error([&] { c.sum().backward(); }, "output 0 of " + op_name("mul"));
}

TEST(Backward, RunsAndFreesAMillionNodes) {
  load_all();
  Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 1'000'000; ++i) y = y + x;
  y.sum().backward();
  expect_near(x.grad(), {1'000'001});
  Tensor dropped = x;
  for (int i = 0; i < 1'000'000; ++i) dropped = dropped + x;
  dropped = Tensor();  // without running: the chain is freed without recursion
}

TEST(Backward, OfIntegersAndComparisonsStops) {
  load_all();
  Tensor x = leaf({-1, 2});
  Tensor positive = x > 0.0;
  EXPECT_FALSE(positive.requires_grad());
  tn::where(positive, x, x * 10.0).sum().backward();
  expect_near(x.grad(), {10, 1});
}

TEST(Gradients, AreReturnedAndNotAccumulated) {
  load_all();
  Tensor x = leaf({1, 2}), y = leaf({3, 4});
  Tensor middle = x * y;
  TensorList g = tn::grad({(middle * middle).sum()}, {x, middle});
  expect_near(g[0], {2 * 1 * 9, 2 * 2 * 16});
  expect_near(g[1], {6, 16});
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(y.grad().defined());
}

TEST(Gradients, OfUnusedInputsAreRefusedOrNull) {
  load_all();
  Tensor x = leaf({1}), unused = leaf({1});
  expect_error([&] { tn::grad({(x * 2.0).sum()}, {x, unused}); }, "was not used");
  TensorList g = tn::grad({(x * 2.0).sum()}, {x, unused}, {.allow_unused = true});
  expect_near(g[0], {2});
  EXPECT_FALSE(g[1].defined());
}

TEST(Gradients, OfGradients) {
  load_all();
  Tensor x = leaf({2, 3});
  Tensor g = tn::grad((x * x * x).sum(), x, {.create_graph = true});  // 3x^2
  expect_near(g, {12, 27});
  Tensor h = tn::grad(g.sum(), x, {.create_graph = true});  // 6x
  expect_near(h, {12, 18});
  expect_near(tn::grad(h.sum(), x), {6, 6});
}

TEST(Gradients, OfEveryPrimitiveToSecondOrder) {
  load_all();
  for (tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    Tensor a = sample({2, 3}, device), b = sample({3, 4}, device, 1),
           index = tn::tensor<int64_t>({{0, 1, 1}, {1, 0, 0}}).to(device);
    gradcheck([](const TensorList& x) { return tn::prim::matmul(x[0], x[1]); }, {a, b});
    gradcheck([&](const TensorList& x) { return tn::prim::gather(x[0], 0, index); }, {a});
    gradcheck([&](const TensorList& x) { return tn::prim::scatter(x[0], 0, index, x[1], true); },
              {a, sample({2, 3}, device, 2)});
    gradcheck([](const TensorList& x) { return x[0].permute({1, 0}).reshape({6}); }, {a});
    gradcheck([](const TensorList& x) { return x[0].slice(1, 0, 3, 2); }, {a});
    gradcheck([](const TensorList& x) { return x[0].unsqueeze(0).expand({4, 2, 3}); }, {a});
    gradcheck([](const TensorList& x) { return x[0].amax({1}); }, {a});
    for (const bool reverse : {false, true}) {
      gradcheck(
          [&](const TensorList& x) { return tn::prim::scan(TN_REDUCE_SUM, x[0], 1, reverse); },
          {a});
      gradcheck(
          [&](const TensorList& x) { return tn::prim::scan(TN_REDUCE_PROD, x[0], 0, reverse); },
          {a});
      gradcheck([&](const TensorList& x) { return std::get<0>(tn::prim::sort(x[0], 1, reverse)); },
                {a});
    }
    // overlapping
    gradcheck([](const TensorList& x) { return tn::as_strided(x[0], {2, 2}, {1, 1}, 1); }, {a});
  }
}

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

struct ScaledSquare : tn::Function<ScaledSquare> {
  static Tensor forward(tn::Context& context, Tensor x) {
    context.save({x});
    return x * x;
  }
  static Tensor backward(tn::Context& context, Tensor g) { return g * context.saved(0) * 20.0; }
};

TEST(CustomFunction, GivesItsOwnGradient) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor y = ScaledSquare::apply(x);
  expect_near(y, {1, 4});
  Tensor g = tn::grad(y.sum(), x, {.create_graph = true});
  expect_near(g, {20, 40});
  expect_near(tn::grad(g.sum(), x), {20, 20});  // its backward is recorded too
}

// Backward inside backward: the inner one goes through nodes of the outer's graph.
struct Reenters : tn::Function<Reenters> {
  static Tensor forward(tn::Context& context, Tensor x) {
    context.save({x});
    return x * x;
  }
  static Tensor backward(tn::Context& context, Tensor g) {
    tn::EnableGrad on;
    Tensor x = context.saved(0).detach().requires_grad_();
    return g * tn::grad((x * x).sum(), x);
  }
};

struct Sloppy : tn::Function<Sloppy> {
  static Tensor forward(tn::Context&, Tensor x) { return x * 2.f; }
  static Tensor backward(tn::Context&, Tensor g) { return g.to(tn::float64).expand({3, 2}) * 2.0; }
};

// As PyTorch's engine does it.
TEST(CustomFunction, GradientsAreCastAndSummedToTheirInputs) {
  load_all();
  Tensor x = tn::tensor({1.f, 2.f}).requires_grad_();
  Sloppy::apply(x).sum().backward();
  EXPECT_EQ(x.grad().dtype(), tn::float32);
  expect_near(x.grad(), {6, 6});
}

TEST(CustomFunction, MayRunBackwardItself) {
  load_all();
  Tensor x = leaf({3});
  (Reenters::apply(x * 2.0) * 1.0).sum().backward();
  expect_near(x.grad(), {2 * 6 * 2});
}

// The name of a class within a lambda has brackets before it. After an error it is the caller's;
// else it is destroyed with the node, at once where none is needed.
TEST(CustomFunction, TakesItsStateOnSuccessOnly) {
  load_all();
  const tn_autograd_api* api = tn::detail::api.autograd.get();
  const tn_backward_fn backward = [](void*, tn_tensor* const*, uint32_t, tn_tensor**,
                                     uint32_t) -> tn_status* { return nullptr; };
  const auto destroy = [](void* self) { ++*static_cast<int*>(self); };
  const Tensor x = leaf({1, 2}), constant = tn::ones({2}, float64), other_leaf = leaf({3, 4});
  int destroyed = 0;
  const auto record = [&](const char* name, const Tensor& input, tn_tensor* output) {
    tn_tensor* const in[] = {input.get()};
    tn::check(api->custom(name, backward, &destroyed, destroy, in, 1, &output, 1, nullptr, 0));
  };
  expect_error([&] { record("gives_none", x, nullptr); }, "gives_none: output 0 is NULL");
  expect_error([&] { record("gives_a_leaf", x, other_leaf.get()); },
               "gives_a_leaf: output 0 is a leaf that requires a gradient");
  expect_error([&] { record(nullptr, x, constant.get()); }, "custom: the name");
  EXPECT_EQ(destroyed, 0);
  {
    const Tensor y = tn::ones({2}, float64);
    record("recorded", x, y.get());
    EXPECT_TRUE(y.requires_grad());
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
  record("not_needed", constant, tn::ones({2}, float64).get());
  EXPECT_EQ(destroyed, 2);
}

TEST(CustomFunction, IsNamedByItsClass) {
  load_all();
  const auto failing = [](auto) {
    struct Local : tn::Function<Local> {
      static Tensor forward(tn::Context&, Tensor x) { return x * 2.0; }
      static Tensor backward(tn::Context&, Tensor) { tn::fail("no luck"); }
    };
    Local::apply(leaf({1})).sum().backward();
  };
  expect_error([&] { failing(1); }, "backward of Local failed");
  expect_error([&] { failing(std::pair<int, int>()); }, "backward of Local failed");
}

TEST(Modes, NoGradRecordsNothing) {
  load_all();
  Tensor x = leaf({1});
  {
    tn::NoGrad off;
    EXPECT_FALSE((x * 2.0).requires_grad());
    tn::EnableGrad on;
    EXPECT_TRUE((x * 2.0).requires_grad());
  }
  EXPECT_TRUE((x * 2.0).requires_grad());
  expect_near(x.detach(), {1});
  EXPECT_FALSE(x.detach().requires_grad());
}

TEST(Modes, InferenceTensorsNeverEnterAGraph) {
  load_all();
  Tensor x = leaf({1}), plain = tn::ones({1}, float64), made, same;
  {
    tn::InferenceMode inference;
    made = x * 2.0;
    same = tn::dropout(plain, 0.5, false);  // gives its argument back
    tn::add_(plain, 1.0);
  }
  expect_error([&] { made* x; }, "inference mode");
  EXPECT_TRUE((same * x).requires_grad());
  EXPECT_TRUE((plain * x).requires_grad());
  expect_error([&] { made.requires_grad_(); }, "inference mode");
}

TEST(Modes, RequiresGradWantsFloats) {
  load_all();
  expect_error([] { tn::zeros({2}, tn::int64).requires_grad_(); }, "int64");
  Tensor y = leaf({1}) * 2.0;
  expect_error([&] { y.requires_grad_(false); }, "not a leaf");
}

TEST(Graph, CanBeWalked) {
  load_all();
  Tensor x = leaf({1}), y = leaf({2});
  tn::Node node = tn::grad_fn(x * y);
  EXPECT_EQ(node.name(), op_name("mul"));
  ASSERT_EQ(node.n_next(), 2u);
  EXPECT_EQ(node.next(0).name(), "leaf");
  EXPECT_FALSE(tn::grad_fn(x));
}

// Whatever an op is made of, its results say that it made them.
TEST(Graph, NodesBearTheNameOfTheOpThatWasCalled) {
  load_all();
  const auto parameter = [](tn::Ints sizes) { return tn::ones(sizes).requires_grad_(); };
  const Tensor x = parameter({2, 3}), w = parameter({4, 3}), b = parameter({4}),
               image = parameter({1, 2, 5, 5}), filter = parameter({3, 2, 3, 3});
  const Tensor classes = Tensor::from(std::vector<int64_t>{1, 2});
  const auto name = [](const Tensor& y) { return tn::grad_fn(y).name(); };
  EXPECT_EQ(name(tn::sum(x)), op_name("sum"));
  EXPECT_EQ(name(tn::sum(x, {1})), op_name("sum"));
  EXPECT_EQ(name(tn::mean(x)), op_name("mean"));
  EXPECT_EQ(name(tn::prod(x)), op_name("prod"));
  EXPECT_EQ(name(tn::matmul(x, x.t())), op_name("matmul"));
  EXPECT_EQ(name(tn::linear(x, w, b)), op_name("linear"));
  EXPECT_EQ(name(tn::softmax(x)), op_name("softmax"));
  EXPECT_EQ(name(tn::layer_norm(x, {3})), op_name("layer_norm"));
  if (op_name("conv2d") == "conv2d") {  // which is made of private ops of its pack
    EXPECT_EQ(name(tn::conv2d(image, filter)), "conv2d");
    EXPECT_EQ(name(tn::max_pool2d(image, 2)), "max_pool2d");
  }
  EXPECT_EQ(name(tn::mse_loss(x, x * 2)), op_name("mse_loss"));
  EXPECT_EQ(name(tn::cross_entropy(x, classes)), op_name("cross_entropy"));
  EXPECT_EQ(name(tn::cumsum(x, 0)), op_name("cumsum"));
  EXPECT_EQ(name(tn::index_select(x, 0, classes - 1)), op_name("index_select"));
  EXPECT_EQ(name(tn::flip(x, {0})), op_name("flip"));
  EXPECT_EQ(name(x.reshape({6})), op_name("reshape"));
  EXPECT_EQ(name(tn::norm(x.to(tn::float16))), op_name("norm"));
}

TEST(Anomaly, NamesTheForwardCall) {
  load_all();
  tn::AnomalyGuard anomaly;
  Tensor x = leaf({0, 1});
  Tensor y = tn::sqrt(x) * 0.0;  // 0 * inf
  expect_error([&] { y.sum().backward(); }, "forward call: " + op_name("sqrt") + "([2] float64");
}

TEST(Threads, RunBackwardAtOnce) {
  load_all();
  Tensor x = leaf({1, 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) (x * x).sum().backward();
    });
  }
  for (std::thread& t : threads) t.join();
  expect_near(x.grad(), {800, 1600});
}

TEST(Threads, ShareOneGraph) {
  load_all();
  Tensor x = leaf({1, 2});
  Tensor shared = x * x;
  for (int i = 0; i < 50; ++i) shared = shared * 1.0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) shared.sum().backward({}, /*retain_graph=*/true);
    });
  }
  for (std::thread& t : threads) t.join();
  expect_near(x.grad(), {160, 320});
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

// The value that an in-place op saved serves the first gradient and, by its history, the second.
// Values of PyTorch.
TEST(Inplace, OnAViewHasSecondGradients) {
  load_all();
  for (const tn::Device device : devices()) {
    const auto gradients = [&](auto write) {
      Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4}, {1, 4}).to(device).requires_grad_();
      Tensor h = x * 1.0;
      write(h.narrow(1, 2, 2));
      Tensor g = tn::grad((h * h).sum(), x, {.create_graph = true});
      (g * g).sum().backward();
      return x.grad();
    };
    expect_near(gradients([](Tensor v) { tn::sigmoid_(v); }),
                {8, 16, -0.01270757043963096, -0.0022769305225225555});
    expect_near(gradients([](Tensor v) { tn::exp_(v); }),
                {8, 16, 2604076.6627040626, 142177768.32812592}, 1e-12);
  }
}

struct Twice : tn::Function<Twice> {
  static Tensor forward(Context&, Tensor x) { return x * 2.0; }
  static Tensor backward(Context&, Tensor g) { return g * 2.0; }
};

// Of a view that was made before its base was written under gradient.
TEST(CustomFunction, SeesTheGradientOfAViewThatWasThereBefore) {
  load_all();
  Tensor x = Tensor::from(std::vector<double>{1, 2, 3}, {3}), v = x.view({3, 1}),
         w = leaf({1, 2, 3}).to(tn::float64).detach();
  w.requires_grad_();
  EXPECT_FALSE(v.requires_grad());
  EXPECT_TRUE(v.is_leaf());
  tn::mul_(x, w);
  EXPECT_TRUE(v.requires_grad());
  EXPECT_FALSE(v.is_leaf());
  (Twice::apply(v).sum() + x.sum()).backward();
  expect_near(w.grad(), {3, 6, 9});
}

}  // namespace
