// The blobs of cache/1 on cpu: what finds them, what drops them, and that no kernel loses one while
// it runs.
#include <atomic>
#include <thread>
#include <vector>

#include "memory/cache.h"
#include "memory_support.h"

namespace tenon {
namespace {

struct Blobs : testing::Test {
  void SetUp() override {
    const int64_t sizes[] = {4, 2};
    ASSERT_OK(empty_tensor(sizes, TN_FLOAT32, kCpu, &tensor));
    destroyed = 0;
  }
  void TearDown() override { tensor->release(); }
  Status attach(uint64_t key, uint64_t bytes = 100) {
    return attach_blob(tensor, nullptr, key, &destroyed, bytes,
                       [](void* n) { ++*static_cast<int*>(n); });
  }
  void* find(uint64_t key) { return find_blob(tensor, nullptr, key); }
  Tensor* tensor = nullptr;
  int destroyed = 0;
};

TEST_F(Blobs, AreFoundByKeyAndView) {
  EXPECT_EQ(find(1), nullptr);
  EXPECT_OK(attach(1));
  EXPECT_EQ(find(1), &destroyed);
  EXPECT_EQ(find(2), nullptr);
  EXPECT_EQ(stats_of(kCpu).cached, 100u);
  tensor->storage->retain();
  const int64_t transposed[] = {2, 4}, strides[] = {1, 2};
  Tensor* view = make_tensor(tensor->storage, transposed, strides, 0, TN_FLOAT32);
  EXPECT_EQ(find_blob(view, nullptr, 1), nullptr);
  view->release();
}

TEST_F(Blobs, GoWithTheVersion) {
  EXPECT_OK(attach(1));
  tensor->bump_version();
  EXPECT_EQ(find(1), nullptr);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(stats_of(kCpu).cached, 0u);
}

TEST_F(Blobs, GoWithTheStorage) {
  EXPECT_OK(attach(1));
  EXPECT_OK(attach(2));
  tensor->release();
  EXPECT_EQ(destroyed, 2);
  SetUp();
}

TEST_F(Blobs, GoWhenMemoryIsWanted) {
  EXPECT_OK(empty_cache(kCpu));
  EXPECT_OK(attach(1, 4 * kMiB));
  EXPECT_OK(set_memory_limit(kCpu, stats_of(kCpu).reserved_bytes + 6 * kMiB));
  EXPECT_EQ(destroyed, 0);
  make(kCpu, 4 * kMiB)->release();
  EXPECT_EQ(destroyed, 1);
  EXPECT_OK(attach(2, 100 * kMiB));  // beyond the limit: not kept
  EXPECT_EQ(destroyed, 2);
  EXPECT_OK(set_memory_limit(kCpu, 0));
}

TEST_F(Blobs, AreKeptForTheCallThatFoundThem) {
  EXPECT_OK(attach(1));
  {
    const CallBlobs call;
    EXPECT_EQ(find(1), &destroyed);
    {
      const CallBlobs nested;
      EXPECT_EQ(find(1), &destroyed);
    }
    std::thread([] { EXPECT_EQ(drop_all_blobs(kCpu), 100u); }).join();
    EXPECT_EQ(find(1), nullptr);
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Blobs, AreNotKeptWhereChangesCannotBeCounted) {
  tensor->storage->no_cache = true;
  {
    const CallBlobs call;
    EXPECT_OK(attach(1));
    EXPECT_EQ(destroyed, 0);  // the kernel that packed it still uses it
  }
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(find(1), nullptr);
}

TEST_F(Blobs, SurviveThreadsThatFindAndDrop) {
  struct Packed {
    std::atomic<int> alive{1};
  };
  std::vector<std::thread> threads;
  std::atomic<int> made{0};
  static std::atomic<int> gone;
  gone = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const CallBlobs call;
        auto* packed = static_cast<Packed*>(find(1));
        if (packed == nullptr) {
          packed = new Packed;
          ++made;
          EXPECT_OK(attach_blob(tensor, nullptr, 1, packed, 8, [](void* blob) {
            static_cast<Packed*>(blob)->alive = 0;
            delete static_cast<Packed*>(blob);
            ++gone;
          }));
        }
        EXPECT_EQ(packed->alive, 1);
        if (i % 7 == t) drop_all_blobs(kCpu);
        if (i % 11 == t) tensor->bump_version();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  drop_blobs(tensor->storage);
  EXPECT_EQ(made, gone);
  EXPECT_EQ(stats_of(kCpu).cached, 0u);
}

}  // namespace
}  // namespace tenon
