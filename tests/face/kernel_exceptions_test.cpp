// What a body of call.parallel_for throws: it comes out of the loop on the thread that called, once all
// pieces have ended, and becomes an error of the call.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tenon/plugin.hpp>
#include <tenon/tenon.hpp>

namespace tenon {
namespace {

constexpr int64_t kSize = 1000;
std::atomic<int64_t> g_visited{0};

enum How : int64_t { kNothing, kFail, kRuntimeError, kBadAlloc, kInt };

void throw_it(int64_t how) {
  if (how == kFail) fail("pieces: 3 of them are none", TN_UNSUPPORTED);
  if (how == kRuntimeError) throw std::runtime_error("no piece today");
  if (how == kBadAlloc) throw std::bad_alloc();
  if (how == kInt) throw 42;
}

// Throws in the piece that has element `at`; -1: in each.
void visit(int64_t begin, int64_t end, int64_t how, int64_t at) {
  g_visited += end - begin;
  if (at < 0 || (begin <= at && at < end)) throw_it(how);
}

class KernelExceptions : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    load_plugins();
    add_plugin("throwing", [] {
      using namespace plugin;
      op("pieces(Tensor x, int how, int at) -> Tensor").infer([](Tensor x, int64_t, int64_t) {
        return Meta(x);
      });
      kernel("throwing.pieces", cpu, {}, [](const Call& call) {
        const auto how = call.arg<int64_t>(1), at = call.arg<int64_t>(2);
        float* const out = call.output_data<float>();
        call.parallel_for(0, kSize, 1, [=](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) out[i] = float(i);
          visit(begin, end, how, at);
        });
      });
    });
  }

  static Tensor pieces(int64_t how, int64_t at) {
    return call("throwing.pieces", zeros({kSize}), how, at);
  }
  // The code and the text of the Error that the call throws.
  static std::string error_of(int64_t how, int64_t at) {
    try {
      pieces(how, at);
    } catch (const Error& e) {
      return std::to_string(e.code()) + " " + e.what();
    }
    return "no Error";
  }
};

TEST_F(KernelExceptions, BecomeErrorsOfTheCall) {
  for (const int64_t at : {int64_t{0}, kSize / 2, kSize - 1, int64_t{-1}}) {
    g_visited = 0;
    const std::string failed = error_of(kFail, at);
    EXPECT_EQ(g_visited, kSize) << "the other pieces run to their ends";
    EXPECT_EQ(failed.find(std::to_string(TN_UNSUPPORTED) + " throwing.pieces: 3 of them are none"),
              0u)
        << failed;
    const std::string memory = error_of(kBadAlloc, at);
    EXPECT_EQ(memory.find(std::to_string(TN_OUT_OF_MEMORY)), 0u) << memory;
    EXPECT_NE(memory.find("host memory is exhausted"), std::string::npos) << memory;
    // Exceptions of the program's own come out as themselves.
    EXPECT_THROW(pieces(kRuntimeError, at), std::runtime_error);
    EXPECT_THROW(pieces(kInt, at), int);
    EXPECT_EQ(pieces(kNothing, at)[kSize - 1].item<float>(), kSize - 1);
  }
}

TEST_F(KernelExceptions, ComeToTheThreadThatCalled) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        try {
          pieces(i % 2 == 0 ? kRuntimeError : kInt, -1);
        } catch (const std::runtime_error&) {
          right += i % 2 == 0;
        } catch (int) {
          right += i % 2;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

// The loop of backends in C++, over a host that has a thread for each piece.
TEST(ParallelFor, ThrowsTheFirstExceptionAgainBehindTheLoop) {
  tn_host host{};
  host.parallel_for = [](int64_t begin, int64_t end, int64_t, tn_range_fn fn, void* context) {
    std::vector<std::thread> threads;
    for (int64_t i = begin; i < end; ++i) threads.emplace_back([=] { fn(context, i, i + 1); });
    for (std::thread& thread : threads) thread.join();
  };
  std::array<int, 8> visited{};
  const auto run = [&](bool throws) {
    backend::parallel_for(&host, 0, 8, 1, [&](int64_t begin, int64_t) {
      ++visited[size_t(begin)];
      if (throws) throw std::runtime_error("piece " + std::to_string(begin));
    });
  };
  for (int repeat = 0; repeat < 50; ++repeat) {
    visited = {};
    try {
      run(true);
      FAIL() << "no exception";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(std::string(e.what()).find("piece "), 0u);
    }
    EXPECT_EQ(visited, (std::array<int, 8>{1, 1, 1, 1, 1, 1, 1, 1}));
  }
  run(false);
  EXPECT_EQ(visited[7], 2);
}

// A backend's guard turns what is no std::exception into a status, too.
TEST(Guarded, TakesWhatIsNoException) {
  tn_status* const status =
      backend::guarded(host(), "acme:0", "mul", []() -> tn_status* { throw 7; });
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(host()->status_code(status), TN_INTERNAL);
  EXPECT_STREQ(host()->status_message(status),
               "mul: an exception that is no std::exception (acme:0)");
  host()->status_free(status);
}

}  // namespace
}  // namespace tenon
