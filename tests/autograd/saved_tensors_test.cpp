// SavedTensorsHooks and SaveOnCpu: gradients through what a program packs and unpacks. Values are closed
// forms, or those of the same calls without hooks.
#include <cmath>
#include <optional>

#include <tenon/checkpoint_call.hpp>
#include <tenon/saved_tensors.hpp>

#include "autograd_support.h"
#include "message_of.h"

namespace {

using tn::float64;

struct Counted {
  Tensor values;
  std::shared_ptr<int> token;
};

TEST(SavedTensors, BackwardReadsWhatUnpackGives) {
  load_all();
  for (const tn::Device device : devices()) {
    Tensor x = tn::tensor({2.0, 3.0}, {.dtype = float64, .device = device}).requires_grad_();
    int packed = 0, unpacked = 0;
    Tensor y;
    {
      const tn::SavedTensorsHooks scope(
          [&](Tensor t) {
            EXPECT_FALSE(t.requires_grad());
            ++packed;
            return t * 10.0;
          },
          [&](const Tensor& t) {
            ++unpacked;
            return t * 1.0;
          });
      y = (x * x).sum();
    }
    EXPECT_GT(packed, 0);
    EXPECT_EQ(unpacked, 0);
    y.backward();
    EXPECT_GT(unpacked, 0);
    expect_near(x.grad(), {40, 60});  // 2x, of ten times x
    // Behind the scope nothing is packed.
    const int before = packed;
    x.zero_grad();
    (x * x).sum().backward();
    expect_near(x.grad(), {4, 6});
    EXPECT_EQ(packed, before);
  }
}

// A network of most kinds of nodes: formulas, pairs of kernels, vjps, primitives, views, writes in place.
Tensor network(const Tensor& x, const Tensor& w, const Tensor& image, const Tensor& filter) {
  Tensor h = tn::softmax(tn::matmul(x, w), 1).tanh();
  h = tn::layer_norm(h, {4}) * x.exp();
  Tensor part = h.clone();
  part.narrow(1, 0, 2).mul_(x.narrow(1, 2, 2));
  part.sigmoid_();
  const Tensor picture = tn::conv2d(image, filter).relu();
  return part.prod(1).sum() + tn::max_pool2d(picture, 2).square().mean() + h.std() +
         x.cumsum(0).sum();
}

TEST(SavedTensors, GradientsAreThoseWithoutHooks) {
  load_all();
  for (const tn::Device device : devices()) {
    tn::manual_seed(3);
    const auto make = [&](tn::Ints sizes) {
      return tn::randn(sizes, {.dtype = float64}).to(device).requires_grad_();
    };
    const std::vector<Tensor> leaves = {make({3, 4}), make({4, 4}), make({2, 3, 6, 6}),
                                        make({2, 3, 3, 3})};
    const auto run = [&] { return network(leaves[0], leaves[1], leaves[2], leaves[3]); };
    const auto plain = tn::grad(run(), leaves);
    std::vector<Tensor> hooked, saved;
    {
      const tn::SavedTensorsHooks scope([](Tensor t) { return t.clone(); },
                                        [](const Tensor& t) { return t; });
      hooked = tn::grad(run(), leaves);
    }
    {
      const tn::SaveOnCpu scope;
      saved = tn::grad(run(), leaves);
    }
    for (size_t i = 0; i < leaves.size(); ++i) {
      EXPECT_TRUE(tn::equal(plain[i], hooked[i])) << i << " on " << device.name();
      EXPECT_TRUE(tn::equal(plain[i], saved[i])) << i << " on " << device.name();
    }
  }
}

TEST(SavedTensors, SecondGradientsGoOnWhereTheTensorsCameFrom) {
  load_all();
  Tensor x = leaf({2, 3});
  const tn::SavedTensorsHooks scope([](Tensor t) { return t.clone(); },
                                    [](const Tensor& t) { return t; });
  // x^4 and exp(2x), by outputs that are saved, inputs with a history, and a leaf.
  const Tensor y = ((x * x) * (x * x)).sum() + tn::exp(x * 2.0).sum();
  const Tensor g = tn::grad(y, x, {.create_graph = true});
  expect_near(g, {32 + 2 * std::exp(4.0), 108 + 2 * std::exp(6.0)}, 1e-9);
  expect_near(tn::grad(g.sum(), x), {48 + 4 * std::exp(4.0), 108 + 4 * std::exp(6.0)}, 1e-9);
}

TEST(SavedTensors, TheInnermostScopeCounts) {
  load_all();
  Tensor x = leaf({2});
  const auto times = [](double factor) {
    return tn::SavedTensorsHooks([](Tensor t) { return t; },
                                 [factor](const Tensor& t) { return t * factor; });
  };
  const auto outer = times(2);
  Tensor inner_y, outer_y;
  {
    const auto inner = times(5);
    inner_y = x * x;
  }
  outer_y = x * x;
  expect_near(tn::grad(inner_y.sum(), x), {20});
  expect_near(tn::grad(outer_y.sum(), x), {8});
}

TEST(SavedTensors, WhatIsPackedGoesWithTheGraph) {
  load_all();
  Tensor x = leaf({1, 2});
  const auto token = std::make_shared<int>(0);
  Tensor y;
  {
    const tn::SavedTensorsHooks scope(
        [token](Tensor t) {
          return Counted{t, token};
        },
        [](const Counted& c) { return c.values; });
    y = (x * x).sum();
  }
  EXPECT_GT(token.use_count(), 1);
  y.backward({}, /*retain_graph=*/true);
  EXPECT_GT(token.use_count(), 1);
  y.backward();
  // The tensors are gone; the functions live as long as who may use them, which is nobody.
  EXPECT_EQ(token.use_count(), 1);
  expect_near(x.grad(), {4, 8});
  EXPECT_NE(message_of([&] { y.backward(); }).find("was used already"), std::string::npos);
  {
    const tn::SavedTensorsHooks scope(
        [token](Tensor t) {
          return Counted{t, token};
        },
        [](const Counted& c) { return c.values; });
    y = (x * x).sum();
  }
  y = Tensor();
  EXPECT_EQ(token.use_count(), 1) << "a graph that is dropped without a backward";
}

struct Cube : tn::Function<Cube> {
  static Tensor forward(tn::Context& context, const Tensor& x) {
    context.save_for_backward({x});
    return x * x * x;
  }
  static Tensor backward(tn::Context& context, const Tensor& g) {
    const Tensor x = context.saved(0);
    return g * x * x * 3.0;
  }
};

TEST(SavedTensors, CustomFunctionsSaveByThem) {
  load_all();
  Tensor x = leaf({2});
  Tensor y;
  {
    const tn::SavedTensorsHooks scope([](Tensor t) { return t; },
                                      [](const Tensor& t) { return t + 1.0; });
    y = Cube::apply(x);
  }
  expect_near(tn::grad(y.sum(), x), {27});
}

TEST(SavedTensors, ErrorsSayWhatWentWrong) {
  load_all();
  Tensor x = leaf({2, 3});
  {
    const tn::SavedTensorsHooks scope([](Tensor) -> Tensor { tn::fail("no room"); },
                                      [](const Tensor& t) { return t; });
    EXPECT_NE(message_of([&] { x* x; }).find("no room"), std::string::npos);
    EXPECT_NE(message_of([&] { tn::softmax(x, 0); }).find("no room"), std::string::npos);
    EXPECT_EQ((x + 1.0).numel(), 2) << "nothing is saved";
    const tn::NoGrad off;
    EXPECT_EQ((x * x).numel(), 2);
  }
  const auto backward_with = [&](auto unpack) {
    Tensor y;
    {
      const tn::SavedTensorsHooks scope([](Tensor t) { return t; }, unpack);
      y = (x * x).sum();
    }
    return message_of([&] { y.backward(); });
  };
  EXPECT_NE(backward_with([](const Tensor&) { return tn::zeros({3}, float64); })
                .find("mul: what was saved for its gradient was unpacked as [3] float64 on cpu, "
                      "expected [2] float64 on cpu"),
            std::string::npos);
  EXPECT_NE(backward_with([](const Tensor&) { return Tensor(); }).find("was unpacked as nothing"),
            std::string::npos);
  EXPECT_NE(backward_with([](const Tensor&) -> Tensor { tn::fail("lost"); }).find("lost"),
            std::string::npos);
}

TEST(SavedTensors, CompiledFunctionsRunEagerlyWithin) {
  load_all();
  Tensor w = leaf({2, 3});
  int packed = 0;
  auto f = tn::compile([&](Tensor x) {
    w.zero_grad();
    (x * w * w).sum().backward();
    return w.grad() * 1.0;
  });
  const Tensor one = tn::ones({}, float64);
  for (int i = 0; i < 4; ++i) expect_near(f(one), {4, 6});
  const tn::SavedTensorsHooks scope(
      [&](Tensor t) {
        ++packed;
        return t;
      },
      [](const Tensor& t) { return t; });
  expect_near(f(one), {4, 6});
  EXPECT_GT(packed, 0);
}

// What is computed again looks at what its tensors need, as without hooks.
TEST(SavedTensors, WhatIsComputedAgainHasItsHistory) {
  load_all();
  const auto gradient = [](bool on_cpu) {
    Tensor x = leaf({1, 2});
    std::optional<tn::SaveOnCpu> scope;
    if (on_cpu) scope.emplace();
    tn::checkpoint_call([](Tensor a) { return a.exp() * a; }, x * 2.0).sum().backward();
    tn::checkpoint_call([](Tensor a) { return a.exp() * a; }, x).sum().backward();
    return x.grad();
  };
  EXPECT_TRUE(tn::equal(gradient(true), gradient(false)));
}

struct SineAgain : tn::Function<SineAgain> {
  static Tensor forward(tn::Context& context, const Tensor& x) {
    context.save_for_backward({x});
    return x.sin();
  }
  static Tensor backward(tn::Context& context, const Tensor& g) {
    const Tensor x = context.saved(0);
    EXPECT_TRUE(x.requires_grad());
    const tn::SetGradEnabled on(true);
    return tn::grad(x.sin().sum(), x) * g;
  }
};

TEST(SavedTensors, FunctionsSeeWhatTheirTensorsNeed) {
  load_all();
  Tensor x = leaf({0.25, 2});
  const tn::SaveOnCpu scope;
  SineAgain::apply(x).sum().backward();
  SineAgain::apply(x * 1.0).sum().backward();
  expect_near(x.grad(), {2 * std::cos(0.25), 2 * std::cos(2.0)});
}

// What was written has its new history then, so that no gradient is silently another's.
TEST(SavedTensors, AWriteWhosePackFailsIsRecorded) {
  load_all();
  const auto written = [](auto write) {
    Tensor x = leaf({0.5, 0.25}), h = x * 2.0;
    const std::string message = message_of([&] {
      const tn::SavedTensorsHooks scope([](Tensor) -> Tensor { tn::fail("disk full"); },
                                        [](const Tensor& t) { return t; });
      write(h);
    });
    EXPECT_NE(message.find("disk full"), std::string::npos) << message;
    h.sum().backward();
    return x.grad();
  };
  const auto s = [](double v) { return 2 / (1 + std::exp(-2 * v)) / (1 + std::exp(2 * v)); };
  expect_near(written([](Tensor h) { h.sigmoid_(); }), {s(0.5), s(0.25)});
  expect_near(written([](Tensor h) {
                h.mul_(tn::tensor({3.0, 4.0}, float64).requires_grad_());
              }),
              {6, 8});
}

}  // namespace
