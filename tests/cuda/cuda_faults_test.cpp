// A kernel that faults on the device, devices that cannot reach each other, and plans that are not found:
// what is said, and what goes on. Each is a fork, in which the device is opened.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "fake_launches.h"
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

// The switch of this device alone. The kernel is the fourth of its name, and one of many launches that
// the program did not wait for.
TEST_F(CudaFaults, SyncOfTheDeviceNamesTheKernelExactly) {
  const Outcome found = run({"TENON_FAKE_CUDA_FAULT=elementwise:4:700", "TENON_CUDA_SYNC=1"}, [] {
    const Tensor x = on("cuda:0"), y = tn::ones({40}, tn::float32, "cuda:1");
    const std::string before = error_of([&] { tn::exp((x + 1).sum() * 2); });
    const std::string error = error_of([&] { x - 3; });
    return before + "|" + error + "|" + std::to_string((y + 1).sum().item<double>());
  });
  expect_text(found, std::string("|sub: cuda:0 is lost: 'sub' on stream 1 of cuda:0\n  because "
                                 "cuStreamSynchronize: ") +
                         kWords + "|80.000000");
}

// Of a replay, which is launched as one; and an index that is out of range is told by its call.
TEST_F(CudaFaults, SyncOfTheDeviceIsForGraphsAndIndices) {
  const Outcome found = run({"TENON_FAKE_CUDA_FAULT=elementwise:6:700", "TENON_CUDA_SYNC=1"}, [] {
    const Tensor index = tn::tensor({int64_t{50}}).to(tn::Device("cuda:0"));
    std::string text = error_of([&] { tn::gather(on("cuda:0"), 0, index); }) + "|";
    auto f = tn::compile([](Tensor x) { return tn::exp(x + 1) * x; });
    for (int i = 0; i < 6 && text.ends_with("|"); ++i) text += error_of([&] { f(on("cuda:0")); });
    return text;
  });
  expect_part(found, "gather: index 50 is out of range for dimension 0 of size 40 (cuda:0)");
  expect_part(found, "a replay of the compiled function failed as one graph of cuda:0");
  expect_part(found, kWords);
}

// It waits where "1" is said, and not for other values.
TEST_F(CudaFaults, SyncOfTheDeviceIsOffByDefault) {
  for (const char* value : {"", "0", "yes"}) {
    SCOPED_TRACE(value);
    const Outcome found = run({std::string("TENON_CUDA_SYNC=") + value}, [] {
      const Tensor x = on("cuda:0");
      x + 1;
      const auto lines = fake_trace([&] { x + 2; });
      return std::to_string(std::ranges::count_if(
          *lines, [](const std::string& line) { return line.starts_with("wait"); }));
    });
    expect_text(found, "0");
  }
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

// An instance of a graph is launched by one thread at a time, whatever streams they work on.
TEST_F(CudaFaults, ThreadsLaunchOneGraphInTurn) {
  const Outcome found = run({}, []() -> std::string {
    const tn::Device d("cuda:0");
    const auto& capture =
        *static_cast<const tn_capture_api*>(tn::host()->get_interface("capture/1"));
    const Tensor x = on("cuda:0");
    Tensor y = x + 1;
    y.to(tn::cpu);
    tn::check(capture.begin(d.value));
    y += x;
    tn_graph* graph = nullptr;
    tn::check(capture.end(&graph));
    std::string said[2];
    std::thread threads[2];
    for (int t = 0; t < 2; ++t) {
      threads[t] = std::thread([&, t] {
        const tn::Stream own(d);
        const tn::StreamGuard guard(own);
        said[t] = error_of([&] {
          for (int i = 0; i < 300; ++i) tn::check(capture.launch(graph, d.value));
          own.synchronize();
        });
      });
    }
    for (std::thread& thread : threads) thread.join();
    capture.destroy(graph);
    return said[0] + said[1];
  });
  expect_text(found, "");
}

// 4 is CUDA_ERROR_DEINITIALIZED: what a program gives back while it ends is not worth a word.
TEST_F(CudaFaults, WhatIsGivenBackAtTheEndOfTheDriverIsNotWarnedOf) {
  const Outcome found = run({"TENON_FAKE_CUDA_FAIL=cuMemFree:1:4,cuMemFree:2:4"}, [] {
    on("cuda:0");
    return error_of([] { tn::Device("cuda:0").empty_cache(); });
  });
  expect_text(found, "");
  EXPECT_EQ(found.logged, "");
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

// ---- Copies between two devices

// Copies to and fro three times. What is said: an error or the sum, how many copies the host had no part
// in, and how often the driver was asked to let one device reach the other.
std::string copy_to_and_fro(std::vector<std::string> environment) {
  const auto calls =
      std::filesystem::temp_directory_path() / ("tenon_peers_" + std::to_string(::getpid()));
  environment.push_back("TENON_FAKE_CUDA_EVERY_CALL=" + calls.string());
  const Outcome found = on_fake::in_a_fork_with(environment, [] {
    load_all();
    std::string said;
    const auto lines = fake_trace([&] {
      Tensor x = on("cuda:0");
      said = error_of([&] {
        for (int i = 0; i < 3; ++i) x = x.to(tn::Device("cuda:1")).to(tn::Device("cuda:0"));
      });
      if (said.empty()) said = std::to_string(int(x.sum().item<double>()));
    });
    return said + ", " + std::to_string(std::ranges::count(*lines, "copy between devices")) +
           " direct";
  });
  std::ifstream text(calls);
  int asked = 0;
  for (std::string line; std::getline(text, line);) asked += line == "cuCtxEnablePeerAccess";
  std::filesystem::remove(calls);
  return found.given + ", " + std::to_string(asked) + " asked";
}

TEST_F(CudaFaults, EachDeviceIsLetReachAnotherOnce) {
  EXPECT_EQ(copy_to_and_fro({}), "40, 6 direct, 2 asked");
}

TEST_F(CudaFaults, CopiesGoThroughTheHostWhereADeviceCannotReachAnother) {
  EXPECT_EQ(copy_to_and_fro({"TENON_FAKE_CUDA_PEERS=0"}), "40, 0 direct, 0 asked");
}

// Those of CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED and
// CUDA_ERROR_TOO_MANY_PEERS: the fake lets nothing be reached when it was told to fail.
TEST_F(CudaFaults, ThatADeviceCannotReachAnotherIsNoErrorAndIsNotAskedAgain) {
  for (const char* code : {"704", "217", "711"}) {
    EXPECT_EQ(
        copy_to_and_fro({std::string("TENON_FAKE_CUDA_FAIL=cuCtxEnablePeerAccess:1:") + code}),
        "40, 3 direct, 2 asked")
        << code;
  }
}

TEST_F(CudaFaults, WantOfMemoryToReachAnotherDeviceIsNoErrorAndIsAskedAgain) {
  EXPECT_EQ(copy_to_and_fro({"TENON_FAKE_CUDA_FAIL=cuCtxEnablePeerAccess:1:2"}),
            "40, 5 direct, 3 asked");
}

TEST_F(CudaFaults, AnotherFailureToReachADeviceIsAnErrorOfTheCopy) {
  for (const char* entry : {"cuCtxEnablePeerAccess", "cuDeviceCanAccessPeer"}) {
    const std::string said =
        copy_to_and_fro({std::string("TENON_FAKE_CUDA_FAIL=") + entry + ":1:999"});
    EXPECT_NE(said.find(std::string(entry) + ": CUDA_ERROR_UNKNOWN"), std::string::npos) << said;
  }
}

// ---- Graphs

// What a graph reports comes with the next wait that succeeds. 1 is CUDA_ERROR_INVALID_VALUE.
TEST_F(CudaFaults, AWaitThatFailsForgetsNoIndexOutOfRange) {
  int failed_waits = 0;
  for (int n = 1; n <= 12; ++n) {
    const Outcome found =
        run({"TENON_FAKE_CUDA_FAIL=cuStreamSynchronize:" + std::to_string(n) + ":1"}, [] {
          std::string early, text;
          const tn::Device device("cuda:0");
          early = error_of([&] {
            const Tensor x = on("cuda:0");
            const auto at = [&](int64_t i) { return tn::full({1}, i, tn::int64, device); };
            auto f = tn::compile([&](Tensor i) { return tn::gather(x, 0, i) * 2; });
            for (int i = 0; i < 3; ++i) f(at(0));
            device.synchronize();
            f(at(999));
            for (int i = 0; i < 2; ++i) text += error_of([&] { device.synchronize(); }) + "|";
          });
          return early.empty() ? text : "early: " + early;
        });
    if (found.given.starts_with("early: ")) continue;  // the wait that failed was one before
    expect_part(found, "gather: index 999 is out of range for dimension 0");
    failed_waits += found.given.find("cuStreamSynchronize: ") < found.given.find("gather: index");
  }
  EXPECT_EQ(failed_waits, 1) << "one of them is the first wait behind the graph";
}

// ---- Plans of cuDNN

// Convolutions by cuDNN of three in one process, and plans that are on the disk behind them, while the n-th
// descriptor fails to be finalized.
std::string convolve(int n, const char* status) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "tenon_plans_XXXXXX").string();
  EXPECT_NE(::mkdtemp(folder.data()), nullptr);
  const Outcome found = on_fake::in_a_fork_with(
      {"TENON_CUDA_CACHE=100", "XDG_CACHE_HOME=" + folder,
       "TENON_FAKE_CUDA_FAIL=cudnnBackendFinalize:" + std::to_string(n) + ":" + status},
      []() -> std::string {
        load_all();
        const Tensor x = tn::ones({1, 1, 4, 4}, tn::float32, tn::Device("cuda:0")),
                     w = tn::ones({1, 1, 3, 3}, tn::float32, tn::Device("cuda:0"));
        const auto launches = fake_launches([&] {
          for (int i = 0; i < 3; ++i) EXPECT_EQ(tn::conv2d(x, w).sum().item<double>(), 36);
        });
        if (testing::Test::HasFailure()) return "wrong";
        return std::to_string(std::ranges::count(*launches, "cudnnBackendExecute")) + " by cuDNN";
      });
  int kept = 0;
  for (const auto& file : fs::directory_iterator(folder + "/tenon")) {
    std::ifstream text(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(text), {}};
    kept += bytes.find("cudnn ") != std::string::npos;
  }
  fs::remove_all(folder);
  return found.given + ", " + std::to_string(kept) + " kept";
}

// The descriptors of a convolution in their order: the first ones are its graph, without which there is no
// plan; heuristics then, and the plan of the first engine that may be used.
// 4000 is CUDNN_STATUS_INTERNAL_ERROR, 3000 CUDNN_STATUS_NOT_SUPPORTED.
TEST_F(CudaFaults, ASearchForAPlanThatFailedWithinCudnnIsRepeated) {
  if (!::dlopen("libcudnn.so.9", RTLD_NOW)) GTEST_SKIP() << "the plugin is built without cuDNN";
  EXPECT_EQ(convolve(1000, "4000"), "3 by cuDNN, 1 kept");
  int n_of_graph = 0, n_of_engines = 0;
  for (int n = 1; n < 12; ++n) {
    SCOPED_TRACE(n);
    // What is not supported once is not asked for again, and what another engine does is kept.
    const std::string unsupported = convolve(n, "3000"), passing = convolve(n, "4000");
    if (unsupported == "0 by cuDNN, 0 kept") {
      ++n_of_graph;
      EXPECT_EQ(passing, "2 by cuDNN, 1 kept");
    } else if (passing == "3 by cuDNN, 0 kept") {
      ++n_of_engines;
      EXPECT_EQ(unsupported, "3 by cuDNN, 1 kept");
    } else {  // of the execution, behind the plan
      EXPECT_EQ(passing.find("conv2d: cudnnBackendFinalize: "), 0u) << passing;
    }
  }
  EXPECT_GE(n_of_graph, 4);
  EXPECT_GE(n_of_engines, 2);
}

TEST_F(CudaFaults, AnOpWithoutAKernelIsRefused) {
  const Outcome found = run({}, [] {
    tn::load_plugin(std::string(std::getenv("TENON_BUILD_DIR")) +
                    "/tests/face_plugins/libface_plugin.so");
    return error_of([] { tn::call("face_plugin.reversed", on("cuda:0")); });
  });
  expect_text(
      found,
      "face_plugin.reversed: cuda:0 has no kernel for this call, and the op has no decomposition");
}

}  // namespace
