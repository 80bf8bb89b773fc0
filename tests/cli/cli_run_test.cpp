// tenon train --run DIR: config, log, checkpoints, TensorBoard's file and the report.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include <nlohmann/json.hpp>

#include "cli_support.h"
#include "event_files.h"

namespace cli {
namespace {

using nlohmann::json;

struct CliRun : CliTest {
  std::vector<json> log_of(const std::string& folder) const {
    std::vector<json> lines;
    std::istringstream text(read(fs::path(folder) / "log.jsonl"));
    for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
    return lines;
  }
};

TEST_F(CliRun, AFolderHasAllOfARun) {
  const std::string file = training({}), folder = path("run");
  Outcome run = tenon("train " + file + " --epochs 3 --run " + folder);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "test loss ");
  json trained = json::parse(read(file));
  trained["epochs"] = 3;
  EXPECT_EQ(json::parse(read(fs::path(folder) / "config.json")), trained);
  EXPECT_TRUE(fs::exists(fs::path(folder) / "checkpoints" / "checkpoint-72.safetensors"));
  std::vector<json> log = log_of(folder);
  ASSERT_EQ(log.size(), 4u);
  EXPECT_EQ(log[0].at("step"), 24);
  for (const char* name : {"loss", "accuracy", "test_loss", "test_accuracy", "lr", "seconds",
                           "items_per_second", "peak_memory"})
    EXPECT_TRUE(log[2].at(name).is_number()) << name;
  EXPECT_TRUE(log[3].at("final").at("test_accuracy").is_number());

  const std::vector<std::string> files = event_files::files_in(folder);
  ASSERT_EQ(files.size(), 1u);
  int losses = 0;
  for (const event_files::Value& s : event_files::events_of(files[0]).values) {
    if (s.tag != "loss") continue;
    const json& line = log.at(static_cast<size_t>(losses++));
    EXPECT_EQ(s.step, line.at("step"));
    EXPECT_EQ(s.number(), static_cast<float>(line.at("loss").get<double>()));
  }
  EXPECT_EQ(losses, 3);

  const std::string page = read(fs::path(folder) / "report.html");
  for (const char* part :
       {"<!doctype html>", "<h2>loss</h2>", "<h2>metrics</h2>", "<h2>lr</h2>",
        "<h2>items per second</h2>", "<h2>peak memory, bytes</h2>", "test_accuracy", "</html>"})
    EXPECT_HAS(page, part);
  for (const char* absent : {"http:", "https:", "<script", "nan"})
    EXPECT_PRED_FORMAT2(testing::IsNotSubstring, absent, page);
}

// From any folder: relative paths of data are whole ones there.
TEST_F(CliRun, TheConfigOfARunIsATrainingFile) {
  fs::copy(digits() + "/digits.csv", path("digits.csv"));
  std::string text = read(digits() + "/mlp.json");
  const std::string file = write("relative.json", text), folder = path("runs/a");
  ASSERT_NE(text.find("\"digits.csv\""), text.npos);
  Outcome run =
      tenon("train " + file + " --epochs 1 --run " + folder + " --save " + path("w.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  const json config = json::parse(read(fs::path(folder) / "config.json"));
  EXPECT_EQ(config.at("data").at("csv"), path("digits.csv"));
  json rest = json::parse(text);
  rest["data"]["csv"] = path("digits.csv");
  rest["epochs"] = 1;
  EXPECT_EQ(config, rest) << "all else is as it was";
  run = tenon("eval " + folder + "/config.json --weights " + path("w.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
  run = tenon("train " + folder + "/config.json --epochs 1 --run " + path("runs/b"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read(fs::path(folder) / "config.json"), read(path("runs/b/config.json")));
}

// A kill between the line of an epoch and its checkpoint leaves a line too many; what was cut off is
// no line.
TEST_F(CliRun, ARunGoesOnInItsFolder) {
  const std::string file = training({}), folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --epochs 2 --run " + folder).code, 0);
  const std::string log = (fs::path(folder) / "log.jsonl").string();
  std::ofstream(log, std::ios::app) << R"({"step": 72, "loss": 99.0})"
                                    << "\n"
                                    << R"({"step": 96, "lo)";
  const Outcome run =
      tenon("train " + file + " --epochs 4 --run " + folder + " --resume " + folder);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "epoch 3/4");
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "epoch 2/4", run.out);
  const std::vector<json> lines = log_of(folder);
  ASSERT_EQ(lines.size(), 5u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(lines[i].at("step"), 24 * (i + 1));
  EXPECT_LT(lines[2].at("loss").get<double>(), 10);
  EXPECT_EQ(event_files::files_in(folder).size(), 2u);
  write("file", "no folder");
  const Outcome bad = tenon("train " + file + " --epochs 1 --run " + path("file"));
  EXPECT_EQ(bad.code, 1);
  EXPECT_HAS(bad.err, "file/checkpoints: the folder cannot be read: Not a directory");
}

// One line starts a run and goes on with it; the log is that of a run that was not interrupted.
TEST_F(CliRun, TheLogOfAnInterruptedRunIsThatOfAWholeOne) {
  const std::string file = training({}), folder = path("run"), whole = path("whole");
  const std::string both = " --run " + folder + " --resume " + folder;
  Outcome run = tenon("train " + file + " --epochs 3 --every 7" + both);  // 7, .., 70 and 72
  ASSERT_EQ(run.code, 0) << run.err;
  fs::remove(fs::path(folder) / "checkpoints" / "checkpoint-72.safetensors");
  run = tenon("train " + file + " --epochs 5" + both);
  ASSERT_EQ(run.code, 0) << run.err;
  ASSERT_EQ(tenon("train " + file + " --epochs 5 --run " + whole).code, 0);
  const std::vector<json> a = log_of(folder), b = log_of(whole);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i + 1 < a.size(); ++i) {
    for (const char* name : {"step", "loss", "accuracy", "test_loss", "test_accuracy", "lr"})
      EXPECT_EQ(a[i].at(name), b[i].at(name)) << i << " " << name;
  }
  // Begun once more in the same folder, the newest checkpoint would be the old one.
  run = tenon("train " + file + " --epochs 1 --run " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "of another training; expected --resume of it, or another folder");
}

TEST_F(CliRun, WhatIsThereIsNotReplaced) {
  const std::string file = training({}), folder = path("run");
  fs::create_directory(folder);
  std::ofstream(fs::path(folder) / "config.json") << "mine";
  Outcome run = tenon("train " + file + " --epochs 1 --run " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err,
             "config.json is there, in a folder that is of no run, which would have a log.jsonl of "
             "its steps; expected another folder");
  EXPECT_EQ(read(fs::path(folder) / "config.json"), "mine");
  // The training file itself.
  fs::rename(file, fs::path(folder) / "config.json");
  run = tenon("train " + folder + "/config.json --epochs 1 --run " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "config.json is there, in a folder that is of no run");
  run = tenon("train x.json --run " + folder + " --checkpoint " + folder);
  EXPECT_EQ(run.code, 2);
  EXPECT_HAS(run.err, "--run DIR has its checkpoints there; expected it or --checkpoint");
}

// Refused before anything of the run is touched; lines that are no lines are dropped.
TEST_F(CliRun, AForeignLogIsNotBelieved) {
  const std::string file = training({}), folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --epochs 1 --run " + folder).code, 0);
  const std::string config = read(fs::path(folder) / "config.json");
  const std::string other = training({{"\"out_features\": 128", "\"out_features\": 64"},
                                      {"\"in_features\": 128", "\"in_features\": 64"}});
  EXPECT_EQ(tenon("train " + other + " --run " + folder + " --resume " + folder).code, 1);
  EXPECT_EQ(read(fs::path(folder) / "config.json"), config);
  std::string deep =
      "{\"step\": 1, \"x\": " + std::string(200000, '[') + std::string(200000, ']') + "}\n";
  std::ofstream(fs::path(folder) / "log.jsonl", std::ios::app)
      << deep << "{\"step\": -5}\n{\"step\": 18446744073709551615}\n[1]\nnull\n\"a\"\n"
      << "{\"step\": 1, \"loss\": 1.7e308, \"<b>\": 1}\n{\"step\": 2, \"loss\": -1.7e308}\n";
  const Outcome run =
      tenon("train " + training({}) + " --epochs 2 --run " + folder + " --resume " + folder);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(log_of(folder).size(), 5u);
  const std::string page = read(fs::path(folder) / "report.html");
  EXPECT_HAS(page, "<h2>&lt;b&gt;</h2>");
  for (const char* absent : {"<b>", "nan", "inf"})
    EXPECT_PRED_FORMAT2(testing::IsNotSubstring, absent, page);
}

TEST_F(CliRun, AFolderIsOfOneProcessAtATime) {
  const std::string file = training({}), folder = path("run");
  fs::create_directory(folder);
  const int other = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  Outcome run = tenon("train " + file + " --epochs 1 --run " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "run: another process trains there; expected its end, or another folder");
  EXPECT_FALSE(fs::exists(fs::path(folder) / "log.jsonl"));
  ::close(other);
  run = tenon("train " + file + " --epochs 1 --run " + folder);
  EXPECT_EQ(run.code, 0) << run.err;
}

// The reader of the package itself, where it is there.
TEST_F(CliRun, TensorBoardReadsIt) {
  const char* python = ::getenv("TENON_TENSORBOARD_PYTHON");
  const std::string interpreter = python == nullptr ? "python3" : python;
  if (std::system((interpreter + " -c 'import tensorboard' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "the package tensorboard is not there (TENON_TENSORBOARD_PYTHON names a python "
                    "that has it)";
  const std::string folder = path("run"), script = write("read.py", R"(
import sys
from tensorboard.backend.event_processing import event_accumulator
events = event_accumulator.EventAccumulator(sys.argv[1])
events.Reload()
for e in events.Scalars("loss"): print(e.step, "%.6g" % e.value)
)");
  const std::string file = training({});
  ASSERT_EQ(tenon("train " + file + " --epochs 2 --run " + folder).code, 0);
  // Events are of seconds in their files' names.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  ASSERT_EQ(tenon("train " + file + " --epochs 3 --run " + folder + " --resume " + folder).code, 0);
  ASSERT_EQ(std::system((interpreter + " " + script + " " + folder + " >" + path("out") + " 2>" +
                         path("err"))
                            .c_str()),
            0)
      << read(path("err"));
  std::string expected;
  for (const json& line : log_of(folder)) {
    if (!line.contains("loss")) continue;
    char text[64];
    std::snprintf(text, sizeof(text), "%d %.6g\n", line.at("step").get<int>(),
                  static_cast<double>(static_cast<float>(line.at("loss").get<double>())));
    expected += text;
  }
  EXPECT_EQ(read(path("out")), expected);
}

}  // namespace
}  // namespace cli
