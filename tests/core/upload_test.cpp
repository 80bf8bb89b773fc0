// Uploads through pinned memory (core/memory/pinned_pool.h) on the slow device: nobody waits, and
// nobody's memory is needed after the call.
#include <set>

#include "lazy_device.h"
#include "memory/deferred.h"
#include "memory/pinned_pool.h"
#include "memory/transfer.h"

namespace tenon {
namespace {

struct Upload : StreamTest {
  int synchronized() {
    const Guard guard(state.mutex);
    return state.n_synchronized;
  }
  uint64_t pinned_bytes() {
    const Guard guard(state.mutex);
    uint64_t bytes = 0;
    for (const auto& [memory, size] : state.pinned) bytes += size;
    return bytes;
  }
  tn_storage* allocate(uint64_t bytes) {
    tn_storage* storage = nullptr;
    EXPECT_OK(allocate_storage(device, main, bytes, &storage));
    return storage;
  }
  void TearDown() override {
    StreamTest::TearDown();
    EXPECT_TRUE(state.pinned.empty());
  }
};

TEST_F(Upload, DoesNotWaitAndItsSourceMayChangeAtOnce) {
  tn_storage *a = make(main), *b = make(main), *host = nullptr;
  ASSERT_OK(allocate_storage(kCpu, nullptr, 8, &host));
  int64_t value = 41;
  EXPECT_OK(write_bytes(a, 0, &value, 8));
  value = 0;
  *static_cast<int64_t*>(host->memory) = 42;
  EXPECT_OK(copy_bytes(b, 0, host, 0, 8));
  *static_cast<int64_t*>(host->memory) = 0;
  host->release();
  EXPECT_EQ(synchronized(), 0);
  EXPECT_EQ(*static_cast<int64_t*>(a->memory), 0) << "the stream is not so far";
  EXPECT_OK(read_bytes(&value, a, 0, 8));
  EXPECT_EQ(value, 41);
  EXPECT_OK(read_bytes(&value, b, 0, 8));
  EXPECT_EQ(value, 42);
  a->release();
  b->release();
}

TEST_F(Upload, OfEachKeepsItsOwnValues) {
  constexpr int64_t kMany = 300;
  tn_storage* all = allocate(kMany * 8);
  for (int64_t i = 0; i < kMany; ++i) {
    const int64_t value = i * i;
    EXPECT_OK(write_bytes(all, static_cast<uint64_t>(i) * 8, &value, 8));
    if (i % 7 == 0) run(main);  // some pinned memory comes again
  }
  EXPECT_EQ(synchronized(), 0);
  std::vector<int64_t> values(kMany);
  EXPECT_OK(read_bytes(values.data(), all, 0, kMany * 8));
  for (int64_t i = 0; i < kMany; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], i * i);
  all->release();
}

TEST_F(Upload, TakesItsPinnedMemoryAgainWhenTheStreamHasPassed) {
  tn_storage* s = make(main);
  const int64_t value = 1;
  for (int i = 0; i < 10; ++i) {
    EXPECT_OK(write_bytes(s, 0, &value, 8));
    run(main);
  }
  const uint64_t one = pinned_bytes();
  EXPECT_EQ(one, 4096u);
  EXPECT_OK(write_bytes(s, 0, &value, 8));
  EXPECT_OK(write_bytes(s, 0, &value, 8));  // the first is under way
  EXPECT_EQ(pinned_bytes(), 2 * one);
  EXPECT_EQ(synchronized(), 0);
  s->release();
}

TEST_F(Upload, GivesItsPinnedMemoryBackWhereAnEventTellsOfAnEarlierError) {
  tn_storage* s = make(main);
  const int64_t value = 1;
  EXPECT_OK(write_bytes(s, 0, &value, 8));
  run(main);
  state.late_errors = 1;
  pinned_pool_of(device).release();
  EXPECT_EQ(state.late_errors, 0);
  EXPECT_EQ(pinned_bytes(), 0u);
  s->release();
}

TEST_F(Upload, IsBehindTheWorkOfOtherStreams) {
  tn_storage* s = make(main);
  int64_t before = 0, after = 0;
  write(s, main, 1);
  read(s, side, &before);
  const int64_t value = 2;
  EXPECT_OK(write_bytes(s, 0, &value, 8));
  read(s, side, &after);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 2);
  s->release();
}

TEST_F(Upload, WaitsWhenItIsLargeOrThereIsNoPinnedMemory) {
  const std::vector<char> bytes(PinnedPool::kLargest + 1, 'x');
  tn_storage* s = allocate(bytes.size());
  EXPECT_OK(write_bytes(s, 0, bytes.data(), bytes.size()));
  EXPECT_EQ(synchronized(), 1);
  EXPECT_OK(write_bytes(s, 0, bytes.data(), PinnedPool::kLargest));
  EXPECT_EQ(synchronized(), 1);
  state.no_pinned = true;
  const int64_t value = 7;
  EXPECT_OK(write_bytes(s, 8, &value, 8));
  EXPECT_EQ(synchronized(), 2);
  EXPECT_EQ(static_cast<int64_t*>(s->memory)[1], 7);
  state.no_pinned = false;
  s->release();

  tn_device_def without = lazy_def("unpinned", &state);
  without.allocate_host = nullptr;
  without.free_host = nullptr;
  tn_device plain{0, 0};
  ASSERT_OK(register_device(without, "test", &plain.type));
  ASSERT_OK(allocate_storage(plain, nullptr, 8, &s));
  EXPECT_OK(write_bytes(s, 0, &value, 8));
  EXPECT_EQ(synchronized(), 3);
  EXPECT_EQ(*static_cast<int64_t*>(s->memory), 7);
  s->release();
  EXPECT_OK(empty_cache(plain));
}

TEST_F(Upload, WaitsWhereTooMuchIsUnderWay) {
  const std::vector<char> bytes(PinnedPool::kLargest, 'x');
  tn_storage* s = allocate(bytes.size());
  for (uint64_t i = 0; i < PinnedPool::kMost / PinnedPool::kLargest; ++i) {
    EXPECT_OK(write_bytes(s, 0, bytes.data(), bytes.size()));
  }
  EXPECT_EQ(synchronized(), 0);
  EXPECT_EQ(pinned_bytes(), PinnedPool::kMost);
  EXPECT_OK(write_bytes(s, 0, bytes.data(), bytes.size()));
  EXPECT_EQ(synchronized(), 1);
  EXPECT_OK(write_bytes(s, 0, bytes.data(), bytes.size()));
  EXPECT_EQ(synchronized(), 1);
  EXPECT_EQ(pinned_bytes(), PinnedPool::kMost);
  s->release();
}

TEST_F(Upload, NeedsBothSlotsOfPinnedMemory) {
  tn_device_def def = lazy_def("halfpinned", &state);
  def.free_host = nullptr;
  EXPECT_EQ(message(check_device_def(def)),
            "device 'halfpinned': allocate_host is given but free_host is not; the slots of pinned "
            "memory come all or none");
}

// ---- Pinned tensors

struct Pinned : Upload {
  Tensor* pinned(int64_t value) {
    const int64_t sizes[] = {1};
    Tensor* t = nullptr;
    EXPECT_OK(empty_pinned(sizes, TN_INT64, device, &t));
    *static_cast<int64_t*>(t->storage->memory) = value;
    return t;
  }
  void TearDown() override {
    non_blocking_copies = false;
    Upload::TearDown();
  }
};

TEST_F(Pinned, CopiesBothWaysAreNotWaitedFor) {
  const TensorRef from(pinned(7)), to(pinned(0));
  tn_storage* there = make(main);
  non_blocking_copies = true;
  EXPECT_OK(copy_bytes(there, 0, from->storage, 0, 8));
  EXPECT_OK(copy_bytes(to->storage, 0, there, 0, 8));
  EXPECT_EQ(synchronized(), 0);
  EXPECT_EQ(*static_cast<int64_t*>(to->storage->memory), 0) << "the stream is not so far";
  EXPECT_OK(synchronize_stream(main));
  EXPECT_EQ(*static_cast<int64_t*>(to->storage->memory), 7);
  there->release();
}

TEST_F(Pinned, ACopyKeepsTheMemoryOfBothSides) {
  TensorRef from(pinned(8));
  tn_storage* there = make(main);
  void* const memory = from->storage->memory;
  non_blocking_copies = true;
  EXPECT_OK(copy_bytes(there, 0, from->storage, 0, 8));
  from = TensorRef();
  const TensorRef next(pinned(9));
  EXPECT_NE(next->storage->memory, memory);
  int64_t value = 0;
  EXPECT_OK(read_bytes(&value, there, 0, 8));  // which waits
  EXPECT_EQ(value, 8);
  deferred_queue(device).poll();
  const TensorRef again(pinned(10));
  EXPECT_EQ(again->storage->memory, memory);
  there->release();
}

TEST_F(Pinned, IsBehindTheWorkOfOtherStreams) {
  const TensorRef to(pinned(0)), from(pinned(12));
  tn_storage* there = make(main);
  write(there, side, 11);
  non_blocking_copies = true;
  EXPECT_OK(copy_bytes(to->storage, 0, there, 0, 8));
  int64_t seen = 0;
  EXPECT_OK(copy_bytes(there, 0, from->storage, 0, 8));
  read(there, side, &seen);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(*static_cast<int64_t*>(to->storage->memory), 11);
  EXPECT_EQ(seen, 12);
  there->release();
}

TEST_F(Pinned, OtherCopiesAreWaitedFor) {
  const TensorRef to(pinned(0));
  tn_storage *there = make(main), *host = nullptr;
  ASSERT_OK(allocate_storage(kCpu, nullptr, 8, &host));
  write(there, main, 13);
  EXPECT_OK(copy_bytes(to->storage, 0, there, 0, 8));  // nobody said that it need not be
  EXPECT_EQ(*static_cast<int64_t*>(to->storage->memory), 13);
  non_blocking_copies = true;
  EXPECT_OK(copy_bytes(host, 0, there, 0, 8));  // not pinned
  EXPECT_EQ(*static_cast<int64_t*>(host->memory), 13);
  host->release();
  there->release();
}

TEST_F(Pinned, SaysWhereThereIsNone) {
  state.no_pinned = true;
  const int64_t sizes[] = {1 << 20};
  Tensor* t = nullptr;
  EXPECT_EQ(message(empty_pinned(sizes, TN_INT64, device, &t)),
            "there is no pinned memory of " + device_text(device) + " for 8388608 bytes");
  EXPECT_EQ(t, nullptr);
}

}  // namespace
}  // namespace tenon
