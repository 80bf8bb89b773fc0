// tenon bench amp: training steps in float32 and under autocast to bfloat16, in turn, so that what
// else the machine does slows both.
#include <tenon/tenon.hpp>

#include "bench.h"

namespace tenon::cli {
namespace {

std::function<void()> made(const std::string& name, Dtype lower) {
  for (const Case& one : network_cases(lower)) {
    if (one.name == name) return one.make();
  }
  return {};
}

}  // namespace

MixedTimes measure_mixed(const std::string& name) {
  const std::function<void()> steps[2] = {made(name, {}), made(name, bfloat16)};
  for (int i = 0; i < 2; ++i) {
    for (const auto& step : steps) step();
  }
  constexpr int64_t kAtLeast = 2'000'000'000;
  constexpr size_t kPairs = 7;
  std::vector<double> times[2], ratios;
  for (const auto start = Clock::now(); since(start) < kAtLeast || ratios.size() < kPairs;) {
    for (int i = 0; i < 2; ++i) {
      const auto one = Clock::now();
      steps[i]();
      times[i].push_back(static_cast<double>(since(one)));
    }
    ratios.push_back(times[0].back() / times[1].back());
  }
  MixedTimes result{name, "", median(times[0]), median(times[1]), median(ratios)};
  for (const Case& one : network_cases({})) {
    if (one.name == name) result.what = one.what;
  }
  return result;
}

}  // namespace tenon::cli
