// Training files beyond a list of layers: nested, residual and shared ones, targets that are numbers,
// metrics, early stopping, batches in parts; and what `tenon summary` and `tenon graph` tell of them.
#include <cmath>

#include <nlohmann/json.hpp>

#include "cli_support.h"

namespace cli {
namespace {

using nlohmann::json;

struct CliModel : CliTest {
  // Sixty lines x, 2 x + 1, -x with some bend, and so two targets for one input.
  std::string line_data() const {
    std::string csv;
    for (int i = 0; i < 60; ++i) {
      const double x = i / 30.0 - 1;
      csv += std::to_string(x) + "," + std::to_string(2 * x + 1) + "," + std::to_string(-x) + "\n";
    }
    return write("line.csv", csv);
  }
  std::string regression(const std::string& more, const std::string& model) const {
    line_data();
    return write("r.json", R"({"data": {"csv": "line.csv", "targets": [1, 2], "test_every": 5},
      "model": )" + model + R"(,
      "optimizer": {"optimizer": "Adam", "lr": 0.05}, "loss": "mse_loss",
      "epochs": 30, "batch_size": 16)" +
                               more + "}");
  }
  std::string regression(const std::string& more = "") const {
    return regression(more, R"([{"layer": "Linear", "in_features": 1, "out_features": 2}])");
  }
  // What the digits' model gives when its list of layers is this one.
  Outcome digits_with(const std::string& model, const std::string& command = "train",
                      const std::string& options = " --epochs 2") const {
    const std::string text = read(digits() + "/mlp.json");
    const size_t begin = text.find("\"model\": ["), end = text.find("  ],", begin) + 3;
    std::string file = text.substr(0, begin) + "\"model\": " + model + text.substr(end);
    file.replace(file.find("\"digits.csv\""), 12, "\"" + digits() + "/digits.csv\"");
    return tenon(command + " " + write("m.json", file) + options);
  }
};

constexpr const char* kNested = R"([
  {"layer": "Linear", "in_features": 64, "out_features": 32},
  {"residual": [
    {"layer": "LayerNorm", "normalized_shape": 32},
    {"layer": "Linear", "in_features": 32, "out_features": 32, "name": "mix"},
    {"layer": "ReLU"}
  ], "repeat": 1},
  {"branches": {
    "left": [{"shared": "mix"}],
    "right": [{"layer": "Sequential", "layers": [
      {"layer": "Linear", "in_features": 32, "out_features": 8}, {"layer": "ReLU"}]}]
  }, "join": "concat", "dim": 1},
  {"layer": "Linear", "in_features": 40, "out_features": 10}
])";

TEST_F(CliModel, LazyLayersTakeTheSizesOfTheData) {
  const auto model = [](const char* first, const char* second) {
    return std::string("[") + first + R"(, {"layer": "ReLU"}, )" + second + "]";
  };
  const std::string eager = model(R"({"layer": "Linear", "in_features": 64, "out_features": 16})",
                                  R"({"layer": "Linear", "in_features": 16, "out_features": 10})");
  const std::string lazy = model(R"({"layer": "LazyLinear", "out_features": 16})",
                                 R"({"layer": "LazyLinear", "out_features": 10})");
  const Outcome run = digits_with(lazy, "train", " --save " + path("lazy.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(accuracy(run), 0.6) << run.out;
  const Outcome loaded = digits_with(eager, "eval", " --weights " + path("lazy.safetensors"));
  EXPECT_EQ(loaded.code, 0) << loaded.err;
  EXPECT_EQ(accuracy(loaded), accuracy(run));
  EXPECT_EQ(digits_with(lazy, "eval", " --weights " + path("lazy.safetensors")).out, loaded.out);
  const Outcome summary = digits_with(lazy, "summary", "");
  EXPECT_HAS(summary.out, "parameters: 1,210, 1,210 of them trainable");
}

TEST_F(CliModel, LayersHoldLayersAndMayBeThereTwice) {
  Outcome run = digits_with(kNested, "train", " --epochs 4 --save " + path("w.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(accuracy(run), 0.8) << run.out;
  const std::string weights = read(path("w.safetensors"));
  for (const char* name : {"1.1.weight", "2.right.0.0.weight"}) EXPECT_HAS(weights, name);
  run = digits_with(kNested, "eval", " --weights " + path("w.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(accuracy(run), 0.8);
  run = digits_with(kNested, "summary", "");
  EXPECT_EQ(run.code, 0) << run.err;
  // 64*32+32 + 2*32 + 32*32+32 + 32*8+8 + 40*10+10; the shared layer counts once.
  EXPECT_HAS(run.out, "parameters: 3,874, 3,874 of them trainable");
  EXPECT_HAS(run.out, "left: Sequential");
  run = digits_with(kNested, "summary", " --json");
  EXPECT_EQ(json::parse(run.out).at("parameters"), 3874);
}

TEST_F(CliModel, WhatDoesNotFitIsSaidWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"([{"residual": []}])", "m.json:8: residual: a list of layers [{\"layer\": ...}, ...] is"},
      {R"([{"residual": [{"layer": "Linear", "in_features": 64, "out_features": 10}]}])",
       "m.json:8: model: layer 0: Residual: the modules give [2, 10] for x of [2, 64]"},
      {R"([{"branches": [1]}])", "m.json:8: branches: an object of lists of layers"},
      {R"([{"branches": {"a.b": [{"layer": "ReLU"}]}}])", "branches: 'a.b' is no name"},
      {R"([{"branches": {"a": [{"layer": "ReLU"}]}, "join": "sub"}])",
       "because join is 'sub', expected 'add', 'mul' or 'concat'"},
      {R"([{"branches": {"a": [{"layer": "ReLU"}]}, "jion": "add"}])",
       "layer: unknown field 'jion'; did you mean 'join'?"},
      {R"([{"branches": {"a": [{"layer": "ReLU"}]}, "dim": 1}])",
       "branches: dim is of the join 'concat'"},
      {R"([{"residual": [{"layer": "ReLU"}], "branches": {"a": [{"layer": "ReLU"}]}}])",
       "m.json:8: layer: residual and branches are there, expected one of them"},
      {R"([{"layer": "ReLU", "name": ""}])", "m.json:8: layer: name is empty, expected a name"},
      {R"([{"shared": "a"}])", "m.json:8: there is no layer named 'a' before this one"},
      {R"([{"shared": "a", "repeat": 2}])", "m.json:8: layer: unknown field 'repeat'"},
      {R"([{"layer": "ReLU", "layers": [{"layer": "ReLU"}]}])",
       "m.json:8: ReLU takes no children: ReLU()"},
      {R"([{"layer": "ReLU", "name": "a"}, {"layer": "Tanh", "name": "a"}])",
       "m.json:8: 'a' is the name of two layers"},
      {R"([{"residual": [{"residual": [{"layer": "ReLU", "repeat": 200}], "repeat": 200}]}])",
       "m.json:8: residual: more than 10000 layers"},
  };
  for (const auto& [model, message] : cases) {
    const Outcome run = digits_with(model);
    EXPECT_EQ(run.code, 1) << model;
    EXPECT_HAS(run.err, message);
  }
}

TEST_F(CliModel, TargetsMayBeNumbers) {
  const Outcome run = tenon("train " + regression(R"(, "metrics": ["mse", "mae"])") + " --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_LT(result.at("test_loss").get<double>(), 0.01);
  EXPECT_NEAR(result.at("test_mse").get<double>(), result.at("test_loss").get<double>(), 1e-6);
  EXPECT_LT(result.at("test_mae").get<double>(), 0.1);
  EXPECT_FALSE(result.contains("test_accuracy"));
  EXPECT_EQ(result.at("epochs").size(), 30u);
  EXPECT_TRUE(result.at("epochs")[0].contains("test_mse"));
  Outcome text = tenon("train " + regression());
  EXPECT_HAS(last_line(text.out), "test loss: ");

  const auto said = [&](const std::string& from, const std::string& to) {
    std::string file = read(regression());
    file.replace(file.find(from), from.size(), to);
    const Outcome outcome = tenon("train " + write("r.json", file));
    EXPECT_EQ(outcome.code, 1) << to;
    return outcome.err;
  };
  EXPECT_HAS(said("[1, 2]", "[]"), "r.json:1: data: targets are columns of numbers");
  EXPECT_HAS(said("[1, 2]", "[1, -2]"), "data: targets are columns of numbers");
  EXPECT_HAS(said("[1, 2]", "[7]"), "line.csv: there is no column 7 among its 3");
  EXPECT_HAS(said("\"targets\": [1, 2]", "\"targets\": 1, \"label\": \"last\""),
             "data: label and targets are there, expected one of them");
  EXPECT_HAS(said("\"mse_loss\"", "\"mse_loss\", \"metrics\": [\"f1\"]"),
             "metrics: F1: the output has sizes");
  EXPECT_HAS(
      said("\"out_features\": 2", "\"out_features\": 1"),
      "r.json:2: model: gives a tensor of shape [2, 1] for targets of [2, 2], expected the same");
  EXPECT_HAS(
      said("\"Adam\"", "\"LBFGS\""),
      "optimizer: LBFGS evaluates the loss several times in a step, which programs can do and");
  EXPECT_HAS(said("\"mse_loss\"", "\"mse_loss\", \"metrics\": [\"mes\"]"),
             "metrics: there is no metric 'mes'; did you mean 'mse'?");
  EXPECT_HAS(said("\"mse_loss\"", "\"mse_loss\", \"metrics\": \"mse\""),
             "metrics: a list of names is expected");
}

TEST_F(CliModel, ATrainingEndsWhereItIsNoLongerBetter) {
  const std::string stopping = R"(, "early_stopping": {"patience": 1, "min_delta": 0.05})";
  const std::string file = regression(stopping);
  const Outcome run = tenon("train " + file + " --save " + path("a.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "stopped early: the loss on what is held out was no better than ");
  EXPECT_HAS(run.out, " by 0.05 in 2 lines");
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "epoch 30/30", run.out);
  // Interrupted before, it stops where the other did.
  const std::string folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --epochs 3 --checkpoint " + folder).code, 0);
  const Outcome resumed =
      tenon("train " + file + " --resume " + folder + " --save " + path("b.safetensors"));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_HAS(resumed.out, "stopped early: ");
  EXPECT_EQ(read(path("a.safetensors")), read(path("b.safetensors")));
  const Outcome bad = tenon("train " + regression(R"(, "early_stopping": {"patience": -1})"));
  EXPECT_HAS(bad.err, "early_stopping: patience is -1, expected at least 0");
}

TEST_F(CliModel, RatesThatGoByTheLossGoOnAsTheyWere) {
  const std::string plateau =
      R"(, "schedule": {"schedule": "plateau", "patience": 0, "threshold": 0.5, "factor": 0.5})";
  const std::string file = regression(plateau), folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --save " + path("a.safetensors")).code, 0);
  // After seven steps of three an epoch: in the middle of the third.
  ASSERT_EQ(tenon("train " + file + " --epochs 3 --checkpoint " + folder + " --every 7").code, 0);
  fs::remove(fs::path(folder) / "checkpoint-9.safetensors");
  const Outcome run =
      tenon("train " + file + " --resume " + folder + " --save " + path("b.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read(path("a.safetensors")), read(path("b.safetensors")));
}

TEST_F(CliModel, BatchesInPartsGiveTheSameWeights) {
  ASSERT_EQ(tenon("train " + regression() + " --save " + path("a.safetensors")).code, 0);
  for (const char* compile : {"", " --compile"}) {
    const Outcome run =
        tenon("train " + regression(R"(, "accumulate": 4)") + compile + " --json --epochs 30");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_LT(json::parse(run.out).at("test_loss").get<double>(), 0.01);
  }
  const Outcome bad = tenon("train " + regression(R"(, "accumulate": 0)"));
  EXPECT_HAS(bad.err, "training: accumulate is 0, expected at least 1");
}

TEST_F(CliModel, ImagesAreChangedAnewEachTime) {
  const auto with = [&](const std::string& augment, const std::string& shape = "[1, 8, 8]") {
    std::string text = read(digits() + "/mlp.json");
    text.replace(text.find("\"digits.csv\""), 12, "\"" + digits() + "/digits.csv\"");
    text.replace(text.find("\"scale\""), 0, "\"shape\": " + shape + ", ");
    text.replace(text.find("{\"layer\": \"Linear\""), 0, "{\"layer\": \"Flatten\"}, ");
    text.replace(text.find("\"optimizer\": {"), 0, "\"augment\": " + augment + ",\n  ");
    return write("aug.json", text);
  };
  const std::string all =
      R"([{"transform": "RandomCrop", "padding": 1}, {"transform": "RandomRotation", "degrees": 10},
          {"transform": "ColorJitter", "brightness": 0.2, "contrast": 0.2},
          {"transform": "Cutout", "size": 2}])";
  const std::string folder = path("run");
  Outcome run = tenon("train " + with(all) + " --epochs 8 --save " + path("a.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_GT(accuracy(run), 0.8) << run.out;
  ASSERT_EQ(tenon("train " + with("[]") + " --epochs 8 --save " + path("c.safetensors")).code, 0);
  EXPECT_NE(read(path("a.safetensors")), read(path("c.safetensors")));
  // Interrupted in the middle of an epoch it draws the same.
  ASSERT_EQ(tenon("train " + with(all) + " --epochs 3 --checkpoint " + folder + " --every 55").code,
            0);
  fs::remove(fs::path(folder) / "checkpoint-72.safetensors");
  run = tenon("train " + with(all) + " --epochs 8 --resume " + folder + " --save " +
              path("b.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read(path("a.safetensors")), read(path("b.safetensors")));

  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"([{"transform": "RandomCorp"}])",
       "augment: there is no 'RandomCorp'; did you mean "
       "'RandomCrop'?"},
      {R"([{"transform": "RandomCrop"}])", "augment: the field 'padding' is missing"},
      {R"([{"transform": "Cutout", "size": 0}])", "augment: size is 0, expected at least 1"},
      {R"([{"transform": "RandomHorizontalFlip", "p": 2}])",
       "augment: RandomHorizontalFlip: p is 2"},
      {R"([{"transform": "RandomHorizontalFlip", "q": 2}])", "augment: unknown field 'q'"},
      {R"({"transform": "Cutout"})", "augment: a list of transforms"},
  };
  for (const auto& [augment, message] : cases) {
    run = tenon("train " + with(augment));
    EXPECT_EQ(run.code, 1) << augment;
    EXPECT_HAS(run.err, message);
  }
  run = tenon("train " + with(R"([{"transform": "RandomVerticalFlip", "p": 1}])", "[64]"));
  EXPECT_HAS(run.err, "augment: RandomVerticalFlip: it is for images [.., height, width]");
  run = tenon("train " + with(R"([{"transform": "RandomCrop", "padding": 1}])", "[64]"));
  EXPECT_HAS(run.err, "augment: RandomCrop: it is for images [.., height, width]");
  run = tenon("train " + with("[]", "[3, 8, 8]"));
  EXPECT_HAS(run.err, "data: shape is [3, 8, 8], but an item has 64 values");
  run = tenon("train " + with("[]", "[0]"));
  EXPECT_HAS(run.err, "data: shape is a list of 1 to 8 sizes from 1");
}

TEST_F(CliModel, TheGraphOfBackwardIsTextForGraphviz) {
  Outcome run = tenon("graph " + regression());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "digraph backward {");
  EXPECT_HAS(run.out, "mse_loss");
  EXPECT_HAS(run.out, "0.weight\\n[2, 1] float32");
  EXPECT_HAS(run.out, " -> ");
  run = tenon("graph " + regression() + " --dot " + path("g.dot"));
  EXPECT_EQ(run.out, "");
  EXPECT_HAS(read(path("g.dot")), "0.bias\\n[2] float32");
  // Graphviz may be there or not.
  run = tenon("graph " + regression() + " --svg " + path("g.svg"));
  if (run.code == 0) {
    EXPECT_HAS(read(path("g.svg")), "<svg");
  } else {
    EXPECT_HAS(run.err,
               "--svg: Graphviz's program `dot` cannot be run: No such file or directory (Debian's "
               "package graphviz has it)");
    EXPECT_FALSE(fs::exists(path("g.svg")));
  }
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "dot-part", entry.path().string());
}

}  // namespace
}  // namespace cli
