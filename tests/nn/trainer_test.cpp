// The loop of training: the steps are those that a loop by hand makes, on each backend, and
// reports, schedules, clipping, mixed precision and divergence are as train.hpp says.
#include "message_of.h"
#include "second_device.h"
#include "tenon/train.hpp"

#include <cmath>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tenon/tenon.hpp"

namespace tn = tenon;
using tn::Trainer;

namespace {

using Values = std::vector<float>;

class TrainerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { tn::load_plugins(); }
  void SetUp() override { tn::manual_seed(5); }

  // Twelve points of two classes.
  static tn::data::Dataset points() {
    Values x;
    std::vector<int64_t> y;
    for (int i = 0; i < 12; ++i) {
      x.insert(x.end(), {std::sin(float(i)), std::cos(float(3 * i))});
      y.push_back(i % 2);
    }
    return {tn::Tensor::from(x, {12, 2}), tn::Tensor::from(y)};
  }
  static tn::Object network() {
    return tn::nn::Sequential(tn::nn::Linear(2, 6), tn::nn::Tanh(), tn::nn::Linear(6, 2));
  }
  // A model of one weight w, which gives w * x, and a loss that is its mean: the gradient of w is
  // the mean of x.
  struct One : tn::Module {
    tn::Tensor w = parameter("w", tn::tensor({1.f}));
    tn::Tensor forward(tn::Tensor x) { return w * x; }
  };
  static tn::Tensor mean_of(const tn::Tensor& output, const tn::Tensor&) { return output.mean(); }
  static float weight(const tn::Object& one) { return one.tensor("w").item<float>(); }
  // Batches of one item, of these values.
  static std::vector<std::pair<tn::Tensor, tn::Tensor>> batches(const Values& values) {
    std::vector<std::pair<tn::Tensor, tn::Tensor>> list;
    for (const float v : values) list.emplace_back(tn::tensor({v}), tn::tensor({0.f}));
    return list;
  }
};

Values weights_of(const tn::Object& model) {
  Values all;
  for (const tn::Tensor& parameter : model.parameters()) {
    const Values one = parameter.to_vector<float>();
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

// The gradient of a mean over twelve items is that of their parts, weighted by their sizes: 5, 5 and 2.
TEST_F(TrainerTest, ABatchInPartsHasTheGradientOfTheWhole) {
  for (const char* device : {"cpu", second_device()}) {
    for (const bool compile : {false, true}) {
      SCOPED_TRACE(std::string(device) + (compile ? " compiled" : ""));
      const tn::Object a = network(), b = network();
      a.to(tn::float64);
      b.to(tn::float64);
      b.load_state_dict(a.state_dict());
      a.to(device);
      b.to(device);
      const auto whole = tn::optim::SGD(a.parameters(), {.lr = 0.5}),
                 parts = tn::optim::SGD(b.parameters(), {.lr = 0.5});
      Trainer one(a, whole, tn::nn::CrossEntropyLoss());
      Trainer many(b, parts, tn::nn::CrossEntropyLoss(), {.accumulate = 3, .compile = compile});
      const tn::Tensor x = points().x.to(tn::float64), y = points().y;
      for (int i = 0; i < 4; ++i) {
        const auto expected = one.step(x, y), found = many.step(x, y);
        EXPECT_NEAR(found.loss.item<double>(), expected.loss.item<double>(), 1e-12);
        EXPECT_EQ(found.output.sizes(), expected.output.sizes());
      }
      const tn::NamedTensors left = a.state_dict(), right = b.state_dict();
      for (size_t i = 0; i < left.size(); ++i)
        EXPECT_TRUE(left[i].second.allclose(right[i].second, 1e-12, 1e-12)) << left[i].first;
    }
  }
  const tn::Object model = network();
  const auto sgd = tn::optim::SGD(model.parameters(), {.lr = 0.5});
  EXPECT_EQ(message_of([&] { Trainer(model, sgd, mean_of, {.accumulate = 0}); }),
            "Trainer: accumulate is 0, expected at least 1");
  EXPECT_EQ(
      message_of(
          [&] { Trainer(model, sgd, mean_of, {.accumulate = 2}).step(points().x, tn::tensor(0)); }),
      "Trainer: accumulate needs as many targets of each item of a batch, expected [n, ..] and "
      "[n * k, ..]");
  // Windows of a text: several targets of each.
  const auto windows = [](const tn::Tensor& output, const tn::Tensor& target) {
    return tn::mse_loss(output.flatten(), target);
  };
  const tn::Object one = tn::make<One>(), two = tn::make<One>();
  Trainer whole(one, tn::optim::SGD(one.parameters(), {.lr = 0.5}), windows);
  Trainer parts(two, tn::optim::SGD(two.parameters(), {.lr = 0.5}), windows, {.accumulate = 2});
  const tn::Tensor x = tn::tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}),
                   y = tn::arange(0, 6).to(tn::float32);
  EXPECT_NEAR(parts.step(x, y).loss.item<float>(), whole.step(x, y).loss.item<float>(), 1e-5);
  EXPECT_NEAR(weight(one), weight(two), 1e-5);
}

// The second half of an epoch: steps and reports are counted from its beginning.
TEST_F(TrainerTest, GoesOnInTheMiddleOfAnEpoch) {
  const tn::Object one = tn::make<One>();
  Trainer trainer(one, tn::optim::SGD(one.parameters(), {.lr = 0.5}), mean_of);
  std::vector<int64_t> steps;
  const auto reports = trainer.fit(
      batches({1, 2, 3}), {.epochs = 3,
                           .first_epoch = 2,
                           .first_step = 4,
                           .report_every = 6,
                           .on_step = [&](const Trainer::Step& s) { steps.push_back(s.step); }});
  EXPECT_EQ(steps, (std::vector<int64_t>{5, 6, 7, 1, 2, 3}));
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0].step, 6);
  EXPECT_EQ(reports[1].step, 7);
  EXPECT_EQ(reports[2].epoch, 3);
  EXPECT_EQ(message_of([&] { trainer.fit(batches({1}), {.first_step = -1}); }),
            "Trainer: first_step is -1, expected at least 0");
}

TEST_F(TrainerTest, MakesTheStepsOfALoopByHand) {
  for (const char* device : {"cpu", second_device()}) {
    const tn::Object a = network(), b = network();
    b.load_state_dict(a.state_dict());
    a.to(device);
    b.to(device);

    const auto by_hand = tn::optim::Adam(a.parameters(), {.lr = 0.05});
    tn::data::DataLoader first(points(), {.batch_size = 5, .shuffle = true, .seed = 1});
    for (int epoch = 0, step = 0; epoch < 3; ++epoch) {
      for (auto [x, y] : first) {
        by_hand.set_lr(0.05 * std::pow(0.9, step++));
        const tn::Tensor loss = tn::cross_entropy(a(x.to(device)), y.to(device));
        by_hand.zero_grad();
        loss.backward();
        tn::optim::clip_grad_norm_(a.parameters(), 0.1);
        by_hand.step();
      }
    }

    tn::data::DataLoader second(points(), {.batch_size = 5, .shuffle = true, .seed = 1});
    Trainer trainer(b, tn::optim::Adam(b.parameters(), {.lr = 0.05}), tn::nn::CrossEntropyLoss(),
                    {.schedule = tn::optim::ExponentialLR(0.9), .clip_grad_norm = 0.1});
    trainer.fit(second, {.epochs = 3});
    EXPECT_EQ(weights_of(a), weights_of(b)) << device;
    EXPECT_EQ(trainer.steps(), 9);
  }
}

// Gradients are means of x, so w falls by lr * x in each step; losses are w * x before it.
TEST_F(TrainerTest, ReportsTheMeanOfEachEpoch) {
  const auto model = tn::make<One>();
  Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 0.5}), mean_of);
  const auto reports = trainer.fit(batches({1, 2}), {.epochs = 2});
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_DOUBLE_EQ(reports[0].loss, (1 + 0.5 * 2) / 2);       // w: 1, 0.5, -0.5
  EXPECT_DOUBLE_EQ(reports[1].loss, (-0.5 * 1 - 1 * 2) / 2);  // w: -0.5, -1, -2
  EXPECT_EQ(reports[1].epoch, 2);
  EXPECT_EQ(reports[1].step, 2);
  EXPECT_EQ(reports[1].lr, 0.5);
  EXPECT_EQ(weight(model), -2);
}

TEST_F(TrainerTest, CountsTheItemsOfABatch) {
  const auto model = tn::make<One>();
  Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 0.0}), mean_of);
  const std::vector<std::pair<tn::Tensor, tn::Tensor>> uneven = {
      {tn::tensor({1.f, 1.f, 1.f}), tn::zeros({3})}, {tn::tensor({5.f}), tn::zeros({1})}};
  EXPECT_DOUBLE_EQ(trainer.fit(uneven)[0].loss, 2);
}

TEST_F(TrainerTest, ReportsSoManySteps) {
  const auto model = tn::make<One>();
  Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 0.0}), mean_of);
  std::vector<std::pair<int64_t, double>> seen;
  trainer.fit(batches({1, 3, 5, 7, 20}),
              {.report_every = 2, .on_report = [&](const Trainer::Report& report) {
                 seen.emplace_back(report.step, report.loss);
               }});
  EXPECT_EQ(seen, (std::vector<std::pair<int64_t, double>>{{2, 2}, {4, 6}, {5, 20}}));
  EXPECT_EQ(trainer.fit(batches({1, 3}), {.report_every = 2}).size(), 1u);
}

TEST_F(TrainerTest, TellsOfEachStep) {
  const auto model = tn::make<One>();
  Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 1.0}), mean_of);
  std::vector<std::pair<int64_t, int64_t>> steps;
  Values outputs;
  trainer.fit(batches({1, 2}), {.epochs = 2, .on_step = [&](const Trainer::Step& step) {
                                  steps.emplace_back(step.epoch, step.step);
                                  outputs.push_back(step.output.item<float>());
                                  EXPECT_FALSE(step.loss.requires_grad());
                                  EXPECT_EQ(step.target.item<float>(), 0);
                                }});
  EXPECT_EQ(steps, (std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
  EXPECT_EQ(outputs, (Values{1, 0, -2, -6}));  // w: 1, 0, -2, -3
}

TEST_F(TrainerTest, GoesByTheScheduleOverAllEpochs) {
  const auto model = tn::make<One>();
  const auto optimizer = tn::optim::SGD(model.parameters(), {.lr = 1.0});
  Trainer trainer(model, optimizer, mean_of, {.schedule = tn::optim::StepLR(1, 0.5)});
  const auto reports = trainer.fit(batches({1, 1}), {.epochs = 2});
  EXPECT_EQ(reports[0].lr, 0.5);
  EXPECT_EQ(reports[1].lr, 0.125);
  EXPECT_EQ(weight(model), 1 - (1 + 0.5f + 0.25f + 0.125f));
  trainer.go_to(1);
  trainer.step(tn::tensor({1.f}), tn::tensor({0.f}));
  EXPECT_EQ(optimizer.lr(), 0.5);
  EXPECT_EQ(trainer.steps(), 2);
}

TEST_F(TrainerTest, StopsWhereACallbackSaysSo) {
  const auto model = tn::make<One>();
  Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 0.0}), mean_of);
  const auto reports =
      trainer.fit(batches({1, 3, 5}), {.epochs = 9, .on_step = [&](const Trainer::Step& step) {
                                         if (step.epoch == 2 && step.step == 2) trainer.stop();
                                       }});
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[1].step, 2);
  EXPECT_DOUBLE_EQ(reports[1].loss, 2);
  EXPECT_EQ(trainer.fit(batches({1})).size(), 1u);  // another one begins anew
}

#if !defined(__clang__) || \
    __clang_major__ >= 16  // before, it does not compile these views of GCC's
TEST_F(TrainerTest, TakesBatchesThatAFunctionMakes) {
  const auto model = tn::make<One>();
  Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 0.0}), mean_of);
  const auto made = [](int i) { return std::pair(tn::tensor({float(i)}), tn::zeros({1})); };
  EXPECT_DOUBLE_EQ(trainer.fit(std::views::iota(0, 4) | std::views::transform(made))[0].loss, 1.5);
}
#endif

TEST_F(TrainerTest, ALossThatIsNoNumberEndsIt) {
  const auto model = tn::make<One>();
  Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 0.25}), mean_of);
  Values values(70, 0.f);
  values[2] = std::nanf("");
  EXPECT_EQ(message_of([&] { trainer.fit(batches(values)); }),
            "step 3: the loss is nan: the training diverged; try a smaller lr than 0.25");
  EXPECT_EQ(trainer.steps(), 64);  // losses are read so many at a time
  const auto other = tn::make<One>();
  Trainer again(other, tn::optim::SGD(other.parameters(), {.lr = 0.0}), mean_of);
  const Values infinite = {0, INFINITY};
  try {
    again.fit(batches(infinite), {.epochs = 2});
    FAIL() << "no error";
  } catch (const tn::Diverged& error) {
    EXPECT_STREQ(error.what(),
                 "epoch 1, step 2: the loss is infinite: the training diverged; try a smaller lr "
                 "than 0");
    EXPECT_EQ(error.epoch, 1);
    EXPECT_EQ(error.step, 2);
    EXPECT_EQ(error.loss, INFINITY);
    EXPECT_EQ(error.reason, "the loss is infinite: the training diverged; try a smaller lr than 0");
    EXPECT_EQ(error.code(), TN_FAILED_PRECONDITION);
  }
}

TEST_F(TrainerTest, RefusesWhatIsNoTraining) {
  const auto model = tn::make<One>();
  Trainer trainer(model, tn::optim::SGD(model.parameters()), mean_of);
  const auto made = [&](tn::LossFunction loss, tn::TrainerOptions options) {
    return message_of([&] { Trainer(model, tn::optim::SGD(model.parameters()), loss, options); });
  };
  EXPECT_EQ(made(tn::LossFunction(), {}),
            "Trainer: the loss is empty, expected a function of output and target");
  EXPECT_EQ(made(mean_of, {.clip_grad_norm = -1.0}),
            "Trainer: clip_grad_norm is -1, expected at least 0, where 0 is any");
  EXPECT_EQ(made(mean_of, {.clip_grad_norm = NAN}),
            "Trainer: clip_grad_norm is nan, expected at least 0, where 0 is any");
  EXPECT_EQ(made(mean_of, {.autocast = tn::int8}),
            "autocast: int8 is no lower precision; expected float16 or bfloat16");
  EXPECT_EQ(message_of([&] { trainer.fit(batches({1}), {.report_every = -1}); }),
            "Trainer: report_every is -1, expected at least 0");
  EXPECT_EQ(message_of([&] { trainer.go_to(-3); }), "Trainer: steps is -3, expected at least 0");
  EXPECT_EQ(message_of([&] { trainer.fit(batches({1}), {.epochs = 0}); }),
            "Trainer: epochs is 0, expected at least 1");
  EXPECT_EQ(message_of([&] { trainer.fit(batches({})); }), "Trainer: there are no batches");
}

// The scale is far too large at first, so a step is left out: it halves until gradients are finite.
TEST_F(TrainerTest, AScalerLeavesOutWhatIsNotFinite) {
  for (const char* device : {"cpu", second_device()}) {
    const auto model = tn::make<One>();
    model.to(device);
    tn::GradScaler scaler({.init_scale = 0x1p127, .backoff_factor = 0.25});
    Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 1.0}), mean_of,
                    {.clip_grad_norm = 1.0, .scaler = &scaler});
    trainer.fit(batches({2, 2}));
    EXPECT_EQ(scaler.state().scale, 0x1p125) << device;
    EXPECT_NEAR(weight(model), 0, 1e-5) << device;  // one step, clipped to 1 after unscaling
  }
}

// A scale that grows or shrinks the wrong way, or never, finds no end.
TEST_F(TrainerTest, AScalerRefusesFactorsThatFindNoScale) {
  const auto made = [](tn::GradScaler::Options options) {
    return message_of([&] { tn::GradScaler scaler(options); });
  };
  EXPECT_EQ(made({.init_scale = 0}),
            "GradScaler: init_scale is 0, expected a finite number above 0");
  EXPECT_EQ(made({.init_scale = INFINITY}),
            "GradScaler: init_scale is inf, expected a finite number above 0");
  EXPECT_EQ(made({.growth_factor = 1}),
            "GradScaler: growth_factor is 1, expected a finite number above 1");
  EXPECT_EQ(made({.growth_factor = NAN}),
            "GradScaler: growth_factor is nan, expected a finite number above 1");
  EXPECT_EQ(made({.backoff_factor = 1}),
            "GradScaler: backoff_factor is 1, expected a number above 0 and below 1");
  EXPECT_EQ(made({.backoff_factor = -0.5}),
            "GradScaler: backoff_factor is -0.5, expected a number above 0 and below 1");
  EXPECT_EQ(made({.growth_interval = 0}), "GradScaler: growth_interval is 0, expected at least 1");
}

TEST_F(TrainerTest, AutocastIsOverForwardAndLoss) {
  for (const char* device : {"cpu", second_device()}) {
    const tn::Object model = tn::nn::Linear(2, 2);
    model.to(device);
    bool in_loss = false;
    const auto loss = [&](const tn::Tensor& output, const tn::Tensor&) {
      in_loss = tn::autocast_enabled();
      return output.sum();
    };
    Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 1.0}), loss,
                    {.autocast = tn::bfloat16});
    const Trainer::Step step = trainer.step(tn::ones({3, 2}), tn::zeros({3}));
    EXPECT_EQ(step.output.dtype(), tn::bfloat16) << device;
    EXPECT_TRUE(in_loss);
    EXPECT_FALSE(tn::autocast_enabled());
    EXPECT_EQ(model.parameters()[0].grad().dtype(), tn::float32);
  }
}

TEST_F(TrainerTest, TrainsInTrainingAndScoresInEvaluation) {
  const tn::Object model = tn::nn::Sequential(tn::nn::Linear(2, 2), tn::nn::Dropout(0.5));
  tn::data::DataLoader loader(points(), {.batch_size = 5});
  std::vector<bool> modes;
  model.register_forward_hook([&](tn::Object& self, const tn::Tensor&, const tn::Tensor&) {
    modes.push_back(self.training());
  });
  Trainer trainer(model, tn::optim::SGD(model.parameters()), tn::nn::CrossEntropyLoss());
  model.eval();
  trainer.fit(loader);
  EXPECT_EQ(modes, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(tn::accuracy(model, loader), tn::accuracy(model, loader));
  EXPECT_FALSE(modes.back());
  EXPECT_TRUE(model.training());
}

TEST_F(TrainerTest, NothingHasNoScore) {
  const tn::Object model = tn::nn::Lambda([](tn::Tensor x) { return x; });
  using Batches = std::vector<std::pair<tn::Tensor, tn::Tensor>>;
  const tn::Tensor classes = tn::zeros({0}, tn::int64);
  for (const Batches& none : {Batches(), Batches{{tn::zeros({0, 2}), classes}}}) {
    EXPECT_EQ(message_of([&] { tn::accuracy(model, none); }),
              "accuracy: there are no batches with items, expected one");
    EXPECT_EQ(message_of([&] { tn::mean_loss(model, mean_of, none); }),
              "mean_loss: there are no batches with items, expected one");
  }
  const auto one = tn::make<One>();
  Trainer trainer(one, tn::optim::SGD(one.parameters()), mean_of);
  const Batches second_is_empty = {{tn::ones({1}), tn::ones({1})}, {tn::ones({0}), tn::ones({0})}};
  EXPECT_EQ(message_of([&] { trainer.fit(second_is_empty); }), "Trainer: batch 2 has no items");
}

// Targets [n, 1] would be compared with the classes of all items.
TEST_F(TrainerTest, AccuracyRefusesTargetsThatWouldBroadcast) {
  const tn::Object model = tn::nn::Lambda([](tn::Tensor x) { return x; });
  const std::vector<std::pair<tn::Tensor, tn::Tensor>> column = {
      {tn::eye(3), tn::zeros({3, 1}, tn::int64)}};
  EXPECT_EQ(message_of([&] { tn::accuracy(model, column); }),
            "accuracy: the output has 2 dimensions and the targets 2, expected [n, classes] and "
            "classes [n]");
}

TEST_F(TrainerTest, ScoresCountEachItem) {
  for (const char* device : {"cpu", second_device()}) {
    const tn::Object model = tn::nn::Lambda([](tn::Tensor x) { return x; });
    const tn::Object other = tn::nn::Sequential(model, tn::nn::PReLU());  // of positive numbers: x
    other.to(device);
    const tn::data::Dataset items = {tn::tensor({0.f, 1.f, 1.f, 0.f, 0.f, 2.f}).reshape({3, 2}),
                                     tn::tensor({int64_t{1}, int64_t{1}, int64_t{1}})};
    tn::data::DataLoader loader(items, {.batch_size = 2});
    EXPECT_DOUBLE_EQ(tn::accuracy(other, loader), 2.0 / 3) << device;
    // Sums of two items and of one: (1 + 1) / 4 and 2 / 2 as means of the batches.
    EXPECT_DOUBLE_EQ(tn::mean_loss(other, mean_of, loader), (2 * 0.5 + 1 * 1.0) / 3) << device;
  }
}

}  // namespace
