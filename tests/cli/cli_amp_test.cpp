// Mixed precision by the command: the digits and a small GPT train in bfloat16 and float16 as they do
// in float32, a checkpoint is of one policy, and what cannot be is refused. The long form has all
// epochs of the cnn and more steps of the GPT.
#include <nlohmann/json.hpp>

#include "cli_support.h"
#include "long_form.h"

namespace {

using nlohmann::json;

struct CliAmp : cli::CliTest {
  static inline const std::vector<std::string> kLower = {
      "--amp O1 --amp-dtype bfloat16", "--amp O1 --amp-dtype float16",
      "--amp O2 --amp-dtype bfloat16", "--amp O2 --amp-dtype float16"};

  void expect_accuracy_of_float32(const std::string& network, int epochs) {
    const std::string line =
        "train '" + digits() + "/" + network + "' --epochs " + std::to_string(epochs) + " ";
    const double full = cli::accuracy(tenon(line));
    EXPECT_GT(full, 0.9);
    for (const std::string& amp : kLower) {
      const cli::Outcome run = tenon(line + amp);
      EXPECT_EQ(run.code, 0) << run.err;
      EXPECT_NEAR(cli::accuracy(run), full, 0.01) << amp;
    }
  }
  // examples/text/gpt.json with few layers, on a short text.
  std::string small_gpt() const {
    const std::string example =
        std::string(::getenv("TENON_SOURCE_DIR")) + "/examples/text/gpt.json";
    auto network = json::parse(cli::read(example));
    std::string text;
    for (int i = 0; i < 6000; ++i) text += static_cast<char>('a' + i * i % 23 * (i % 7) % 26);
    write("text.txt", text);
    network["data"]["text"] = {"text.txt"};
    network["batch_size"] = 4;
    return write("gpt.json", network.dump());
  }
};

TEST_F(CliAmp, TheMlpHasTheAccuracyOfFloat32) { expect_accuracy_of_float32("mlp.json", 40); }

TEST_F(CliAmp, TheCnnHasTheAccuracyOfFloat32) {
  const auto network = json::parse(cli::read(digits() + "/cnn.json"));
  expect_accuracy_of_float32("cnn.json", long_form() ? network["epochs"].get<int>() : 4);
}

TEST_F(CliAmp, TheGptHasTheLossOfFloat32) {
  const std::string line =
      "train '" + small_gpt() + "' --json --steps " + std::to_string(long_form() ? 400 : 60) + " ";
  const auto loss = [](const cli::Outcome& run) {
    EXPECT_EQ(run.code, 0) << run.err;
    return json::parse(run.out)["validation_loss"].get<double>();
  };
  const double full = loss(tenon(line));
  EXPECT_LT(full, 2.5);
  for (const std::string& amp : kLower) EXPECT_NEAR(loss(tenon(line + amp)), full, 0.01) << amp;
}

// In the file, with half weights, which `--save` writes and `eval` reads.
TEST_F(CliAmp, PoliciesAreInTrainingFilesToo) {
  const std::string file =
      training({{"\"loss\"", "\"amp\": {\"policy\": \"O3\", \"dtype\": \"bfloat16\"}, \"loss\""}});
  const std::string weights = path("weights.safetensors");
  const cli::Outcome run = tenon("train '" + file + "' --epochs 3 --save '" + weights + "'");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(cli::read(weights), "\"dtype\":\"BF16\"");
  const cli::Outcome eval = tenon("eval '" + file + "' --weights '" + weights + "'");
  EXPECT_EQ(cli::last_line(eval.out), cli::last_line(run.out)) << eval.err;
  for (const char* command : {"summary", "graph", "explain", "explain --compiled"})
    EXPECT_EQ(tenon(std::string(command) + " '" + file + "'").code, 0) << command;
}

TEST_F(CliAmp, ATrainingOfO2GoesOnFromItsCheckpoint) {
  const std::string file = training({}), a = path("a.safetensors"), b = path("b.safetensors");
  const std::string line = "train '" + file + "' --amp O2 --amp-dtype float16 ";
  EXPECT_EQ(tenon(line + "--epochs 3 --save '" + a + "'").code, 0);
  const std::string folder = path("checkpoints");
  EXPECT_EQ(tenon(line + "--epochs 2 --checkpoint '" + folder + "'").code, 0);
  const cli::Outcome resumed =
      tenon(line + "--epochs 3 --resume '" + folder + "' --save '" + b + "'");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(cli::read(a), cli::read(b));
  const cli::Outcome other = tenon("train '" + file + "' --epochs 3 --resume '" + folder + "'");
  EXPECT_EQ(other.code, 1);
  EXPECT_HAS(other.err, "it is of another amp: O2 float16 there, none here");
}

// The policy of the line in the place of the file's, which has none; with the loss that the training told.
TEST_F(CliAmp, WeightsAreTestedInMixedPrecisionToo) {
  const std::string file = small_gpt(), weights = path("w.safetensors");
  const auto loss = [](const cli::Outcome& run) {
    EXPECT_EQ(run.code, 0) << run.err;
    return json::parse(run.out)["validation_loss"].get<double>();
  };
  const std::string amp = " --amp O1 --amp-dtype bfloat16";
  const double trained =
      loss(tenon("train '" + file + "' --json --steps 2 --save '" + weights + "'" + amp));
  const std::string line = "eval '" + file + "' --json --weights '" + weights + "'";
  EXPECT_EQ(loss(tenon(line + amp)), trained);
  EXPECT_NE(loss(tenon(line)), trained);
  EXPECT_NEAR(loss(tenon(line)), trained, 0.05);
  // float16 weights of O3 from float32 ones.
  EXPECT_NEAR(loss(tenon(line + " --amp O3 --amp-dtype float16")), trained, 0.05);
  const std::string generate =
      "generate '" + file + "' --weights '" + weights + "' --prompt a --length 5";
  EXPECT_EQ(tenon(generate + amp).out.size(), 7u);
  EXPECT_HAS(tenon("explain '" + file + "' --json" + amp).out, "bfloat16");
  EXPECT_HAS(tenon(line + " --amp O9").err, "--amp: autocast: unknown policy 'O9'");
  EXPECT_HAS(tenon(generate + " --amp O9").err, "--amp: autocast: unknown policy 'O9'");
  EXPECT_HAS(tenon(line + " --amp ''").err, "--amp is empty, expected a name");
  const cli::Outcome run = tenon(line + " --amp-dtype float16");
  EXPECT_EQ(run.code, 2);
  EXPECT_HAS(run.err, "eval: --amp-dtype is there without --amp");
}

TEST_F(CliAmp, RefusesWhatItDoesNotKnow) {
  const auto refused = [&](const std::string& amp) {
    const cli::Outcome run = tenon("train '" + digits() + "/mlp.json' " + amp);
    EXPECT_NE(run.code, 0);
    return run.err;
  };
  EXPECT_HAS(refused("--amp O9"), "--amp: autocast: unknown policy 'O9'; did you mean 'O");
  EXPECT_HAS(refused("--amp O1 --amp-dtype float64"),
             "--amp: dtype is 'float64', expected float16 or bfloat16");
  EXPECT_HAS(refused("--amp-dtype float16"), "train: --amp-dtype is there without --amp");
  const auto in_file = [&](const std::string& amp) {
    return tenon("train '" + training({{"\"loss\"", "\"amp\": " + amp + ", \"loss\""}}) + "'").err;
  };
  EXPECT_HAS(in_file("16"), "amp: the name of a policy is expected, as \"O1\", or {\"policy\": ");
  EXPECT_HAS(in_file("\"half\""), "amp: autocast: unknown policy 'half'");
  EXPECT_HAS(in_file("{\"dtype\": \"float16\"}"), "policy");
  EXPECT_HAS(in_file("{\"policy\": \"O1\", \"dtype\": \"half\"}"),
             "amp: dtype is 'half', expected float16 or bfloat16");
}

}  // namespace
