// A kernel that faults on the device, and memory that is exhausted: what is said, and what goes on.
// Each is a fork, in which the device is opened.
#include <cstdio>

#include "on_fake.h"

namespace {

using on_fake::error_of;
using on_fake::Outcome;

struct CudaFaults : testing::Test {
  static void SetUpTestSuite() { on_fake::preload(); }
  template <class Body>
  static Outcome run(const std::vector<std::string>& environment, const Body& body) {
    return on_fake::in_a_fork_with(environment, [&] {
      load_all();
      return body();
    });
  }
  static void expect_text(const Outcome& found, const std::string& expected) {
    EXPECT_EQ(found.given, expected) << found.logged;
  }
  static void expect_part(const Outcome& found, const std::string& part) {
    EXPECT_NE(found.given.find(part), std::string::npos) << found.given << found.logged;
  }
};

Tensor on(const char* device) { return tn::ones({40}, tn::float32, device); }

// The second run of an elementwise kernel ends in CUDA_ERROR_ILLEGAL_ADDRESS.
constexpr char kFault[] = "TENON_FAKE_CUDA_FAULT=elementwise:2:700";
constexpr char kWords[] =
    "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered (cuda:0)";

// What stands behind the last "because".
std::string last_line(const std::string& text) { return text.substr(text.rfind('\n') + 1); }

TEST_F(CudaFaults, SyncNamesTheKernel) {
  const Outcome found = run({kFault, "TENON_SYNC=1"}, [] {
    const Tensor x = on("cuda:0"), y = x + 1;
    const std::string error = error_of([&] { y * 2; });
    return error + "|" + error_of([&] { y.sum(); });
  });
  expect_part(
      found,
      "cuda:0 is lost: stream_synchronize: stream 1 of cuda:0: 'mul', the only launch since "
      "the stream was last waited for");
  expect_part(found, std::string("because cuStreamSynchronize: ") + kWords);
  expect_part(found, "|");
}

TEST_F(CudaFaults, ALateFaultSaysHowManyItMayBeAbout) {
  const Outcome found =
      run({"TENON_FAKE_CUDA_FAULT=elementwise:4:700", "TENON_FAKE_CUDA_SLOW_US=20000"}, [] {
        const Tensor x = on("cuda:0");
        const auto chain = [&] { return (x + 1) * 2 - x; };
        chain().to(tn::cpu);  // all kernels are there now
        const Tensor y = chain();
        return error_of([&] { y.to(tn::cpu); });
      });
  expect_part(found, "launches since the stream was last waited for, the last of them '");
  expect_part(found, "(TENON_SYNC=1 finds out which)");
  expect_part(found, kWords);
}

// The driver tells of a fault whenever it is called next: here when a text is loaded for 'exp'.
TEST_F(CudaFaults, ALaunchThatHearsOfAFaultIsNotBlamedAlone) {
  const Outcome found = run({kFault}, [] {
    const Tensor x = on("cuda:0"), y = x * 2 + 1;
    for (int i = 0; i < 100; ++i) ::usleep(1000);
    return error_of([&] { tn::exp(y); });
  });
  expect_part(found,
              "cuda:0 is lost: 'exp' on stream 1 of cuda:0, or one of 3 launches before it since "
              "the stream was last waited for (TENON_SYNC=1 finds out which)");
  expect_part(found, kWords);
}

TEST_F(CudaFaults, AFaultInAGraphIsOneOfTheCompiledFunction) {
  const Outcome found = run({"TENON_FAKE_CUDA_FAULT=elementwise:6:700", "TENON_SYNC=1"}, [] {
    auto f = tn::compile([](Tensor x) { return tn::exp(x + 1) * x; });
    std::string text;
    for (int i = 0; i < 6 && text.empty(); ++i)
      text = error_of([&] { f(on("cuda:0")).to(tn::cpu); });
    return text;
  });
  expect_part(found, "a replay of the compiled function failed as one graph of cuda:0");
  expect_part(found, kWords);
}

// Nobody waits for a stream that records, also where each launch and copy is waited for.
TEST_F(CudaFaults, SyncLeavesGraphsAsTheyAre) {
  const Outcome found = run({"TENON_SYNC=1"}, [] {
    const tn::Device d("cuda:0");
    auto f = tn::compile([&](Tensor x) { return x * tn::tensor({1.f, 2.f}).to(d) + 1; });
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += f(tn::ones({2}, tn::float32, d)).sum().item<double>();
    return std::to_string(sum) + f.describe();
  });
  expect_part(found, "20.000000");
  expect_part(found, "as one graph of cuda:0");
}

// After a fault the context refuses everything, also to free memory; the other device goes on, and
// the process ends as always.
TEST_F(CudaFaults, TheDeviceIsUnusableAndOthersGoOn) {
  const Outcome found = run({kFault}, [] {
    std::string text;
    {
      const Tensor x = on("cuda:0"), z = on("cuda:1"), y = (x + 1) * 2;
      error_of([&] { y.to(tn::cpu); });
      for (int i = 0; i < 2; ++i) text += last_line(error_of([&] { on("cuda:0"); })) + "\n";
      text += last_line(error_of([&] { (x + 1).to(tn::cpu); })) + "\n";
      text += last_line(error_of([] { tn::Stream{tn::Device("cuda:0")}; })) + "\n";
      text += std::to_string((z + 1).sum().item<double>()) + "\n";
    }
    tn_status* failed = tn::detail::api.plugin->shutdown();
    return text + (failed ? tn::host()->status_message(failed) : "ended");
  });
  std::vector<std::string> lines;
  for (size_t at = 0; at < found.given.size();) {
    const size_t end = std::min(found.given.find('\n', at), found.given.size());
    lines.push_back(found.given.substr(at, end - at));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 6u) << found.given << found.logged;
  for (int i = 0; i < 4; ++i) {
    EXPECT_NE(lines[size_t(i)].find("cuda:0 is lost: "), std::string::npos) << lines[size_t(i)];
    EXPECT_NE(lines[size_t(i)].find(kWords), std::string::npos) << lines[size_t(i)];
  }
  EXPECT_EQ(std::atof(lines[4].c_str()), 80);
  EXPECT_EQ(lines[5], "ended");
  EXPECT_NE(found.logged.find("cuMemFree: CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos)
      << found.logged;
}

// 2 is CUDA_ERROR_OUT_OF_MEMORY.
TEST_F(CudaFaults, MemoryOfTheCacheIsGivenBackAndTheRequestRepeated) {
  expect_text(
      run({"TENON_FAKE_CUDA_FAIL=cuMemAlloc:2:2"},
          [] {
            Tensor x = Tensor::empty({1 << 20}, tn::float32, "cuda:0");
            x = {};  // in the cache now
            const Tensor y = tn::ones({1 << 21}, tn::float32, "cuda:0");
            return std::to_string(tn::Device("cuda:0").memory_stats().reserved_bytes >> 20) +
                   " MiB, " + std::to_string(y.sum().item<double>());
          }),
      "10 MiB, 2097152.000000");
}

TEST_F(CudaFaults, AProgramGoesOnWithoutTheMemory) {
  const Outcome found = run({"TENON_FAKE_CUDA_FAIL=cuMemAlloc:2:2,cuMemAlloc:3:2"}, [] {
    const Tensor x = on("cuda:0");
    const std::string error = error_of([] { Tensor::empty({1 << 21}, tn::float32, "cuda:0"); });
    return error + "|" + std::to_string((x + 1).sum().item<double>());
  });
  expect_part(found, "out of memory on cuda:0: wanted 8.0 MiB");
  expect_part(found, "|80.0");
}

TEST_F(CudaFaults, AnOpWithoutAKernelIsRefused) {
  const Outcome found = run({}, [] {
    tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) +
                    "/tests/face_plugins/libface_plugin.so");
    return error_of([] { tn::call("face_plugin.reversed", on("cuda:0")); });
  });
  expect_text(found,
              "reversed: cuda:0 has no kernel for this call, and the op has no decomposition");
}

}  // namespace
