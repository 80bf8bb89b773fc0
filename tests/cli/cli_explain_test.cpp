// `tenon explain --compiled`: what is launched at a replay, beside what an eager run does.
#include "cli_support.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace cli {
namespace {

using nlohmann::json;

TEST_F(CliTest, ExplainsACompiledStepInOrder) {
  for (const std::string device : {"cpu", "ref:0"}) {
    const Outcome run = tenon("explain --compiled " + digits() + "/mlp.json --device " + device);
    ASSERT_EQ(run.code, 0) << run.err;
    // The first call makes Adam's state, the second is recorded.
    EXPECT_HAS(run.out, "the training step on " + device + ": 2 calls recorded, 3 replayed\n");
    EXPECT_HAS(run.out,
               "arguments  [64, 64] float32 on " + device + "; [64] int64 on " + device + "\n");
    EXPECT_HAS(run.out, "those of an eager call, on any number of threads\n");
    EXPECT_HAS(run.out, ", 1 of them random, for the ");
    EXPECT_HAS(run.out, " ops that an eager run calls\ndropped    ");
    EXPECT_HAS(run.out, " launches whose results nobody reads\n");
    EXPECT_EQ(run.out.find(" as one graph of ref:0, 1 of them") != std::string::npos,
              device == "ref:0");
    EXPECT_HAS(run.out, "launch ");
    size_t at = 0;  // a call of the forward, its gradient and the update, in this order
    for (const char* launch : {"\nrelu ", "\ngradient of relu ", "adam"}) {
      const size_t found = run.out.find(launch, at);
      ASSERT_NE(found, std::string::npos) << launch << "\n" << run.out;
      at = found;
    }
    EXPECT_HAS(run.out, "[64, 128] float32");
  }
}

TEST_F(CliTest, ACompiledStepIsExplainedAsJson) {
  const Outcome run = tenon("explain --compiled --json " + digits() + "/mlp.json");
  ASSERT_EQ(run.code, 0) << run.err;
  const json said = json::parse(run.out);
  EXPECT_EQ(said.at("what"), "training step");
  EXPECT_EQ(said.at("stays_eager"), json::array());
  EXPECT_EQ(said.at("bits"), "those of an eager call, on any number of threads");
  EXPECT_EQ(said.at("arguments"), json({"[64, 64] float32 on cpu", "[64] int64 on cpu"}));
  const json& steps = said.at("steps");
  EXPECT_EQ(steps.size(), said.at("launches").get<size_t>() + said.at("copies").get<size_t>() +
                              said.at("constants").get<size_t>());
  const auto relu = std::ranges::find_if(steps, [](const json& s) { return s.at("op") == "relu"; });
  ASSERT_NE(relu, steps.end());
  EXPECT_EQ(relu->at("kernel"), "cpu elementwise");
  EXPECT_EQ(relu->at("operands"), json({"[8192] float32"}));  // as the loop has it
  EXPECT_EQ(relu->at("results"), json({"[64, 128] float32"}));
  // The pair of each linear layer, forward and backward.
  std::vector<std::string> notes;
  for (const json& step : steps) {
    if (step.at("op") == "linear") notes.push_back(step.at("notes"));
  }
  EXPECT_EQ(notes, (std::vector<std::string>{"", "", "backward", "backward"}));
  // Weights and biases of two layers, and gradients as large as they.
  constexpr int kParameters = 64 * 128 + 128 + 128 * 10 + 10;
  EXPECT_EQ(said.at("leans_on").at("leaves"), 4);
  const json& memory = said.at("memory");
  EXPECT_GE(memory.at("left"), kParameters * 4);
  EXPECT_LE(memory.at("own"), memory.at("eager_asked_inside"));
  EXPECT_GE(memory.at("eager_peak"), kParameters * 4);
  EXPECT_GT(said.at("calls"), 5);
}

// A file of a model alone: no optimizer, so no loss and no epochs are needed.
std::string model_alone(const std::string& layers) {
  return R"({"data": {"csv": ")" + std::string(::getenv("TENON_SOURCE_DIR")) +
         R"(/examples/digits/digits.csv", "test_every": 6}, "batch_size": 4, "model": [)" + layers +
         "]}";
}

TEST_F(CliTest, OfAModelAloneTheForwardIsExplained) {
  const std::string file = write(
      "m.json",
      model_alone(
          R"({"layer": "Linear", "in_features": 64, "out_features": 10}, {"layer": "Dropout"})"));
  const Outcome run = tenon("explain --compiled " + file);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "the forward on cpu: 1 calls recorded, 4 replayed\n");
  EXPECT_HAS(run.out, ", 0 of them random, for the ");  // it is in evaluation
  EXPECT_EQ(run.out.find("gradient"), run.out.find("gradients; what an eager run")) << run.out;
  // Other commands want all of a training.
  for (const std::string line : {"explain ", "train "}) {
    const Outcome other = tenon(line + file);
    EXPECT_EQ(other.code, 1);
    EXPECT_HAS(other.err, "optimizer");
  }
}

TEST_F(CliTest, ExplainsWhyAFunctionStaysEager) {
  const std::string file = write("m.json", model_alone(R"({"layer": "Flatten"})"));
  const Outcome run = tenon("explain --compiled " + file);
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string reason = "result 0 shows memory that was there before the call";
  EXPECT_EQ(run.out, "the forward stays eager on cpu: " + reason + "\n");
  const json said = json::parse(tenon("explain --compiled --json " + file).out);
  EXPECT_EQ(said.at("stays_eager"), json({reason}));
  EXPECT_FALSE(said.contains("steps"));
}

TEST_F(CliTest, CallsAndLaunchesAreNotExplainedAtOnce) {
  const Outcome run = tenon("explain --compiled --nested " + digits() + "/mlp.json");
  EXPECT_EQ(run.code, 2);
  EXPECT_HAS(run.err, "explain: --nested shows calls, --compiled launches; expected one of them");
}

}  // namespace
}  // namespace cli
