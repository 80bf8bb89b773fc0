// The suites of `tenon bench`, and the clock that they share. A suite measures in nanoseconds on
// the CPU; plugins are loaded before.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <tenon/tensor.hpp>

namespace tenon::cli {

using Clock = std::chrono::steady_clock;

inline int64_t since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

// Of an even count, the upper one of the two in the middle.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

struct Measured {
  std::string name;
  double budget;    // 0: none
  double measured;  // nanoseconds
};

// What calls cost beside their kernels, 8 floats each; `op`, where not empty, is one of one tensor
// that is measured as well, and `device` one whose memory is.
std::vector<Measured> measure_overhead(const std::string& op, const std::string& device);

// A thing to time: make prepares it, and the function that it gives runs it once.
struct Case {
  std::string name;
  const char* what;  // sizes, for a person and for the peer's script
  std::function<std::function<void()>()> make;
};
// Single ops at sizes of ordinary networks, forward, and forward and backward.
std::vector<Case> op_cases();
// Whole training steps: forward, backward and optimizer.
std::vector<Case> step_cases();
// Those of networks, with their forward in this lower precision; none: in float32.
std::vector<Case> network_cases(Dtype lower);
// A small one, whose time is the host's, and those.
std::vector<Case> compiled_cases();

// A training step, eagerly and compiled.
struct StepTimes {
  std::string name, what;
  double eager, replay;  // nanoseconds, medians
  double times;          // as fast: the median of single pairs
  double recording;      // times an eager step
  double memory;         // of the peak of eager steps; 0: unknown
  double page_faults;    // of a replay
};
StepTimes measure_compiled(const Case& one);

// A training step in float32 and under autocast, in turn.
struct MixedTimes {
  std::string name, what;
  double full, mixed;  // nanoseconds, medians
  double times;        // as fast: the median of single pairs
};
// `name` is one of network_cases.
MixedTimes measure_mixed(const std::string& name);

// The median of single runs over half a second or more, after two that warm up.
double median_of_runs(const std::function<void()>& run);

}  // namespace tenon::cli
