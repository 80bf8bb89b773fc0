// Each entry of the driver fails once in a training, at its first call and at a later one: the
// command ends with an error that names the entry, or goes on and logs it, and never crashes. Every
// entry of the table is called.
#include <algorithm>
#include <iterator>
#include <regex>
#include <set>

#include "cli_support.h"

namespace {

struct CudaFailures : cli::CliTest {
  void TearDown() override {
    ::unsetenv("TENON_FAKE_CUDA_FAIL");
    ::unsetenv("TENON_FAKE_CUDA_CALLS");
    CliTest::TearDown();
  }
  // The names in backends/cuda/driver.h.
  static std::vector<std::string> entries() {
    const std::string text =
        cli::read(cli::fs::path(::getenv("TENON_SOURCE_DIR")) / "backends/cuda/driver.h");
    const std::regex row("ROW\\((cu\\w+)\\)");
    std::vector<std::string> names;
    for (std::sregex_iterator i(text.begin(), text.end(), row), end; i != end; ++i)
      names.push_back((*i)[1]);
    return names;
  }
  cli::Outcome train() {
    const std::string text = training(
        {{"\"epochs\": 40", "\"epochs\": 1"}, {"\"batch_size\": 64", "\"batch_size\": 512"}});
    return tenon("train '" + text + "' --device cuda");
  }
};

TEST_F(CudaFailures, OfEachEntryAreErrorsThatNameIt) {
  const std::vector<std::string> all = entries();
  EXPECT_GT(all.size(), 30u);
  const std::string calls = path("calls");
  ::setenv("TENON_FAKE_CUDA_CALLS", calls.c_str(), 1);
  EXPECT_EQ(train().code, 0);
  ::unsetenv("TENON_FAKE_CUDA_CALLS");
  const std::string called = "\n" + cli::read(calls);
  int failed = 0;
  for (const std::string& entry : all) {
    if (called.find("\n" + entry + "\n") == std::string::npos) continue;
    for (const int call : {1, 3}) {
      SCOPED_TRACE(entry + " at call " + std::to_string(call));
      ::setenv("TENON_FAKE_CUDA_FAIL", (entry + ":" + std::to_string(call) + ":999").c_str(), 1);
      const cli::Outcome run = train();
      EXPECT_TRUE(run.code == 0 || run.code == 1) << run.code << run.err;
      failed += run.code == 1;
      if (run.code != 0) {
        EXPECT_HAS(run.err, entry + ": CUDA_ERROR_UNKNOWN");
      }
    }
  }
  EXPECT_GT(failed, 20);
}

}  // namespace
