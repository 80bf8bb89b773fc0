// Mixed precision: what autocast casts and keeps, what GradScaler does on each device, and how half
// types round. Roundings are those of IEEE 754 (nearest, ties to even) for 10 and 7 bits of
// fraction.
#include <cstdlib>
#include <limits>
#include <thread>

#include <nlohmann/json.hpp>

#include "ops_support.h"

namespace {

using Json = nlohmann::json;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// How often a note of f's calls, however deep, begins so.
int count_notes(const Json& entries, const std::string& begin) {
  int n = 0;
  for (const Json& e : entries) {
    for (const std::string note : e.value("notes", Json::array())) n += note.rfind(begin, 0) == 0;
    n += count_notes(e.value("calls", Json::array()), begin);
  }
  return n;
}
template <typename F>
int notes(const std::string& begin, F&& f) {
  return count_notes(Json::parse(tn::explain(f))["calls"], begin);
}

TEST(Autocast, EachClassHasItsDtype) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d), w = tn::ones({3, 2}, {}, d);
    Tensor half = x.to(tn::bfloat16), wide = x.to(tn::float64), ints = x.to(tn::int64);
    Tensor target = tn::zeros({2}, tn::int64, d);
    tn::Autocast guard(d);  // the lower precision of both devices is bfloat16
    EXPECT_EQ(tn::matmul(x, w).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::linear(x, w.t(), tn::ones({2}, {}, d)).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::linear_relu(x, w.t()).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::softmax(half).dtype(), tn::float32);
    EXPECT_EQ(tn::cross_entropy(half, target).dtype(), tn::float32);
    EXPECT_EQ(half.sum().dtype(), tn::float32);
    EXPECT_EQ(tn::exp(half).dtype(), tn::float32);
    EXPECT_EQ(tn::pow(half, 2).dtype(), tn::float32);
    EXPECT_EQ((half + half).dtype(), tn::bfloat16);
    EXPECT_EQ((half + x).dtype(), tn::float32);
    EXPECT_EQ(tn::relu(half).dtype(), tn::bfloat16);
    EXPECT_EQ(tn::cat({half, x}).dtype(), tn::float32);
    // float64 is never lowered, and what is no float is left alone.
    EXPECT_EQ(tn::matmul(wide, w.to(tn::float64)).dtype(), tn::float64);
    EXPECT_EQ(tn::softmax(wide).dtype(), tn::float64);
    EXPECT_EQ((ints + ints).dtype(), tn::int64);
    // In place, the tensor keeps what it is.
    Tensor y = x.clone();
    tn::add_(y, half);
    EXPECT_EQ(y.dtype(), tn::float32);
    expect_near(tn::matmul(x, w), {3, 3, 3, 3});
  }
}

TEST(Autocast, IsOfOneDeviceAndOneThread) {
  Tensor x = tn::ones({2, 2});
  for (tn::Device d : devices()) {
    if (d.is_cpu()) continue;
    tn::Autocast guard(d);
    EXPECT_EQ(tn::matmul(x, x).dtype(), tn::float32);
    EXPECT_EQ(tn::matmul(x.to(d), x.to(d)).dtype(), tn::bfloat16);
    tn::Autocast both(tn::cpu);
    EXPECT_EQ(tn::matmul(x, x).dtype(), tn::bfloat16);
  }
  tn::Autocast guard(tn::cpu);
  tn::Dtype elsewhere;
  std::thread([&] { elsewhere = tn::matmul(x, x).dtype(); }).join();
  EXPECT_EQ(elsewhere, tn::float32);
}

TEST(Autocast, ScopesNest) {
  load_all();
  Tensor x = tn::ones({2, 2});
  {
    tn::Autocast outer(tn::cpu);
    {
      tn::Autocast inner(tn::cpu, tn::float16);
      EXPECT_EQ(tn::matmul(x, x).dtype(), tn::float16);
      {
        tn::Autocast policy(tn::cpu, tn::float16, "O2");
        EXPECT_EQ((x + x).dtype(), tn::float16);
      }
      EXPECT_EQ((x + x).dtype(), tn::float32);
    }
    EXPECT_EQ(tn::matmul(x, x).dtype(), tn::bfloat16);
    EXPECT_TRUE(tn::autocast_enabled());
  }
  EXPECT_FALSE(tn::autocast_enabled());
  EXPECT_EQ(tn::matmul(x, x).dtype(), tn::float32);
}

// Backward is outside of all scopes. One that a gradient of one's own opens ends with it: what comes
// then is computed as before, and its casts are its own, as its graph is.
struct OpensAScope : tn::Function<OpensAScope> {
  static inline Tensor weight;
  static Tensor forward(tn::Context&, Tensor x) { return x * 1.f; }
  static Tensor backward(tn::Context&, Tensor g) {
    EXPECT_FALSE(tn::autocast_enabled());
    {
      const tn::EnableGrad grad;
      const tn::Autocast scope(tn::cpu);
      const Tensor y = tn::matmul(g, weight);
      EXPECT_EQ(y.dtype(), tn::bfloat16);
      tn::grad(y.sum(), weight);  // uses up the cast of this scope
    }
    EXPECT_FALSE(tn::autocast_enabled());
    EXPECT_EQ(tn::matmul(g, weight).dtype(), tn::float32);
    return g;
  }
};
TEST(Autocast, ScopesOfBackwardAreTheirOwn) {
  load_all();
  const Tensor weight = tn::ones({2, 2}).requires_grad_();
  OpensAScope::weight = weight;
  const tn::Autocast scope(tn::cpu);
  const Tensor y = tn::matmul(tn::ones({2, 2}), weight);
  OpensAScope::apply(y.to(tn::float32)).sum().backward();
  EXPECT_TRUE(tn::autocast_enabled());
  expect_near(weight.grad(), {2, 2, 2, 2});
  EXPECT_EQ(tn::matmul(weight, weight).dtype(), tn::bfloat16);
  OpensAScope::weight = {};
}

TEST(Autocast, RefusesWhatItDoesNotKnow) {
  load_all();
  expect_error([] { tn::Autocast guard(tn::cpu, {}, "O3"); },
               "autocast: unknown policy 'O3'; did you mean 'O2'?");
  expect_error([] { tn::Autocast guard(tn::cpu, tn::float32); },
               "autocast: float32 is no lower precision; expected float16 or bfloat16");
  expect_error([] { tn::Autocast guard(tn::Device("ref:7")); }, "index out of range");
  EXPECT_FALSE(tn::autocast_enabled());
  tn_status* status = tn::detail::api.amp->leave();
  ASSERT_NE(status, nullptr);
  EXPECT_STREQ(tn::host()->status_message(status), "autocast: leave without enter");
  tn::host()->status_free(status);
}

// Kernels or not, a dtype is the same: an op without a class is what it is made of.
TEST(Autocast, AnOpWithoutClassExpands) {
  load_all();
  tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) +
                  "/tests/face_plugins/libdispatch_kernels.so");
  Tensor x = tn::ones({2});
  if (!std::getenv("TENON_KERNELS")) {
    expect_near(tn::call("dispatch_kernels.scaled", x), {102, 102});
  }
  tn::Autocast guard(tn::cpu);
  expect_near(tn::call("dispatch_kernels.scaled", x), {2, 2});
  EXPECT_EQ(tn::embedding(tn::ones({3, 2}), tn::zeros({1}, tn::int64)).dtype(), tn::float32);
}

TEST(Autocast, GradientsHaveTheDtypeOfTheirParameter) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d);
    Tensor w = tn::full({4, 3}, 0.5, {}, d).requires_grad_();
    Tensor b = tn::zeros({4}, tn::bfloat16, d).requires_grad_();
    Tensor y;
    {
      tn::Autocast guard(d);
      y = tn::softmax(tn::linear(x, w, b), 1).sum() + tn::linear(x, w).sum();
    }
    y.backward();
    EXPECT_EQ(w.grad().dtype(), tn::float32);
    EXPECT_EQ(b.grad().dtype(), tn::bfloat16);
    expect_near(w.grad(), std::vector<double>(12, 2), 1e-2);  // softmax's share is 0
    expect_near(b.grad(), std::vector<double>(4, 0), 1e-2);
  }
}

TEST(Autocast, KeepsTheCastsOfParametersToTheEndOfTheScope) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor x = tn::ones({2, 3}, {}, d), w = tn::ones({3, 3}, {}, d).requires_grad_();
    const std::string cast = "cast float32 [3, 3] to bfloat16";
    auto use = [&] { return tn::matmul(x, w).sum(); };
    auto in_scope = [&](auto f) {
      return notes(cast, [&] {
        tn::Autocast guard(d);
        f();
      });
    };
    EXPECT_EQ(in_scope([&] {
                use();
                use();
              }),
              1);
    EXPECT_EQ(in_scope([&] {
                {
                  tn::Autocast inner(d);
                  use();
                }
                use();
              }),
              1);
    // A parameter that changed is cast anew, and so it is where nothing is recorded.
    EXPECT_EQ(in_scope([&] {
                use();
                {
                  tn::NoGrad guard;
                  w *= 2;
                }
                expect_near(use(), {36});
              }),
              2);
    EXPECT_EQ(in_scope([&] {
                tn::NoGrad guard;
                use();
                use();
              }),
              2);
    // The gradients of all uses come through the one cast, in one backward or in two.
    {
      tn::Autocast guard(d);
      (use() + use()).backward();
      expect_near(w.grad(), std::vector<double>(9, 4));
      use().backward();
      use().backward();
      expect_near(w.grad(), std::vector<double>(9, 8));
    }
    // What is no parameter is not kept.
    Tensor v = w.detach();
    EXPECT_EQ(in_scope([&] {
                tn::matmul(x, v);
                tn::matmul(x, v);
              }),
              2);
  }
}

TEST(Autocast, TrainsAsWellAsFloat32) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    tn::manual_seed(1);
    tn::Object model =
        tn::nn::Sequential(tn::nn::Linear(4, 8), tn::nn::ReLU(), tn::nn::Linear(8, 2));
    model.to(d);
    auto optimizer = tn::optim::Adam(model.parameters(), {.lr = 0.02});
    Tensor x = sample({16, 4}).to(tn::float32).to(d);
    Tensor target = (x.slice(1, 0, 1) > 0).reshape({16}).to(tn::int64);
    tn::GradScaler scaler;
    float loss = 0;
    for (int i = 0; i < 60; ++i) {
      optimizer.zero_grad();
      Tensor y;
      {
        tn::Autocast guard(d);
        y = tn::cross_entropy(model(x), target);
      }
      scaler.scale(y).backward();
      scaler.step(optimizer);
      scaler.update();
      loss = y.item<float>();
    }
    EXPECT_LT(loss, 0.1f);
    for (const Tensor& p : model.parameters()) EXPECT_EQ(p.dtype(), tn::float32);
  }
}

TEST(GradScaler, SkipsStepsOfInfAndNanOnTheDevice) {
  for (tn::Device d : devices()) {
    for (double bad : {kInf, -kInf, kNan}) {
      SCOPED_TRACE(d.name() + " " + std::to_string(bad));
      Tensor p = tn::ones({2}, {}, d).requires_grad_(), q = tn::ones({1}, {}, d).requires_grad_();
      auto sgd = tn::optim::SGD({p, q}, {.lr = 0.25, .momentum = 0.5});
      tn::GradScaler scaler({.init_scale = 1024, .growth_interval = 3});
      auto step = [&](double factor) {
        sgd.zero_grad();
        scaler.scale((p * tn::tensor({float(factor), 1.f}, d)).sum() + q.sum()).backward();
        scaler.step(sgd);
        bool skipped = scaler.skipped();
        scaler.update();
        return skipped;
      };
      EXPECT_FALSE(step(2));
      expect_near(p, {0.5, 0.75});  // the scale is gone from the gradient
      expect_near(q, {0.75});
      // One bad element of one parameter: nothing moves, not even the buffers.
      EXPECT_TRUE(step(bad));
      expect_near(p, {0.5, 0.75});
      expect_near(q, {0.75});
      EXPECT_EQ(scaler.state(), (tn::GradScaler::State{512, 0}));
      EXPECT_FALSE(step(2));
      expect_near(p, {0.5 - 0.25 * 3, 0.75 - 0.25 * 1.5});
      expect_near(q, {0.75 - 0.25 * 1.5});
    }
  }
}

TEST(GradScaler, GrowsBacksOffAndRemembers) {
  load_all();
  Tensor p = tn::ones({1}).requires_grad_();
  auto adam = tn::optim::Adam({p});
  tn::GradScaler scaler(
      {.init_scale = 4, .growth_factor = 3, .backoff_factor = 0.25, .growth_interval = 2});
  auto step = [&](tn::GradScaler& s, double factor) {
    adam.zero_grad();
    s.scale(p.sum() * factor).backward();
    s.step(adam);
    s.update();
    return s.state();
  };
  using State = tn::GradScaler::State;
  EXPECT_EQ(step(scaler, 1), (State{4, 1}));
  EXPECT_EQ(step(scaler, 1), (State{12, 0}));
  EXPECT_EQ(step(scaler, 1), (State{12, 1}));
  EXPECT_EQ(step(scaler, kInf), (State{3, 0}));
  EXPECT_EQ(step(scaler, 1), (State{3, 1}));
  tn::GradScaler other({.growth_factor = 3, .growth_interval = 2});
  EXPECT_EQ(other.state(), (State{65536, 0}));
  other.load_state(scaler.state());
  EXPECT_EQ(step(other, 1), (State{9, 0}));
  // Without a gradient there is nothing to scale, and nothing is wrong.
  adam.zero_grad();
  scaler.step(adam);
  EXPECT_FALSE(scaler.skipped());
}

TEST(GradScaler, UnscalesOnceSoThatGradientsCanBeClipped) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor p = tn::ones({2}, {}, d).requires_grad_();
    auto sgd = tn::optim::SGD({p}, {.lr = 1});
    tn::GradScaler scaler({.init_scale = 8});
    scaler.scale((p * 3).sum()).backward();
    expect_near(p.grad(), {24, 24});
    scaler.unscale(sgd);
    expect_near(p.grad(), {3, 3});
    tn::mul_(p.grad(), 0.5);
    scaler.step(sgd);
    scaler.update();
    expect_near(p, {-0.5, -0.5});
  }
}

// Two optimizers, two losses: each is unscaled once, and the scale that the gradients had is gone
// from both.
TEST(GradScaler, UnscalesEveryOptimizer) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor p = tn::ones({2}, {}, d).requires_grad_(), q = tn::ones({1}, {}, d).requires_grad_();
    auto first = tn::optim::SGD({p}, {.lr = 0.5}), second = tn::optim::SGD({q}, {.lr = 0.25});
    tn::GradScaler scaler({.init_scale = 1024, .growth_interval = 2});
    for (int i = 0; i < 2; ++i) {
      first.zero_grad();
      second.zero_grad();
      scaler.scale((p * 2.f).sum() + q.sum()).backward();
      scaler.unscale(second);
      expect_near(q.grad(), {1});
      scaler.step(first);
      scaler.step(second);
      EXPECT_FALSE(scaler.skipped());
      scaler.update();
    }
    expect_near(p, {-1, -1});
    expect_near(q, {0.5});
    EXPECT_EQ(scaler.state(), (tn::GradScaler::State{2048, 0}));  // one good iteration for both
  }
}

TEST(GradScaler, SkipsTheOptimizerWhoseGradientIsInf) {
  for (tn::Device d : devices()) {
    for (bool first_is_bad : {true, false}) {
      SCOPED_TRACE(d.name());
      Tensor p = tn::ones({1}, {}, d).requires_grad_(), q = tn::ones({1}, {}, d).requires_grad_();
      auto first = tn::optim::SGD({p}, {.lr = 0.5}), second = tn::optim::Adam({q}, {.lr = 0.5});
      tn::GradScaler scaler({.init_scale = 8});
      const float inf = float(kInf), a = first_is_bad ? inf : 1, b = first_is_bad ? 1 : inf;
      scaler.scale((p * a).sum() + (q * b).sum()).backward();
      scaler.step(first);
      scaler.step(second);
      EXPECT_EQ(scaler.skipped(first), first_is_bad);
      EXPECT_EQ(scaler.skipped(second), !first_is_bad);
      EXPECT_TRUE(scaler.skipped());
      scaler.update();
      expect_near(first_is_bad ? p : q, {1});
      expect_near(first_is_bad ? q : p, {0.5}, 1e-5);
      EXPECT_EQ(scaler.state(), (tn::GradScaler::State{4, 0}));
    }
  }
}

TEST(GradScaler, RefusesWhatComesTwiceOrTooLate) {
  load_all();
  Tensor p = tn::ones({1}).requires_grad_();
  auto sgd = tn::optim::SGD({p}, {.lr = 1});
  tn::GradScaler scaler({.init_scale = 8});
  expect_error([&] { scaler.update(); }, "update needs a step or unscale");
  scaler.scale(p.sum()).backward();
  scaler.unscale(sgd);
  expect_error([&] { scaler.unscale(sgd); }, "unscale was called for this optimizer already");
  expect_near(p.grad(), {1});
  scaler.step(sgd);
  expect_error([&] { scaler.step(sgd); }, "step was called for this optimizer already");
  expect_error([&] { scaler.unscale(sgd); }, "unscale comes after step");
  expect_near(p, {0});
  scaler.update();
  scaler.unscale(sgd);  // of a new iteration
}

TEST(Halves, CastsRoundToNearestEven) {
  struct Row {
    float value;
    double float16, bfloat16;
  };
  const Row rows[] = {
      {0.1f, 0.0999755859375, 0.10009765625},
      {1.f / 3, 0.333251953125, 0.333984375},
      {3.14159274f, 3.140625, 3.140625},
      {1 + 0x1p-11f, 1, 1},               // a tie of float16: to even, down
      {1 + 3 * 0x1p-11f, 1 + 0x1p-9, 1},  // up
      {1 + 0x1p-8f, 1 + 0x1p-8, 1},       // a tie of bfloat16
      {1 + 3 * 0x1p-8f, 1 + 3 * 0x1p-8, 1 + 0x1p-6},
      {1 + 0x1p-8f + 0x1p-20f, 1 + 0x1p-8, 1 + 0x1p-7},
      {2049, 2048, 2048},
      {2051, 2052, 2048},
      {65504, 65504, 65536},
      {65519.996f, 65504, 65536},
      {65520, kInf, 65536},
      {-1e30f, -kInf, -1.0002555517425873e30},
      {3.4e38f, kInf, kInf},
      {3.3895314e38f, kInf, 3.3895313892515355e38},
      {0x1p-24f, 0x1p-24, 0x1p-24},  // the least of float16
      {0x1p-25f, 0, 0x1p-25},        // half of it: to even
      {0x1.8p-25f, 0x1p-24, 0x1.8p-25},
      {0x1.8p-14f, 0x1.8p-14, 0x1.8p-14},
      {0x1p-133f, 0, 0x1p-133},  // the least of bfloat16
      {0x1p-134f, 0, 0},
      {INFINITY, kInf, kInf},
      {NAN, kNan, kNan},
  };
  std::vector<float> values;
  std::vector<double> halves, brains;
  for (const Row& row : rows) {
    values.push_back(row.value);
    halves.push_back(row.float16);
    brains.push_back(row.bfloat16);
  }
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype from : {tn::float32, tn::float64}) {
      Tensor x = Tensor::from(values, -1, d).to(from);
      expect_near(x.to(tn::float16), halves, 0);
      expect_near(x.to(tn::bfloat16), brains, 0);
      // There and back, and at strides.
      expect_near(x.to(tn::float16).to(tn::float64), halves, 0);
      Tensor pairs = x.view({int64_t(values.size()) / 2, 2});
      expect_near(pairs.t().to(tn::bfloat16).t(), brains, 0);
    }
    EXPECT_TRUE(std::signbit(tn::tensor(-0.f, d).to(tn::float16).item<double>()));
    EXPECT_TRUE(std::signbit(tn::tensor(-0.f, d).to(tn::bfloat16).item<double>()));
  }
}

TEST(Halves, CastFromAndToOtherTypes) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    for (tn::Dtype half : {tn::float16, tn::bfloat16}) {
      SCOPED_TRACE(half.name());
      Tensor x = tn::tensor({-2.5f, 0.f, 0.25f, 7.75f}, d).to(half);
      expect_near(x.to(tn::int64), {-2, 0, 0, 7});
      expect_near(x.to(tn::int32), {-2, 0, 0, 7});
      expect_near(x.to(tn::bool_), {1, 0, 1, 1});
      expect_near(tn::tensor({NAN}, d).to(half).to(tn::bool_), {1});
      expect_near(tn::tensor({int64_t(-3), int64_t(200)}, d).to(half), {-3, 200});
      expect_near(tn::tensor({int64_t(200), int64_t(7)}, d).to(tn::uint8).to(half), {200, 7});
      expect_near(tn::tensor({true, false}, d).to(half), {1, 0});
    }
    expect_near(tn::tensor({int64_t(2049), int64_t(100000)}, d).to(tn::float16), {2048, kInf});
    expect_near(tn::tensor({int64_t(257), int64_t(259)}, d).to(tn::bfloat16), {256, 260});
    expect_near(tn::tensor({300.f, 1.f}, d).to(tn::bfloat16).to(tn::float16), {300, 1});
    // What is in a gradient's way: a cast gives it back in the type that came.
    Tensor leaf = tn::ones({2}, {}, d).requires_grad_();
    (leaf.to(tn::float16) * 3).to(tn::float32).sum().backward();
    EXPECT_EQ(leaf.grad().dtype(), tn::float32);
    expect_near(leaf.grad(), {3, 3});
  }
}

TEST(Halves, ComputeInFloat32AndRoundOnce) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    auto f16 = [&](std::vector<float> v) { return Tensor::from(v, -1, d).to(tn::float16); };
    auto bf16 = [&](std::vector<float> v) { return Tensor::from(v, -1, d).to(tn::bfloat16); };
    expect_near(f16({100, 2048, 2048}) + f16({0.05f, 1, 3}), {100.0625, 2048, 2052}, 0);
    expect_near(bf16({256, 256, 1}) + bf16({1, 3, 0.0078125f}), {256, 260, 1.0078125}, 0);
    expect_near(f16({256, -300}) * f16({256, 300}), {kInf, -kInf}, 0);
    expect_near(f16({1, 1}) / f16({3, 0}), {0.333251953125, kInf}, 0);
    expect_near(tn::exp(f16({11, 12})), {59872, kInf}, 0);
    // (x * x * x): 1.25 of the first factors would be rounded on the way.
    expect_near(tn::pow(bf16({1.0078125f}), 3), {1.0234375}, 0);
    expect_near(bf16({0.1f}) == 0.10009765625, {1});
    expect_near(f16({1, 2}) < bf16({1.5f, 1.5f}), {1, 0});
    EXPECT_EQ((f16({1}) + bf16({1})).dtype(), tn::float32);
    Tensor x = f16({1, 2});
    tn::add_(x, 0x1p-11);  // a tie at 1, less than a half at 2
    expect_near(x, {1, 2}, 0);
    // Sums fold in float32: a float16 counter would stop at 2048.
    expect_near(tn::ones({3000}, tn::float16, d).sum(), {3000}, 0);
    expect_near(tn::ones({70000}, tn::float16, d).sum(), {kInf}, 0);
    expect_near(tn::ones({70000}, tn::float16, d).mean(), {1}, 0);
    // And so do products: 257 ones are a tie in bfloat16, 259 another.
    for (int64_t k : {257, 259}) {
      Tensor ones = tn::ones({1, k}, tn::bfloat16, d);
      expect_near(tn::matmul(ones, ones.t()), {k == 257 ? 256.0 : 260.0}, 0);
    }
  }
}

}  // namespace
