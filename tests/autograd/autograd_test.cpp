// The autograd engine through the face: what backward accumulates, what it refuses, modes,
// and graphs too long for recursion. Values are closed forms.
#include <thread>

#include "autograd_support.h"

namespace {

using tn::float64;

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
      const Tensor slope = tn::grad(twice.sum(), x);
      EXPECT_EQ(slope[0].item<double>(), 20);
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

// Each repetition of an element has a gradient of its own (PyTorch 2.15's values).
TEST(Gradients, OfViewsOfWhatIsExpanded) {
  load_all();
  for (tn::Device device : devices()) {
    SCOPED_TRACE(device.name());
    const auto gradient = [&](const std::function<Tensor(const Tensor&)>& view) {
      const Tensor x = tn::tensor({1., 2.}, device).expand({3, 2}).requires_grad_();
      const Tensor y = view(x);
      (y * y * 0.5).sum().backward();
      return x.grad().to_vector<double>();
    };
    using Values = std::vector<double>;
    EXPECT_EQ(gradient([](const Tensor& x) { return x.select(0, 1); }), (Values{0, 0, 1, 2, 0, 0}));
    EXPECT_EQ(gradient([](const Tensor& x) { return x.narrow(0, 1, 2); }),
              (Values{0, 0, 1, 2, 1, 2}));
    EXPECT_EQ(gradient([](const Tensor& x) { return x.t().select(0, 1); }),
              (Values{0, 2, 0, 2, 0, 2}));
    EXPECT_EQ(gradient([](const Tensor& x) { return x.diagonal(-1); }), (Values{0, 0, 1, 0, 0, 2}));
    EXPECT_EQ(gradient([](const Tensor& x) { return x.unsqueeze(1).select(0, 2); }),
              (Values{0, 0, 0, 0, 1, 2}));
    EXPECT_EQ(gradient([](const Tensor& x) { return tn::split(x, 2, 0)[0]; }),
              (Values{1, 2, 1, 2, 0, 0}));
    EXPECT_EQ(gradient([](const Tensor& x) { return tn::matmul(x.mT(), tn::ones_like(x)); }),
              (Values{6, 12, 6, 12, 6, 12}));
    Tensor w = tn::tensor({1., 2.}, device).requires_grad_();
    Tensor middle = (w * 2).expand({2, 2});
    middle.retain_grad();
    middle.select(0, 1).sum().backward();
    EXPECT_EQ(middle.grad().to_vector<double>(), (Values{0, 0, 1, 1}));
    EXPECT_EQ(w.grad().to_vector<double>(), (Values{2, 2}));
    gradcheck(
        [](const TensorList& x) {
          return x[0].expand({3, 2, 3}).select(0, 1).square();
        },
        {sample({2, 3}, device)});
    // as_strided is about memory: both repetitions share what it shows.
    const Tensor x = tn::tensor({1., 2.}, device).expand({2, 2}).requires_grad_();
    tn::as_strided(x, {2}, {1}).sum().backward();
    EXPECT_EQ(x.grad().to_vector<double>(), (Values{0.5, 0.5, 0.5, 0.5}));
  }
}

// What windows that overlap show several times has a gradient for each time, also where they are viewed
// again: as of a copy of them.
TEST(Gradients, OfViewsOfWindowsThatOverlap) {
  load_all();
  using View = std::function<std::vector<Tensor>(const Tensor&)>;
  const std::pair<const char*, View> views[] = {
      {"t", [](const Tensor& x) { return TensorList{x.transpose(0, 1)}; }},
      {"permute",
       [](const Tensor& x) {
         return TensorList{x.permute({2, 0, 1})};
       }},
      {"select", [](const Tensor& x) { return TensorList{x.select(1, 1)}; }},
      {"narrow", [](const Tensor& x) { return TensorList{x.narrow(0, 1, 2)}; }},
      {"slice", [](const Tensor& x) { return TensorList{x.slice(0, 0, 3, 2)}; }},
      {"unsqueeze", [](const Tensor& x) { return TensorList{x.unsqueeze(1)}; }},
      {"squeeze", [](const Tensor& x) { return TensorList{x.unsqueeze(0).squeeze(0)}; }},
      {"diagonal", [](const Tensor& x) { return TensorList{x.diagonal(0, 0, 1)}; }},
      {"movedim", [](const Tensor& x) { return TensorList{tn::movedim(x, 0, 2)}; }},
      {"view",
       [](const Tensor& x) {
         return TensorList{x.view({3, 3, 1, 2})};
       }},
      {"index", [](const Tensor& x) { return TensorList{x[{1}]}; }},
      {"unfold", [](const Tensor& x) { return TensorList{x.unfold(0, 2, 1)}; }},
      {"expand",
       [](const Tensor& x) {
         return TensorList{x.unsqueeze(0).expand({2, 3, 3, 2})};
       }},
      {"chunk", [](const Tensor& x) { return tn::chunk(x, 2, 0); }},
      {"unbind", [](const Tensor& x) { return tn::unbind(x, 1); }},
      {"twice", [](const Tensor& x) { return TensorList{x.transpose(0, 2).select(0, 1)}; }}};
  for (tn::Device device : devices()) {
    for (const auto& [name, view] : views) {
      SCOPED_TRACE(device.name() + " " + name);
      const std::function<Tensor(const Tensor&)> windows[] = {
          [](const Tensor& x) { return x.unfold(0, 2, 1).unfold(0, 3, 2).transpose(1, 2); },
          [](const Tensor& x) {
            return tn::as_strided(x, {3, 3, 2}, {2, 1, 1});
          },
          [](const Tensor& x) {
            return tn::as_strided(x, {3, 3, 2}, {1, 2, 1});
          }};
      for (const auto& windowed : windows) {
        std::vector<double> gradients[2];
        for (const bool is_copied : {false, true}) {
          const Tensor x = sample({8}, device).requires_grad_(), w = windowed(x);
          const std::vector<Tensor> parts = view(is_copied ? w.clone() : w);
          Tensor sum = tn::zeros({}, tn::float64, device);
          for (size_t k = 0; k < parts.size(); ++k) {
            const Tensor weights =
                sample({parts[k].sizes().begin(), parts[k].sizes().end()}, device);
            sum = sum + (parts[k].square() * weights).sum() * static_cast<double>(k + 1);
          }
          const Tensor first = tn::grad(sum, x, {.create_graph = true});
          first.square().sum().backward();
          gradients[is_copied] = first.detach().to_vector<double>();
          for (const double v : x.grad().to_vector<double>()) gradients[is_copied].push_back(v);
        }
        for (size_t i = 0; i < gradients[0].size(); ++i)
          EXPECT_NEAR(gradients[0][i], gradients[1][i], 1e-12) << i;
      }
      const Tensor leaf =
          tn::as_strided(sample({8}, device), {3, 3, 2}, {2, 1, 1}).detach().requires_grad_();
      const Tensor copy = leaf.detach().clone().requires_grad_();
      for (const Tensor& x : {leaf, copy}) {
        Tensor sum = tn::zeros({}, tn::float64, device);
        for (const Tensor& part : view(x)) sum = sum + (part * part).sum();
        sum.backward();
      }
      EXPECT_EQ(leaf.grad().to_vector<double>(), copy.grad().to_vector<double>());
    }
  }
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

// As in PyTorch: also of graphs that were made before.
TEST(Autograd, ALeafThatAsksNoMoreGetsNothing) {
  const Tensor x = tn::ones({1}).requires_grad_(), w = tn::ones({1}).requires_grad_();
  const Tensor y = x * w;
  x.requires_grad_(false);
  y.backward();
  EXPECT_FALSE(x.grad().defined());
  expect_near(w.grad(), {1});
  x.requires_grad_();
  (x * 2).backward();
  expect_near(x.grad(), {2});
  tn::autograd::backward({x * 2, x * 3}, {tn::ones({1}), tn::full({1}, 10.0)});
  expect_near(x.grad(), {34});
}

// As in PyTorch: what made the tensor whose gradient is asked for is not gone through.
TEST(Autograd, TheGradientOfAnIntermediateLeavesItsGraph) {
  const Tensor x = tn::tensor({2.0, 3.0}).requires_grad_(), y = x * x;
  expect_near(tn::grad((y * y).sum(), y), {8, 18});
  y.sum().backward();
  expect_near(x.grad(), {4, 6});
}

}  // namespace
