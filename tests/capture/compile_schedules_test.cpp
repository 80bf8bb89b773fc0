// Each schedule of learning rates beside a compiled step: the same rates and the same bits as beside
// an eager one, and no recording for a new rate.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "second_device.h"
#include "tenon/tenon.hpp"

namespace {

namespace tn = tenon;
namespace optim = tn::optim;
using tn::Tensor;

constexpr int64_t kSteps = 14;

// Sets the rate of the next step, from the loss of this one where it goes by that.
using Next = std::function<void(double loss)>;
struct Named {
  std::string name;
  std::function<Next(const optim::Optimizer&)> make;
};

Named of(const std::string& name, const optim::Schedule& schedule) {
  return {name, [schedule](const optim::Optimizer& optimizer) -> Next {
            const auto scheduler = std::make_shared<optim::Scheduler>(optimizer, schedule);
            return [scheduler](double) { scheduler->step(); };
          }};
}

std::vector<Named> all() {
  std::vector<Named> list = {
      of("LambdaLR", optim::LambdaLR([](int64_t step) { return 1 / (1.0 + double(step)); })),
      of("StepLR", optim::StepLR(3, 0.5)),
      of("MultiStepLR", optim::MultiStepLR({2, 5, 9}, 0.5)),
      of("ExponentialLR", optim::ExponentialLR(0.9)),
      of("ConstantLR", optim::ConstantLR({.factor = 0.5, .total_iters = 4})),
      of("LinearLR", optim::LinearLR({.start_factor = 0.25, .total_iters = 6})),
      of("PolynomialLR", optim::PolynomialLR({.total_iters = 20, .power = 2})),
      of("CosineAnnealingLR", optim::CosineAnnealingLR(kSteps, 1e-3)),
      of("CosineAnnealingWarmRestarts", optim::CosineAnnealingWarmRestarts(2, 2, 1e-3)),
      of("CyclicLR", optim::CyclicLR(0.01, 0.1, {.step_size_up = 3, .mode = "triangular2"})),
      of("OneCycleLR", optim::OneCycleLR(0.1, kSteps)),
      of("Warmup", optim::Warmup(4, optim::CosineAnnealingLR(10))),
      of("SequentialLR",
         optim::SequentialLR({optim::ConstantLR(), optim::ExponentialLR(0.8)}, {5})),
      of("ChainedScheduler",
         optim::ChainedScheduler({optim::ExponentialLR(0.95), optim::StepLR(4, 0.5)})),
      of("a function", [](int64_t step, double lr) { return lr * (1 + std::sin(double(step))); })};
  list.push_back({"ReduceLROnPlateau", [](const optim::Optimizer& optimizer) -> Next {
                    const auto plateau = std::make_shared<optim::ReduceLROnPlateau>(
                        optimizer, optim::ReduceLROnPlateauOptions{
                                       .factor = 0.5, .patience = 1, .threshold = 0.9});
                    return [plateau](double loss) { plateau->step(loss); };
                  }});
  return list;
}

struct Trained {
  std::vector<double> rates, losses;
  std::vector<std::vector<double>> weights;
  std::string described;
};

Trained train(const Named& schedule, const char* device, bool compiled) {
  tn::manual_seed(3);
  const auto model = tn::nn::Sequential(tn::nn::Linear(6, 8), tn::nn::Tanh(), tn::nn::Linear(8, 1));
  model.to(device);
  const auto optimizer = optim::AdamW(model.parameters(), {.lr = 0.05});
  const Next next = schedule.make(optimizer);
  const Tensor x = tn::randn({16, 6}, {}, device);
  const auto step = [&](Tensor batch) {
    const Tensor loss =
        (model.invoke<Tensor>("forward", batch) - batch.sum({1}, true)).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach() * 1;
  };
  auto recorded = tn::compile(step);
  Trained result;
  for (int64_t i = 0; i < kSteps; ++i) {
    result.rates.push_back(optimizer.lr());
    const Tensor loss = compiled ? recorded(x) : step(x);
    result.losses.push_back(loss.item<double>());
    next(result.losses.back());
  }
  for (const Tensor& p : model.parameters()) result.weights.push_back(p.to_vector<double>());
  result.described = recorded.describe();
  return result;
}

class CompiledSchedules : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { tn::load_plugins(); }
};
INSTANTIATE_TEST_SUITE_P(Devices, CompiledSchedules, testing::Values("cpu", second_device()),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(CompiledSchedules, EachGivesTheSameRatesAndBits) {
  const std::vector<Named> schedules = all();
  ASSERT_EQ(schedules.size(), 16u);
  for (const Named& schedule : schedules) {
    SCOPED_TRACE(schedule.name);
    const Trained eager = train(schedule, GetParam(), false),
                  compiled = train(schedule, GetParam(), true);
    EXPECT_EQ(compiled.rates, eager.rates);
    EXPECT_EQ(compiled.losses, eager.losses);
    EXPECT_EQ(compiled.weights, eager.weights);
    EXPECT_NE(*std::max_element(eager.rates.begin(), eager.rates.end()),
              *std::min_element(eager.rates.begin(), eager.rates.end()))
        << "it changes no rate";
    // The second: Adam makes its state in the first step.
    EXPECT_NE(compiled.described.find("2 recordings, 12 replays"), std::string::npos)
        << compiled.described;
  }
}

}  // namespace
