// GradScaler: scales, steps that are skipped and several optimizers, on each device.
#include <limits>

#include "ops_support.h"

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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
    scaler.unscale_(sgd);
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
      scaler.unscale_(second);
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
      tn::optim::SGD first({p}, {.lr = 0.5});
      tn::optim::Adam second({q}, {.lr = 0.5});
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

// Ten iterations of two optimizers with infinities in the gradients of one, of the other and of both,
// the first unscaled and clipped: the weights and the scales of torch.amp.GradScaler (PyTorch 2).
TEST(GradScaler, StepsSeveralOptimizersAsPyTorchDoes) {
  const float inf = float(kInf);
  const float factors[10][2] = {{2, 1}, {1, 3}, {inf, 1}, {1, 1},     {1, inf},
                                {2, 1}, {1, 1}, {1, 2},   {inf, inf}, {1, 1}};
  const double expected[10][4] = {{0.664589882, -1.32917976, 0.375, 1024},
                                  {0.164589882, -0.329179764, 0.255990028, 1024},
                                  {0.164589882, -0.329179764, 0.149658382, 256},
                                  {-0.167705059, 0.335410118, 0.0545756891, 256},
                                  {-0.25, 0.5, 0.0545756891, 64},
                                  {-0.0411474705, 0.0822949409, -0.0286566019, 64},
                                  {0.0838525295, -0.167705059, -0.0988954604, 64},
                                  {0.104426265, -0.20885253, -0.149717391, 256},
                                  {0.104426265, -0.20885253, -0.149717391, 64},
                                  {0.0625, -0.125, -0.187013328, 64}};
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor p = tn::tensor({1.f, -2.f}, d).requires_grad_(),
           q = tn::tensor({0.5f}, d).requires_grad_();
    auto first = tn::optim::SGD({p}, {.lr = 0.25, .momentum = 0.5});
    auto second = tn::optim::Adam({q}, {.lr = 0.125});
    tn::GradScaler scaler(
        {.init_scale = 1024, .growth_factor = 4, .backoff_factor = 0.25, .growth_interval = 3});
    for (int i = 0; i < 10; ++i) {
      SCOPED_TRACE(i);
      first.zero_grad();
      second.zero_grad();
      scaler.scale((p * p * factors[i][0]).sum() + (q * q * factors[i][1]).sum()).backward();
      scaler.unscale_(first);
      tn::optim::clip_grad_norm_({p}, 3.0);
      scaler.step(first);
      scaler.step(second);
      scaler.update();
      expect_near(p, {expected[i][0], expected[i][1]}, 1e-5);
      expect_near(q, {expected[i][2]}, 1e-5);
      EXPECT_EQ(scaler.get_scale(), expected[i][3]);
    }
  }
}

// A loop is the same with one that is not enabled: each step is made, infinities or not.
TEST(GradScaler, DoesNothingWhereItIsNotEnabled) {
  load_all();
  Tensor p = tn::ones({1}).requires_grad_();
  auto sgd = tn::optim::SGD({p}, {.lr = 1});
  tn::GradScaler scaler({.enabled = false});
  EXPECT_FALSE(scaler.is_enabled());
  const Tensor loss = (p * 3).sum();
  EXPECT_EQ(scaler.scale(loss).item<float>(), 3);
  scaler.scale(loss).backward();
  scaler.unscale_(sgd);
  expect_near(p.grad(), {3});
  scaler.step(sgd);
  scaler.update();
  expect_near(p, {-2});
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_FALSE(scaler.skipped());
}

TEST(GradScaler, RefusesWhatComesTwiceOrTooLate) {
  load_all();
  Tensor p = tn::ones({1}).requires_grad_();
  auto sgd = tn::optim::SGD({p}, {.lr = 1});
  tn::GradScaler scaler({.init_scale = 8});
  expect_error([&] { scaler.update(); }, "update needs a step or unscale_");
  scaler.scale(p.sum()).backward();
  scaler.unscale_(sgd);
  expect_error([&] { scaler.unscale_(sgd); }, "unscale_ was called for this optimizer already");
  expect_near(p.grad(), {1});
  scaler.step(sgd);
  expect_error([&] { scaler.step(sgd); }, "step was called for this optimizer already");
  expect_error([&] { scaler.unscale_(sgd); }, "unscale_ comes after step");
  expect_near(p, {0});
  scaler.update();
  scaler.unscale_(sgd);  // of a new iteration
}

// The values are PyTorch 2.15's.
TEST(GradScaler, TakesANewScaleAndOtherFactors) {
  for (tn::Device d : devices()) {
    SCOPED_TRACE(d.name());
    Tensor p = tn::ones({1}, {}, d).requires_grad_();
    auto sgd = tn::optim::SGD({p}, {.lr = 1});
    tn::GradScaler scaler({.init_scale = 4, .growth_interval = 2});
    const std::vector<Tensor> scaled =
        scaler.scale({tn::tensor({1.f, 2.f}, d), tn::tensor(3.f, d)});
    expect_near(scaled[0], {4, 8});
    expect_near(scaled[1], {12});
    const auto step = [&](double factor) {
      sgd.zero_grad();
      scaler.scale(p.sum() * factor).backward();
      scaler.step(sgd);
    };
    using State = tn::GradScaler::State;
    step(1);
    scaler.update(16.0);
    EXPECT_EQ(scaler.state(), (State{16, 0}));
    expect_near(p, {0});
    step(1);
    scaler.update();
    EXPECT_EQ(scaler.state(), (State{16, 1}));
    step(kInf);
    scaler.update(tn::tensor(8.f, d));
    EXPECT_EQ(scaler.state(), (State{8, 1}));
    expect_near(p, {-1});
    EXPECT_FALSE(scaler.skipped());
    scaler.set_growth_factor(3);
    scaler.set_backoff_factor(0.25);
    step(1);
    scaler.update();
    EXPECT_EQ(scaler.state(), (State{24, 0}));
    step(kInf);
    scaler.update();
    EXPECT_EQ(scaler.state(), (State{6, 0}));
    scaler.set_growth_interval(1);
    step(1);
    scaler.update();
    EXPECT_EQ(scaler.state(), (State{18, 0}));
    EXPECT_EQ(scaler.get_growth_factor(), 3);
    EXPECT_EQ(scaler.get_backoff_factor(), 0.25);
    EXPECT_EQ(scaler.get_growth_interval(), 1);
  }
  tn::GradScaler scaler;
  expect_error([&] { scaler.update(0.0); },
               "GradScaler: new_scale is 0, expected a finite number above 0");
  expect_error([&] { scaler.update(tn::ones({2})); },
               "GradScaler: new_scale has 2 elements, expected one");
  expect_error([&] { scaler.set_growth_factor(1); },
               "GradScaler: growth_factor is 1, expected a finite number above 1");
  expect_error([&] { scaler.set_backoff_factor(1); },
               "GradScaler: backoff_factor is 1, expected a number above 0 and below 1");
  expect_error([&] { scaler.set_growth_interval(0); },
               "GradScaler: growth_interval is 0, expected at least 1");
  tn::GradScaler off({.enabled = false});
  off.update(16.0);
  EXPECT_EQ(off.get_scale(), 1);
  EXPECT_EQ(off.scale(std::vector<Tensor>{tn::ones({1})})[0].item<float>(), 1);
}

}  // namespace
