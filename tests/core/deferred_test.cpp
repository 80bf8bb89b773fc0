// What waits for streams (core/memory/deferred.h): who asks, who waits, and what stays where nobody
// can say.
#include <atomic>
#include <chrono>
#include <thread>

#include "lazy_device.h"
#include "memory/deferred.h"

namespace tenon {
namespace {

struct Deferred : StreamTest {
  void SetUp() override {
    StreamTest::SetUp();
    make(main)->release();  // the memory of the device hears of waits
  }
  static void set(void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }
  void push_behind(Stream* stream, void (*action)(void*), void* context) {
    deferred_queue(device).push_behind({&stream, 1}, action, context);
  }
};

TEST_F(Deferred, IsDoneByWhoeverWaits) {
  const auto comes_with = [&](auto wait) {
    std::atomic<bool> done = false;
    push_behind(side, set, &done);
    EXPECT_FALSE(done);
    EXPECT_OK(wait());
    EXPECT_TRUE(done);
  };
  submit(side, [] {});
  comes_with([&] { return synchronize_stream(side); });
  submit(side, [] {});
  comes_with([&] { return synchronize_device(device); });
  submit(side, [] {});
  comes_with([&] { return destroy_stream(side); });
}

TEST_F(Deferred, WaitsForAllItsStreams) {
  Stream* streams[] = {main, side};
  for (Stream* first : streams) {
    for (Stream* s : streams) submit(s, [] {});
    std::atomic<bool> done = false;
    deferred_queue(device).push_behind(streams, set, &done);
    EXPECT_OK(synchronize_stream(first));
    EXPECT_FALSE(done);
    EXPECT_OK(synchronize_device(device));
    EXPECT_TRUE(done);
  }
}

TEST_F(Deferred, IsDoneByWhoeverAsksWhenTheWorkIsDone) {
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  for (const bool allocates : {false, true}) {
    std::atomic<bool> done = false;
    const auto ask = [&] {
      allocates ? make(main)->release() : void(StatusHolder(memory_stats(device, &stats)));
    };
    submit(side, [] {});
    push_behind(side, set, &done);
    ask();
    EXPECT_FALSE(done);
    run(side);
    EXPECT_FALSE(done);
    ask();
    EXPECT_TRUE(done);
  }
}

TEST_F(Deferred, DrainWaitsForTheEvents) {
  std::atomic<bool> done = false;
  submit(side, [] {});
  push_behind(side, set, &done);
  deferred_queue(device).drain();
  EXPECT_TRUE(done);
}

// A thread that polls holds what it looks through: its actions, and what it puts back.
TEST_F(Deferred, DrainAndEmptyCacheWaitForWhatAnotherThreadHolds) {
  struct Held {
    std::atomic<bool> entered = false, may_end = false, ended = false;
  };
  for (const bool empties_cache : {false, true}) {
    SCOPED_TRACE(empties_cache);
    Held held;
    std::atomic<bool> second = false, drained = false;
    submit(side, [] {});
    push_behind(
        side,
        [](void* context) {
          auto* h = static_cast<Held*>(context);
          h->entered = true;
          while (!h->may_end) std::this_thread::yield();
          h->ended = true;
        },
        &held);
    run(side);
    submit(side, [] {});
    push_behind(side, set, &second);  // goes back to the queue when the first has ended
    std::thread poller([&] { deferred_queue(device).poll(); });
    while (!held.entered) std::this_thread::yield();
    std::thread drainer([&] {
      if (empties_cache) {
        EXPECT_OK(empty_cache(device));
      } else {
        deferred_queue(device).drain();
      }
      EXPECT_TRUE(held.ended);
      EXPECT_TRUE(second);
      drained = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(drained);
    held.may_end = true;
    poller.join();
    drainer.join();
  }
}

TEST_F(Deferred, ActionsDoNotWaitForThemselves) {
  std::atomic<bool> done = false;
  struct Context {
    tn_device device;
    std::atomic<bool>* done;
  } context{device, &done};
  submit(side, [] {});
  push_behind(
      side,
      [](void* c) {
        deferred_queue(static_cast<Context*>(c)->device).drain();
        *static_cast<Context*>(c)->done = true;
      },
      &context);
  EXPECT_OK(synchronize_stream(side));
  EXPECT_TRUE(done);
}

TEST_F(Deferred, WaitsForTheStreamWhereNoEventCanBeRecorded) {
  bool ran = false;
  std::atomic<bool> done = false;
  submit(side, [&] { ran = true; });
  state.cannot_record = true;
  push_behind(side, set, &done);
  state.cannot_record = false;
  EXPECT_TRUE(ran);
  EXPECT_TRUE(done);
}

// What may still be touched is given to nobody.
TEST_F(Deferred, IsNeverDoneWhereNobodyCanSayThatTheWorkIsDone) {
  std::atomic<bool> first = false, second = false;
  submit(side, [] {});
  state.cannot_wait = true;
  push_behind(side, set, &first);
  deferred_queue(device).poll();
  deferred_queue(device).drain();
  EXPECT_FALSE(first);
  state.cannot_record = true;
  push_behind(side, set, &second);
  state.cannot_wait = state.cannot_record = false;
  EXPECT_OK(synchronize_stream(side));
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
}

}  // namespace
}  // namespace tenon
