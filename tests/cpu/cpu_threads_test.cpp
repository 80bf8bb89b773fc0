// When the cpu plugin stops waiting for other threads, and what becomes of its threads in a fork.
#include <algorithm>
#include <cstdint>

#include "backends/cpu/patience.h"

#include <gtest/gtest.h>

namespace cpu = tenon::cpu_backend;

namespace {

// The rule gets its clock from here, in nanoseconds: a busy machine changes nothing.
struct Calls {
  cpu::Patience patience;
  int64_t now = 1'000'000'000'000;

  // A call whose caller's share took 20 us. Gives whether it ran on one thread.
  bool alone(int64_t waited) {
    now += 20'000;
    if (patience.is_lost(now)) {
      return true;
    }
    now += waited;
    patience.note(now, 20'000, waited);
    return false;
  }
};
constexpr int64_t kLate = cpu::Patience::kTolerated + 20'000;

TEST(CpuPatience, ToleratesOneLateThread) {
  Calls calls;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(calls.alone(kLate)) << i;
    EXPECT_FALSE(calls.alone(0)) << i;
    calls.now += cpu::Patience::kRecent;
  }
}

TEST(CpuPatience, ToleratesWaitsThatAreShortBesidesTheWork) {
  Calls calls;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(calls.alone(kLate - 1)) << i;
  }
}

TEST(CpuPatience, TwoLateThreadsInAShortTimeSendCallsToOneThreadForAWhile) {
  Calls calls;
  EXPECT_FALSE(calls.alone(kLate));
  EXPECT_FALSE(calls.alone(kLate));
  const int64_t seen = calls.now;
  EXPECT_TRUE(calls.alone(0));
  calls.now = seen + cpu::Patience::kFirstPause - 20'001;
  EXPECT_TRUE(calls.alone(0));
  EXPECT_FALSE(calls.alone(0));
}

TEST(CpuPatience, WaitsLongerEachTimeAndForgetsWhenAllAreInTime) {
  Calls calls;
  calls.alone(kLate);
  calls.alone(kLate);
  int64_t pause = cpu::Patience::kFirstPause;
  for (int i = 0; i < 8; ++i) {
    const int64_t seen = calls.now;
    calls.now = seen + pause - 20'001;
    EXPECT_TRUE(calls.alone(0)) << i;
    pause = std::min(2 * pause, cpu::Patience::kLongestPause);
    EXPECT_FALSE(calls.alone(kLate)) << i;  // late again, straight after the pause
  }
  calls.now += pause;
  EXPECT_FALSE(calls.alone(0));  // in time
  EXPECT_FALSE(calls.alone(kLate));
  EXPECT_FALSE(calls.alone(kLate));
  const int64_t seen = calls.now;
  calls.now = seen + cpu::Patience::kFirstPause - 20'000;
  EXPECT_FALSE(calls.alone(0));
}

}  // namespace
