// `tenon train` and `tenon eval`: real digits are learned, whatever the seed, and saved weights say
// the same. The long form trains with five seeds on cpu and with three on ref, the default form
// with two and with one.
#include "cli_support.h"

#include <cmath>
#include <span>

#include <nlohmann/json.hpp>

#include "long_form.h"

namespace cli {
namespace {

using nlohmann::json;

std::span<const int> seeds(size_t in_default_form, size_t in_long_form) {
  static constexpr int kSeeds[] = {0, 1, 2, 3, 4};
  return std::span(kSeeds).first(long_form() ? in_long_form : in_default_form);
}

TEST_F(CliTest, LearnsTheDigitsWithAnySeed) {
  for (const int seed : seeds(2, 5)) {
    const Outcome run = tenon("train " + digits() + "/mlp.json --seed " + std::to_string(seed));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_GE(accuracy(run), 0.97) << "seed " << seed << "\n" << run.out;
    EXPECT_EQ(run.err, "");  // no terminal, no bar
  }
}

// Of seeds 1 to 5 the median is 0.990 and the least 0.987.
TEST_F(CliTest, LearnsTheDigitsByConvolutions) {
  const Outcome run = tenon("train " + digits() + "/cnn.json --seed 1");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_GE(accuracy(run), 0.975) << run.out;
}

// 1497 items in batches of 8 leave one, on which BatchNorm cannot be trained.
TEST_F(CliTest, ABatchOfASingleItemIsRefusedBeforeTheTraining) {
  const auto with = [&](const std::string& fields, const std::string& layer) {
    return training({{"{\"layer\": \"ReLU\"}", layer}, {"\"batch_size\": 64", fields}});
  };
  const std::string norm = R"({"layer": "BatchNorm1d", "num_features": 128})";
  Outcome run = tenon("train " + with("\"batch_size\": 8", norm) + " --epochs 1");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(
      run.err.find("batch_size: 1497 items in batches of 8 leave a batch of a single item, on "
                   "which the model cannot be trained; expected another batch_size, or "
                   "\"drop_last\": true"),
      std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("batch_norm: x is [1, 128]"), std::string::npos) << run.err;
  run = tenon("train " + with("\"batch_size\": 9, \"accumulate\": 5", norm) + " --epochs 1");
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("in batches of 9 in 5 parts leave a part of a single item"),
            std::string::npos)
      << run.err;
  run = tenon("train " + with("\"batch_size\": 8, \"drop_last\": true", norm) + " --epochs 1");
  EXPECT_EQ(run.code, 0) << run.err;
  run = tenon("train " + with("\"batch_size\": 8", R"({"layer": "ReLU"})") + " --epochs 1");
  EXPECT_EQ(run.code, 0) << run.err;
  run = tenon("train " + with("\"batch_size\": 1498, \"drop_last\": true", norm) + " --epochs 1");
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("batch_size: is 1498 and there are 1497 items to train on, and so with "
                         "drop_last no batch"),
            std::string::npos)
      << run.err;
}

// An option that is a list of floats: by numbers that are whole, as PyTorch takes them, and by one
// for all.
TEST_F(CliTest, WholeNumbersAreFloats) {
  for (const std::string factor : {"1", "[1]", "1.0", "[1, 1]", "[1, 1.0]"}) {
    const Outcome run = tenon("train --epochs 1 " + training({{"\"model\": [", R"("model": [
    {"layer": "Unflatten", "dim": 1, "unflattened_size": [1, 8, 8]},
    {"layer": "Upsample", "scale_factor": )" + factor + R"(},
    {"layer": "Flatten"},)"}}));
    EXPECT_EQ(run.code, 0) << factor << ": " << run.err;
  }
}

TEST_F(CliTest, PrintsALineAnEpoch) {
  const Outcome run = tenon("train " + digits() + "/mlp.json --epochs 3");
  EXPECT_EQ(run.code, 0) << run.err;
  for (const char* epoch : {"epoch 1/3  loss ", "epoch 2/3  loss ", "epoch 3/3  loss "})
    EXPECT_HAS(run.out, epoch);
  EXPECT_GT(accuracy(run), 0.5);
}

TEST_F(CliTest, TheSeedDecidesTheRun) {
  const std::string line = "train " + digits() + "/mlp.json --epochs 2 --json --seed ";
  const auto epochs = [&](const std::string& seed) {
    return json::parse(tenon(line + seed).out).at("epochs");
  };
  const json first = epochs("7");
  EXPECT_EQ(first, epochs("7"));
  EXPECT_NE(first, epochs("8"));
}

TEST_F(CliTest, TheReferenceDeviceLearnsTheSame) {
  for (const int seed : seeds(1, 3)) {  // 6 s each
    const std::string line = "train " + digits() + "/mlp.json --seed " + std::to_string(seed);
    const Outcome cpu = tenon(line), ref = tenon(line + " --device ref");
    ASSERT_EQ(ref.code, 0) << ref.err;
    EXPECT_NEAR(accuracy(ref), accuracy(cpu), 0.01 + 1e-9) << "seed " << seed;
  }
}

TEST_F(CliTest, SavedWeightsHaveTheSameAccuracy) {
  const std::string weights = path("digits.safetensors");
  const Outcome train = tenon("train " + digits() + "/mlp.json --epochs 5 --save " + weights);
  ASSERT_EQ(train.code, 0) << train.err;
  for (const char* device : {"cpu", "ref:1"}) {
    const Outcome eval =
        tenon("eval " + digits() + "/mlp.json --weights " + weights + " --device " + device);
    EXPECT_EQ(eval.code, 0) << eval.err;
    EXPECT_EQ(eval.out, last_line(train.out) + "\n");
  }
}

TEST_F(CliTest, ATrainingOnAnotherDeviceSavesTheSameNames) {
  const std::string weights = path("digits.safetensors");
  ASSERT_EQ(tenon("train " + digits() + "/mlp.json --epochs 1 --device ref --save " + weights).code,
            0);
  const std::string bytes = read(weights);
  for (const char* name : {"\"0.weight\":{\"dtype\":\"F32\",\"shape\":[128,64]", "\"0.bias\"",
                           "\"3.weight\"", "\"3.bias\""}) {
    EXPECT_HAS(bytes, name);
  }
  EXPECT_EQ(tenon("eval " + digits() + "/mlp.json --weights " + weights).code, 0);
}

TEST_F(CliTest, RefusesWeightsThatDoNotFit) {
  const std::string weights = path("digits.safetensors");
  ASSERT_EQ(tenon("train " + digits() + "/mlp.json --epochs 1 --save " + weights).code, 0);
  const std::string other = training({{"128}", "32}"}, {"128, \"out", "32, \"out"}});
  const Outcome shape = tenon("eval " + other + " --weights " + weights);
  EXPECT_EQ(shape.code, 1);
  EXPECT_HAS(shape.err, "does not fit the model");
  EXPECT_HAS(shape.err, "0.weight");

  fs::resize_file(weights, fs::file_size(weights) / 2);
  const Outcome cut = tenon("eval " + digits() + "/mlp.json --weights " + weights);
  EXPECT_EQ(cut.code, 1);
  EXPECT_HAS(cut.err, "digits.safetensors: ");
  EXPECT_HAS(cut.err, "bytes of data");

  const Outcome absent = tenon("eval " + digits() + "/mlp.json --weights " + path("absent"));
  EXPECT_EQ(absent.code, 1);
  EXPECT_HAS(absent.err, "absent: cannot be opened");
}

TEST_F(CliTest, SaysBeforeTheTrainingThatItCannotSave) {
  const std::vector<std::pair<std::string, std::string>> targets = {
      {path("no/such/w.safetensors"), "there is no folder of this name"},
      {folder_.string(), "is a folder, not a regular file"},
      {"/", "is a folder, not a regular file"},
      {folder_.string() + "/new/", "the path does not name a file"},
      {"/dev/full", "is a device or pipe, not a regular file"},
      {"/proc/x", "cannot be written in /proc: "},
      {path(std::string(300, 'w')), "File name too long"},
      {"''", "the path is empty"},
  };
  for (const auto& [target, message] : targets) {
    const Outcome run = tenon("train " + digits() + "/mlp.json --save " + target);
    EXPECT_EQ(run.code, 1) << target;
    EXPECT_HAS(run.err, "tenon: --save: ");
    EXPECT_HAS(run.err, message);
    EXPECT_EQ(run.out, "") << target;
  }
}

TEST_F(CliTest, LeavesTheOldWeightsWhereTheTrainingFails) {
  const std::string weights = write("w.safetensors", "old");
  EXPECT_EQ(tenon("train " + training({{"0.003", "1e38"}}) + " --save " + weights).code, 1);
  EXPECT_EQ(read(weights), "old");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
  }
}

TEST_F(CliTest, StopsWhereTheLossIsNoNumber) {
  for (const char* device : {"cpu", "ref"}) {
    const Outcome run =
        tenon("train " + training({{"0.003", "1e38"}}) + " --device " + std::string(device));
    EXPECT_EQ(run.code, 1);
    EXPECT_HAS(run.err,
               "epoch  1/40, step 2: the loss is nan: the training diverged; try a smaller lr than "
               "1e+38");
    EXPECT_EQ(run.out, "");
  }
}

// With 1498 items a pass has 23 batches of 64 and one of 26. The first step makes the state of the
// optimizer, so each size of batch is recorded, and the larger one twice.
TEST_F(CliTest, CompiledStepsGiveTheSameLosses) {
  const std::string sgd =
      training({{R"({"optimizer": "Adam", "lr": 0.003, "weight_decay": 0.0003})",
                 R"({"optimizer": "SGD", "lr": 0.1, "momentum": 0.9})"}});
  for (const std::string& line : {digits() + "/mlp.json", sgd, sgd + " --device ref"}) {
    const json eager = json::parse(tenon("train --epochs 3 --json " + line).out);
    const json compiled = json::parse(tenon("train --epochs 3 --json --compile " + line).out);
    EXPECT_EQ(compiled.at("epochs"), eager.at("epochs")) << line;
    EXPECT_EQ(compiled.at("test_accuracy"), eager.at("test_accuracy")) << line;
    EXPECT_FALSE(eager.contains("compiled"));
    EXPECT_EQ(compiled.at("compiled"),
              json::parse(R"({"replayed": 69, "recorded": 3, "eager": 0, "reasons": []})"));
  }
}

TEST_F(CliTest, ATrainingFileMayAskForCompiledSteps) {
  const Outcome run =
      tenon("train --epochs 2 " + training({{"\"seed\": 0", "\"seed\": 0, \"compile\": true"}}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "\ncompiled: 45 of 48 steps were replayed, 3 recorded\ntrained in ");
  const Outcome not_asked =
      tenon("train --epochs 2 " + training({{"\"seed\": 0", "\"seed\": 0, \"compile\": false"}}));
  EXPECT_EQ(not_asked.out.find("compiled: "), std::string::npos) << not_asked.out;
  const Outcome wrong =
      tenon("train " + training({{"\"seed\": 0", "\"seed\": 0, \"compile\": 3"}}));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_HAS(wrong.err, ":18: training: compile is an integer, expected true or false");
}

// One step, which makes the optimizer's state: no other follows that could be replayed.
TEST_F(CliTest, SaysWhyStepsStayEager) {
  const Outcome run =
      tenon("train --compile " + training({{"\"epochs\": 40", "\"epochs\": 1"},
                                           {"\"batch_size\": 64", "\"batch_size\": 2000"}}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out,
             "compiled: stayed eager: an object that it uses was changed by the call: state of an "
             "optimizer, an option\n");
}

TEST_F(CliTest, TheResultCanBeReadByAProgram) {
  const Outcome run = tenon("train " + digits() + "/mlp.json --epochs 2 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_EQ(result.at("epochs").size(), 2u);
  EXPECT_GT(result.at("test_accuracy"), 0.5);
  EXPECT_EQ(result.at("device"), "cpu");
  EXPECT_EQ(result.at("seed"), 0);
}

}  // namespace
}  // namespace cli
