// Activation checkpointing: values and gradients are the bits of the plain call, and less memory is
// held. Other numbers are closed forms.
#include <thread>

#include <tenon/checkpoint_call.hpp>
#include <tenon/profiler.hpp>

#include "autograd_support.h"
#include "compile_support.h"

namespace {

namespace nn = tn::nn;
using tn::float32;
using tn::float64;
using tn::Object;

Object make_block(double dropout = 0.3) {
  return nn::Sequential(nn::LayerNorm({6}), nn::Linear(6, 12), nn::GELU(), nn::Dropout(dropout),
                        nn::Linear(12, 6));
}

// The loss, and the gradients of the input and of all parameters.
struct Outcome {
  std::vector<Tensor> tensors;
  tn::RandomState random;
};
template <typename F>
Outcome outcome_of(const Object& model, const Tensor& x, F&& forward) {
  tn::manual_seed(5);
  Tensor input = x.detach().clone().requires_grad_();
  model.zero_grad();
  const Tensor loss = forward(input * 1.0).square().sum();
  loss.backward();
  Outcome outcome{{loss.detach(), input.grad()}, tn::random_state()};
  for (const Tensor& p : model.parameters()) {
    outcome.tensors.push_back(p.grad());
    EXPECT_TRUE(p.grad().defined());
  }
  return outcome;
}
void expect_same(const Outcome& a, const Outcome& b) {
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) expect_same_bits(a.tensors[i], b.tensors[i]);
  EXPECT_EQ(a.random, b.random);
}

TEST(CheckpointCall, HasTheBitsOfThePlainCall) {
  load_all();
  for (const char* device : {"cpu", second_device()}) {
    const Object a = make_block(), b = make_block();
    const Object model = nn::Sequential(a, b);
    model.to(device);
    const Tensor x = tn::randn({4, 6}, float32, device);
    const Outcome plain = outcome_of(model, x, [&](Tensor t) { return b(a(t) + t).sin(); });
    const auto first = [=](Tensor u) { return a(u) + u; };
    const Outcome parts = outcome_of(model, x, [&](Tensor t) {
      return tn::checkpoint_call(b, tn::checkpoint_call(first, t)).sin();
    });
    const Outcome whole = outcome_of(model, x, [&](Tensor t) {
      return tn::checkpoint_call([=](Tensor u) { return b(a(u) + u).sin(); }, t);
    });
    const Outcome nested = outcome_of(model, x, [&](Tensor t) {
      const auto inner = [=](Tensor u) { return tn::checkpoint_call(b, u).sin(); };
      return tn::checkpoint_call(
          [=](Tensor u) { return tn::checkpoint_call(inner, tn::checkpoint_call(first, u)); }, t);
    });
    expect_same(plain, parts);
    expect_same(plain, whole);
    expect_same(plain, nested);
  }
}

TEST(CheckpointCall, NeedsNoInputThatNeedsAGradient) {
  load_all();
  const Object model = make_block();
  const Tensor x = tn::randn({4, 6});
  tn::manual_seed(1);
  model(x).square().sum().backward();
  std::vector<Tensor> plain;
  for (const Tensor& p : model.parameters()) plain.push_back(p.grad());
  model.zero_grad();
  tn::manual_seed(1);
  tn::checkpoint_call(model, x).square().sum().backward();
  for (size_t i = 0; i < plain.size(); ++i)
    expect_same_bits(plain[i], model.parameters()[i].grad());

  model.requires_grad_(false);
  model.zero_grad();
  EXPECT_FALSE(tn::checkpoint_call(model, x).requires_grad());
  const Tensor input = x.clone().requires_grad_();
  tn::checkpoint_call(model, input).sum().backward();
  EXPECT_TRUE(input.grad().defined());
  const tn::NoGrad guard;
  EXPECT_FALSE(tn::checkpoint_call(model, input).requires_grad());
}

// In backward within the scope, which PyTorch's users write too, the scope is off: only the call that
// is repeated has it on.
TEST(CheckpointCall, AViewMayBeWrittenInPlaceAndAnInputMayNot) {
  load_all();
  const Tensor x = leaf({1, 2});
  Tensor y = tn::checkpoint_call([](Tensor t) { return (t * 3.0).view({2, 1}); }, x * 1.0);
  y.mul_(2.0);
  expect_near(tn::grad(y.sum(), x), {6, 6});
  const Tensor h = x * 1.0, same = tn::checkpoint_call([](Tensor t) { return t; }, h);
  expect_error([&] { same.mul_(2.0); }, "gave of memory that others hold");
  expect_near(tn::grad((same * h).sum(), x), {2, 4});
  const Tensor w = leaf({1, 1});
  const Tensor shown = tn::checkpoint_call([&](Tensor) { return w.view({2}); }, x * 1.0);
  expect_error([&] { shown.mul_(3.0); }, "in place");
  expect_near(w, {1, 1});
  const auto [whole, part] = tn::checkpoint_call(
      [](Tensor t) {
        Tensor all = t * 2.0;
        return std::tuple<Tensor, Tensor>(all, all[0]);
      },
      x * 1.0);
  expect_error([&, &all = whole] { all.mul_(3.0); }, "gave of memory that others hold");
  expect_near(tn::grad(part, x), {2, 0});
}

TEST(CheckpointCall, RepeatsAutocast) {
  load_all();
  for (const char* device : {"cpu", second_device()}) {
    const Object a = make_block(), b = nn::Linear(6, 6), model = nn::Sequential(a, b);
    model.to(device);
    const Tensor x = tn::randn({4, 6}, float32, device);
    const auto run = [&](bool checkpointed, bool backward_inside) {
      tn::manual_seed(3);
      model.zero_grad();
      std::vector<Tensor> made;
      {
        tn::Autocast scope(device, tn::bfloat16);
        Tensor h = b(x).tanh();
        h = checkpointed ? tn::checkpoint_call(a, h) : a(h);
        EXPECT_EQ(h.dtype(), tn::bfloat16);
        const Tensor y = b(h.to(float32)).to(float32).square().sum();
        if (backward_inside) y.backward();
        EXPECT_EQ(b(x).dtype(), tn::bfloat16);
        made.push_back(y.detach());
        if (!backward_inside) made.push_back(y);
      }
      if (!backward_inside) made[1].backward();
      EXPECT_FALSE(tn::autocast_enabled());
      EXPECT_EQ(b(x).dtype(), float32);
      made.resize(1);
      for (const Tensor& p : model.parameters()) made.push_back(p.grad());
      return made;
    };
    const auto plain = run(false, false);
    for (bool inside : {false, true}) {
      const auto checkpointed = run(true, inside);
      for (size_t i = 0; i < plain.size(); ++i) expect_same_bits(plain[i], checkpointed[i]);
    }
  }
}

TEST(CheckpointCall, TellsWhenTheScopeOfAutocastIsUnknown) {
  load_all();
  tn::check(tn::detail::api.amp->enter(tn::cpu.value, TN_BFLOAT16, nullptr));
  expect_error(
      [] {
        tn::checkpoint_call(nn::Linear(2, 2), tn::ones({1, 2}));
      },
      "checkpoint_call: autocast is on, but by no tenon::Autocast of this library");
  tn::check(tn::detail::api.amp->leave());
}

TEST(CheckpointCall, GivesGradientsWithoutAccumulating) {
  load_all();
  const Tensor w = leaf({2, 3}), unused = leaf({1}), x = leaf({5, 7});
  const Tensor y = tn::checkpoint_call([=](Tensor t) { return t * w; }, x).sum();
  const auto g = tn::grad({y}, {w, x, unused}, {.retain_graph = true, .allow_unused = true});
  expect_near(g[0], {5, 7});
  expect_near(g[1], {2, 3});
  EXPECT_FALSE(g[2].defined());
  EXPECT_FALSE(w.grad().defined());
  EXPECT_FALSE(x.grad().defined());
  y.backward({}, true);
  y.backward();
  expect_near(w.grad(), {10, 14});
  expect_error([&] { y.backward(); }, "was used already and its saved tensors are freed");
}

// y = (w h)^2 with h = w x, where w is used inside and before: y = w^4 x^2.
TEST(CheckpointCall, GradientsHaveGradients) {
  load_all();
  const Tensor w = leaf({2}), x = leaf({3});
  const Tensor y = tn::checkpoint_call([=](Tensor h) { return (w * h).square(); }, w * x);
  expect_near(y, {144});
  const auto first = tn::grad({y.sum()}, {w, x}, {.create_graph = true});
  expect_near(first[0], {4 * 8 * 9});  // 4 w^3 x^2
  expect_near(first[1], {2 * 16 * 3});
  const auto second = tn::grad({first[0].sum()}, {w, x}, {.create_graph = true});
  expect_near(second[0], {12 * 4 * 9});
  expect_near(second[1], {8 * 8 * 3});
  expect_near(tn::grad(second[0].sum(), w), {24 * 2 * 9});
  // Through something that is made twice inside, too.
  const Tensor z = tn::checkpoint_call([](Tensor t) { return t.sin().sin(); }, x);
  const Tensor plain = x.sin().sin();
  const Tensor a = tn::grad(z.sum(), x, {.create_graph = true}),
               b = tn::grad(plain.sum(), x, {.create_graph = true});
  expect_same_bits(tn::grad(a.sum(), x), tn::grad(b.sum(), x));
}

TEST(CheckpointCall, TakesAndGivesSeveralTensorsAndOtherValues) {
  load_all();
  const Tensor a = leaf({1, 2}), b = leaf({3, 4});
  const auto f = [](Tensor x, int64_t n, std::vector<Tensor> more, Tensor none,
                    std::optional<Tensor> given) {
    EXPECT_FALSE(none.defined());
    return std::tuple(x * more[0] * double(n), tn::gt(x, 1.5), *given + 1.0, more[1]);
  };
  auto [product, greater, sum, same] = tn::checkpoint_call(
      f, a, int64_t(3), std::vector<Tensor>{b, b}, Tensor(), std::optional<Tensor>(b));
  expect_near(product, {9, 24});
  EXPECT_EQ(greater.to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_FALSE(greater.requires_grad());
  tn::backward({product.sum(), sum.sum(), same.sum()});
  expect_near(a.grad(), {9, 12});
  expect_near(b.grad(), {3 + 2, 6 + 2});

  // What gets no gradient gives none.
  auto both = tn::checkpoint_call(
      [](Tensor x, Tensor y) {
        return std::array<Tensor, 2>{x.square(), y.square()};
      },
      a, b);
  const auto g = tn::grad({both[0].sum()}, {a, b}, {.allow_unused = true});
  expect_near(g[0], {2, 4});
  EXPECT_FALSE(g[1].defined());
  // A leaf that the function uses, given back as it is.
  const Tensor w = leaf({7});
  tn::checkpoint_call([=](Tensor) { return w; }, a).sum().backward();
  expect_near(w.grad(), {1});
}

// Weights that come to an op in lists, and a layer that gives a tuple.
TEST(CheckpointCall, TakesRecurrentLayers) {
  load_all();
  const nn::LSTMLayer lstm(
      nn::LSTM(3, 4, {.num_layers = 2, .dropout = 0.25, .bidirectional = true}));
  const Tensor x = tn::randn({5, 2, 3});
  std::vector<Tensor> plain;
  for (const bool checkpointed : {false, true}) {
    lstm.zero_grad();
    tn::manual_seed(2);
    auto [y, h, c] = checkpointed ? tn::checkpoint_call(lstm, x) : lstm(x);
    (y.square().sum() + h.sum() + c.sin().sum()).backward();
    for (size_t i = 0; i < lstm.parameters().size(); ++i) {
      const Tensor g = lstm.parameters()[i].grad();
      if (checkpointed) {
        expect_same_bits(plain[i], g);
      } else {
        plain.push_back(g);
      }
    }
  }
}

TEST(CheckpointCall, LeavesRowSparseGradients) {
  load_all();
  const Object table = nn::Embedding(5, 2, {.sparse = true});
  tn::checkpoint_call(table, tn::tensor({1, 3})).sum().backward();
  EXPECT_TRUE(table.tensor("weight").grad().is_row_sparse());
  expect_near(table.tensor("weight").grad().to_dense().sum({1}), {0, 2, 0, 2, 0});
}

// Where backward runs does not matter: scopes are of threads, nodes are not.
TEST(CheckpointCall, IsRepeatedOnTheThreadOfBackward) {
  load_all();
  const Object layer = nn::Linear(6, 6);
  const Tensor x = tn::randn({4, 6});
  std::vector<Tensor> gradients;
  for (const bool checkpointed : {false, true}) {
    layer.zero_grad();
    Tensor y;
    {
      tn::Autocast scope(tn::cpu);
      y = (checkpointed ? tn::checkpoint_call(layer, x) : layer(x)).square().sum();
    }
    std::thread([&] { y.backward(); }).join();
    gradients.push_back(layer.tensor("weight").grad());
  }
  expect_same_bits(gradients[0], gradients[1]);
}

TEST(CheckpointCall, SaysWhatItCannotRepeat) {
  load_all();
  const Tensor x = leaf({1, 2}), w = leaf({3, 4}), h = w * 2.0;
  expect_error([&] { tn::checkpoint_call([=](Tensor t) { return t * h; }, x); },
               "checkpoint_call: the function uses a tensor that has a history and is none of its "
               "arguments; give it as an argument");
  expect_near(
      tn::grad(tn::checkpoint_call([](Tensor t, Tensor u) { return t * u; }, x, h).sum(), w),
      {2, 4});

  int calls = 0;
  const auto other_each_time = [&calls](Tensor t) {
    return ++calls % 2 == 1 ? t * 2.0 : tn::cat({t, t}, 0);
  };
  expect_error(
      [&] { tn::checkpoint_call(other_each_time, x).sum().backward(); },
      "checkpoint_call: result 0 was [2] float64 on cpu in forward and is [4] float64 on cpu "
      "in backward; the function has to do the same both times");
  calls = 0;
  const auto without = [&calls](Tensor t) { return ++calls == 1 ? t * 2.0 : t.detach(); };
  expect_error([&] { tn::checkpoint_call(without, x).sum().backward(); },
               "and is [2] float64 on cpu, without a gradient, in backward");
  calls = 0;
  const auto more = [&calls](Tensor t) { return std::vector<Tensor>(size_t(++calls), t * 1.0); };
  expect_error([&] { tn::checkpoint_call(more, x)[0].sum().backward(); },
               "checkpoint_call: the function gave 1 tensors in forward and 2 in backward");

  const Tensor input = x * 1.0, y = tn::checkpoint_call([=](Tensor t) { return t + w; }, input);
  {
    const tn::NoGrad guard;
    tn::add_(w, 1.0);
  }
  expect_error([&] { y.sum().backward(); },
               "checkpoint_call: a tensor saved for its gradient was changed in place");
  // An error inside leaves no listener behind.
  expect_error([&] { tn::checkpoint_call([](Tensor) -> Tensor { tn::fail("no luck"); }, x); },
               "no luck");
  EXPECT_EQ(tn::checkpoint_call([](Tensor t) { return t * 2.0; }, x).to_vector<double>(),
            (std::vector<double>{2, 4}));
}

// A profiler sees the calls of forward and backward.
TEST(CheckpointCall, LeavesAProfilerOn) {
  load_all();
  const Tensor x = leaf({1, 2});
  tn::Profiler profiler;
  profiler.start();
  tn::checkpoint_call([](Tensor t) { return t.sin(); }, x).exp().sum().backward();
  profiler.stop();
  int sines = 0, exponentials = 0;
  for (const auto& event : profiler.events()) {
    if (event.kind != tn::Profiler::Kind::call) continue;
    sines += event.name == op_name("sin");
    exponentials += event.name == op_name("exp");
  }
  EXPECT_EQ(sines, 2);
  EXPECT_GE(exponentials, 1);
}

// Eight blocks of activations of 128 KiB each: the plain call holds several of each block until
// backward. What a step holds at most is asked of the device, the smaller one first, as the most is
// that since the start.
TEST(CheckpointCall, HoldsLessMemory) {
  load_all();
  for (const char* name : {"cpu", second_device()}) {
    const tn::Device device(name);
    std::vector<Object> blocks;
    for (int i = 0; i < 8; ++i)
      blocks.push_back(
          nn::Sequential(nn::Linear(64, 64), nn::GELU(), nn::Linear(64, 64), nn::Tanh()));
    const Object model = Object::create("Sequential", blocks);
    model.to(device);
    const auto peak = [&](auto forward) {
      model.zero_grad();
      device.synchronize();
      const uint64_t before = device.memory_stats().allocated;
      {
        const Tensor x = tn::randn({512, 64}, float32, device);
        forward(x).mean().backward();
      }
      device.synchronize();
      return int64_t(device.memory_stats().peak_allocated - before);
    };
    const int64_t each_tensor = 512 * 64 * 4;
    const int64_t one_block = peak([&](Tensor x) { return blocks[0](x); });
    const int64_t each = peak([&](Tensor x) {
      for (const Object& block : blocks) x = tn::checkpoint_call(block, x);
      return x;
    });
    const int64_t four = peak([&](Tensor x) { return tn::checkpoint_sequential(model, 4, x); });
    const int64_t plain = peak([&](Tensor x) { return model(x); });
    // Each block has three tensors or more besides its input, of which one block's are there at a time.
    EXPECT_GE(plain - each, 8 * each_tensor) << name;
    EXPECT_LT(four, plain) << name;
    // An input for each block, the result, and what one block needs, which a processor's kernels have a
    // part in. (cuda's libraries take tens of MiB besides.)
    if (device.is_cpu()) {
      EXPECT_LE(each, (8 + 1) * each_tensor + one_block);
    }
  }
}

TEST(CheckpointSequential, HasTheBitsOfTheModel) {
  load_all();
  const Object model =
      nn::Sequential(nn::Linear(6, 6), nn::GELU(), nn::Dropout(0.2), nn::Linear(6, 6), nn::Tanh());
  const Tensor x = tn::randn({4, 6});
  const Outcome plain = outcome_of(model, x, [&](Tensor t) { return model(t); });
  for (int64_t segments : {1, 2, 3, 5}) {
    expect_same(plain, outcome_of(model, x, [&](Tensor t) {
                  return tn::checkpoint_sequential(model, segments, t);
                }));
  }
  for (int64_t segments : {0, 6}) {
    expect_error([&] { tn::checkpoint_sequential(model, segments, x); },
                 "checkpoint_sequential: segments is " + std::to_string(segments) +
                     ", expected 1 to 5, the number of layers");
  }
}

// A step with it is recorded and replayed, also where the function takes random numbers, which backward
// takes again.
TEST(CheckpointCall, IsPartOfACompiledStep) {
  load_all();
  const Tensor x = tn::randn({4, 6}), target = tn::zeros({4}, tn::int64);
  for (const double dropout : {0.0, 0.3}) {
    tn::manual_seed(7);
    const auto make = [&] {
      tn::manual_seed(7);
      Trained made{make_block(dropout), {}};
      made.optimizer = tn::optim::AdamW(made.model.parameters(), {.lr = 0.01});
      return made;
    };
    const auto step = [](const Trained& trained, const Tensor& input, const Tensor& classes) {
      Tensor loss = tn::cross_entropy(tn::checkpoint_call(trained.model, input), classes);
      trained.optimizer.zero_grad();
      loss.backward();
      trained.optimizer.step();
      return loss.detach() * 1;
    };
    Trained eager = make(), compiled = make();
    if (dropout == 0) {
      eager.model.eval();
      compiled.model.eval();
    }
    auto f = tn::compile([&](Tensor a, Tensor b) { return step(compiled, a, b); });
    std::vector<Tensor> losses;
    tn::manual_seed(9);
    for (int i = 0; i < 5; ++i) losses.push_back(eager.step(x, target));
    tn::manual_seed(9);
    for (int i = 0; i < 5; ++i) expect_same_bits(f(x, target), losses[size_t(i)]);
    expect_same_state(eager, compiled);
    expect_described(f, dropout == 0 ? "random: 0" : "random: 1");
    EXPECT_EQ(f.describe().find("eagerly"), std::string::npos) << f.describe();
  }
}

}  // namespace
