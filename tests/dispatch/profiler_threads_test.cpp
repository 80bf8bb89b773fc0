// tn::Profiler and other threads: workers of a data loader, and those in which a Range is open.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>
#include <tenon/data/datasets.hpp>
#include <tenon/profiler.hpp>

#include "ops_support.h"

namespace {

using Json = nlohmann::json;
using Kind = tn::Profiler::Kind;

struct ProfilerThreads : testing::Test {
  static void SetUpTestSuite() { load_all(); }
};

// Each sample is made by two calls.
auto squares() {
  return tn::data::Generated(
      64, [](int64_t i, tn::data::Random&) { return tn::full({4}, double(i)).square(); });
}

std::set<int64_t> threads_of(const tn::Profiler& profiler, Kind kind, const std::string& name) {
  std::set<int64_t> threads;
  for (const auto& event : profiler.events()) {
    if (event.kind == kind && event.name == name) threads.insert(event.thread);
  }
  return threads;
}
size_t count(const tn::Profiler& profiler, Kind kind, const std::string& name) {
  return static_cast<size_t>(
      std::count_if(profiler.events().begin(), profiler.events().end(),
                    [&](const auto& e) { return e.kind == kind && e.name == name; }));
}
void expect_nested(const tn::Profiler& profiler) {
  for (const auto& event : profiler.events()) {
    if (event.parent < 0) continue;
    const auto& parent = profiler.events()[static_cast<size_t>(event.parent)];
    EXPECT_EQ(parent.thread, event.thread);
    EXPECT_LE(parent.begin_ns, event.begin_ns);
    EXPECT_GE(parent.end_ns, event.end_ns);
  }
}

TEST_F(ProfilerThreads, WorkersOfALoaderAreSeen) {
  for (const bool persistent : {false, true}) {
    tn::data::DataLoader loader(
        squares(), {.batch_size = 8, .num_workers = 2, .persistent_workers = persistent});
    int64_t batches = 0;
    for (const Tensor& batch : loader)
      batches += batch.size(0) / 8;  // its threads are there before
    EXPECT_EQ(batches, 8);
    tn::Profiler profiler({.memory = true});
    profiler.start();
    for (const Tensor& batch : loader) batch.sum();
    profiler.stop();
    EXPECT_EQ(count(profiler, Kind::range, "DataLoader batch"), 8u);
    EXPECT_EQ(count(profiler, Kind::call, "square"), 64u);
    EXPECT_EQ(threads_of(profiler, Kind::call, "square").count(0), 0u);
    EXPECT_EQ(threads_of(profiler, Kind::call, "sum"), std::set<int64_t>{0});
    expect_nested(profiler);

    std::set<int64_t> tracks, named;
    const Json trace = Json::parse(profiler.trace_json());
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"] == "X") tracks.insert(event["tid"].get<int64_t>());
      if (event["ph"] == "M") named.insert(event["tid"].get<int64_t>());
    }
    EXPECT_GE(tracks.size(), 2u);
    EXPECT_EQ(named, tracks);
  }
}

TEST_F(ProfilerThreads, AThreadIsSeenWhileARangeIsOpenThere) {
  tn::Profiler profiler;
  profiler.start();
  std::thread([] {
    tn::ones({2}).relu();
    {
      const tn::Profiler::Range range("mine");
      tn::ones({2}).requires_grad_().square().sum().backward();
    }
    tn::ones({2}).relu();
  }).join();
  profiler.stop();
  EXPECT_EQ(count(profiler, Kind::call, "relu"), 0u);
  EXPECT_EQ(count(profiler, Kind::range, "mine"), 1u);
  EXPECT_EQ(threads_of(profiler, Kind::node, "square backward"), std::set<int64_t>{1});
  expect_nested(profiler);
}

TEST_F(ProfilerThreads, NotWhereTheOptionSaysSo) {
  tn::Profiler profiler({.threads = false});
  profiler.start();
  std::thread([] {
    const tn::Profiler::Range range("mine");
    tn::ones({2}).relu();
  }).join();
  tn::ones({2});
  profiler.stop();
  EXPECT_EQ(count(profiler, Kind::range, "mine"), 0u);
  EXPECT_EQ(count(profiler, Kind::call, "ones"), 1u);
}

// Two at a time: the first has the threads, and after it the next that starts.
TEST_F(ProfilerThreads, TheFirstProfilerSeesThem) {
  const auto work = [] {
    const tn::Profiler::Range range("mine");
    tn::ones({2}).relu();
  };
  tn::Profiler first;
  first.start();
  std::thread([&] {
    tn::Profiler second;
    second.start();
    std::thread(work).join();
    tn::ones({2});
    second.stop();
    EXPECT_EQ(count(second, Kind::range, "mine"), 0u);
    EXPECT_EQ(count(second, Kind::call, "ones"), 1u);
  }).join();
  first.stop();
  EXPECT_EQ(count(first, Kind::range, "mine"), 1u);
  first.start();
  std::thread(work).join();
  first.stop();
  EXPECT_EQ(count(first, Kind::range, "mine"), 1u);
}

// What is open when a profiler stops ends then: on the thread that stops it, and on another one.
TEST_F(ProfilerThreads, WhatIsOpenEndsWithTheProfiler) {
  std::atomic<bool> worked = false, stopped = false;
  tn::Profiler profiler;
  profiler.start();
  const tn::Profiler::Range outer("outer");
  std::thread other([&] {
    const tn::Profiler::Range range("mine");
    tn::ones({16}).square().sum();
    worked = true;
    while (!stopped) std::this_thread::yield();
    tn::ones({16}).relu();
  });
  while (!worked) std::this_thread::yield();
  tn::ones({16}).square().sum();
  profiler.stop();
  stopped = true;
  other.join();
  EXPECT_EQ(count(profiler, Kind::range, "mine"), 1u);
  EXPECT_EQ(count(profiler, Kind::range, "outer"), 1u);
  EXPECT_EQ(count(profiler, Kind::call, "square"), 2u);
  EXPECT_EQ(count(profiler, Kind::call, "relu"), 0u);
  expect_nested(profiler);
}

TEST_F(ProfilerThreads, StartsAndStopsOnOneThread) {
  tn::Profiler profiler;
  profiler.start();
  std::thread([&] {
    expect_error([&] { profiler.start(); }, "Profiler: it runs on another thread");
    expect_error([&] { profiler.stop(); },
                 "Profiler: it runs on another thread, which has to stop it");
  }).join();
  tn::ones({2}).relu();
  profiler.stop();
  EXPECT_EQ(count(profiler, Kind::call, "relu"), 1u);
}

// Destroyed on another thread, it leaves the first one, where a range may still be open.
TEST_F(ProfilerThreads, AnotherOneFollowsWhereItWasDestroyedElsewhere) {
  auto gone = std::make_unique<tn::Profiler>(tn::ProfilerOptions{.memory = true});
  gone->start();
  const tn::Profiler::Range open("open");
  std::thread([moved = std::move(gone)] {}).join();
  tn::ones({2}).relu();
  { const tn::Profiler::Range range("nobody sees it"); }
  tn::Profiler profiler;
  profiler.start();
  tn::ones({2}).relu();
  profiler.stop();
  EXPECT_EQ(count(profiler, Kind::call, "relu"), 1u);
  EXPECT_EQ(count(profiler, Kind::range, "nobody sees it"), 0u);
}

// A thread may ask for its track just before the run ends elsewhere, and begin a range just after.
TEST_F(ProfilerThreads, ARangeThatBeginsAfterTheRunIsNotSeen) {
  tn::detail::ProfileTrack track({}, nullptr, 0);
  const uint64_t before = track.begin_range("before");
  EXPECT_NE(before, 0u);
  track.end();
  EXPECT_EQ(track.begin_range("after"), 0u);
  track.end_range(before);
  EXPECT_EQ(track.method(), -1);
  EXPECT_EQ(track.events().size(), 1u);
}

// Threads go on while a profiler comes and goes.
TEST_F(ProfilerThreads, StopsWhileThreadsWork) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const tn::Profiler::Range range("work");
        tn::ones({16}).square().sum();
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    tn::Profiler profiler({.memory = i % 2 == 0});
    profiler.start();
    tn::ones({16}).relu();
    profiler.stop();
    EXPECT_EQ(threads_of(profiler, Kind::call, "relu"), std::set<int64_t>{0});
    expect_nested(profiler);
    profiler.layers();
  }
  done = true;
  for (std::thread& t : threads) t.join();
}

}  // namespace
