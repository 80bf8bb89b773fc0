// tenon bench compiled: whole training steps, eagerly and as compiled functions, in turn.
#include <sys/resource.h>

#include <algorithm>

#include <tenon/tenon.hpp>

#include "bench.h"

namespace tenon::cli {
namespace {

tn_memory_stats memory() {
  tn_memory_stats stats{};
  stats.size = sizeof(stats);
  check(detail::api.device->memory_stats(Device(cpu).value, &stats));
  return stats;
}

int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

double nanoseconds_of(const std::function<void()>& run) {
  const auto start = Clock::now();
  run();
  return static_cast<double>(since(start));
}

}  // namespace

// The two take turns, so that what else the machine does meets both.
StepTimes measure_compiled(const Case& one) {
  constexpr int kRuns = 5, kFaultRuns = 20;
  constexpr int64_t kAtLeast = 1'000'000'000;
  const std::function<void()> step = one.make();
  const uint64_t peak_before = memory().peak_allocated;
  for (int i = 0; i < 3; ++i) step();
  const uint64_t eager_peak = memory().peak_allocated;

  std::vector<double> recording;
  for (int i = 0; i < kRuns; ++i) {  // the states of the optimizer are there: each is recorded
    const auto fresh = compile([step] { step(); });
    recording.push_back(nanoseconds_of([&] { fresh(); }));
  }
  const auto compiled = compile([step] { step(); });
  for (int i = 0; i < 3; ++i) compiled();
  const uint64_t compiled_peak = memory().allocated;
  std::vector<double> eager, replay, ratios;
  for (const auto start = Clock::now(); since(start) < kAtLeast || eager.size() < kRuns;) {
    eager.push_back(nanoseconds_of(step));
    compiled();  // gradients that the eager step made are another recording's
    replay.push_back(nanoseconds_of([&] { compiled(); }));
    ratios.push_back(eager.back() / replay.back());
  }
  // Single ones: a machine that takes idle pages away lets a few come back.
  std::vector<double> faults;
  for (int i = 0; i < kFaultRuns; ++i) {
    const int64_t before = page_faults();
    compiled();
    faults.push_back(static_cast<double>(page_faults() - before));
  }
  return {one.name, one.what, median(eager), median(replay), median(ratios),
          *std::ranges::min_element(recording) / median(eager),
          // Of a process that held more before, nothing can be said.
          eager_peak > peak_before ? static_cast<double>(compiled_peak) / double(eager_peak) : 0,
          median(faults)};
}

}  // namespace tenon::cli
