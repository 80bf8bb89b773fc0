// What sets schedules in an optimizer: rates that something else changes, groups with schedules of
// their own, and schedulers made of others. The values are those of PyTorch 2.15.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "tenon/averaged_model.hpp"
#include "tenon/tenon.hpp"

namespace tn = tenon;
namespace optim = tn::optim;

namespace {

using Values = std::vector<double>;

class Schedulers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }
  static std::vector<tn::Tensor> parameter() { return {tn::zeros({1}).requires_grad_()}; }
  static optim::Optimizer one(double lr) { return optim::SGD(parameter(), {.lr = lr}); }
  // Of groups with the rates 0.1 and 0.5.
  static optim::Optimizer two() {
    const optim::Optimizer optimizer = one(0.1);
    optimizer.add_group(parameter(), {{"lr", 0.5}});
    return optimizer;
  }
  static void expect_near(const Values& found, const Values& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-11) << i;
  }
  // The rates of all groups in steps 0, 1, ..., in a row.
  static void expect_rates(optim::Scheduler scheduler, const Values& expected) {
    Values rates;
    while (rates.size() < expected.size()) {
      for (const double rate : scheduler.get_last_lr()) rates.push_back(rate);
      scheduler.step();
    }
    expect_near(rates, expected);
  }
};

// PyTorch 2.15's values: schedules of factors go on from the rate that they find, others do not.
TEST_F(Schedulers, ChangedRatesAreGoneOnFrom) {
  const auto rates = [](const optim::Schedule& schedule, double changed) {
    optim::Optimizer optimizer(optim::SGD(parameter(), {.lr = 1}));
    optim::Scheduler scheduler(optimizer, schedule);
    std::vector<double> list;
    for (int i = 0; i < 4; ++i) {
      if (i == 2) optimizer.set_lr(changed);
      scheduler.step();
      list.push_back(scheduler.get_last_lr()[0]);
    }
    return list;
  };
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& expected) {
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
  };
  expect(rates(optim::ExponentialLR(0.9), 0.5), {0.9, 0.81, 0.45, 0.405});
  expect(rates(optim::StepLR(2, 0.5), 0.05), {1, 0.5, 0.05, 0.025});
  expect(rates(optim::MultiStepLR({1, 3}, 0.1), 1), {0.1, 0.1, 0.1, 0.1});
  expect(rates(optim::ConstantLR(0.5, 3), 0.2), {0.5, 0.5, 0.4, 0.4});
  expect(rates(optim::LinearLR(0.5, 1.0, 4), 0.3), {0.625, 0.75, 0.35, 0.4});
  expect(rates(optim::PolynomialLR(4, 1.0), 0.2), {0.75, 0.5, 0.1, 0});
  expect(rates(optim::CosineAnnealingLR(4), 0.25),
         {0.8535533905932737, 0.5, 0.0732233047033631, 0});
  expect(rates(optim::LambdaLR([](int64_t step) { return 1.0 / double(step + 1); }), 0.05),
         {0.5, 1 / 3.0, 0.25, 0.2});
  expect(rates(optim::MultiplicativeLR([](int64_t) { return 0.5; }), 0.2), {0.5, 0.25, 0.1, 0.05});
  // A group that came later, and two schedulers of one optimizer.
  optim::Optimizer optimizer(optim::SGD(parameter(), {.lr = 1}));
  optim::Scheduler halves(optimizer, optim::StepLR(1, 0.5));
  optim::Scheduler tenths(optimizer, optim::ExponentialLR(0.1));
  halves.step();
  optimizer.add_group(parameter(), {{"lr", 0.3}});
  halves.step();
  EXPECT_NEAR(halves.get_last_lr()[0], 0.25, 1e-12);
  EXPECT_NEAR(halves.get_last_lr()[1], 0.15, 1e-12);
  tenths.step();
  EXPECT_NEAR(tenths.get_last_lr()[0], 0.025, 1e-12);
}

// What follows each step: a call that may change the rate.
template <typename F>
Values stepped(optim::Scheduler scheduler, int n, F after) {
  Values rates;
  for (int i = 0; i < n; ++i) {
    scheduler.step();
    after(i);
    rates.push_back(scheduler.get_last_lr()[0]);
  }
  return rates;
}

// Behind its trough the cosine climbs by what the first rate gives, from the rate that is there.
TEST_F(Schedulers, ACosineClimbsFromTheFirstRateAgain) {
  optim::Optimizer sgd = one(0.05);
  auto cosine = optim::CosineAnnealingLR(sgd, 4, 0.01);
  auto exponential = optim::ExponentialLR(sgd, 0.9);
  expect_near(stepped(cosine, 20, [&](int) { exponential.step(); }),
              {0.0397279220614, 0.0246727922061, 0.0128678052044,  0.009,
               0.0133720779386, 0.0193616948083, 0.0233832714216,  0.0231115300018,
               0.0190722518,    0.0137829618569, 0.00999720348741, 0.009,
               0.0133720779386, 0.0193616948083, 0.0233832714216,  0.0231115300018,
               0.0190722518,    0.0137829618569, 0.00999720348741, 0.009});
  // Set after step 2; the rates of the steps behind it.
  sgd = one(0.1);
  expect_near(
      stepped(optim::CosineAnnealingLR(sgd, 4), 16,
              [&](int i) {
                if (i == 1) sgd.set_lr(0.2);
              }),
      {0.0853553390593, 0.2, 0.0585786437627, 0, 0.0146446609407, 0.05, 0.0853553390593, 0.1,
       0.0853553390593, 0.05, 0.0146446609407, 0, 0.0146446609407, 0.05, 0.0853553390593, 0.1});
  sgd = one(0.1);
  optim::ReduceLROnPlateau plateau(sgd, {.factor = 0.5, .patience = 3});
  expect_near(
      stepped(optim::CosineAnnealingLR(sgd, 4, 0.01), 16, [&](int) { plateau.step(1.0); }),
      {0.0868198051534, 0.055, 0.0231801948466, 0.01, 0.0115900974233, 0.0154289321881,
       0.019267766953, 0.0208578643763, 0.00963388347648, 0.00978553390593, 0.00993718433538, 0.01,
       0.0115900974233, 0.0154289321881, 0.019267766953, 0.0208578643763});
  EXPECT_EQ(plateau.last_epoch(), 16);
}

// Behind its end a polynomial leaves the rate, and SWALR gives its own again.
TEST_F(Schedulers, ChangedRatesBehindTheEnd) {
  const auto rates = [](auto make) {
    const optim::Optimizer sgd = one(0.1);
    return stepped(make(sgd), 6, [&](int i) {
      if (i == 3) sgd.set_lr(0.2);
    });
  };
  expect_near(rates([](const auto& sgd) { return optim::PolynomialLR(sgd, 3); }),
              {0.0666666666667, 0.0333333333333, 0, 0.2, 0.2, 0.2});
  expect_near(rates([](const auto& sgd) { return optim::SWALR(sgd, 0.05, {.anneal_epochs = 2}); }),
              {0.075, 0.05, 0.05, 0.2, 0.05, 0.05});
}

// Made at the beginning, and stepped when another schedule has changed the rate.
TEST_F(Schedulers, SWALRGoesOnFromAnotherSchedule) {
  const auto rates = [](const std::string& strategy) {
    const optim::Optimizer sgd = one(0.5);
    auto plain = optim::MultiplicativeLR(sgd, [](int64_t) { return 0.9; });
    auto averaging =
        optim::swa_utils::SWALR(sgd, 0.05, {.anneal_epochs = 4, .anneal_strategy = strategy});
    Values list;
    for (int i = 0; i < 12; ++i) {
      i > 4 ? averaging.step() : plain.step();
      list.push_back(sgd.lr());
    }
    return list;
  };
  expect_near(rates("linear"), {0.45, 0.405, 0.3645, 0.32805, 0.295245, 0.23393375, 0.1726225,
                                0.11131125, 0.05, 0.05, 0.05, 0.05});
  expect_near(rates("cos"), {0.45, 0.405, 0.3645, 0.32805, 0.295245, 0.259329701276, 0.1726225,
                             0.085915298724, 0.05, 0.05, 0.05, 0.05});
}

// The optimizer's state has the changed rate; so has that of the scheduler.
TEST_F(Schedulers, AStateKnowsAChangedRate) {
  const auto saved = one(1), loaded = one(7);
  optim::Scheduler before(saved, optim::StepLR(2, 0.5)), after(loaded, optim::StepLR(2, 0.5));
  before.step();
  saved.set_lr(0.3);
  tn::NamedTensors state = before.state_dict();
  after.load_state_dict(state);
  EXPECT_EQ(after.last_epoch(), 1);
  EXPECT_EQ(after.base_lrs(), Values{1});
  EXPECT_EQ(loaded.lr(), 0.3);
  for (int i = 0; i < 4; ++i) {
    before.step(), after.step();
    EXPECT_EQ(loaded.lr(), saved.lr());
  }
  // One that was saved without the last rates has those of the schedule.
  state.pop_back();
  after.load_state_dict(state);
  EXPECT_EQ(loaded.lr(), 1);
  state.emplace_back("last_lr", tn::tensor({-1.0}));
  EXPECT_EQ(message_of([&] { after.load_state_dict(state); }),
            "Scheduler: 'last_lr' of the state: a rate is -1, expected a finite number of at least "
            "0");
}

double over(int64_t step) { return 1.0 / double(1 + step); }
double half(int64_t step) { return step == 0 ? 1.0 : 0.5; }

TEST_F(Schedulers, AGroupMayHaveAFunctionOfItsOwn) {
  const auto f = [](int64_t step) { return over(step); };
  const Values of_lambdas = {0.1, 0.5, 0.05, 0.25, 0.0333333333333, 0.25, 0.025, 0.25},
               of_factors = {0.1,   0.5, 0.05, 0.25, 0.0166666666667, 0.125, 0.00416666666667,
                             0.0625};
  expect_rates(optim::LambdaLR(two(), {f, half}), of_lambdas);
  expect_rates(optim::MultiplicativeLR(two(), {f, half}), of_factors);
  const std::vector<std::function<double(int64_t)>> list = {over, half};
  expect_rates(optim::LambdaLR(two(), list), of_lambdas);
  expect_rates(optim::MultiplicativeLR(two(), list), of_factors);
  EXPECT_EQ(message_of([&] { optim::LambdaLR(two(), {f}); }),
            "LambdaLR: lr_lambda has 1 value and the optimizer 2 parameter groups, expected one "
            "value for each");
  EXPECT_EQ(message_of([&] {
              optim::MultiplicativeLR(two(), {f, f, half});
            }),
            "MultiplicativeLR: lr_lambda has 3 values and the optimizer 2 parameter groups, "
            "expected one value for each");
}

// Values of PyTorch.
TEST_F(Schedulers, AGroupMayHaveMomentumsOfItsOwn) {
  const auto expect_momentums = [](optim::Scheduler scheduler, const Values& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      const optim::Optimizer& optimizer = scheduler.optimizer();
      EXPECT_NEAR(optimizer.group_option<double>(i % 2, "momentum"), expected[i], 1e-12) << i;
      if (i % 2 == 1) scheduler.step();
    }
  };
  const Values both = {0.9,
                       0.95,
                       0.8188255099070634,
                       0.7470637747676583,
                       0.8028058334845817,
                       0.707014583711454,
                       0.8188255099070634,
                       0.7470637747676583,
                       0.8444017761948347,
                       0.8110044404870865};
  expect_momentums(optim::OneCycleLR(two(), {0.1, 1.0}, 8,
                                     {.base_momentum = {0.8, 0.7}, .max_momentum = {0.9, 0.95}}),
                   both);
  expect_momentums(optim::OneCycleLR(two(), 0.1,
                                     {.epochs = 4,
                                      .steps_per_epoch = 2,
                                      .base_momentum = Values{0.8, 0.7},
                                      .max_momentum = Values{0.9, 0.95}}),
                   both);
  expect_momentums(
      optim::OneCycleLR(two(), 0.1, 8, {.base_momentum = {0.8, 0.7}, .max_momentum = 0.9}),
      {0.9, 0.9, 0.8188255099070634, 0.7376510198141266, 0.8028058334845817, 0.7056116669691632});
  expect_momentums(
      optim::CyclicLR(
          two(), 0.1, {0.5, 1.0},
          {.step_size_up = 3, .base_momentum = {0.8, 0.7}, .max_momentum = {0.9, 0.95}}),
      {0.9, 0.95, 0.8666666666666667, 0.8666666666666666, 0.8333333333333334, 0.7833333333333333,
       0.8, 0.7});
  EXPECT_EQ(message_of([] {
              optim::CyclicLR(two(), 0.1, 0.2, {.base_momentum = {0.8, 0.7, 0.6}});
            }),
            "CyclicLR: base_momentum has 3 values and the optimizer 2 parameter groups, expected "
            "one value for each");
  EXPECT_EQ(message_of([] {
              optim::OneCycleLR(two(), 0.1, 8, {.max_momentum = {0.8, 0.7, 0.6}});
            }),
            "OneCycleLR: max_momentum has 3 values and the optimizer 2 parameter groups, expected "
            "one value for each");
  EXPECT_EQ(message_of([] {
              optim::OneCycleLR(0.1, 8, {.max_momentum = {0.8, 0.7}});
            }),
            "OneCycleLR: max_momentum has 2 values, and one for each group wants the optimizer; "
            "expected one value, or OneCycleLR(optimizer, ..)");
}

TEST_F(Schedulers, AGroupMayHaveARateOfItsOwn) {
  const optim::OneCycleLROptions rates_only = {.cycle_momentum = false};
  const Values cycle = {0.008, 0.04, 0.19888308709, 0.994415435451, 0.16234913079, 0.81174565395};
  expect_rates(optim::OneCycleLR(two(), Values{0.2, 1}, 6, rates_only), cycle);
  expect_rates(optim::OneCycleLR(two(), {0.2, 1}, {.epochs = 3, .steps_per_epoch = 2}), cycle);
  expect_rates(optim::CyclicLR(two(), {0.01, 0.02}, {0.1, 0.2}, {.step_size_up = 2}),
               {0.01, 0.02, 0.055, 0.11, 0.1, 0.2, 0.055, 0.11});
  expect_rates(optim::CyclicLR(two(), 0.01, Values{0.1, 0.2}, {.step_size_up = 2}),
               {0.01, 0.01, 0.055, 0.105, 0.1, 0.2, 0.055, 0.105});
  expect_rates(optim::SWALR(two(), {0.05, 0.01}, {.anneal_epochs = 4}),
               {0.1, 0.5, 0.0926776695297, 0.428241161391, 0.075, 0.255, 0.0573223304703,
                0.0817588386093, 0.05, 0.01, 0.05, 0.01});
  const auto refused = [](const std::string& argument) {
    return argument +
           " has 3 values and the optimizer 2 parameter groups, expected one value for "
           "each";
  };
  EXPECT_EQ(message_of([] {
              optim::OneCycleLR(two(), {1, 2, 3}, 6);
            }),
            refused("OneCycleLR: max_lr"));
  EXPECT_EQ(message_of([] { optim::CyclicLR(two(), {1, 2, 3}, 6); }), refused("CyclicLR: base_lr"));
  EXPECT_EQ(message_of([] { optim::SWALR(two(), {1, 2, 3}); }), refused("SWALR: swa_lr"));
  EXPECT_EQ(message_of([] {
              optim::ReduceLROnPlateau(two(), {.min_lr = {1, 2, 3}});
            }),
            refused("ReduceLROnPlateau: min_lr"));
}

TEST_F(Schedulers, AGroupThatComesLaterNeedsAScheduleWhereEachHasItsOwn) {
  const optim::Optimizer optimizer = two();
  auto scheduler = optim::CyclicLR(optimizer, {0.01, 0.02}, {0.1, 0.2});
  optimizer.add_group(parameter());
  EXPECT_EQ(message_of([&] { scheduler.step(); }),
            "Scheduler: there are 2 schedules for 3 parameter groups, expected one for each group "
            "or one for all");
  EXPECT_EQ(scheduler.current(), 0);
}

TEST_F(Schedulers, ThePlateauTakesItsOptionsByPlace) {
  const auto rates = [](const auto& make) {
    const optim::Optimizer optimizer = two();
    optim::ReduceLROnPlateau scheduler = make(optimizer);
    Values list;
    for (int i = 0; i < 5; ++i) {
      for (const double rate : scheduler.get_last_lr()) list.push_back(rate);
      scheduler.step(1.0);
    }
    return list;
  };
  using Plateau = optim::ReduceLROnPlateau;
  expect_near(rates([](const auto& sgd) { return Plateau(sgd, "min", 0.1, 1); }),
              {0.1, 0.5, 0.1, 0.5, 0.1, 0.5, 0.01, 0.05, 0.01, 0.05});
  expect_near(rates([](const auto& sgd) {
                return Plateau(sgd, "max", 0.5, 0, 1e-4, "abs", 1, Values{0.03, 0.2});
              }),
              {0.1, 0.5, 0.1, 0.5, 0.05, 0.25, 0.05, 0.25, 0.03, 0.2});
  expect_near(rates([](const auto& sgd) {
                return Plateau(sgd, {.factor = 0.5, .patience = 0, .min_lr = {0.03, 0.2}});
              }),
              {0.1, 0.5, 0.1, 0.5, 0.05, 0.25, 0.03, 0.2, 0.03, 0.2});
}

TEST_F(Schedulers, SchedulersAreMadeInTheList) {
  optim::Optimizer sgd = two();
  expect_rates(
      optim::SequentialLR(sgd, {optim::StepLR(sgd, 3), optim::ExponentialLR(sgd, 0.9)}, {3}),
      {0.1, 0.5, 0.1, 0.5, 0.1, 0.5, 0.1, 0.5, 0.09, 0.45, 0.081, 0.405});
  sgd = two();
  expect_rates(
      optim::SequentialLR(sgd, {optim::LinearLR(sgd), optim::LambdaLR(sgd, {over, half})}, {3}),
      {0.0333333333333, 0.166666666667, 0.0466666666667, 0.233333333333, 0.06, 0.3, 0.1, 0.5, 0.05,
       0.25, 0.0333333333333, 0.25});
  const Values chained = {0.05, 0.25, 0.045, 0.225, 0.081, 0.405, 0.0729, 0.3645};
  sgd = two();
  expect_rates(optim::ChainedScheduler(
                   sgd, {optim::ConstantLR(sgd, 0.5, 2), optim::ExponentialLR(sgd, 0.9)}),
               chained);
  expect_rates(
      optim::ChainedScheduler(two(), {optim::ConstantLR(0.5, 2), optim::ExponentialLR(0.9)}),
      chained);
  sgd = two();
  expect_rates(optim::ChainedScheduler(
                   {optim::MultiplicativeLR(sgd, {half, over}), optim::ExponentialLR(sgd, 0.9)}),
               {0.1, 0.5, 0.045, 0.225, 0.02025, 0.0675, 0.0091125, 0.0151875});
  // A group that comes later goes by the same schedule, where that is one for all.
  sgd = two();
  auto chain = optim::ChainedScheduler({optim::ConstantLR(sgd, 0.5, 2)});
  sgd.add_group(parameter(), {{"lr", 0.3}});
  chain.step();
  EXPECT_EQ(chain.get_last_lr().size(), 3u);
}

// Members that are assigned later.
TEST_F(Schedulers, NoneUntilTheyAreAssigned) {
  struct Training {
    optim::Optimizer optimizer;
    optim::Scheduler scheduler;
    optim::StepLR<optim::Scheduler> steps;
    optim::LambdaLR<optim::Scheduler> factors;
    optim::OneCycleLR<optim::Scheduler> cycle;
    optim::SequentialLR<optim::Scheduler> sequence;
    optim::ChainedScheduler<optim::Scheduler> chain;
    optim::SWALR<optim::Scheduler> averaging;
    optim::ReduceLROnPlateau plateau;
  } training;
  const std::string none = "Scheduler: the scheduler is None: never assigned, or moved from",
                    no_plateau =
                        "ReduceLROnPlateau: the scheduler is None: never assigned, or moved from";
  EXPECT_FALSE(training.scheduler.defined() || training.steps || training.plateau);
  EXPECT_EQ(message_of([&] { training.scheduler.step(); }), none);
  EXPECT_EQ(message_of([&] { training.scheduler.go_to(1); }), none);
  EXPECT_EQ(message_of([&] { training.scheduler.schedule(); }), none);
  EXPECT_EQ(message_of([&] { training.steps.get_last_lr(); }), none);
  EXPECT_EQ(message_of([&] { training.factors.state_dict(); }), none);
  EXPECT_EQ(message_of([&] { training.averaging.load_state_dict({}); }), none);
  EXPECT_EQ(message_of([&] { training.plateau.step(1.0); }), no_plateau);
  EXPECT_EQ(message_of([&] { training.plateau.get_last_lr(); }), no_plateau);
  EXPECT_EQ(message_of([&] { training.plateau.state_dict(); }), no_plateau);
  EXPECT_EQ(message_of([&] { training.plateau.load_state_dict({}); }), no_plateau);
  // Nor can they be made of an optimizer that is None.
  const std::string no_optimizer = "the object is None: never assigned, or moved from";
  EXPECT_EQ(message_of([&] { optim::StepLR(training.optimizer, 2); }), no_optimizer);
  EXPECT_EQ(message_of([&] { optim::ReduceLROnPlateau(training.optimizer, {.patience = 1}); }),
            no_optimizer);

  training.optimizer = one(0.5);
  training.steps = optim::StepLR(training.optimizer, 1);
  training.averaging = optim::SWALR(training.optimizer, 0.25, {.anneal_epochs = 1});
  training.plateau = optim::ReduceLROnPlateau(training.optimizer, {.patience = 0});
  training.scheduler = training.steps;
  training.scheduler.step();
  expect_near(training.steps.get_last_lr(), {0.05});
  training.plateau.step(1.0);
  training.plateau.step(1.0);
  expect_near(training.plateau.get_last_lr(), {0.005});
  const optim::Scheduler moved = std::move(training.scheduler);
  EXPECT_TRUE(moved.defined());
  EXPECT_EQ(message_of([&] { training.scheduler.step(); }), none);
}

}  // namespace
