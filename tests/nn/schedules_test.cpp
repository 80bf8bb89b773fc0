// Schedules of learning rates against those of torch.optim.lr_scheduler (PyTorch 2.15, a parameter
// group of lr 0.1), and what sets them in an optimizer.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "tenon/tenon.hpp"

namespace tn = tenon;
namespace optim = tn::optim;

namespace {

using Values = std::vector<double>;

// The rates of steps 0, 1, ... for an optimizer of lr 0.1.
void expect_rates(const optim::Schedule& schedule, const Values& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(schedule.at(static_cast<int64_t>(i), 0.1), expected[i], 1e-10) << "step " << i;
  }
}

TEST(Schedules, NoneLeavesTheRate) {
  expect_rates({}, {0.1, 0.1});
  EXPECT_FALSE(optim::Schedule().defined());
  EXPECT_TRUE(optim::StepLR(1).defined());
}

TEST(Schedules, StepsHaveTheRatesOfPyTorch) {
  expect_rates(optim::StepLR(3, 0.5), {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025});
  EXPECT_DOUBLE_EQ(optim::StepLR(30).at(60, 0.1), 0.001);
  expect_rates(optim::MultiStepLR({2, 5}), {0.1, 0.1, 0.01, 0.01, 0.01, 0.001, 0.001});
  expect_rates(optim::StepLR(1, {.gamma = 0.5}), {0.1, 0.05, 0.025});
  expect_rates(optim::MultiStepLR({1}, {.gamma = 0.5}), {0.1, 0.05, 0.05});
  expect_rates(optim::MultiStepLR({5, 2, 2}, 0.5), {0.1, 0.1, 0.025, 0.025, 0.025, 0.0125});
}

TEST(Schedules, ExponentialsAndLinesHaveTheRatesOfPyTorch) {
  expect_rates(optim::ExponentialLR(0.9), {0.1, 0.09, 0.081, 0.0729, 0.06561});
  expect_rates(optim::ConstantLR({.factor = 0.5, .total_iters = 3}), {0.05, 0.05, 0.05, 0.1, 0.1});
  expect_rates(optim::ConstantLR(), {0.1 / 3, 0.1 / 3, 0.1 / 3, 0.1 / 3, 0.1 / 3, 0.1, 0.1});
  expect_rates(optim::LinearLR(),
               {0.1 / 3, 0.04666666667, 0.06, 0.07333333333, 0.08666666667, 0.1, 0.1});
  expect_rates(optim::LinearLR({.start_factor = 0.25, .end_factor = 0.75, .total_iters = 4}),
               {0.025, 0.0375, 0.05, 0.0625, 0.075, 0.075, 0.075});
  expect_rates(optim::PolynomialLR({.total_iters = 5, .power = 2}),
               {0.1, 0.064, 0.036, 0.016, 0.004, 0, 0});
}

TEST(Schedules, CosinesHaveTheRatesOfPyTorch) {
  expect_rates(optim::CosineAnnealingLR(6, 0.01),
               {0.1, 0.09397114317, 0.0775, 0.055, 0.0325, 0.01602885683, 0.01});
  expect_rates(optim::CosineAnnealingLR(4), {0.1, 0.08535533906, 0.05, 0.01464466094, 0,
                                             0.01464466094, 0.05, 0.08535533906, 0.1});
}

TEST(Schedules, WarmRestartsHaveTheRatesOfPyTorch) {
  expect_rates(optim::CosineAnnealingWarmRestarts(4), {0.1, 0.08535533906, 0.05, 0.01464466094, 0.1,
                                                       0.08535533906, 0.05, 0.01464466094, 0.1});
  expect_rates(
      optim::CosineAnnealingWarmRestarts(2, 2, 0.01),
      {0.1, 0.055, 0.1, 0.08681980515, 0.055, 0.02318019485, 0.1, 0.09657457896, 0.08681980515,
       0.07222075446, 0.055, 0.03777924554, 0.02318019485, 0.01342542104, 0.1});
  // Periods that no int64 counts.
  EXPECT_NEAR(optim::CosineAnnealingWarmRestarts(1, int64_t(1) << 62).at(int64_t(1) << 61), 0.5,
              1e-9);
}

TEST(Schedules, CyclesHaveTheRatesOfPyTorch) {
  expect_rates(optim::CyclicLR(0.1, 0.5, {.step_size_up = 4}),
               {0.1, 0.2, 0.3, 0.4, 0.5, 0.4, 0.3, 0.2, 0.1, 0.2, 0.3, 0.4, 0.5});
  expect_rates(
      optim::CyclicLR(0.1, 0.5, {.step_size_up = 3, .step_size_down = 2, .mode = "triangular2"}),
      {0.1, 0.2333333333, 0.3666666667, 0.5, 0.3, 0.1, 0.1666666667, 0.2333333333, 0.3, 0.2, 0.1,
       0.1333333333, 0.1666666667});
  expect_rates(
      optim::CyclicLR(0.1, 0.5,
                      {.step_size_up = 2, .step_size_down = 3, .mode = "exp_range", .gamma = 0.9}),
      {0.1, 0.28, 0.424, 0.2944, 0.18748, 0.1, 0.2062882, 0.29131876, 0.214791256, 0.1516560652,
       0.1, 0.1627621192});
}

TEST(Schedules, ChainsHaveTheRatesOfPyTorch) {
  expect_rates(optim::ChainedScheduler({optim::ConstantLR({.factor = 0.5, .total_iters = 3}),
                                        optim::ExponentialLR(0.9), optim::StepLR(4, 0.1)}),
               {0.05, 0.045, 0.0405, 0.0729, 0.006561, 0.0059049, 0.00531441, 0.004782969});
}

TEST(Schedules, CyclesAndChainsRefuseWhatDoesNotFit) {
  EXPECT_EQ(message_of([] { optim::CosineAnnealingWarmRestarts(0); }),
            "CosineAnnealingWarmRestarts: t_0 is 0, expected at least 1");
  EXPECT_EQ(message_of([] { optim::CosineAnnealingWarmRestarts(2, 0); }),
            "CosineAnnealingWarmRestarts: t_mult is 0, expected at least 1");
  EXPECT_EQ(message_of([] { optim::CosineAnnealingWarmRestarts(2, 1, -1); }),
            "CosineAnnealingWarmRestarts: eta_min is -1, expected a finite number of at least 0");
  EXPECT_EQ(message_of([] { optim::CyclicLR(-1, 1); }),
            "CyclicLR: base_lr is -1, expected a finite number of at least 0");
  EXPECT_EQ(message_of([] { optim::CyclicLR(0, 1, {.step_size_up = 0}); }),
            "CyclicLR: step_size_up is 0, expected at least 1");
  EXPECT_EQ(message_of([] { optim::CyclicLR(0, 1, {.mode = "round"}); }),
            "CyclicLR: mode is 'round', expected triangular, triangular2 or exp_range");
  EXPECT_EQ(message_of([] { optim::ChainedScheduler({}); }),
            "ChainedScheduler: there are no schedules, expected at least one");
}

TEST(Schedules, OneCycleHasTheRatesOfPyTorch) {
  expect_rates(optim::OneCycleLR(1.0, 10),
               {0.04, 0.52, 1, 0.950484632, 0.8117456539, 0.6112620219, 0.3887419781, 0.1882583461,
                0.04951936799, 4e-06, 4e-06});
  expect_rates(optim::OneCycleLR(1.0, 10, {.three_phase = true}),
               {0.04, 0.52, 1, 0.52, 0.04, 0.03618072185, 0.02618172185, 0.01382227815,
                0.003823278146, 4e-06});
  expect_rates(optim::OneCycleLR(1.0, 10,
                                 {.pct_start = 0.4,
                                  .anneal_strategy = "linear",
                                  .div_factor = 10,
                                  .final_div_factor = 100}),
               {0.1, 0.4, 0.7, 1, 0.8335, 0.667, 0.5005, 0.334, 0.1675, 0.001});
}

// PyTorch divides by zero where the way up is one step.
TEST(Schedules, OneCycleMayBeginAtItsTop) {
  expect_rates(optim::OneCycleLR(1.0, 10, {.pct_start = 0.1, .anneal_strategy = "linear"}),
               {1, (8 + 4e-6) / 9});
  expect_rates(optim::OneCycleLR(1.0, 1), {4e-6, 4e-6});
}

// SequentialLR([LinearLR(0.25, 1, 3), CosineAnnealingLR(4)], [4]).
TEST(Schedules, WarmupIsALineToTheFirstRate) {
  expect_rates(optim::Warmup(4, optim::CosineAnnealingLR(4)),
               {0.025, 0.05, 0.075, 0.1, 0.1, 0.08535533906, 0.05, 0.01464466094});
  expect_rates(optim::Warmup(2), {0.05, 0.1, 0.1});
  expect_rates(optim::Warmup(0, optim::StepLR(1)), {0.1, 0.01});
}

TEST(Schedules, ASequenceBeginsEachAtItsMilestone) {
  expect_rates(optim::SequentialLR({optim::ConstantLR({.factor = 0.5, .total_iters = 100}),
                                    optim::ExponentialLR(0.9), optim::StepLR(2, 0.5)},
                                   {2, 4}),
               {0.05, 0.05, 0.1, 0.09, 0.1, 0.1, 0.05, 0.05});
}

TEST(Schedules, FunctionsOfOnesOwn) {
  expect_rates(optim::LambdaLR([](int64_t step) { return 1.0 / static_cast<double>(1 + step); }),
               {0.1, 0.05, 0.1 / 3});
  expect_rates([](int64_t step, double lr) { return step == 0 ? 7 : lr; }, {7, 0.1});
  // PyTorch's, of MultiplicativeLR(optimizer, lambda step: 1 / (1 + step)).
  std::vector<int64_t> asked;
  const optim::Schedule product = optim::MultiplicativeLR([&](int64_t step) {
    asked.push_back(step);
    return 1.0 / static_cast<double>(1 + step);
  });
  expect_rates(product, {0.1, 0.05, 0.016666666666666666, 0.004166666666666667});
  EXPECT_EQ(product.at(1), 0.5);
  EXPECT_EQ(asked, (std::vector<int64_t>{1, 2, 3}));
}

TEST(Schedules, CopiesShareAFunctionThatGoesWithTheLast) {
  const auto counted = std::make_shared<int>(7);
  {
    optim::Schedule a = [counted](int64_t, double) { return *counted; }, b = a, c;
    EXPECT_EQ(counted.use_count(), 2);
    c = std::move(a);
    EXPECT_FALSE(a.defined());
    b = c;
    EXPECT_EQ(b.at(0), 7);
    c = {};
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Schedules, RefuseWhatHasNoRates) {
  EXPECT_EQ(message_of([] { optim::StepLR(0); }), "StepLR: step_size is 0, expected at least 1");
  EXPECT_EQ(message_of([] { optim::CosineAnnealingLR(-1); }),
            "CosineAnnealingLR: t_max is -1, expected at least 1");
  EXPECT_EQ(message_of([] { optim::LinearLR({.total_iters = 0}); }),
            "LinearLR: total_iters is 0, expected at least 1");
  EXPECT_EQ(message_of([] { optim::PolynomialLR({.total_iters = 0}); }),
            "PolynomialLR: total_iters is 0, expected at least 1");
  EXPECT_EQ(message_of([] { optim::ConstantLR({.total_iters = -2}); }),
            "ConstantLR: total_iters is -2, expected at least 0");
  EXPECT_EQ(message_of([] { optim::Warmup(-1); }), "Warmup: steps is -1, expected at least 0");
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, 0); }),
            "OneCycleLR: total_steps is 0, expected at least 1");
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, 9, {.pct_start = 1.5}); }),
            "OneCycleLR: pct_start is 1.5, expected a part of the steps from 0 to 1");
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, 9, {.anneal_strategy = "sine"}); }),
            "OneCycleLR: anneal_strategy is 'sine', expected cos or linear");
  EXPECT_EQ(message_of([] {
              optim::SequentialLR({{}, {}}, {1, 2});
            }),
            "SequentialLR: 2 schedules and 2 milestones, expected one milestone less than "
            "schedules");
  EXPECT_EQ(message_of([] {
              optim::SequentialLR({{}, {}, {}}, {2, 1});
            }),
            "SequentialLR: milestones[1] is 1, expected at least 2");
  EXPECT_EQ(message_of([] {
              optim::SequentialLR({{}, {}}, {-1});
            }),
            "SequentialLR: milestones[0] is -1, expected at least 0");
  EXPECT_EQ(message_of([] {
              optim::MultiStepLR({3, -2});
            }),
            "MultiStepLR: a milestone is -2, expected at least 0");
  EXPECT_EQ(message_of([] { optim::StepLR(1).at(-1); }),
            "Schedule: the step is -1, expected 0 or more");
}

// Each option that would give a rate that is negative, NaN or infinite, or that PyTorch refuses.
TEST(Schedules, RefuseNumbersThatGiveNoRate) {
  const auto refused = [](const std::string& named, const std::string& expected, auto make) {
    for (const auto& [value, text] : {std::pair(-1.0, "-1"), {NAN, "nan"}, {INFINITY, "inf"}}) {
      EXPECT_EQ(message_of([&, number = value] { make(number); }),
                named + " is " + text + ", expected " + expected);
    }
  };
  const std::string finite = "a finite number of at least 0", positive = "a finite number above 0";
  refused("StepLR: gamma", finite, [](double x) { optim::StepLR(2, x); });
  refused("MultiStepLR: gamma", finite, [](double x) { optim::MultiStepLR({2}, x); });
  refused("ExponentialLR: gamma", finite, [](double x) { (void)optim::ExponentialLR(x); });
  refused("PolynomialLR: power", finite, [](double x) { optim::PolynomialLR({.power = x}); });
  refused("CosineAnnealingLR: eta_min", finite, [](double x) { optim::CosineAnnealingLR(5, x); });
  refused("ConstantLR: factor", "at least 0 and at most 1",
          [](double x) { optim::ConstantLR({.factor = x}); });
  refused("LinearLR: start_factor", "above 0 and at most 1",
          [](double x) { optim::LinearLR({.start_factor = x}); });
  refused("LinearLR: end_factor", "at least 0 and at most 1",
          [](double x) { optim::LinearLR({.end_factor = x}); });
  refused("OneCycleLR: max_lr", finite, [](double x) { optim::OneCycleLR(x, 9); });
  refused("OneCycleLR: div_factor", positive,
          [](double x) { optim::OneCycleLR(1, 9, {.div_factor = x}); });
  refused("OneCycleLR: final_div_factor", positive,
          [](double x) { optim::OneCycleLR(1, 9, {.final_div_factor = x}); });

  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, 9, {.div_factor = 0}); }),
            "OneCycleLR: div_factor is 0, expected a finite number above 0");
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, 9, {.final_div_factor = 0}); }),
            "OneCycleLR: final_div_factor is 0, expected a finite number above 0");
  EXPECT_EQ(message_of([] { optim::OneCycleLR(10, 9, {.div_factor = 1e-308}); }),
            "OneCycleLR: max_lr / div_factor is inf, expected a finite number of at least 0");
  EXPECT_EQ(message_of([] { optim::LinearLR({.start_factor = 0}); }),
            "LinearLR: start_factor is 0, expected above 0 and at most 1");
  EXPECT_EQ(message_of([] { optim::LinearLR({.end_factor = 1.5}); }),
            "LinearLR: end_factor is 1.5, expected at least 0 and at most 1");
  EXPECT_EQ(message_of([] { optim::ConstantLR({.factor = 2}); }),
            "ConstantLR: factor is 2, expected at least 0 and at most 1");
}

// What PyTorch takes at the ends of the ranges.
TEST(Schedules, TakeTheEndsOfTheirRanges) {
  expect_rates(optim::ExponentialLR(0), {0.1, 0, 0});
  expect_rates(optim::StepLR(2, 2), {0.1, 0.1, 0.2, 0.2, 0.4});
  expect_rates(optim::LinearLR({.start_factor = 0.5, .end_factor = 0}),
               {0.05, 0.04, 0.03, 0.02, 0.01, 0, 0});
  expect_rates(optim::LinearLR({.start_factor = 1}), {0.1, 0.1});
  expect_rates(optim::PolynomialLR({.power = 0}), {0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
  expect_rates(optim::OneCycleLR(0, 9), {0, 0, 0});
  expect_rates(
      optim::SequentialLR({{}, optim::ConstantLR({.factor = 0}), optim::ExponentialLR(1)}, {0, 2}),
      {0, 0, 0.1});
}

class SchedulerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }
  static std::vector<tn::Tensor> parameter() { return {tn::zeros({1}).requires_grad_()}; }
};

TEST_F(SchedulerTest, SetsTheRateOfEachStep) {
  const auto optimizer = optim::SGD(parameter(), {.lr = 0.1});
  optim::Scheduler scheduler(optimizer, optim::LinearLR({.start_factor = 0.5, .total_iters = 2}));
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.05);
  scheduler.step();
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.075);
  scheduler.step();
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.1);
  EXPECT_EQ(scheduler.current(), 2);
  EXPECT_EQ(scheduler.get_last_lr(), std::vector<double>{optimizer.lr()});
}

TEST_F(SchedulerTest, EachGroupGoesFromItsOwnRate) {
  const auto optimizer = optim::SGD(parameter(), {.lr = 0.1});
  optimizer.add_group(parameter(), {{"lr", 0.5}});
  optim::Scheduler scheduler(optimizer, optim::StepLR(1, 0.1));
  scheduler.step();
  EXPECT_DOUBLE_EQ(optimizer.group_option<double>(0, "lr"), 0.01);
  EXPECT_DOUBLE_EQ(optimizer.group_option<double>(1, "lr"), 0.05);
  optimizer.add_group(parameter(), {{"lr", 3.0}});  // its rate of this step, as in PyTorch
  scheduler.step();
  EXPECT_DOUBLE_EQ(optimizer.group_option<double>(1, "lr"), 0.005);
  EXPECT_DOUBLE_EQ(optimizer.group_option<double>(2, "lr"), 0.3);
}

TEST_F(SchedulerTest, GoesOnWhereATrainingWas) {
  const auto optimizer = optim::SGD(parameter(), {.lr = 0.1});
  optim::Scheduler scheduler(optimizer, optim::StepLR(10, 0.5));
  scheduler.go_to(25);
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.025);
  EXPECT_EQ(scheduler.current(), 25);
}

// The optimizer's rates are those of a later step then, and no longer the groups' own.
TEST_F(SchedulerTest, AStateKnowsTheOwnRates) {
  const auto saved = optim::SGD(parameter(), {.lr = 0.1});
  saved.add_group(parameter(), {{"lr", 1}});
  optim::Scheduler before(saved, optim::StepLR(10, 0.5));
  before.go_to(25);
  const auto optimizer = optim::SGD(parameter(), {.lr = 7});
  optimizer.add_group(parameter());
  optimizer.load_state_dict(saved.state_dict());
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.025);
  optim::Scheduler scheduler(optimizer, optim::StepLR(10, 0.5));
  scheduler.load_state_dict(before.state_dict());
  EXPECT_EQ(scheduler.current(), 25);
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.025);
  scheduler.go_to(30);
  EXPECT_DOUBLE_EQ(optimizer.group_option<double>(0, "lr"), 0.0125);
  EXPECT_DOUBLE_EQ(optimizer.group_option<double>(1, "lr"), 0.125);
  EXPECT_EQ(message_of([&] { scheduler.load_state_dict({}); }),
            "Scheduler: 'last_epoch' is missing in the state");
  EXPECT_EQ(message_of([&] {
              scheduler.load_state_dict(
                  {{"last_epoch", tn::Tensor::from<int64_t>({3})}, {"base_lrs", tn::ones({3})}});
            }),
            "Scheduler: 'base_lrs' has 3 elements in the state, expected 2");
  EXPECT_EQ(message_of([&] {
              scheduler.load_state_dict(
                  {{"last_epoch", tn::Tensor::from<int64_t>({-3})}, {"base_lrs", tn::ones({2})}});
            }),
            "Schedule: the step is -3, expected 0 or more");
  EXPECT_EQ(
      message_of([&] {
        scheduler.load_state_dict({{"last_epoch", tn::Tensor::from<int64_t>({3})},
                                   {"base_lrs", tn::Tensor::from(Values{0.1, -1})}});
      }),
      "Scheduler: 'base_lrs' of the state: a rate is -1, expected a finite number of at least 0");
  scheduler.go_to(0);
  EXPECT_DOUBLE_EQ(optimizer.lr(), 0.1);
}

// The functions of users, and growth without end, are seen when they give a rate.
TEST_F(SchedulerTest, RefusesARateThatIsNone) {
  const auto optimizer = optim::SGD(parameter(), {.lr = 0.1});
  const auto set = [&](double rate) {
    optim::Scheduler scheduler(optimizer,
                               [rate](int64_t step, double) { return step == 0 ? 1.0 : rate; });
    return message_of([&] { scheduler.step(); });
  };
  EXPECT_EQ(set(-0.5),
            "Scheduler: the rate of step 1 is -0.5, expected a finite number of at least 0");
  EXPECT_EQ(set(NAN),
            "Scheduler: the rate of step 1 is nan, expected a finite number of at least 0");
  EXPECT_DOUBLE_EQ(optimizer.lr(), 1);
  optim::Scheduler growing(optimizer, optim::ExponentialLR(1e300));
  EXPECT_EQ(message_of([&] { growing.go_to(2); }),
            "Scheduler: the rate of step 2 is inf, expected a finite number of at least 0");
}

// Told the same numbers as PyTorch's; half of the way its state goes into another.
TEST_F(SchedulerTest, ThePlateauHasTheRatesOfPyTorch) {
  const Values told = {5, 4, 3, 3, 3.0001, 2.9999, 3, 3, 3, 2, 2, 2, 2, 1, 5, 5, 5, 5, 5, 5};
  const auto expect = [&](const optim::ReduceLROnPlateauOptions& options, double scale,
                          const Values& rates) {
    const auto optimizer = optim::SGD(parameter(), {.lr = 0.1});
    auto scheduler = std::make_unique<optim::ReduceLROnPlateau>(optimizer, options);
    for (size_t i = 0; i < rates.size(); ++i) {
      EXPECT_NEAR(optimizer.lr(), rates[i], 1e-12) << "step " << i;
      scheduler->step(told[i] * scale);
      if (i != rates.size() / 2) continue;
      auto other = std::make_unique<optim::ReduceLROnPlateau>(optimizer, options);
      other->load_state_dict(scheduler->state_dict());
      EXPECT_EQ(other->best(), scheduler->best());
      scheduler = std::move(other);
    }
    EXPECT_EQ(scheduler->current(), int64_t(rates.size()));
  };
  expect({.factor = 0.5, .patience = 1}, 1,
         {0.1,     0.1,     0.1,      0.1,      0.1,       0.05,     0.05,
          0.025,   0.025,   0.0125,   0.0125,   0.0125,    0.00625,  0.00625,
          0.00625, 0.00625, 0.003125, 0.003125, 0.0015625, 0.0015625});
  expect({.mode = "max",
          .factor = 0.5,
          .patience = 0,
          .threshold = 0.1,
          .threshold_mode = "abs",
          .cooldown = 2,
          .min_lr = 0.01},
         0.1, {0.1,    0.1,  0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125, 0.0125,
               0.0125, 0.01, 0.01, 0.01, 0.01, 0.01,  0.01,  0.01,  0.01,   0.01});
  // A change that eps calls none.
  expect({.patience = 0, .eps = 0.2}, 1, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
}

TEST_F(SchedulerTest, ThePlateauRefusesWhatDoesNotFit) {
  const auto optimizer = optim::SGD(parameter(), {.lr = 0.1});
  const auto refused = [&](const optim::ReduceLROnPlateauOptions& options) {
    return message_of([&] { optim::ReduceLROnPlateau(optimizer, options); });
  };
  EXPECT_EQ(refused({.factor = 1}),
            "ReduceLROnPlateau: factor is 1, expected at least 0 and below 1");
  EXPECT_EQ(refused({.mode = "least"}), "ReduceLROnPlateau: mode is 'least', expected min or max");
  EXPECT_EQ(refused({.threshold_mode = "part"}),
            "ReduceLROnPlateau: threshold_mode is 'part', expected rel or abs");
  EXPECT_EQ(refused({.patience = -1}), "ReduceLROnPlateau: patience is -1, expected at least 0");
  EXPECT_EQ(refused({.min_lr = -1}),
            "ReduceLROnPlateau: min_lr is -1, expected a finite number of at least 0");
  optim::ReduceLROnPlateau scheduler(optimizer);
  EXPECT_EQ(message_of([&] { scheduler.load_state_dict({}); }),
            "ReduceLROnPlateau: 'last_epoch' is missing in the state");
}

TEST(Schedules, OptionsAreGivenByPlaceOrByName) {
  const auto same = [](const optim::Schedule& a, const optim::Schedule& b) {
    for (int64_t step = 0; step < 12; ++step) EXPECT_EQ(a.at(step), b.at(step)) << step;
  };
  same(optim::ConstantLR(0.5, 3), optim::ConstantLR({.factor = 0.5, .total_iters = 3}));
  same(optim::LinearLR(0.5), optim::LinearLR({.start_factor = 0.5}));
  same(optim::LinearLR(0.5, 0.75, 3),
       optim::LinearLR({.start_factor = 0.5, .end_factor = 0.75, .total_iters = 3}));
  same(optim::PolynomialLR(6, 2.0), optim::PolynomialLR({.total_iters = 6, .power = 2}));
  same(optim::CosineAnnealingLR(5, {.eta_min = 0.01}), optim::CosineAnnealingLR(5, 0.01));
  same(optim::CosineAnnealingWarmRestarts(3, {.t_mult = 2}),
       optim::CosineAnnealingWarmRestarts(3, 2));
  same(optim::CosineAnnealingWarmRestarts(3, {.eta_min = 0.01}),
       optim::CosineAnnealingWarmRestarts(3, 1, 0.01));
}

TEST_F(SchedulerTest, RefusesAnOptimizerWithoutARate) {
  const optim::Optimizer none(tn::Object::empty("Mine", TN_OBJECT_OPTIMIZER));
  none.add_group(parameter());
  EXPECT_EQ(message_of([&] { optim::Scheduler(none, optim::StepLR(1)); }),
            "Mine has no option 'lr'");
}

}  // namespace
