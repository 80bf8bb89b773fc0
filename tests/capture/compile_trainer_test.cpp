// The trainer's compiled steps: the losses and parameters of a training without `compile`, bit for
// bit, and what it says of what was replayed.
#include <tenon/train.hpp>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "compile_support.h"

namespace {

namespace nn = tn::nn;
using tn::Trainer;

class CompiledTrainer : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    load_all();
    d = tn::Device(GetParam());
  }

  // 22 items of four classes: batches of 8, 8 and 6.
  static tn::data::DataLoader<tn::data::Dataset> batches() {
    Tensor x = (tn::arange(0, 22 * 12).to(tn::float32) * 0.37).sin().view({22, 12});
    return {{x, tn::arange(0, 22) % 4}, {.batch_size = 8, .shuffle = true, .seed = 1}};
  }
  struct Run {
    tn::Object model;
    tn::optim::Optimizer optimizer;
    std::vector<Tensor> losses;
    std::vector<double> accuracies;
    std::string described;
  };
  using MakeOptimizer = std::function<tn::optim::Optimizer(const tn::Tensors&)>;

  tn::Object network() const {
    const tn::Object model = nn::Sequential(nn::Linear(12, 16), nn::BatchNorm1d(16), nn::ReLU(),
                                            nn::Dropout(0.2), nn::Linear(16, 4));
    model.to(d);
    return model;
  }
  // Three epochs, with an evaluation after each.
  static void fit(Run& run, Trainer& trainer, tn::data::DataLoader<tn::data::Dataset>& items) {
    trainer.fit(items, {.epochs = 3,
                        .on_step = [&](const Trainer::Step& s) { run.losses.push_back(s.loss); },
                        .on_report =
                            [&](const Trainer::Report&) {
                              run.accuracies.push_back(tn::accuracy(run.model, batches()));
                            }});
    run.described = trainer.describe();
  }
  // Six epochs. In the middle a checkpoint is saved, and loaded into the same objects or into new
  // ones, with a trainer of their own.
  Run trained(const MakeOptimizer& make, tn::TrainerOptions options, bool compile,
              bool into_new_objects) const {
    tn::manual_seed(3);
    options.compile = compile;
    Run run{.model = network()};
    run.optimizer = make(run.model.parameters());
    tn::data::DataLoader<tn::data::Dataset> items = batches();
    std::optional<Trainer> trainer;
    trainer.emplace(run.model, run.optimizer, nn::CrossEntropyLoss(), options);
    fit(run, *trainer, items);
    const std::string stem =
        ::testing::TempDir() + "compile_trainer_" + GetParam() + std::to_string(::getpid());
    tn::save(run.model.state_dict(), stem + ".model");
    tn::save(run.optimizer.state_dict(), stem + ".optimizer");
    if (into_new_objects) {
      run.model = network();
      run.optimizer = make(run.model.parameters());
      const int64_t steps = trainer->steps();
      trainer.emplace(run.model, run.optimizer, nn::CrossEntropyLoss(), options);
      trainer->go_to(steps);
    } else {
      tn::NoGrad no_grad;
      for (const Tensor& t : run.model.parameters()) t.zero_();
    }
    run.model.load_state_dict(tn::load(stem + ".model"));
    run.optimizer.load_state_dict(tn::load(stem + ".optimizer"));
    for (const char* ending : {".model", ".optimizer"}) std::filesystem::remove(stem + ending);
    fit(run, *trainer, items);
    return run;
  }
  void expect_equal_trainings(const MakeOptimizer& make, const tn::TrainerOptions& options = {}) {
    for (const bool into_new_objects : {false, true}) {
      const Run eager = trained(make, options, false, into_new_objects);
      const Run compiled = trained(make, options, true, into_new_objects);
      ASSERT_EQ(compiled.losses.size(), 18u);
      for (size_t i = 0; i < 18; ++i) expect_same_bits(compiled.losses[i], eager.losses[i]);
      EXPECT_EQ(compiled.accuracies, eager.accuracies);
      const auto a = eager.model.state_dict(), b = compiled.model.state_dict();
      for (size_t k = 0; k < a.size(); ++k) expect_same_bits(b[k].second, a[k].second);
      EXPECT_EQ(eager.described, "");
      // The first step makes what stays; each size of batch is recorded.
      int recordings = 0, replays = 0;
      ASSERT_EQ(std::sscanf(compiled.described.c_str(), "%d recordings, %d replays", &recordings,
                            &replays),
                2);
      EXPECT_EQ(recordings + replays, into_new_objects ? 9 : 18) << compiled.described;
      EXPECT_LE(recordings, into_new_objects ? 3 : 5) << compiled.described;
    }
  }
  tn::Device d{};
};
INSTANTIATE_TEST_SUITE_P(Devices, CompiledTrainer, ::testing::Values("cpu", second_device()));

TEST_P(CompiledTrainer, GradientDescentWithMomentum) {
  expect_equal_trainings([](const tn::Tensors& p) -> tn::optim::Optimizer {
    return tn::optim::SGD(p, {.lr = 0.1, .momentum = 0.9});
  });
}

TEST_P(CompiledTrainer, PlainGradientDescentWithClipping) {
  expect_equal_trainings(
      [](const tn::Tensors& p) -> tn::optim::Optimizer { return tn::optim::SGD(p, {.lr = 0.1}); },
      {.clip_grad_norm = 0.3});
}

TEST_P(CompiledTrainer, AdamWWithAScheduleAndAutocast) {
  expect_equal_trainings(
      [](const tn::Tensors& p) -> tn::optim::Optimizer {
        return tn::optim::AdamW(p, {.lr = 0.01});
      },
      {.schedule = tn::optim::Warmup(4, tn::optim::CosineAnnealingLR(20, 1e-4)),
       .autocast = tn::bfloat16});
}

TEST_P(CompiledTrainer, ScalesTheLossesOfHalves) {
  std::vector<std::vector<Tensor>> losses;
  std::vector<tn::GradScaler::State> states;
  std::string described;
  for (const bool compile : {false, true}) {
    tn::manual_seed(3);
    // The first scales are too large for float16: these steps are passed over.
    tn::GradScaler scaler({.init_scale = 0x1p24, .growth_interval = 4});
    const tn::Object model = network();
    Trainer trainer(
        model, tn::optim::SGD(model.parameters(), {.lr = 0.1}), nn::CrossEntropyLoss(),
        {.clip_grad_norm = 1.0, .autocast = tn::float16, .scaler = &scaler, .compile = compile});
    auto& list = losses.emplace_back();
    tn::data::DataLoader<tn::data::Dataset> items = batches();
    trainer.fit(items,
                {.epochs = 6, .on_step = [&](const Trainer::Step& s) { list.push_back(s.loss); }});
    states.push_back(scaler.state());
    described = trainer.describe();
  }
  for (size_t i = 0; i < 18; ++i) expect_same_bits(losses[1][i], losses[0][i]);
  EXPECT_EQ(states[1], states[0]);
  EXPECT_LT(states[0].scale, 0x1p24);
  EXPECT_NE(described.find(" 15 replays"), std::string::npos) << described;
}

// Of a table whose gradient is row-sparse. (SparseAdam and Adagrad put equal rows together, whose
// number depends on values.)
TEST_P(CompiledTrainer, StepsRowsOfATable) {
  std::vector<std::vector<Tensor>> seen;
  std::string described;
  for (const bool compile : {false, true}) {
    tn::manual_seed(3);
    const tn::Object model = nn::Sequential(nn::Embedding(12, 4, {.sparse = true}));
    model.to(d);
    Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 0.1}), nn::CrossEntropyLoss(),
                    {.compile = compile});
    auto& list = seen.emplace_back();
    for (int i = 0; i < 5; ++i) {
      const Tensor word = (tn::arange(0, 6) * (i + 1)) % 12;
      list.push_back(trainer.step(word, word % 4).loss);
    }
    list.push_back(model.parameters()[0]);
    described = trainer.describe();
  }
  for (size_t i = 0; i < 6; ++i) expect_same_bits(seen[1][i], seen[0][i]);
  EXPECT_NE(described.find("1 recordings, 4 replays"), std::string::npos) << described;
}

// A copy of a trainer goes on with what was recorded, also when the first one is gone.
TEST_P(CompiledTrainer, IsCopiedWithWhatItRecorded) {
  tn::manual_seed(3);
  const tn::Object model = network();
  auto first =
      std::make_unique<Trainer>(model, tn::optim::SGD(model.parameters(), {.lr = 0.1}),
                                nn::CrossEntropyLoss(), tn::TrainerOptions{.compile = true});
  const auto [x, y] = *batches().begin();
  for (int i = 0; i < 3; ++i) first->step(x, y);
  Trainer second = *first;
  first.reset();
  for (int i = 0; i < 3; ++i) second.step(x, y);
  EXPECT_NE(second.describe().find("1 recordings, 5 replays"), std::string::npos)
      << second.describe();
  EXPECT_EQ(second.steps(), 6);
}

TEST_P(CompiledTrainer, SaysWhyALossStaysEager) {
  std::vector<std::vector<Tensor>> losses;
  for (const bool compile : {false, true}) {
    tn::manual_seed(3);
    const tn::Object model = network();
    const auto loss = [](const Tensor& output, const Tensor& target) {
      Tensor all = tn::cross_entropy(output, target);
      return all.item<double>() > 1 ? all * 2 : all;
    };
    Trainer trainer(model, tn::optim::SGD(model.parameters(), {.lr = 0.1}), loss,
                    {.compile = compile});
    auto& list = losses.emplace_back();
    tn::data::DataLoader<tn::data::Dataset> items = batches();
    trainer.fit(items,
                {.epochs = 2, .on_step = [&](const Trainer::Step& s) { list.push_back(s.loss); }});
    if (compile) {
      EXPECT_NE(trainer.describe().find("runs eagerly: read: a value is read back"),
                std::string::npos)
          << trainer.describe();
    }
  }
  for (size_t i = 0; i < 6; ++i) expect_same_bits(losses[1][i], losses[0][i]);
}

}  // namespace
