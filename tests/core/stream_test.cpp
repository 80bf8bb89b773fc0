// Memory between streams: hazards, frees in stream order, and all of it from several threads.
// Copies and blobs are in stream_copies_test.cpp.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "lazy_device.h"
#include "memory/summary.h"
#include "memory/transfer.h"
#include "tensor/stream.h"

namespace tenon {
namespace {

// Read when memory is first used.
const int kPoisoning = setenv("TENON_POISON", "1", 1);

// ---- Hazards

using Hazard = StreamTest;

TEST_F(Hazard, NeedsNoRecordOnOneStream) {
  tn_storage* s = make(main);
  write(s, main, 1);
  int64_t value = 0;
  read(s, main, &value);
  EXPECT_EQ(s->hazards.load(), nullptr);
  EXPECT_EQ(waits(), 0);
  s->release();
  EXPECT_OK(synchronize_device(device));
  EXPECT_EQ(value, 1);
}

TEST_F(Hazard, PutsAReadBehindTheWrite) {
  tn_storage* s = make(main);
  write(s, main, 42);
  int64_t value = 0;
  read(s, side, &value);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(value, 42);
  s->release();
}

TEST_F(Hazard, PutsAWriteBehindTheReads) {
  tn_storage* s = make(main);
  write(s, main, 1);
  Stream* third = nullptr;
  ASSERT_OK(create_stream(device, &third));
  int64_t first = 0, second = 0;
  read(s, side, &first);
  read(s, third, &second);
  write(s, main, 2);
  EXPECT_OK(synchronize_stream(main));
  EXPECT_OK(synchronize_device(device));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  s->release();
}

TEST_F(Hazard, PutsAWriteBehindTheWrite) {
  tn_storage* s = make(main);
  write(s, main, 1);
  write(s, side, 2);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_OK(synchronize_stream(main));
  EXPECT_EQ(*static_cast<int64_t*>(s->memory), 2);
  s->release();
}

TEST_F(Hazard, RemembersThatTheWriterReadsToo) {
  tn_storage* s = make(main);
  write(s, main, 1);
  int64_t early = 0, late = 0;
  read(s, side, &early);
  read(s, main, &late);  // behind the moment for which `side` waits
  write(s, side, 2);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_OK(synchronize_stream(main));
  EXPECT_EQ(early, 1);
  EXPECT_EQ(late, 1);
  s->release();
}

TEST_F(Hazard, LetsReadersRunTogetherAndOrdersOnce) {
  tn_storage* s = make(main);
  write(s, main, 1);
  int64_t value = 0;
  for (int i = 0; i < 10; ++i) {
    read(s, side, &value);
    read(s, main, &value);
  }
  EXPECT_EQ(waits(), 1);
  write(s, side, 2);
  EXPECT_EQ(waits(), 2);
  for (int i = 0; i < 10; ++i) write(s, side, i);
  EXPECT_EQ(waits(), 2);
  s->release();
  EXPECT_OK(synchronize_device(device));
}

TEST_F(Hazard, PutsAReadBehindTheSecondWriteToo) {
  tn_storage* s = make(main);
  int64_t first = 0, second = 0;
  write(s, main, 1);
  read(s, side, &first);
  write(s, main, 2);
  read(s, side, &second);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
  s->release();
}

// Two threads use a stream: the second one's work must not come before the first one's wait.
TEST_F(Hazard, LetsNoUseOvertakeTheWaitOfAnother) {
  tn_storage* s = make(main);
  write(s, main, 1);
  std::atomic<int> n_waits = 0;
  std::atomic<bool> may_go_on = false, second_is_through = false;
  state.before_wait = [&] {
    if (n_waits++ == 0) {
      while (!may_go_on) std::this_thread::yield();
    }
  };
  std::thread first([&] { EXPECT_OK(use_storage(s, side, false)); });
  while (n_waits == 0) std::this_thread::yield();
  std::thread second([&] {
    EXPECT_OK(use_storage(s, side, false));
    second_is_through = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(second_is_through);
  may_go_on = true;
  first.join();
  second.join();
  EXPECT_EQ(n_waits, 1);
  s->release();
}

// ---- Frees

using Free = StreamTest;

TEST_F(Free, GivesTheBlockToItsStreamAtOnce) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  tn_storage* s = make(main);
  void* memory = s->memory;
  write(s, main, 1);
  s->release();
  tn_storage* again = make(main);
  EXPECT_EQ(again->memory, memory);
  tn_storage* elsewhere = make(side);
  EXPECT_NE(elsewhere->memory, memory);
  again->release();
  elsewhere->release();
}

TEST_F(Free, WaitsForTheOtherStreams) {
  tn_storage* s = make(main);
  void* memory = s->memory;
  write(s, main, 7);
  int64_t value = 0;
  read(s, side, &value);
  s->release();
  // Whoever gets memory now must not get what `side` is about to read.
  tn_storage* next = make(main);
  EXPECT_NE(next->memory, memory);
  write(next, main, 8);
  EXPECT_OK(synchronize_stream(main));
  EXPECT_EQ(state.n_frees, 0);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(value, 7);
  if (kCaching) {
    tn_storage* again = make(main);
    EXPECT_EQ(again->memory, memory);
    again->release();
  } else {
    EXPECT_EQ(state.n_frees, 1);
  }
  next->release();
}

TEST_F(Free, WaitsForAWriterElsewhere) {
  tn_storage* s = make(main);
  void* memory = s->memory;
  write(s, side, 7);
  s->release();
  tn_storage* next = make(main);
  EXPECT_NE(next->memory, memory);
  write(next, main, 8);
  EXPECT_OK(synchronize_stream(main));
  EXPECT_OK(synchronize_stream(side));
  EXPECT_EQ(*static_cast<int64_t*>(next->memory), 8);
  next->release();
}

TEST_F(Free, WaitsForNobodyWhereTheOwnStreamIsBehindAll) {
  if (!kCaching) GTEST_SKIP() << "nothing is cached under sanitizers";
  tn_storage* s = make(main);
  void* memory = s->memory;
  int64_t value = 0;
  read(s, side, &value);
  write(s, main, 1);
  s->release();
  tn_storage* again = make(main);
  EXPECT_EQ(again->memory, memory);
  again->release();
  EXPECT_OK(synchronize_device(device));  // the read, before its variable goes
}

TEST_F(Free, IsCountedAtOnceAndGivenBackByEmptyCache) {
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  tn_storage* s = make(main);
  int64_t value = 0;
  write(s, main, 3);
  read(s, side, &value);
  EXPECT_OK(memory_stats(device, &stats));
  EXPECT_EQ(stats.allocated, 8u);
  s->release();
  EXPECT_OK(memory_stats(device, &stats));
  EXPECT_EQ(stats.allocated, 0u);
  EXPECT_GT(stats.reserved_bytes, 0u);
  EXPECT_OK(empty_cache(device));  // waits
  EXPECT_EQ(value, 3);
  EXPECT_OK(memory_stats(device, &stats));
  EXPECT_EQ(stats.reserved_bytes, 0u);
}

TEST_F(Free, PoisonsBehindTheWork) {
  if (!kCaching) GTEST_SKIP() << "blocks go to the backend at once, which poisons them itself";
  tn_storage* s = make(main);
  const auto* memory = static_cast<const int64_t*>(s->memory);
  int64_t value = 0;
  write(s, main, 5);
  read(s, main, &value);
  s->release();
  EXPECT_OK(synchronize_stream(main));
  EXPECT_EQ(value, 5);
  EXPECT_EQ(*memory, -1);
}

TEST_F(Free, GivesTheMemoryOfADestroyedStreamToTheDefaultOne) {
  tn_storage* s = make(side);
  tn_storage* later = make(side);
  void* memory = s->memory;
  s->release();
  EXPECT_OK(destroy_stream(side));
  if (kCaching) {
    tn_storage* again = make(main);
    EXPECT_EQ(again->memory, memory);
    again->release();
  }
  memory = later->memory;
  later->release();
  if (kCaching) {
    tn_storage *first = make(main), *second = make(main);
    EXPECT_TRUE(first->memory == memory || second->memory == memory);
    first->release();
    second->release();
  }
}

TEST_F(Free, StreamsOneAfterTheOtherTakeTheSameMemory) {
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  make(side)->release();
  EXPECT_OK(destroy_stream(side));
  EXPECT_OK(memory_stats(device, &stats));
  const uint64_t taken = stats.reserved_bytes;
  for (int i = 0; i < 5; ++i) {
    Stream* next = nullptr;
    ASSERT_OK(create_stream(device, &next));
    make(next)->release();
    EXPECT_OK(destroy_stream(next));
    EXPECT_OK(memory_stats(device, &stats));
    EXPECT_EQ(stats.reserved_bytes, taken);
  }
  EXPECT_OK(empty_cache(device));
  EXPECT_OK(memory_stats(device, &stats));
  EXPECT_EQ(stats.reserved_bytes, 0u);
}

// This device's blocks are as long as what was asked for.
TEST_F(Free, MemoryOfADeadStreamIsNotCutWhereNothingIs) {
  tn_storage* large = nullptr;
  ASSERT_OK(allocate_storage(device, side, 10000, &large));
  large->release();
  EXPECT_OK(destroy_stream(side));
  tn_storage *first = nullptr, *second = nullptr;
  ASSERT_OK(allocate_storage(device, main, 8500, &first));
  ASSERT_OK(allocate_storage(device, main, 1499, &second));
  const auto* begin = static_cast<const char*>(first->memory);
  const auto* other = static_cast<const char*>(second->memory);
  EXPECT_TRUE(other < begin || other >= begin + 10000);
  first->release();
  second->release();
}

TEST_F(Free, MakesRoomUnderALimitByWaiting) {
  EXPECT_OK(set_memory_limit(device, 1024));
  int64_t value = 0;
  tn_storage *a = make(main), *b = make(main);
  write(a, main, 9);
  read(a, side, &value);
  a->release();
  b->release();
  tn_storage* whole = nullptr;
  ASSERT_OK(allocate_storage(device, main, 1020, &whole));
  EXPECT_EQ(value, 9);
  whole->release();
}

// Memory may outlive its stream, all streams even: shutdown ends these first.
TEST_F(Free, PutsNoWorkOnAStreamThatHasEnded) {
  tn_storage *own = make(side), *last = make(main);
  EXPECT_OK(destroy_stream(side));
  own->release();
  close_streams(device.type);
  last->release();
}

TEST_F(Free, EmptyCacheWaitsForEveryStream) {
  bool ran = false;
  submit(side, [&] { ran = true; });
  EXPECT_OK(empty_cache(device));
  EXPECT_TRUE(ran);
  // What the work says reaches who empties the cache, and frees do not swallow it.
  tn_storage* s = make(main);
  int64_t value = 0;
  read(s, side, &value);
  s->release();
  state.cannot_wait = true;
  EXPECT_NE(message(empty_cache(device)).find("not now"), std::string::npos);
  state.cannot_wait = false;
  EXPECT_OK(empty_cache(device));  // the read, before its variable goes
}

// ---- All at once

TEST_F(StreamTest, SurvivesManyThreads) {
  constexpr int kThreads = 4, kRounds = 300;
  std::vector<Stream*> streams(kThreads);
  for (Stream*& stream : streams) ASSERT_OK(create_stream(device, &stream));
  tn_storage* shared = make(main);  // read by all, written by none
  write(shared, main, 1234);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Stream* mine = streams[t];
      EXPECT_OK(set_current_stream(device, mine));
      for (int i = 0; i < kRounds; ++i) {
        tn_storage *a = make(mine), *b = make(main);
        write(a, mine, i);
        EXPECT_OK(use_storage(shared, mine, false));
        submit(mine, [at = static_cast<int64_t*>(a->memory),
                      from = static_cast<const int64_t*>(shared->memory)] { *at += *from; });
        EXPECT_OK(copy_bytes(b, 0, a, 0, 8));
        a->release();
        int64_t value = 0;
        if (i % 4 == 0) {
          EXPECT_OK(read_bytes(&value, b, 0, 8));
          EXPECT_EQ(value, 1234 + i);
        }
        b->release();
        if (i % 50 == t) {
          EXPECT_OK(empty_cache(device));
        }
        if (i % 40 == t) {
          Stream* brief = nullptr;
          EXPECT_OK(create_stream(device, &brief));
          tn_storage* c = make(brief);
          write(c, brief, 1);
          read(c, mine, &value);
          c->release();
          EXPECT_OK(destroy_stream(brief));
          EXPECT_OK(synchronize_stream(mine));
        }
      }
      EXPECT_OK(synchronize_stream(mine));
    });
  }
  for (std::thread& thread : threads) thread.join();
  shared->release();
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  EXPECT_OK(memory_stats(device, &stats));
  EXPECT_EQ(stats.allocated, 0u);
}

}  // namespace
}  // namespace tenon
