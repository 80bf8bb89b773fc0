// What a training leaves, and what it refuses to take the place of: weights behind a test that fails,
// weights that diverged, files of a run, folders of others.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli_support.h"
#include "file_bytes.h"

namespace cli {
namespace {

using nlohmann::json;
using ::tenon::file_bytes::png;

struct CliLeaves : CliTest {
  Outcome train(const std::string& line) const { return tenon("train " + line); }
  void expect_refused(const std::string& line, const std::string& message) const {
    const Outcome run = train(line);
    EXPECT_EQ(run.code, 1) << run.out;
    EXPECT_HAS(run.err, message);
  }
  // A regression of two numbers, one step.
  std::string line_of(const std::string& lr) const {
    write("n.csv", "1,2,3\n2,3,5\n3,4,7\n4,5,9\n5,6,11\n6,7,13\n");
    return write("n.json", R"({"data": {"csv": "n.csv", "targets": [2], "test_every": 3},
      "model": [{"layer": "Linear", "in_features": 2, "out_features": 1}],
      "optimizer": {"optimizer": "SGD", "lr": )" +
                               lr + R"(}, "loss": "mse_loss", "epochs": 1, "batch_size": 4})");
  }
};

TEST_F(CliLeaves, WeightsWhereAHeldOutPictureCannotBeRead) {
  for (const char* name : {"a", "b"}) {
    fs::create_directories(folder_ / "im" / name);
    for (int i = 0; i < 4; ++i) {
      std::string rows;
      for (int y = 0; y < 8; ++y)
        rows += '\0' + std::string(8 * 3, *name == 'a' ? 9 : char(90 + i));
      write("im/" + std::string(name) + "/" + std::to_string(i) + ".png", png({8, 8, 8, 2, rows}));
    }
  }
  const std::string file = write("i.json", R"({
    "data": {"image_folder": "im", "resize": 8, "test_every": 4},
    "model": [{"layer": "Flatten"}, {"layer": "Linear", "in_features": 192, "out_features": 2}],
    "optimizer": {"optimizer": "SGD", "lr": 0.01}, "loss": "cross_entropy", "epochs": 1,
    "batch_size": 3})");
  const std::string saved = path("w.safetensors");
  ASSERT_EQ(train(file + " --save " + saved).code, 0);
  fs::remove(saved);
  const std::string whole = read(path("im/b/0.png"));
  write("im/b/0.png",
        whole.substr(0, whole.size() / 2));  // every fourth is held out, from the first on
  const Outcome run = train(file + " --save " + saved);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "tenon: DataLoader: sample ");
  EXPECT_HAS(run.err, "im/b/0.png");
  EXPECT_TRUE(fs::exists(saved));
}

TEST_F(CliLeaves, NoWeightsThatTheLastStepMadeInfinite) {
  const std::string saved = " --save " + path("w.safetensors");
  expect_refused(
      line_of("1e38") + saved,
      "the last step made 0.weight infinite or NaN: the training diverged; try a smaller lr");
  expect_refused(line_of("1e25") + saved,
                 "the test loss is infinite behind the last step: the training diverged");
  EXPECT_FALSE(fs::exists(path("w.safetensors")));
}

// An accuracy has a value also where the loss has none.
TEST_F(CliLeaves, NoWeightsOfClassesWhoseLossIsNone) {
  std::string layers;
  for (int i = 0; i < 9; ++i)
    layers += "{\"layer\": \"Linear\", \"in_features\": " + std::to_string(i == 0 ? 64 : 10) +
              ", \"out_features\": 10}" + (i < 8 ? ", " : "");
  const std::string file =
      write("d.json", "{\"data\": {\"csv\": \"" + digits() +
                          "/digits.csv\", \"test_every\": 6}, \"model\": [" + layers +
                          "], \"optimizer\": {\"optimizer\": \"SGD\", \"lr\": 1e15}, "
                          "\"loss\": \"cross_entropy\", \"epochs\": 1, \"batch_size\": 2000}");
  expect_refused(file + " --save " + path("w.safetensors"),
                 "the test loss is NaN behind the last step: the training diverged");
  EXPECT_FALSE(fs::exists(path("w.safetensors")));
}

TEST_F(CliLeaves, WeightsWithANanAreNotTaken) {
  const std::string file = line_of("0.001"), saved = path("w.safetensors");
  ASSERT_EQ(train(file + " --save " + saved).code, 0);
  std::string bytes = read(saved);
  const std::string nan = {'\0', '\0', '\xc0', '\x7f'};
  bytes.replace(bytes.size() - 4, 4, nan);
  write("nan.safetensors", bytes);
  expect_refused(file + " --init " + path("nan.safetensors"), "' has values that are NaN");
  const Outcome eval = tenon("eval " + file + " --weights " + path("nan.safetensors"));
  EXPECT_EQ(eval.code, 1);
  EXPECT_HAS(eval.err, "nan.safetensors: '0.");
}

TEST_F(CliLeaves, SavesInTheFolderOfTheRunButNotInPlaceOfItsFiles) {
  const std::string file = training({}), run = path("run");
  const Outcome made =
      train(file + " --epochs 1 --run " + run + " --save " + run + "/w.safetensors");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(fs::exists(run + "/w.safetensors"));
  EXPECT_EQ(train(file + " --epochs 1 --run " + path("new") + "/ --save " + path(".") +
                  "/new/./w.safetensors")
                .code,
            0);
  const std::string more =
      file + " --epochs 2 --run " + run + " --resume " + run + " --save " + run;
  for (const char* own : {"log.jsonl", "config.json", "report.html"})
    expect_refused(more + "/" + own, std::string(own) + " is a file of the run itself");
  expect_refused(more + "/checkpoints/checkpoint-24.safetensors",
                 "checkpoint-24.safetensors is named as a checkpoint of this training");
}

TEST_F(CliLeaves, AConfigSaysWhatWasRunAndGoesOn) {
  const std::string file = training({}), run = path("run"), config = run + "/config.json";
  const Outcome made = train(
      file + " --epochs 1 --seed 5 --amp O1 --amp-dtype bfloat16 --device cpu --compile --run " +
      run);
  ASSERT_EQ(made.code, 0) << made.err;
  const json said = json::parse(read(config));
  EXPECT_EQ(said.at("epochs"), 1);
  EXPECT_EQ(said.at("seed"), 5);
  EXPECT_EQ(said.at("device"), "cpu");
  EXPECT_EQ(said.at("compile"), true);
  EXPECT_EQ(said.at("amp"), (json{{"policy", "O1"}, {"dtype", "bfloat16"}}));
  const Outcome more = train(config + " --epochs 2 --run " + run + " --resume " + run);
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(json::parse(read(config)).at("epochs"), 2);
  // From the beginning it is the same training.
  const Outcome whole =
      train(file + " --epochs 2 --seed 5 --amp O1 --amp-dtype bfloat16 --compile");
  EXPECT_EQ(last_line(more.out), last_line(whole.out));
  const Outcome again = train(config);
  EXPECT_EQ(last_line(again.out), last_line(whole.out));
}

TEST_F(CliLeaves, FoldersOfOthersAreLeftAlone) {
  const std::string file = training({}), folder = path("others");
  fs::create_directories(folder);
  write("others/log.jsonl", "{\"mine\": 1}\n");
  expect_refused(file + " --epochs 1 --run " + folder,
                 "log.jsonl is there, in a folder that is of no run");
  EXPECT_EQ(read(folder + "/log.jsonl"), "{\"mine\": 1}\n");
  write("others/log.jsonl", "notes of mine");
  expect_refused(file + " --epochs 1 --run " + folder, "in a folder that is of no run");
  fs::create_directories(path("inner") + "/log.jsonl");
  expect_refused(file + " --epochs 1 --run " + path("inner"),
                 "log.jsonl is a folder, where a run has a file; expected another folder");
  fs::create_symlink("nowhere", path("link"));
  expect_refused(file + " --epochs 1 --run " + path("link"),
                 "link is a link to nowhere, which is not there; expected a folder");
}

TEST_F(CliLeaves, OneProcessAtATimeTrainsInAFolderOfCheckpoints) {
  const std::string file = training({}), folder = path("ck");
  const std::string line = file + " --epochs 1 --checkpoint " + folder + " --resume " + folder;
  ASSERT_EQ(train(line).code, 0);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  expect_refused(line, "--checkpoint: " + folder + ": another process trains there");
  ::close(descriptor);
  EXPECT_EQ(train(line).code, 0);
  // Those of a run, too.
  ASSERT_EQ(train(file + " --epochs 1 --run " + path("run")).code, 0);
  const int runs = ::open(path("run/checkpoints").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(runs, LOCK_EX), 0);
  expect_refused(file + " --epochs 2 --run " + path("run") + " --resume " + path("run"),
                 "another process trains there");
  ::close(runs);
}

TEST_F(CliLeaves, ResumeSaysWhatItGoesOnFrom) {
  const std::string file = training({}), folder = path("ck");
  ASSERT_EQ(train(file + " --epochs 2 --checkpoint " + folder).code, 0);
  EXPECT_HAS(train(file + " --epochs 1 --resume " + folder).err,
             "nothing is left to train: the checkpoint is of step 48 of 24");
  expect_refused(
      file + " --resume " + folder + "/checkpoint-48.safetensors",
      "checkpoint-48.safetensors is a file; expected the folder of a run or of checkpoints, "
      "or --init of the file");
  fs::create_symlink("gone", folder + "/checkpoint-60.safetensors");
  expect_refused(file + " --epochs 3 --resume " + folder,
                 "without it resume takes that of step 48");
}

TEST_F(CliLeaves, ASummaryNeedsDataAndModelAlone) {
  const std::string file =
      write("s.json", "{\"data\": {\"csv\": \"" + digits() +
                          "/digits.csv\", \"test_every\": 6}, \"model\": [{\"layer\": \"Linear\", "
                          "\"in_features\": 64, \"out_features\": 10}]}");
  const Outcome run = tenon("summary " + file);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "650");
}

TEST_F(CliLeaves, ResumeComparesTheOptionsOfSchedules) {
  const auto file = [&](const std::string& options) {
    return training(
        {{"\"loss\"", "\"schedule\": {\"schedule\": \"step\", " + options + "}, \"loss\""}});
  };
  const std::string folder = path("ck");
  ASSERT_EQ(train(file("\"step_size\": 20") + " --epochs 1 --checkpoint " + folder).code, 0);
  expect_refused(file("\"step_size\": 20, \"gamma\": 0.9") + " --epochs 2 --resume " + folder,
                 "it is of another schedule: ");
  expect_refused(training({{"\"loss\"", "\"clip_grad_norm\": 1, \"loss\""}}) +
                     " --epochs 2 --resume " + folder,
                 "it is of another schedule: ");
  EXPECT_EQ(train(file("\"step_size\":  20") + " --epochs 2 --resume " + folder).code, 0);
}

}  // namespace
}  // namespace cli
