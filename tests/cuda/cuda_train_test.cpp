// The networks of the examples train on the tests' own driver as they do on `cpu`. The long form has
// all epochs and whole batches.
#include <nlohmann/json.hpp>

#include "cli_support.h"
#include "long_form.h"

namespace {

struct CudaTrain : cli::CliTest {
  void expect_as_on_cpu(const std::string& network, int epochs) {
    const std::string line = "train '" + digits() + "/" + network + "' --epochs " +
                             std::to_string(epochs) + " --device ";
    const cli::Outcome cpu = tenon(line + "cpu"), cuda = tenon(line + "cuda");
    EXPECT_EQ(cuda.code, 0) << cuda.err;
    EXPECT_HAS(cuda.out, "on cuda:0");
    EXPECT_GT(cli::accuracy(cpu), 0.9);
    EXPECT_NEAR(cli::accuracy(cuda), cli::accuracy(cpu), 0.01);
  }
};

TEST_F(CudaTrain, TheMlpReachesTheAccuracyOfTheCpu) {
  expect_as_on_cpu("mlp.json", long_form() ? 40 : 20);
}

// A simulation has time for few epochs.
TEST_F(CudaTrain, TheCnnReachesTheAccuracyOfTheCpu) {
  const auto network = nlohmann::json::parse(cli::read(digits() + "/cnn.json"));
  expect_as_on_cpu("cnn.json", long_form() ? network["epochs"].get<int>() : 2);
}

// The first 20 losses, on a short text, whose validation takes no time.
TEST_F(CudaTrain, TheGptLosesWhatItLosesOnTheCpu) {
  const std::string example = std::string(::getenv("TENON_SOURCE_DIR")) + "/examples/text/gpt.json";
  auto network = nlohmann::json::parse(cli::read(example));
  std::string text;
  for (int i = 0; i < 6000; ++i) text += static_cast<char>('a' + i * i % 23 * (i % 7) % 26);
  write("text.txt", text);
  network["data"]["text"] = {"text.txt"};
  network["data"]["validation"] = 0.03;
  if (!long_form()) {
    network["batch_size"] = 1;
    network["data"]["context"] = 32;
  }
  const std::string line = "train '" + write("gpt.json", network.dump()) + "' --steps 20 --json";
  const cli::Outcome cpu = tenon(line), cuda = tenon(line + " --device cuda");
  ASSERT_EQ(cuda.code, 0) << cuda.err;
  const auto expected = nlohmann::json::parse(cpu.out), found = nlohmann::json::parse(cuda.out);
  EXPECT_EQ(found["device"], "cuda:0");
  ASSERT_EQ(expected["steps"].size(), 20u);
  ASSERT_EQ(found["steps"].size(), 20u);
  for (size_t i = 0; i < 20; ++i)
    EXPECT_NEAR(found["steps"][i]["loss"].get<double>(), expected["steps"][i]["loss"].get<double>(),
                1e-4)
        << i;
}

}  // namespace
