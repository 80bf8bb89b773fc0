// Limits of a device's memory that are set when it holds more already, and a device that has no
// more itself.
#include <vector>

#include "memory/summary.h"
#include "plain_device.h"

namespace tenon {
namespace {

constexpr uint64_t kKiB = 1024;

struct Limit : Plain {
  void SetUp() override {
    static int number = 0;
    open("limited" + std::to_string(number++), 0);
  }
};

// What a segment that cannot go back has left serves, since nothing more is taken for it.
TEST_F(Limit, BelowWhatIsTakenLeavesWhatIsThereToUse) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  tn_storage* live = make(device, 4000);
  EXPECT_EQ(state.taken, 2 * kMiB);
  EXPECT_OK(set_memory_limit(device, kMiB));
  EXPECT_EQ(state.taken, 2 * kMiB) << "its segment is in use";
  for (int i = 0; i < 3; ++i) make(device, 78 * kKiB)->release();
  EXPECT_EQ(state.taken, 2 * kMiB);
  EXPECT_EQ(state.n_allocations, 1);
  // Live storages stay below the limit.
  std::vector<tn_storage*> all;
  for (int i = 0; i < 10; ++i) all.push_back(make(device, 100 * kKiB));
  tn_storage* none = nullptr;
  EXPECT_EQ(message(allocate_storage(device, nullptr, 100 * kKiB, &none)),
            "out of memory on " + device_text(device) +
                ": wanted 100.0 KiB; limit 1.0 MiB, in live tensors 1003.9 KiB, in the cache 1.0 "
                "MiB, of caches of weights 0 B");
  EXPECT_EQ(state.n_allocations, 1);
  for (tn_storage* s : all) s->release();
  live->release();
  // What is free goes back before anything is taken, so use ends below the limit.
  live = make(device, 4000);
  EXPECT_LE(state.taken, kMiB);
  live->release();
}

// Whole segments go back first, however small the request.
TEST_F(Limit, BelowWhatIsTakenGivesFreeSegmentsBackFirst) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  tn_storage *small = make(device, 4000), *large = make(device, 30 * kMiB);
  EXPECT_EQ(state.taken, 32 * kMiB);
  EXPECT_OK(set_memory_limit(device, 31 * kMiB));
  large->release();
  tn_storage* next = make(device, 4000);
  EXPECT_EQ(state.taken, 2 * kMiB);
  // And so what fits below the limit is there again.
  large = make(device, 28 * kMiB);
  EXPECT_LE(state.taken, 31 * kMiB);
  for (tn_storage* s : {small, large, next}) s->release();
}

// Blocks that small requests else leave whole.
TEST_F(Limit, ALargeBlockServesASmallRequestBeforeItIsRefused) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  tn_storage* large = make(device, 3 * kMiB);
  EXPECT_EQ(state.taken, 20 * kMiB);
  EXPECT_OK(set_memory_limit(device, 20 * kMiB));
  tn_storage* small = make(device, 4000);
  EXPECT_EQ(state.taken, 20 * kMiB);
  small->release();
  large->release();
  large = make(device, 20 * kMiB);  // it came together again
  EXPECT_EQ(state.n_allocations, 1);
  large->release();
}

TEST_F(Limit, IsNotBlamedWhereTheDeviceHasNoMore) {
  state.capacity = 3 * kMiB;
  EXPECT_OK(set_memory_limit(device, 100 * kMiB));
  tn_storage* live = make(device, 2 * kMiB);
  tn_storage* none = nullptr;
  EXPECT_EQ(message(allocate_storage(device, nullptr, 4 * kMiB, &none)),
            "out of memory on " + device_text(device) +
                ": wanted 4.0 MiB; the device has no more, in live tensors 2.0 MiB, in the cache 0 "
                "B, of caches of weights 0 B");
  EXPECT_EQ(message(allocate_storage(device, nullptr, 99 * kMiB, &none))
                .find("out of memory on " + device_text(device) +
                      ": wanted 99.0 MiB; limit 100.0 MiB, in live tensors 2.0 MiB"),
            0u);
  live->release();
}

}  // namespace
}  // namespace tenon
