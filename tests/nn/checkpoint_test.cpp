// tn::Checkpoint and its folder: a training that was interrupted anywhere goes on to the same bits.
#include <filesystem>
#include <fstream>

#include <tenon/checkpoint.hpp>

#include "killed_at.h"
#include "ops_support.h"

namespace {

namespace fs = std::filesystem;
namespace nn = tn::nn;
namespace optim = tn::optim;

struct Checkpoints : testing::Test {
  std::string folder;
  void SetUp() override {
    load_all();
    folder = testing::TempDir() + "/checkpoint_test." + std::to_string(::getpid());
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const char* name) const { return folder + "/" + name; }
};

// Random batches, dropout and a schedule: what comes next depends on all of the state.
struct Training {
  tn::Object model;
  optim::Optimizer optimizer;
  optim::Scheduler schedule;

  Training()
      : model(nn::Sequential(nn::Linear(6, 8), nn::BatchNorm1d(8), nn::Dropout(0.3),
                             nn::Linear(8, 2))),
        optimizer(optim::AdamW(model.parameters(), {.lr = 0.01})),
        schedule(optimizer, optim::StepLR(2, 0.5)) {}
  tn::Checkpoint checkpoint() {
    return {.model = model, .optimizer = optimizer, .schedule = schedule};
  }
  void step() {
    const Tensor x = tn::randn({5, 6});
    const Tensor loss = (model.invoke<Tensor>("forward", x) - x.sum({1}, true)).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    schedule.step();
  }
};

void expect_equal(const tn::NamedTensors& a, const tn::NamedTensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].first, b[i].first);
    EXPECT_EQ(a[i].second.to_vector<double>(), b[i].second.to_vector<double>()) << a[i].first;
  }
}

TEST_F(Checkpoints, ATrainingGoesOnToTheSameBits) {
  tn::manual_seed(7);
  Training whole;
  for (int i = 0; i < 3; ++i) whole.step();
  whole.checkpoint().save(path("a.safetensors"), 3);
  for (int i = 0; i < 4; ++i) whole.step();
  const tn::RandomState end = tn::random_state();

  tn::manual_seed(99);  // other weights and other numbers, all of which the file replaces
  Training resumed;
  resumed.step();
  EXPECT_EQ(resumed.checkpoint().load(path("a.safetensors")), 3);
  for (int i = 0; i < 4; ++i) resumed.step();
  expect_equal(resumed.model.state_dict(), whole.model.state_dict());
  expect_equal(resumed.optimizer.state_dict(), whole.optimizer.state_dict());
  EXPECT_EQ(resumed.schedule.current(), whole.schedule.current());
  EXPECT_EQ(tn::random_state(), end);
}

TEST_F(Checkpoints, AFreshOptimizerTakesTheState) {
  Training a;
  a.step();
  a.checkpoint().save(path("a.safetensors"));
  Training b;  // whose optimizer has made no state yet
  EXPECT_EQ(b.checkpoint().load(path("a.safetensors")), 0);
  expect_equal(b.optimizer.state_dict(), a.optimizer.state_dict());
}

struct Counter {
  int64_t count = 0;
  tn::NamedTensors state_dict() const { return {{"count", Tensor::from<int64_t>({count})}}; }
  void load_state_dict(const tn::NamedTensors& state) {
    count = state.at(0).second.item<int64_t>();
  }
};

TEST_F(Checkpoints, PartsAreWhateverHasAState) {
  tn::GradScaler scaler({.init_scale = 1024});
  Counter loader{5}, other{6};
  tn::Checkpoint checkpoint{.scaler = scaler, .loader = loader, .more = {{"other", other}}};
  checkpoint.save(path("a.safetensors"), 9);
  scaler.load_state({2, 3});
  loader.count = other.count = 0;
  EXPECT_EQ(checkpoint.load(path("a.safetensors")), 9);
  EXPECT_EQ(scaler.state().scale, 1024);
  EXPECT_EQ(scaler.state().good_steps, 0);
  EXPECT_EQ(loader.count, 5);
  EXPECT_EQ(other.count, 6);
  for (const char* name : {"", "model.x", "step", "rng", "loader"}) {
    checkpoint.more = {{name, other}};
    expect_error([&] { checkpoint.save(path("b.safetensors")); },
                 "is no name of a part: it is empty, has a point, or is taken");
  }
}

TEST_F(Checkpoints, IsLoadedWholeOrNotAtAll) {
  Training saved;
  saved.step();
  saved.checkpoint().save(path("a.safetensors"), 1);
  Training other;
  other.optimizer = optim::SGD(other.model.parameters(), {.lr = 0.5, .momentum = 0.9});
  const tn::Checkpoint wrong{.model = other.model, .optimizer = other.optimizer};
  const Tensor before = other.model.parameters()[0].detach().clone();
  const tn::RandomState random = tn::random_state();
  expect_error([&] { wrong.load(path("a.safetensors")); }, "a.safetensors: optimizer: ");
  EXPECT_EQ(other.model.parameters()[0].to_vector<float>(), before.to_vector<float>());
  EXPECT_EQ(tn::random_state(), random);

  tn::Checkpoint{.model = saved.model}.save(path("model.safetensors"));
  expect_error([&] { saved.checkpoint().load(path("model.safetensors")); },
               "model.safetensors: optimizer: the file has nothing of it");
  EXPECT_EQ(tn::Checkpoint{.model = saved.model}.load(path("a.safetensors")), 1)
      << "what is not given is left";
}

TEST_F(Checkpoints, OtherFilesAreRefused) {
  Training run;
  tn::save(run.model.state_dict(), path("weights.safetensors"));
  expect_error([&] { run.checkpoint().load(path("weights.safetensors")); },
               "weights.safetensors: is no checkpoint: it has no 'step' of 1 int64");
  std::ofstream(path("text.safetensors")) << "no such file";
  expect_error([&] { run.checkpoint().load(path("text.safetensors")); }, "text.safetensors");
  expect_error([&] { run.checkpoint().load(path("none.safetensors")); }, "none.safetensors");
  expect_error([&] { run.checkpoint().save("/nowhere/a.safetensors"); }, "/nowhere/a.safetensors");
}

TEST_F(Checkpoints, AFolderKeepsTheLast) {
  Counter part{1};
  const tn::Checkpoint checkpoint{.loader = part};
  const tn::CheckpointFolder kept(path("run"), {.keep = 2}), all(path("run"), {.keep = 0});
  EXPECT_EQ(kept.resume(checkpoint), 0) << "there is no folder";
  for (part.count = 1; part.count <= 4; ++part.count) kept.save(checkpoint, 10 * part.count);
  EXPECT_EQ(kept.steps(), (std::vector<int64_t>{30, 40}));
  std::ofstream(path("run/checkpoint-x.safetensors")) << "not ours";
  std::ofstream(path("run/notes.txt")) << "not ours";
  part.count = 0;
  EXPECT_EQ(kept.resume(checkpoint), 40);
  EXPECT_EQ(part.count, 4);
  kept.save(checkpoint, 5);  // a run that began again
  EXPECT_EQ(kept.steps(), (std::vector<int64_t>{5, 40}));
  all.save(checkpoint, 50);
  EXPECT_EQ(all.steps(), (std::vector<int64_t>{5, 40, 50}));
  EXPECT_TRUE(fs::exists(path("run/notes.txt")));
  EXPECT_TRUE(fs::exists(path("run/checkpoint-x.safetensors")));
}

TEST_F(Checkpoints, AFolderRefusesWhatCannotBe) {
  Counter part;
  const tn::Checkpoint checkpoint{.loader = part};
  expect_error([] { tn::CheckpointFolder("run", {.keep = -1}); },
               "CheckpointFolder: keep is -1, expected 0 or more");
  expect_error([&] { tn::CheckpointFolder(path("run")).save(checkpoint, -1); },
               "CheckpointFolder: step is -1, expected 0 or more");
  expect_error([&] { checkpoint.save(path("run.safetensors"), -3); },
               "Checkpoint: step is -3, expected 0 or more");
  std::ofstream(path("file")) << "no folder";
  expect_error([&] { tn::CheckpointFolder(path("file")).save(checkpoint, 1); },
               "file: the folder cannot be made: ");
  expect_error([&] { tn::CheckpointFolder(path("file")).steps(); },
               "file: the folder cannot be read: ");
}

// Of the program's own, which throws what it likes.
struct Moody {
  tn::NamedTensors state_dict() const { return {{"mood", tn::ones({1})}}; }
  void load_state_dict(const tn::NamedTensors&) { throw std::runtime_error("not today"); }
};

TEST_F(Checkpoints, APartThatThrowsLeavesTheOthersAsTheyWere) {
  Counter part{1};
  Moody moody;
  const tn::Checkpoint checkpoint{.loader = part, .more = {{"moody", moody}}};
  checkpoint.save(path("a.safetensors"), 3);
  part.count = 5;
  expect_error([&] { checkpoint.load(path("a.safetensors")); }, "a.safetensors: moody: not today");
  EXPECT_EQ(part.count, 5);
}

// What a damaged or edited file may say.
TEST_F(Checkpoints, NumbersThatCannotBeAreRefusedWithFileAndField) {
  Training run;
  tn::GradScaler scaler({.init_scale = 1024});
  optim::ReduceLROnPlateau plateau(run.optimizer);
  tn::Checkpoint checkpoint = run.checkpoint();
  checkpoint.scaler = scaler;
  checkpoint.more = {{"plateau", plateau}};
  run.step();
  checkpoint.save(path("a.safetensors"), 7);
  const auto refused = [&](const std::string& name, const Tensor& value, const std::string& why) {
    tn::NamedTensors all = tn::load(path("a.safetensors"));
    bool found = false;
    for (auto& [key, tensor] : all) {
      if (key == name) tensor = value, found = true;
    }
    EXPECT_TRUE(found) << name;
    tn::save(all, path("bad.safetensors"));
    const Tensor before = run.model.parameters()[0].detach().clone();
    run.model.parameters()[0].detach().add_(1);
    expect_error([&] { checkpoint.load(path("bad.safetensors")); }, "bad.safetensors: " + why);
    EXPECT_NE(run.model.parameters()[0].to_vector<float>(), before.to_vector<float>())
        << "nothing was loaded";
    EXPECT_EQ(run.optimizer.lr(), 0.01);
  };
  const auto number = [](double value) { return Tensor::from<double>({value}, tn::Ints()); };
  const auto count = [](int64_t value) { return Tensor::from<int64_t>({value}, tn::Ints()); };
  refused("step", count(-3), "step is -3, expected 0 or more");
  refused("optimizer.param_groups.0.lr", number(-0.5),
          "optimizer: AdamW: lr is -0.5, expected at least 0");
  refused("optimizer.param_groups.0.lr", number(NAN),
          "optimizer: AdamW: lr is nan, expected at least 0");
  refused("optimizer.param_groups.0.eps", number(-1),
          "optimizer: AdamW: eps is -1, expected at least 0");
  refused("optimizer.state.0.step", Tensor::from<float>({-2}, tn::Ints()),
          "optimizer: load_state_dict: 'state.0.step' is -2 in the state_dict, expected a count "
          "from 0");
  refused("optimizer.state.0.step", Tensor::from<float>({NAN}, tn::Ints()),
          "optimizer: load_state_dict: 'state.0.step' is nan in the state_dict, expected a count "
          "from 0");
  refused("scaler.scale", number(NAN),
          "scaler: GradScaler: scale is nan in the state, expected a finite number above 0");
  refused("scaler.scale", number(-2),
          "scaler: GradScaler: scale is -2 in the state, expected a finite number above 0");
  refused("scaler.good_steps", count(-1),
          "scaler: GradScaler: good_steps is -1 in the state, expected 0 or more");
  refused("schedule.last_epoch", count(-1),
          "schedule: Schedule: the step is -1, expected 0 or more");
  refused(
      "schedule.base_lrs", Tensor::from<double>({NAN}),
      "schedule: Scheduler: 'base_lrs' of the state: a rate is nan, expected a finite number of "
      "at least 0");
  refused("plateau.best", number(NAN),
          "plateau: ReduceLROnPlateau: the state has best nan, expected the least or greatest so "
          "far");
}

// To go on from an older one loses steps, which is not for a library to decide.
TEST_F(Checkpoints, WhatTheNewestCannotGiveIsSaidWithTheOneBefore) {
  Counter part{1};
  const tn::Checkpoint checkpoint{.loader = part};
  const tn::CheckpointFolder folder(path("run"));
  for (const int64_t step : {10, 20}) folder.save(checkpoint, part.count = step);
  const std::string newest = path("run/checkpoint-20.safetensors");
  fs::resize_file(newest, fs::file_size(newest) - 1);
  part.count = 5;
  expect_error([&] { folder.resume(checkpoint); }, "checkpoint-20.safetensors: ");
  expect_error([&] { folder.resume(checkpoint); }, "\n  without it resume takes that of step 10");
  EXPECT_EQ(part.count, 5);
  fs::remove(newest);
  EXPECT_EQ(folder.resume(checkpoint), 10);
  EXPECT_EQ(part.count, 10);
}

TEST_F(Checkpoints, TheStepIsThatOfTheName) {
  Counter part{1};
  const tn::Checkpoint checkpoint{.loader = part};
  const tn::CheckpointFolder folder(path("run"));
  folder.save(checkpoint, 12);
  fs::rename(path("run/checkpoint-12.safetensors"), path("run/checkpoint-900.safetensors"));
  part.count = 5;
  expect_error([&] { folder.resume(checkpoint); },
               "checkpoint-900.safetensors: step is 12, expected 900, which its name says");
  EXPECT_EQ(part.count, 5);
  EXPECT_EQ(checkpoint.load(path("run/checkpoint-900.safetensors")), 12) << "as any file";
}

// At each border of a system call the folder has the old checkpoint or the new one, and it is whole.
TEST_F(Checkpoints, AKillLosesAtMostTheOneUnderWay) {
  Counter part{1};
  const tn::Checkpoint checkpoint{.loader = part};
  const tn::CheckpointFolder kept(path("run"), {.keep = 1});
  int stops = 0;
  bool old_seen = false, new_seen = false;
  for (int n = 1;; ++n) {
    fs::remove_all(path("run"));
    part.count = 1;
    kept.save(checkpoint, 1);
    part.count = 2;
    const int ended = killed_at(n, [&] { kept.save(checkpoint, 2); });
    if (ended == -2) GTEST_SKIP() << "no process may be traced here";
    if (ended == -1) break;
    stops = n;
    part.count = 0;
    const int64_t step = kept.resume(checkpoint);
    ASSERT_TRUE(step == 1 || step == 2) << "killed at stop " << n;
    EXPECT_EQ(part.count, step);
    old_seen |= step == 1, new_seen |= step == 2;
  }
  EXPECT_GT(stops, 20);
  EXPECT_TRUE(old_seen && new_seen);
  EXPECT_EQ(kept.steps(), (std::vector<int64_t>{2}));
}

}  // namespace
