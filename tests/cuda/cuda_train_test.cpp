// The digits' networks train on the tests' own driver as they do on `cpu`.
#include "cli_support.h"

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

TEST_F(CudaTrain, TheMlpReachesTheAccuracyOfTheCpu) { expect_as_on_cpu("mlp.json", 40); }

// The few epochs that a simulation has time for.
TEST_F(CudaTrain, TheCnnReachesTheAccuracyOfTheCpu) { expect_as_on_cpu("cnn.json", 3); }

}  // namespace
