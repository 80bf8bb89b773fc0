// Compiled functions in the child of a fork, while other threads of the parent replay or record.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "compile_support.h"
#include "in_a_fork.h"

namespace {

struct CompileFork : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

struct CompileForkBesideOthers : CompileFork {
  // The locks of clang 14's allocator are as they were in front of the fork, and the child waits for
  // ever for one that another thread held then.
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP()
        << "AddressSanitizer's allocator does not live through a fork beside other threads";
#endif
  }
  // Calls `work` on three threads while `body` runs.
  template <typename Work, typename Body>
  static void beside(const Work& work, const Body& body) {
    std::atomic<bool> ends = false;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        while (!ends) work();
      });
    }
    body();
    ends = true;
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(CompileForkBesideOthers, AFunctionThatOthersReplayIsCalledInTheChild) {
  auto f = tn::compile([](Tensor x) {
    for (int i = 0; i < 40; ++i) x = x * 2 - x;
    return x + 1;
  });
  const Tensor x = tn::ones({16});
  for (int i = 0; i < 3; ++i) f(x);
  beside([&] { f(x); },
         [&] {
           for (int i = 0; i < 10; ++i) {
             EXPECT_EQ(in_a_fork([&] {
                         double sum = 0;
                         for (int k = 0; k < 4; ++k) sum += f(x).sum().item<double>();
                         return std::to_string(sum);
                       }),
                       "128.000000");
             std::this_thread::sleep_for(std::chrono::milliseconds(2));
           }
         });
}

TEST_F(CompileForkBesideOthers, AFunctionIsMadeInTheChildWhileOthersRecord) {
  const Tensor x = tn::ones({16});
  const auto twice = [&] {
    auto f = tn::compile([](Tensor y) { return (y * 2).exp().log(); });
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += f(x).sum().item<double>();
    return std::to_string(sum) + (f.describe().find(" replays") != std::string::npos ? " r" : "");
  };
  beside([&] { twice(); },
         [&] {
           for (int i = 0; i < 10; ++i) {
             EXPECT_EQ(in_a_fork(twice), "128.000000 r");
             std::this_thread::sleep_for(std::chrono::milliseconds(2));
           }
         });
}

// Large blocks go through lists that all threads share.
TEST_F(CompileForkBesideOthers, MemoryIsTakenInTheChildWhileOthersTakeIt) {
  beside([] { tn::ones({400000}); },
         [] {
           for (int i = 0; i < 60; ++i) {
             EXPECT_EQ(
                 in_a_fork([] { return std::to_string(tn::ones({500000}).sum().item<double>()); }),
                 "500000.000000");
           }
         });
}

// The thread that forks may be in the middle of a recording of its own, which goes on in both.
TEST_F(CompileFork, ARecordingMayFork) {
  std::string found;
  auto f = tn::compile([&](Tensor x) {
    if (found.empty()) {
      found = in_a_fork([&] { return std::to_string((x * 3).sum().item<double>()); });
    }
    return x * 2;
  });
  for (int k = 0; k < 3; ++k) EXPECT_EQ(f(tn::ones({2})).sum().item<double>(), 4);
  EXPECT_EQ(found, "6.000000");
}

}  // namespace
