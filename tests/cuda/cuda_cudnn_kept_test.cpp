// What is kept of cuDNN on the fake: a handle for each thread, and the plans that were used last. Each test is
// a fork, in which the device is opened.
#include <numeric>
#include <thread>

#include "fake_launches.h"
#include "on_fake.h"

namespace {

namespace fs = std::filesystem;
using on_fake::Outcome;

const char* const kCuda = "cuda:0";

Tensor ones(int64_t n) { return tn::ones({1, 1, 1, n}, tn::float32, kCuda); }
Tensor convolved(const Tensor& x) { return tn::conv2d(x, ones(1) + 1); }

// Runs the body with a file whose name is the value of a variable.
template <class Body>
Outcome run(const char* variable, const fs::path& file, std::vector<std::string> more,
            const Body& body) {
  more.push_back(std::string(variable) + "=" + file.string());
  return on_fake::in_a_fork_with(more, [&] {
    load_all();
    return body();
  });
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream text(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Forks have the one of the test.
const fs::path& scratch() {
  static const fs::path file =
      fs::temp_directory_path() / ("tenon_cudnn_kept_" + std::to_string(::getpid()));
  return file;
}

struct CudaCudnnKept : testing::Test {
  static void SetUpTestSuite() { on_fake::preload(); }
  static void TearDownTestSuite() { fs::remove(scratch()); }
  void SetUp() override { fs::remove(scratch()); }
};

// How many plans were made until now.
std::string made() { return std::to_string(lines_of(scratch()).size()) + " "; }

// 1024 are kept for a device.
TEST_F(CudaCudnnKept, ThePlanThatWasNotUsedForTheLongestTimeGoes) {
  const Outcome found = run("TENON_FAKE_CUDNN_PLANNED", scratch(), {}, [] {
    std::vector<int64_t> all(1024);
    std::iota(all.begin(), all.end(), 1);
    std::string said;
    for (const std::vector<int64_t>& sizes : {all, {1, 1025}, {1, 3}, {2}}) {
      for (const int64_t n : sizes) convolved(ones(n));
      said += made();
    }
    return said;
  });
  EXPECT_EQ(found.given, "1024 1025 1025 1026 ") << found.logged;
}

// The fake ends the process where a plan goes before its work. That waits here for a slow stream, while the
// host is quick.
TEST_F(CudaCudnnKept, APlanLivesAsLongAsItsWork) {
  const Outcome found =
      run("TENON_FAKE_CUDNN_PLANNED", scratch(), {"TENON_FAKE_CUDA_SLOW_US=2000"}, [] {
        const Tensor x = ones(2000), weight = ones(1);
        for (int i = 0; i < 1000; ++i) x.add_(1);
        TensorList all;  // a free would wait for work
        {
          const tn::StreamGuard guard(tn::Stream{tn::Device(kCuda)});
          all.push_back(tn::conv2d(x, weight));
        }
        for (int64_t n = 1; n < 1030; ++n) {
          all.push_back(Tensor::empty({1, 1, 1, n}, tn::float32, kCuda));
          all.push_back(tn::conv2d(all.back(), weight));
        }
        return made() + std::to_string(all.front().sum().item<double>());
      });
  EXPECT_EQ(found.given, "1030 2002000.000000") << found.logged;
}

TEST_F(CudaCudnnKept, APlanLivesAsLongAsAGraphThatHasIt) {
  const Outcome found = run("TENON_FAKE_CUDNN_PLANNED", scratch(), {}, [] {
    auto f = tn::compile([](Tensor x) { return convolved(x) * 3; });
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum = f(ones(5)).sum().item<double>();
    for (int64_t n = 6; n < 1040; ++n) convolved(ones(n));
    tn::Device(kCuda).synchronize();
    const auto lines = fake_trace([&] { sum += f(ones(5)).sum().item<double>(); });
    return std::to_string(std::ranges::count(*lines, "launch a graph")) + " graph, " +
           std::to_string(sum);
  });
  EXPECT_EQ(found.given, "1 graph, 60.000000") << found.logged;
  const size_t before = lines_of(scratch()).size();
  EXPECT_GE(before, 1035u);
}

// cudnnCreate may allocate and wait for the device.
TEST_F(CudaCudnnKept, AThreadHasItsHandleBeforeItRecords) {
  const Outcome found = run("TENON_FAKE_CUDA_EVERY_CALL", scratch(), {}, [] {
    auto f = tn::compile([](Tensor x) { return convolved(x) * 3; });
    double sum = f(ones(5)).sum().item<double>();
    std::thread([&] {
      for (int i = 0; i < 4; ++i) sum += f(ones(5)).sum().item<double>();
    }).join();
    return std::to_string(sum);
  });
  EXPECT_EQ(found.given, "150.000000") << found.logged;
  int captures = 0, handles = 0;
  bool is_recording = false;
  for (const std::string& line : lines_of(scratch())) {
    if (line == "cuStreamBeginCapture") is_recording = true, ++captures;
    if (line == "cuStreamEndCapture") is_recording = false;
    if (line != "cudnnCreate") continue;
    ++handles;
    EXPECT_FALSE(is_recording);
  }
  EXPECT_EQ(captures, 1);
  EXPECT_EQ(handles, 2);
}

}  // namespace
