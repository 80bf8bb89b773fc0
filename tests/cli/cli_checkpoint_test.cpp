// tenon train: checkpoints, signals, going on, and weights to begin with. A training that was
// interrupted comes to the same file, byte for byte.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli_support.h"
#include "tenon/tenon.hpp"

namespace cli {
namespace {

struct CliCheckpoint : CliTest {
  // Starts a training, waits until its folder has a checkpoint, and ends it by the signal. Gives
  // what waitpid says.
  int ended_by(int signal, const std::string& line, const std::string& folder) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string command = "exec '" + build() + "/bin/tenon' " + line + " >'" + path("out") +
                                  "' 2>'" + path("err") + "' </dev/null";
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    while (checkpoints(folder).empty()) {
      if (::waitpid(child, &status, WNOHANG) == child) return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(child, signal);
    ::waitpid(child, &status, 0);
    return status;
  }
  std::vector<std::string> checkpoints(const std::string& folder) const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("checkpoint-")) names.push_back(name);
    }
    return names;
  }
};

TEST_F(CliCheckpoint, ATrainingThatWasEndedByASignalGoesOnToTheSameBytes) {
  const std::string file = training({}), epochs = " --epochs 12 ";
  ASSERT_EQ(tenon("train " + file + epochs + "--save " + path("whole.safetensors")).code, 0);
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    const std::string folder = path("run" + std::to_string(signal));
    const std::string to = " --checkpoint " + folder + " --every 1 ";
    const int status = ended_by(signal, "train " + file + epochs + to, folder);
    if (signal == SIGKILL) {
      ASSERT_TRUE(WIFSIGNALED(status));
    } else {
      ASSERT_TRUE(WIFEXITED(status));
      ASSERT_EQ(WEXITSTATUS(status), 128 + signal) << read(path("err"));
      EXPECT_HAS(read(path("err")), signal == SIGINT ? "stopped by SIGINT after step "
                                                     : "stopped by SIGTERM after step ");
      EXPECT_HAS(read(path("err")), "; it goes on with --resume " + folder);
    }
    const Outcome run = tenon("train " + file + epochs + "--resume " + folder + " --save " +
                              path("resumed.safetensors"));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(read(path("resumed.safetensors")), read(path("whole.safetensors"))) << signal;
    fs::remove(path("resumed.safetensors"));
  }
}

TEST_F(CliCheckpoint, KeepsTheLastThreeAndGoesOnWithMoreEpochs) {
  const std::string file = training({}), folder = path("run");
  const std::string both = " --checkpoint " + folder + " --resume " + folder + " ";
  Outcome run = tenon("train " + file + " --epochs 5" + both);  // nothing is there yet
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(checkpoints(folder).size(), 3u);
  run = tenon("train " + file + " --epochs 7" + both + "--save " + path("a.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "epoch 5/7", run.out);
  EXPECT_HAS(run.out, "epoch 6/7");
  ASSERT_EQ(tenon("train " + file + " --epochs 7 --save " + path("b.safetensors")).code, 0);
  EXPECT_EQ(read(path("a.safetensors")), read(path("b.safetensors")));
  run = tenon("train " + file + " --epochs 7" + both);  // all is done
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "test accuracy: ");
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "epoch", run.out);
}

TEST_F(CliCheckpoint, OfATextToo) {
  const std::string text = std::string(40, 'a') + "the quick brown fox jumps over the lazy dog\n" +
                           std::string(300, 'b') + "and again the quick brown fox\n";
  write("a.txt", text);
  const std::string file = write("t.json", R"({
    "data": {"text": "a.txt", "context": 8},
    "model": [
      {"layer": "Embedding", "num_embeddings": "vocab", "embedding_dim": 8},
      {"layer": "Dropout"},
      {"layer": "Linear", "in_features": 8, "out_features": "vocab"},
      {"layer": "Flatten", "start_dim": 0, "end_dim": 1}
    ],
    "optimizer": {"optimizer": "Adam", "lr": 0.01}, "loss": "cross_entropy",
    "steps": 8, "batch_size": 4})");
  const std::string folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --save " + path("a.safetensors")).code, 0);
  Outcome run = tenon("train " + file + " --steps 3 --checkpoint " + folder + " --save " +
                      path("c.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  const auto generated = [&](const std::string& weights) {
    const Outcome text =
        tenon("generate " + file + " --weights " + weights + " --length 20 --seed 1");
    EXPECT_EQ(text.code, 0) << text.err;
    return text.out;
  };
  EXPECT_EQ(generated(folder + "/" + checkpoints(folder).at(0)), generated(path("c.safetensors")));
  run = tenon("train " + file + " --resume " + folder + " --seed 9 --init " +
              path("c.safetensors") + " --save " + path("b.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read(path("a.safetensors")), read(path("b.safetensors")));
  EXPECT_HAS(run.out, "step 4/8");
  EXPECT_HAS(run.err,
             "--seed is passed over: the training goes on with the random numbers of its ");
  EXPECT_HAS(run.err, "--init is passed over: the training goes on with the weights of its ");
  // The same characters, two of them in each other's places.
  std::string other = text;
  std::swap(other[45], other[50]);
  write("a.txt", other);
  run = tenon("train " + file + " --resume " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "training: it is of other data: the sum over all values: ");
  // As many characters, but a Q for the q.
  other = text;
  std::ranges::replace(other, 'q', 'Q');
  write("a.txt", other);
  run = tenon("train " + file + " --resume " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "loader: the text has other characters than that of the checkpoint");
  run = tenon("train " + file + " --init " + path("a.safetensors"));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "a.safetensors is of a text with other characters");
}

TEST_F(CliCheckpoint, BeginsWithOtherWeights) {
  const std::string file = training({});
  ASSERT_EQ(tenon("train " + file + " --epochs 1 --save " + path("a.safetensors")).code, 0);
  const std::string still = training({{"\"Adam\"", "\"SGD\""}, {"\"lr\": 0.003", "\"lr\": 1e-30"}});
  ASSERT_EQ(tenon("train " + still + " --epochs 1 --init " + path("a.safetensors") + " --save " +
                  path("b.safetensors"))
                .code,
            0);
  EXPECT_EQ(read(path("a.safetensors")), read(path("b.safetensors")));
}

// What --init and --weights take is also a checkpoint: the model's part of it.
TEST_F(CliCheckpoint, GivesItsWeights) {
  const std::string file = training({}), folder = path("run"), saved = path("a.safetensors");
  ASSERT_EQ(tenon("train " + file + " --epochs 1 --checkpoint " + folder + " --save " + saved).code,
            0);
  const std::string checkpoint = folder + "/" + checkpoints(folder).back();
  const Outcome of_saved = tenon("eval " + file + " --weights " + saved);
  const Outcome of_checkpoint = tenon("eval " + file + " --weights " + checkpoint);
  ASSERT_EQ(of_checkpoint.code, 0) << of_checkpoint.err;
  EXPECT_EQ(of_checkpoint.out, of_saved.out);
  const std::string still = training({{"\"Adam\"", "\"SGD\""}, {"\"lr\": 0.003", "\"lr\": 1e-30"}});
  const Outcome run = tenon("train " + still + " --epochs 1 --init " + checkpoint + " --save " +
                            path("b.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read(saved), read(path("b.safetensors")));
}

TEST_F(CliCheckpoint, ACheckpointIsOfOneTraining) {
  const std::string file = training({}), folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --epochs 2 --checkpoint " + folder).code, 0);
  const std::vector<std::pair<std::pair<std::string, std::string>, std::string>> others = {
      {{"\"Adam\"", "\"AdamW\""},
       "it is of another optimizer: Adam(lr=0.003, weight_decay=0.0003) there, AdamW("},
      {{"0.003,", "0.5,"},
       "it is of another optimizer: Adam(lr=0.003, weight_decay=0.0003) there, Adam(lr=0.5"},
      {{"\"ReLU\"", "\"Tanh\""}, "it is of another model: "},
      {{"\"loss\"", "\"schedule\": {\"schedule\": \"cosine\"}, \"loss\""},
       "it is of another schedule: "},
  };
  for (const auto& [change, message] : others) {
    const Outcome run = tenon("train " + training({change}) + " --epochs 3 --resume " + folder);
    EXPECT_EQ(run.code, 1) << message;
    EXPECT_HAS(run.err, message);
  }
  // A training that begins would leave its own checkpoints beside newer ones of the other.
  const Outcome run = tenon("train " + training({}) + " --epochs 1 --checkpoint " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err,
             "run has a checkpoint of step 48 of another training; expected --resume of it, or "
             "another folder");
  EXPECT_EQ(checkpoints(folder).size(), 2u);
}

TEST_F(CliCheckpoint, OtherDataIsNoticed) {
  const std::string csv = read(digits() + "/digits.csv");
  write("d.csv", csv);
  const auto file = [&](const std::string& data) {
    return write("t.json", R"({"data": {"csv": "d.csv", )" + data + R"(},
      "model": [{"layer": "Linear", "in_features": 64, "out_features": 10}],
      "optimizer": {"optimizer": "SGD", "lr": 0.01}, "loss": "cross_entropy",
      "epochs": 1, "batch_size": 512})");
  };
  const std::string data = R"("scale": 0.0625, "test_every": 6)", folder = path("run");
  ASSERT_EQ(tenon("train " + file(data) + " --checkpoint " + folder).code, 0);
  const auto refused = [&](const std::string& training) {
    const Outcome run = tenon("train " + training + " --epochs 2 --resume " + folder);
    EXPECT_EQ(run.code, 1) << run.out;
    return run.err;
  };
  EXPECT_HAS(refused(file(R"("scale": 0.0625, "test_every": 7)")),
             "the state is of 1497 items in batches of 512, this loader has 1540");
  EXPECT_HAS(refused(file(R"("scale": 0.5, "test_every": 6)")),
             "training: it is of other data: an item: [64], scale 0.0625 there, [64], scale 0.5 "
             "here");
  // A class that is gone, and one value that is another one.
  std::string other;
  for (size_t at = 0; at < csv.size();) {
    const size_t end = csv.find('\n', at);
    std::string line = csv.substr(at, end - at);
    if (line.ends_with(",9")) line.back() = '8';
    other += line + "\n";
    at = end + 1;
  }
  write("d.csv", other);
  EXPECT_HAS(refused(file(data)), "it is of other data: targets: 10 classes there, 9 classes here");
  other = csv;
  other[0] = other[0] == '1' ? '2' : '1';
  write("d.csv", other);
  EXPECT_HAS(refused(file(data)), "it is of other data: the sum over all values: ");
  write("d.csv", csv);
  EXPECT_EQ(tenon("train " + file(data) + " --epochs 2 --resume " + folder).code, 0);
}

// What the newest file cannot give, the one before it may; names that are none of ours are let be.
TEST_F(CliCheckpoint, ADamagedOneIsNamedWithTheOneBefore) {
  const std::string file = training({}), folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --epochs 2 --checkpoint " + folder).code, 0);
  fs::create_directory(fs::path(folder) / "checkpoint-99.safetensors");
  std::ofstream(fs::path(folder) / "checkpoint-0098.safetensors") << "not ours";
  EXPECT_EQ(tenon("train " + file + " --epochs 2 --resume " + folder).code, 0);
  std::ofstream(fs::path(folder) / "checkpoint-48.safetensors") << "cut";
  const Outcome run = tenon("train " + file + " --epochs 3 --resume " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "--resume: ");
  EXPECT_HAS(run.err, "without it resume takes that of step 24");
}

// The loader's place would be that of another step.
TEST_F(CliCheckpoint, TheStepFitsTheData) {
  const std::string file = training({}), folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --epochs 1 --checkpoint " + folder).code, 0);
  ::tenon::load_plugins();
  ::tenon::NamedTensors all = ::tenon::load(folder + "/checkpoint-24.safetensors");
  for (auto& [name, tensor] : all) {
    if (name == "step") tensor = ::tenon::Tensor::from<int64_t>({7000}, ::tenon::Ints());
  }
  fs::remove(folder + "/checkpoint-24.safetensors");
  ::tenon::save(all, folder + "/checkpoint-7000.safetensors");
  const Outcome run = tenon("train " + file + " --epochs 2 --resume " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err,
             "--resume: the checkpoint is of step 7000, and its data at batch 0 of epoch 2, which "
             "begins with step 24");
}

TEST_F(CliCheckpoint, ASignalThatIsIgnoredStaysSo) {
  const std::string file = training({}), folder = path("run");
  const std::string line = "train " + file + " --epochs 6 --checkpoint " + folder +
                           " --every 1 --save " + path("a.safetensors");
  const std::string script =
      write("go.sh", "trap '' INT\n'" + build() + "/bin/tenon' " + line +
                         " >/dev/null &\nwhile ! ls " + folder +
                         "/checkpoint-* >/dev/null 2>&1; do sleep 0.01; done\n"
                         "kill -INT $!\nwait $!\n");
  EXPECT_EQ(std::system(("sh " + script + " 2>/dev/null").c_str()), 0);
  EXPECT_TRUE(fs::exists(path("a.safetensors")));
}

TEST_F(CliCheckpoint, SaysWhatCannotBe) {
  const std::string file = training({}), folder = path("run");
  Outcome run = tenon("train " + file + " --every 5");
  EXPECT_EQ(run.code, 2);
  EXPECT_HAS(run.err, "--every is of --checkpoint DIR or --run DIR, which are missing");
  run = tenon("train " + file + " --checkpoint " + folder + " --every 0");
  EXPECT_EQ(run.code, 2);
  EXPECT_HAS(run.err, "--every is '0', expected an integer from 1 to ");
  run = tenon("train " + file + " --resume " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "--resume: there is no checkpoint in " + folder);
  write("file", "no folder");
  run = tenon("train " + file + " --epochs 1 --checkpoint " + path("file"));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "file: the folder cannot be read: Not a directory");
  run = tenon("train " + file + " --epochs 1 --init " + path("none.safetensors"));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "none.safetensors");
  write("d.csv", "1,2,3\n4,5,6\n");
  run = tenon("train " + file + " --epochs 1 --init " + path("d.csv"));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err,
             "d.csv has no whole weights, as `tenon train` writes them with --save and "
             "--checkpoint: ");
  EXPECT_HAS(run.err, "d.csv: is no safetensors file: its first 8 bytes, read as the length");
  ASSERT_EQ(tenon("train " + file + " --epochs 1 --checkpoint " + folder).code, 0);
  const std::string other = training({{"\"batch_size\": 64", "\"batch_size\": 32"}});
  run = tenon("train " + other + " --resume " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "in batches of 64");
  const std::string wide = training({{"\"out_features\": 128", "\"out_features\": 64"},
                                     {"\"in_features\": 128", "\"in_features\": 64"}});
  run = tenon("train " + wide + " --resume " + folder);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, ": model: ");
}

}  // namespace
}  // namespace cli
