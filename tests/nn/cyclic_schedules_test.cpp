// CyclicLR and OneCycleLR beside PyTorch's (tests/data/torch_schedules.py): the rates and momentums
// that they set, and what optimizers make of these, eager and compiled.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "message_of.h"
#include "second_device.h"
#include "tenon/tenon.hpp"
#include "torch_optimizers.h"

namespace tn = tenon;
namespace optim = tn::optim;
using nlohmann::json;
using tn::optim::Optimizer;

namespace {

const json& data() {
  static const json all = torch_data("torch_schedules.json");
  return all;
}

optim::Schedule schedule_of(const json& c) {
  const json& given = c.at("options");
  if (c.at("schedule") == "OneCycleLR") {
    optim::OneCycleLROptions o;
    o.anneal_strategy = given.value("anneal_strategy", o.anneal_strategy);
    o.cycle_momentum = given.value("cycle_momentum", o.cycle_momentum);
    o.base_momentum = given.value("base_momentum", double(o.base_momentum));
    o.max_momentum = given.value("max_momentum", double(o.max_momentum));
    o.three_phase = given.value("three_phase", o.three_phase);
    return optim::OneCycleLR(given.at("max_lr").get<double>(),
                             given.at("total_steps").get<int64_t>(), o);
  }
  optim::CyclicLROptions o;
  o.step_size_up = given.at("step_size_up").get<int64_t>();
  o.step_size_down = given.value("step_size_down", int64_t(o.step_size_down));
  o.mode = given.value("mode", o.mode);
  o.gamma = given.value("gamma", double(o.gamma));
  o.cycle_momentum = given.value("cycle_momentum", o.cycle_momentum);
  o.base_momentum = given.value("base_momentum", double(o.base_momentum));
  o.max_momentum = given.value("max_momentum", double(o.max_momentum));
  return optim::CyclicLR(given.at("base_lr").get<double>(), given.at("max_lr").get<double>(), o);
}

double momentum_of(const Optimizer& optimizer, bool has_betas) {
  return has_betas ? optimizer.group_option<Values>(0, "betas")[0]
                   : optimizer.group_option<double>(0, "momentum");
}

class CyclicSchedules : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    tn::load_plugins();
    device = tn::Device(GetParam());
  }
  tn::Tensor parameter() const {
    return tn::Tensor::from(Values{0.7, -2.0, 0.1, 0.5, 1.5, -0.3}, {2, 3})
        .to(device)
        .requires_grad_();
  }
  std::vector<tn::Tensor> one() const { return {parameter()}; }
  tn::Device device;
};
INSTANTIATE_TEST_SUITE_P(Devices, CyclicSchedules, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

// The gradient of sum(1.5 p² - p).
tn::Tensor step(const Optimizer& optimizer, const tn::Tensor& p, const tn::Tensor& one) {
  optimizer.zero_grad();
  const tn::Tensor loss = (p * p * 1.5 - p * one).sum();
  loss.backward();
  optimizer.step();
  return loss.detach() * 1;
}

TEST_P(CyclicSchedules, RatesAndMomentumsAndWhatComesOfThemAreThoseOfPyTorch) {
  for (const json& c : data()) {
    const std::string name = c.at("optimizer");
    SCOPED_TRACE(name + " " + c.at("schedule").dump() + c.at("options").dump());
    const bool has_betas = c.at("with").contains("betas") || name == "NAdam";
    const tn::Tensor p = parameter(), one = tn::ones({}, tn::float64, device);
    const Optimizer optimizer = tn::build_optimizer(description_of(name, c.at("with")), {p});
    optim::Scheduler scheduler(optimizer, schedule_of(c));
    const Values rates = c.at("rates"), momentums = c.at("momentums"), after = c.at("after");
    for (size_t i = 0; i < rates.size(); ++i) {
      EXPECT_NEAR(optimizer.lr(), rates[i], 1e-14) << "step " << i;
      EXPECT_NEAR(momentum_of(optimizer, has_betas), momentums[i], 1e-14) << "step " << i;
      step(optimizer, p, one);
      scheduler.step();
    }
    const Values found = p.to_vector<double>();
    // PyTorch too counts NAdam's product in float32.
    for (size_t i = 0; i < after.size(); ++i)
      EXPECT_NEAR(found[i], after[i], name == "NAdam" ? 1e-5 : 1e-10) << "element " << i;
  }
}

// The momentum is read anew at each replay: one recording is enough.
TEST_P(CyclicSchedules, CompiledStepsFollowTheMomentumAndHaveTheSameBits) {
  for (const json& c : data()) {
    const std::string name = c.at("optimizer");
    SCOPED_TRACE(name + " " + c.at("schedule").dump() + c.at("options").dump());
    const auto run = [&](bool compiled) {
      const tn::Tensor p = parameter(), one = tn::ones({}, tn::float64, device);
      const Optimizer optimizer = tn::build_optimizer(description_of(name, c.at("with")), {p});
      optim::Scheduler scheduler(optimizer, schedule_of(c));
      auto f = tn::compile([&](tn::Tensor x) { return step(optimizer, p, x); });
      for (size_t i = 0; i < c.at("rates").size(); ++i) {
        compiled ? f(one) : step(optimizer, p, one);
        scheduler.step();
      }
      // The second recording: the state is made in the first step.
      if (compiled) {
        EXPECT_NE(f.describe().find("2 recordings, 11 replays"), std::string::npos) << f.describe();
      }
      return p.to_vector<double>();
    };
    EXPECT_EQ(run(true), run(false));
  }
}

// Whether there is a momentum is another step.
TEST_P(CyclicSchedules, ACompiledStepNoticesThatTheMomentumComesAndGoes) {
  const double momentums[] = {0.9, 0.8, 0.7, 0, 0, 0, 0.5, 0.4, 0, 0.3};
  for (const std::string name : {"SGD", "RMSprop"}) {
    const auto run = [&](bool compiled) {
      const tn::Tensor p = parameter(), one = tn::ones({}, tn::float64, device);
      const Optimizer optimizer =
          tn::build_optimizer({name, {{"lr", 0.05}, {"momentum", 0.9}}}, {p});
      if (name == "SGD") optimizer.set_option("dampening", 0.2);
      auto f = tn::compile([&](tn::Tensor x) { return step(optimizer, p, x); });
      for (const double momentum : momentums) {
        optimizer.set_option("momentum", momentum);
        compiled ? f(one) : step(optimizer, p, one);
      }
      return p.to_vector<double>();
    };
    EXPECT_EQ(run(true), run(false)) << name;
  }
}

TEST_P(CyclicSchedules, AStateGoesOnWithTheMomentum) {
  for (const std::string name : {"SGD", "Adam"}) {
    const optim::Schedule schedule = optim::OneCycleLR(0.2, 12);
    const tn::Tensor p = parameter(), one = tn::ones({}, tn::float64, device);
    const Optimizer optimizer = tn::build_optimizer({name, {{"lr", 0.1}}}, {p});
    optim::Scheduler scheduler(optimizer, schedule);
    for (int i = 0; i < 5; ++i) step(optimizer, p, one), scheduler.step();
    const tn::Tensor q = p.detach().clone().requires_grad_();
    const Optimizer other = tn::build_optimizer({name, {{"lr", 7.0}}}, {q});
    optim::Scheduler later(other, schedule);
    const tn::NamedTensors state = optimizer.state_dict();
    tn::NamedTensors copied;
    for (const auto& [key, t] : state) copied.emplace_back(key, t.clone());
    other.load_state_dict(copied);
    later.load_state_dict(scheduler.state_dict());
    EXPECT_EQ(momentum_of(other, name == "Adam"), momentum_of(optimizer, name == "Adam"));
    for (int i = 5; i < 12; ++i) {
      step(optimizer, p, one), scheduler.step();
      step(other, q, one), later.step();
    }
    EXPECT_EQ(q.to_vector<double>(), p.to_vector<double>()) << name;
  }
}

TEST_P(CyclicSchedules, AnOptimizerWithoutMomentumIsRefused) {
  const Optimizer adagrad = optim::Adagrad(one(), {.lr = 0.1});
  const std::string why =
      "Adagrad has neither momentum nor betas: the optimizer must support momentum or beta1 where "
      "the schedule's cycle_momentum is set";
  EXPECT_EQ(message_of([&] { optim::Scheduler(adagrad, optim::OneCycleLR(1, 9)); }), why);
  EXPECT_EQ(message_of([&] { optim::Scheduler(adagrad, optim::Warmup(2, optim::CyclicLR(0, 1))); }),
            why);
  EXPECT_EQ(adagrad.lr(), 0.1);
  const optim::Scheduler rates(adagrad, optim::OneCycleLR(1, 9, {.cycle_momentum = false}));
  EXPECT_NEAR(adagrad.lr(), 0.04, 1e-12);
}

TEST_P(CyclicSchedules, MomentumsThatDoNotFitAreRefused) {
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, 9, {.base_momentum = -1}); }),
            "OneCycleLR: base_momentum is -1, expected a finite number of at least 0");
  EXPECT_EQ(message_of([] { optim::CyclicLR(0, 1, {.max_momentum = NAN}); }),
            "CyclicLR: max_momentum is nan, expected a finite number of at least 0");
  const Optimizer adam = optim::Adam(one());
  EXPECT_NE(message_of([&] {
              optim::Scheduler(adam, optim::OneCycleLR(1, 9, {.max_momentum = 1}));
            }).find("betas is [1, 0.999], expected two numbers, each at least 0 and below 1"),
            std::string::npos);
}

// Of SequentialLR and ChainedScheduler with an SGD of momentum 0.5, from PyTorch 2.15.
TEST_P(CyclicSchedules, SequencesAndChainsHaveTheMomentumsOfPyTorch) {
  const auto expect = [&](const optim::Schedule& schedule, const Values& momentums) {
    const Optimizer sgd = optim::SGD(one(), {.lr = 0.1, .momentum = 0.5});
    optim::Scheduler scheduler(sgd, schedule);
    for (size_t i = 0; i < momentums.size(); ++i, scheduler.step())
      EXPECT_NEAR(sgd.group_option<double>(0, "momentum"), momentums[i], 1e-10) << "step " << i;
  };
  const auto half = optim::ConstantLR({.factor = 0.5, .total_iters = 100});
  const auto cyclic = optim::CyclicLR(0.1, 0.2, {.step_size_up = 2});
  const auto one_cycle = optim::OneCycleLR(0.2, 4, {.pct_start = 0.5, .anneal_strategy = "linear"});
  expect(optim::SequentialLR({half, one_cycle, optim::ExponentialLR(0.9)}, {2, 5}),
         {0.95, 0.95, 0.95, 0.85, 0.9, 0.9, 0.9, 0.9});
  expect(optim::SequentialLR({half, cyclic, one_cycle}, {2, 5}),
         {0.95, 0.95, 0.9, 0.85, 0.8, 0.95, 0.85, 0.9});
  expect(optim::ChainedScheduler({optim::ExponentialLR(0.9), cyclic, half}),
         {0.9, 0.85, 0.8, 0.85, 0.9, 0.85});
  // SequentialLR([LinearLR, CyclicLR]), as Warmup is.
  expect(optim::Warmup(2, cyclic), {0.9, 0.9, 0.9, 0.85, 0.8});
  expect(optim::StepLR(1), {0.5, 0.5});
}

struct Mine {
  double operator()(int64_t, double lr) const { return lr; }
  std::optional<double> momentum(int64_t step) const {
    if (step == 1) return {};
    return 0.1 * double(step + 1);
  }
};

TEST_P(CyclicSchedules, AFunctionOfOnesOwnMayHaveAMomentum) {
  const optim::Schedule schedule = Mine();
  EXPECT_EQ(schedule.momentum_at(0), 0.1);
  EXPECT_EQ(schedule.momentum_at(1), std::nullopt);
  const Optimizer sgd = optim::SGD(one(), {.lr = 0.1});
  sgd.add_group(one(), {{"momentum", 0.7}});
  optim::Scheduler scheduler(sgd, schedule);
  scheduler.step();
  EXPECT_EQ(sgd.group_option<double>(0, "momentum"), 0.1);
  scheduler.step();
  for (const uint32_t group : {0u, 1u})
    EXPECT_DOUBLE_EQ(sgd.group_option<double>(group, "momentum"), 0.3);
}

TEST(OneCycleSteps, AreCountedByEpochs) {
  const optim::Schedule steps = optim::OneCycleLR(1.0, 12, {.pct_start = 0.5});
  const optim::Schedule epochs =
      optim::OneCycleLR(1.0, {.epochs = 3, .steps_per_epoch = 4, .pct_start = 0.5});
  const optim::Schedule total = optim::OneCycleLR(1.0, {.total_steps = 12, .pct_start = 0.5});
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(steps.at(i), epochs.at(i));
    EXPECT_EQ(steps.at(i), total.at(i));
  }
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, {.epochs = 3}); }),
            "OneCycleLR: expected total_steps, or epochs and steps_per_epoch");
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, {.epochs = 0, .steps_per_epoch = 4}); }),
            "OneCycleLR: epochs is 0, expected at least 1");
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, {.epochs = INT64_MAX, .steps_per_epoch = 2}); }),
            "OneCycleLR: epochs * steps_per_epoch is more than an int64 holds");
  EXPECT_EQ(message_of([] { optim::OneCycleLR(1, 9, {.epochs = 3}); }),
            "OneCycleLR: total_steps are given by their place, expected no other number of steps");
}

// The rates are PyTorch 2.15's.
TEST(JoinedSchedulers, BeginWithTheRateBeforeTheFirstOne) {
  tn::load_plugins();
  const auto one = [] { return std::vector<tn::Tensor>{tn::ones({1})}; };
  const auto rates = [](optim::Scheduler scheduler, int n) {
    Values list;
    for (int i = 0; i < n; ++i, scheduler.step()) list.push_back(scheduler.get_last_lr().at(0));
    return list;
  };
  const auto expect_rates = [](const Values& got, const Values& want) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12) << i;
  };
  const Values sequence = {
      0.01, 0.028, 0.046, 0.064, 0.082, 0.1, 0.0975528258147577, 0.0904508497187474};
  {
    const Optimizer sgd = optim::SGD(one(), {.lr = 0.1});
    const auto warmup = optim::LinearLR(sgd, {.start_factor = 0.1, .total_iters = 5});
    const auto cosine = optim::CosineAnnealingLR(sgd, 10);
    expect_rates(rates(optim::SequentialLR(sgd, {warmup, cosine}, {5}), 8), sequence);
  }
  {
    const Optimizer sgd = optim::SGD(one(), {.lr = 0.1});
    const auto cosine = optim::CosineAnnealingLR(sgd, 10);
    const auto warmup = optim::LinearLR(sgd, {.start_factor = 0.1, .total_iters = 5});
    expect_rates(rates(optim::SequentialLR(sgd, {warmup, cosine}, {5}), 8), sequence);
    const Optimizer other = optim::SGD(one(), {.lr = 0.1});
    EXPECT_EQ(message_of([&] {
                optim::SequentialLR(other, {optim::StepLR(other, 2), cosine}, {5});
              }),
              "SequentialLR: schedulers[1] is of another optimizer, expected all to be of one");
    EXPECT_EQ(message_of([&] {
                optim::SequentialLR(sgd, {warmup, cosine}, {5, 6});
              }),
              "SequentialLR: 2 schedules and 2 milestones, expected one milestone less than "
              "schedules");
  }
  const Optimizer sgd = optim::SGD(one(), {.lr = 0.1});
  const auto chained =
      optim::ChainedScheduler({optim::ConstantLR(sgd, 0.5, 2), optim::ExponentialLR(sgd, 0.5)});
  EXPECT_EQ(chained.base_lrs(), Values{0.1});
  expect_rates(rates(chained, 4), {0.05, 0.025, 0.025, 0.0125});
  EXPECT_EQ(message_of([] { optim::ChainedScheduler(std::vector<optim::Scheduler>()); }),
            "ChainedScheduler: there are no schedulers, expected at least one");
}

}  // namespace
