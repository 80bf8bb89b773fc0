// Memory without streams: host memory, a stranger's plain device, limits.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "memory/summary.h"
#include "memory/transfer.h"
#include "plain_device.h"

namespace tenon {
namespace {

// ---- Host memory

TEST(CpuMemory, IsAlignedAndWholeForEverySize) {
  std::vector<tn_storage*> storages;
  for (uint64_t bytes :
       {0, 1, 31, 32, 64, 65, 512, 513, 640, 641, 4096, 5000, 1 << 20, (1 << 20) + 1}) {
    tn_storage* s = make(kCpu, bytes);
    EXPECT_EQ(s->bytes, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(s->memory) % 64, 0u);
    if (bytes > 0) std::memset(s->memory, static_cast<int>(storages.size()), bytes);
    storages.push_back(s);
  }
  for (size_t i = 0; i < storages.size(); ++i) {
    const char* bytes = static_cast<char*>(storages[i]->memory);
    for (uint64_t b = 0; b < storages[i]->bytes; ++b) ASSERT_EQ(bytes[b], static_cast<char>(i));
    storages[i]->release();
  }
}

TEST(CpuMemory, GivesAFreedBlockAgain) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  for (uint64_t bytes : {uint64_t{32}, uint64_t{5000}, 3 * kMiB}) {
    tn_storage* s = make(kCpu, bytes);
    const void* memory = s->memory;
    s->release();
    s = make(kCpu, bytes);
    EXPECT_EQ(s->memory, memory);
    s->release();
  }
}

TEST(CpuMemory, GivesALargeBlockToASlightlySmallerRequestOnly) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  EXPECT_OK(empty_cache(kCpu));
  make(kCpu, 10 * kMiB)->release();
  const uint64_t taken = stats_of(kCpu).n_device_allocations;
  make(kCpu, 9 * kMiB)->release();
  EXPECT_EQ(stats_of(kCpu).n_device_allocations, taken);
  make(kCpu, 5 * kMiB)->release();
  EXPECT_EQ(stats_of(kCpu).n_device_allocations, taken + 1);
}

TEST(CpuMemory, CountsExactly) {
  const tn_memory_stats before = stats_of(kCpu);
  std::vector<tn_storage*> storages;
  for (uint64_t i = 0; i < 1000; ++i) storages.push_back(make(kCpu, 32));
  storages.push_back(make(kCpu, 7 * kMiB));
  tn_memory_stats now = stats_of(kCpu);
  EXPECT_EQ(now.allocated - before.allocated, 32000 + 7 * kMiB);
  EXPECT_EQ(now.n_allocations - before.n_allocations, 1001u);
  EXPECT_GE(now.reserved_bytes, now.allocated);
  for (tn_storage* s : storages) s->release();
  now = stats_of(kCpu);
  EXPECT_EQ(now.allocated, before.allocated);
  EXPECT_GE(now.peak_allocated, before.allocated + 32000 + 7 * kMiB);
}

TEST(CpuMemory, CountsExactlyOverThreads) {
  const tn_memory_stats before = stats_of(kCpu);
  std::mutex mutex;
  std::vector<tn_storage*> kept;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        tn_storage* s = make(kCpu, 1 + (i * 37 + t) % 3000);
        std::memset(s->memory, t, s->bytes);
        const std::lock_guard lock(mutex);
        if (i % 3 == 0) {
          kept.push_back(s);  // freed by whoever comes by
        } else if (!kept.empty() && i % 3 == 1) {
          kept.back()->release();
          kept.pop_back();
          s->release();
        } else {
          s->release();
        }
        if (i % 1000 == 0) {
          EXPECT_OK(empty_cache(kCpu));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t live = 0;
  for (tn_storage* s : kept) live += s->bytes;
  EXPECT_EQ(stats_of(kCpu).allocated - before.allocated, live);
  EXPECT_EQ(stats_of(kCpu).n_allocations - before.n_allocations, 20000u);
  for (tn_storage* s : kept) s->release();
  EXPECT_EQ(stats_of(kCpu).allocated, before.allocated);
}

TEST(CpuMemory, EmptyCacheGivesEverythingBack) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  const uint64_t live = stats_of(kCpu).allocated;
  EXPECT_OK(empty_cache(kCpu));
  const uint64_t before = stats_of(kCpu).reserved_bytes;
  std::vector<tn_storage*> storages;
  for (int i = 0; i < 9000; ++i) storages.push_back(make(kCpu, 8 + i));
  for (tn_storage* s : storages) s->release();
  EXPECT_GT(stats_of(kCpu).reserved_bytes, before);
  EXPECT_OK(empty_cache(kCpu));
  EXPECT_EQ(stats_of(kCpu).reserved_bytes, before);
  EXPECT_EQ(stats_of(kCpu).allocated, live);
}

TEST(CpuMemory, ObeysALimitAndGoesOn) {
  EXPECT_OK(empty_cache(kCpu));
  const uint64_t before = stats_of(kCpu).reserved_bytes;
  EXPECT_OK(set_memory_limit(kCpu, before + 8 * kMiB));
  tn_storage* first = make(kCpu, 5 * kMiB);
  tn_storage* second = nullptr;
  StatusHolder failed(allocate_storage(kCpu, nullptr, 4 * kMiB, &second));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed.get()->code, TN_OUT_OF_MEMORY);
  EXPECT_EQ(failed.get()->message.find("out of memory on cpu: wanted 4.0 MiB; limit 8."), 0u)
      << failed.get()->message;
  EXPECT_LE(stats_of(kCpu).reserved_bytes, before + 8 * kMiB);
  first->release();
  // The cached 5 MiB make room for something that does not fit them.
  second = make(kCpu, 7 * kMiB);
  std::memset(second->memory, 1, second->bytes);
  second->release();
  for (int i = 0; i < 100; ++i) make(kCpu, 100000)->release();
  EXPECT_LE(stats_of(kCpu).reserved_bytes, before + 8 * kMiB);
  EXPECT_EQ(stats_of(kCpu).limit, before + 8 * kMiB);
  EXPECT_OK(set_memory_limit(kCpu, 0));
}

TEST(CpuMemory, RefusesAbsurdSizes) {
  for (const uint64_t bytes : {UINT64_MAX, UINT64_MAX - 63, uint64_t{1} << 63, uint64_t{1} << 50}) {
    tn_storage* storage = nullptr;
    StatusHolder failed(allocate_storage(kCpu, nullptr, bytes, &storage));
    ASSERT_TRUE(failed) << bytes;
    EXPECT_EQ(failed.get()->code, TN_OUT_OF_MEMORY);
  }
  tn_storage* storage = nullptr;
  const std::string text = message(allocate_storage(kCpu, nullptr, uint64_t{1} << 50, &storage));
  EXPECT_EQ(
      text.find("out of memory on cpu: wanted 1.0 PiB; no limit of the cache, in live tensors "),
      0u)
      << text;
}

TEST(CpuMemory, MakesTensors) {
  const int64_t sizes[] = {2, 3};
  Tensor* t = nullptr;
  ASSERT_OK(empty_tensor(sizes, TN_FLOAT64, kCpu, &t));
  EXPECT_EQ(t->numel, 6);
  EXPECT_EQ(t->storage->bytes, 48u);
  EXPECT_NE(t->data, nullptr);
  EXPECT_TRUE(t->is_contiguous());
  t->release();
  const int64_t none[] = {3, 0};
  ASSERT_OK(empty_tensor(none, TN_FLOAT32, kCpu, &t));
  EXPECT_EQ(t->data, nullptr);
  t->release();
}

TEST(CpuMemory, AdoptsMemoryAndGivesItBack) {
  float values[4] = {};
  int released = 0;
  const tn_memory_stats before = stats_of(kCpu);
  tn_storage* s = adopt_host_memory(
      values, sizeof(values), [](void* n) { ++*static_cast<int*>(n); }, &released);
  EXPECT_EQ(s->memory, values);
  EXPECT_EQ(stats_of(kCpu).allocated, before.allocated);
  s->release();
  EXPECT_EQ(released, 1);
}

TEST(MetaMemory, HasShapesOnly) {
  const int64_t sizes[] = {1 << 20, 1 << 20};
  Tensor* t = nullptr;
  ASSERT_OK(empty_tensor(sizes, TN_FLOAT32, kMeta, &t));
  EXPECT_EQ(t->data, nullptr);
  EXPECT_EQ(stats_of(kMeta).allocated, 0u);
  EXPECT_EQ(message(read_bytes(nullptr, t->storage, 0, 4)), "read_bytes: meta has no values");
  EXPECT_EQ(message(set_memory_limit(kMeta, 1)), "meta has no memory to limit");
  EXPECT_OK(empty_cache(kMeta));
  t->release();
}

TEST(MemoryStats, NeedsASizeAndWritesNoMore) {
  tn_memory_stats stats{};
  EXPECT_EQ(message(memory_stats(kCpu, &stats)), "memory_stats: size is 0, expected 64");
  stats.size = offsetof(tn_memory_stats, reserved_bytes);
  stats.reserved_bytes = 77;
  EXPECT_OK(memory_stats(kCpu, &stats));
  EXPECT_EQ(stats.reserved_bytes, 77u);
  EXPECT_EQ(message(memory_stats({99, 0}, &stats)).find("there is no device type 99"), 0u);
}

// ---- A plain device

TEST_F(Plain, SaysWhatFillsItWhenMemoryEnds) {
  EXPECT_OK(set_memory_limit(device, kMiB));
  tn_storage* first = make(device, 900 * 1024);
  tn_storage* second = nullptr;
  EXPECT_EQ(message(allocate_storage(device, nullptr, 4 * kMiB, &second)),
            "out of memory on " + device_text(device) +
                ": wanted 4.0 MiB; limit 1.0 MiB, in live tensors 900.0 KiB, in the cache 0 B, of "
                "caches of weights 0 B");
  first->release();
  second = make(device, 1000 * 1024);  // a retry works
  EXPECT_LE(state.taken, kMiB);
  second->release();
  EXPECT_OK(set_memory_limit(device, 0));
}

// A backend that knows why there is none says so as the cause.
TEST_F(Plain, NamesWhatTheBackendSaidWhenMemoryEnds) {
  state.code = TN_OUT_OF_MEMORY;
  state.failure = "bank 3 of 4 is full";
  tn_storage* storage = nullptr;
  const std::string said = message(allocate_storage(device, nullptr, kMiB, &storage));
  EXPECT_EQ(said.find("out of memory on " + device_text(device) + ": wanted 1.0 MiB; no limit"), 0u)
      << said;
  EXPECT_NE(said.find("\n  because bank 3 of 4 is full"), std::string::npos) << said;
  // What was said before has nothing to do with a limit.
  EXPECT_OK(set_memory_limit(device, 1024));
  EXPECT_EQ(message(allocate_storage(device, nullptr, kMiB, &storage)).find("because"),
            std::string::npos);
  EXPECT_OK(set_memory_limit(device, 0));
  state.failure = nullptr;
  make(device, kMiB)->release();
}

TEST_F(Plain, CountsThePeakFromItsReset) {
  for (const tn_device d : {kCpu, device}) {
    SCOPED_TRACE(d.type);
    make(d, 9 * kMiB)->release();
    tn_storage* const kept = make(d, 2 * kMiB);
    const uint64_t live = stats_of(d).allocated;
    EXPECT_GE(stats_of(d).peak_allocated, live + 7 * kMiB);
    EXPECT_OK(reset_peak_memory(d));
    EXPECT_EQ(stats_of(d).peak_allocated, live);
    make(d, 3 * kMiB)->release();
    EXPECT_EQ(stats_of(d).peak_allocated, live + 3 * kMiB);
    kept->release();
    EXPECT_EQ(stats_of(d).peak_allocated, live + 3 * kMiB);
    EXPECT_OK(reset_peak_memory(d));
    EXPECT_EQ(stats_of(d).peak_allocated, live - 2 * kMiB);
  }
  EXPECT_OK(reset_peak_memory({TN_DEVICE_META, 0}));
}

TEST_F(Plain, EmptiesItsCacheBeforeItFails) {
  state.capacity = 8 * kMiB;
  make(device, 5 * kMiB)->release();
  tn_storage* s = make(device, 7 * kMiB);  // 5 + 7 do not fit
  EXPECT_EQ(stats_of(device).allocated, 7 * kMiB);
  tn_storage* other = nullptr;
  StatusHolder failed(allocate_storage(device, nullptr, 2 * kMiB, &other));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed.get()->code, TN_OUT_OF_MEMORY);
  s->release();
}

TEST_F(Plain, PassesOnWhatTheBackendSays) {
  state.failure = "the bus is on fire";
  tn_storage* s = nullptr;
  StatusHolder failed(allocate_storage(device, nullptr, 16, &s));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed.get()->code, TN_FAILED_PRECONDITION);
  EXPECT_STREQ(status_text(failed.get()), "the bus is on fire");
  state.failure = nullptr;
  make(device, 16)->release();
}

// An error that refuses nothing is the device's own, and its last.
TEST_F(Plain, IsLostByAnErrorThatRefusesNothing) {
  tn_storage* held = make(device, 3 * kMiB);
  state.failure = "the bus is on fire";
  state.code = TN_INTERNAL;
  tn_storage* s = nullptr;
  for (int i = 0; i < 2; ++i) {
    StatusHolder failed(allocate_storage(device, nullptr, 25 * kMiB, &s));
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed.get()->code, TN_DEVICE_LOST);
    EXPECT_EQ(
        std::string(status_text(failed.get())).find(device_text(device) + " is lost: allocate"),
        0u);
    EXPECT_NE(std::string(status_text(failed.get())).find("the bus is on fire"), std::string::npos);
    state.failure = nullptr;
  }
  held->release();
  EXPECT_OK(empty_cache(device));
  EXPECT_TRUE(state.blocks.empty());
}

TEST_F(Plain, RefusesAbsurdSizes) {
  for (const uint64_t bytes :
       {UINT64_MAX, UINT64_MAX - 100, uint64_t{1} << 62, uint64_t{1} << 50}) {
    tn_storage* s = nullptr;
    StatusHolder failed(allocate_storage(device, nullptr, bytes, &s));
    ASSERT_TRUE(failed) << bytes;
    EXPECT_EQ(failed.get()->code, TN_OUT_OF_MEMORY);
  }
}

TEST_F(Plain, CutsSmallBlocksOutOfOneSegmentAndJoinsThem) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  std::vector<tn_storage*> storages;
  std::set<void*> addresses;
  for (int i = 0; i < 2000; ++i) {
    storages.push_back(make(device, 1000));
    addresses.insert(storages.back()->memory);
  }
  EXPECT_EQ(addresses.size(), 2000u);
  EXPECT_EQ(state.n_allocations, 1);
  EXPECT_EQ(state.taken, 2 * kMiB);
  // In an order that leaves gaps first.
  for (size_t i = 0; i < storages.size(); i += 2) storages[i]->release();
  for (size_t i = 1; i < storages.size(); i += 2) storages[i]->release();
  for (int i = 0; i < 4; ++i) storages[i] = make(device, 512 * 1024);
  EXPECT_EQ(state.n_allocations, 1);
  for (int i = 0; i < 4; ++i) storages[i]->release();
  EXPECT_OK(empty_cache(device));
  EXPECT_EQ(state.taken, 0u);
}

// Devices map whole pages of 2 MiB: what a request leaves of one serves the next.
TEST_F(Plain, CutsMiddlingBlocksOutOfOneSegmentAndTakesWholePages) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  std::vector<tn_storage*> storages;
  for (int i = 0; i < 6; ++i) storages.push_back(make(device, 3 * kMiB));
  EXPECT_EQ(state.n_allocations, 1);
  EXPECT_EQ(state.taken, 20 * kMiB);
  storages.push_back(make(device, 11 * kMiB + 1000));
  EXPECT_EQ(state.taken, 32 * kMiB);
  storages.push_back(make(device, 11 * kMiB + 1000));
  EXPECT_EQ(state.taken, 44 * kMiB);
  for (tn_storage* s : storages) s->release();
  EXPECT_OK(empty_cache(device));
  EXPECT_EQ(state.taken, 0u);
  // Near a limit a request takes what it needs.
  EXPECT_OK(set_memory_limit(device, 100 * kMiB));
  make(device, 3 * kMiB)->release();
  EXPECT_EQ(state.taken, 3 * kMiB);
  EXPECT_OK(set_memory_limit(device, 0));
}

TEST_F(Plain, SplitsLargeBlocks) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  make(device, 64 * kMiB)->release();
  tn_storage* a = make(device, 16 * kMiB);
  tn_storage* b = make(device, 40 * kMiB);
  EXPECT_EQ(state.n_allocations, 1);
  EXPECT_OK(empty_cache(device));  // nothing: the segment is in use
  EXPECT_EQ(state.taken, 64 * kMiB);
  a->release();
  b->release();
  make(device, 64 * kMiB)->release();
  EXPECT_EQ(state.n_allocations, 1);
}

TEST_F(Plain, NeverSplitsMemoryWithoutAddress) {
  state.taken = 0;
  open("handles", TN_DEVICE_NO_ADDRESS);
  make(device, 64 * kMiB)->release();
  tn_storage* a = make(device, 16 * kMiB);
  tn_storage* b = make(device, 100);
  tn_storage* c = make(device, 100);
  {
    const std::lock_guard lock(state.mutex);
    for (tn_storage* s : {a, b, c}) EXPECT_EQ(state.blocks.count(s->memory), 1u);
  }
  const int64_t sizes[] = {4};
  Tensor* t = nullptr;
  ASSERT_OK(empty_tensor(sizes, TN_FLOAT32, device, &t));
  EXPECT_EQ(t->data, nullptr);
  t->release();
  for (tn_storage* s : {a, b, c}) s->release();
}

TEST_F(Plain, GivesNothingFromTheCacheBeyondANewLimit) {
  make(device, 10 * kMiB)->release();
  EXPECT_OK(set_memory_limit(device, kMiB));
  EXPECT_EQ(state.taken, 0u);
  tn_storage* s = nullptr;
  StatusHolder failed(allocate_storage(device, nullptr, 10 * kMiB, &s));
  EXPECT_TRUE(failed);
}

TEST_F(Plain, CopiesToAndFromTheHost) {
  tn_storage* a = make(device, 64);
  tn_storage* b = make(device, 64);
  const std::vector<float> values = {1, 2, 3, 4};
  EXPECT_OK(write_bytes(a, 16, values.data(), 16));
  EXPECT_OK(copy_bytes(b, 32, a, 16, 16));
  tn_storage* host = make(kCpu, 16);
  EXPECT_OK(copy_bytes(host, 0, b, 32, 16));
  EXPECT_EQ(std::memcmp(host->memory, values.data(), 16), 0);
  EXPECT_EQ(
      message(copy_bytes(b, 60, a, 0, 8)),
      "copy_bytes: dst: bytes 60 to 68 are outside of a storage of 64 on " + device_text(device));
  EXPECT_NE(message(read_bytes(host->memory, a, UINT64_MAX, 8)), "");
  EXPECT_EQ(message(copy_bytes(a, 0, a, 8, 16)),
            "copy_bytes: 16 bytes at 8 and at 0 of one storage overlap");
  for (tn_storage* s : {a, b, host}) s->release();
}

}  // namespace
}  // namespace tenon
