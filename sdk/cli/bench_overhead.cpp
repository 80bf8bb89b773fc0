// tenon bench overhead: what a call costs that computes almost nothing, through the public face and
// over the plugin border.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <tenon/tenon.hpp>

#include "bench.h"

namespace tenon::cli {
namespace {

// Nanoseconds of one f(): the smallest mean over slices of at least 2 ms, because everything else
// that runs on the machine only adds.
template <typename F>
double nanoseconds(F f) {
  constexpr int64_t kSlice = 2'000'000;
  constexpr int kSlices = 50;
  int64_t n = 1;
  while (true) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < n; ++i) f();
    const int64_t spent = since(start);
    if (spent >= kSlice) break;
    n = std::max(n + 1, n * kSlice * 11 / 10 / std::max<int64_t>(spent, 1));
  }
  double best = 1e300;
  for (int slice = 0; slice < kSlices;) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < n; ++i) f();
    const int64_t spent = since(start);
    best = std::min(best, static_cast<double>(spent) / static_cast<double>(n));
    if (spent >= kSlice) {
      ++slice;
    } else {
      n += n / 4 + 1;  // the calibration met a slow moment
    }
  }
  return best;
}

// Loads all plugins in a process of its own and gives the nanoseconds that it took.
int64_t load_in_fresh_process() {
  const auto system_error = [](const char* what) {
    fail(fmt::format("bench: {} failed: {}", what, std::strerror(errno)), TN_INTERNAL);
  };
  int ends[2];
  if (::pipe(ends) != 0) system_error("pipe");
  const pid_t child = ::fork();
  if (child < 0) system_error("fork");
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl("/proc/self/exe", "tenon", "bench", "load-once", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[64];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof(buffer))) > 0;) text.append(buffer, n);
  ::close(ends[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) {
    fail("bench: a process that loads the plugins failed", TN_INTERNAL);
  }
  return std::stoll(text);
}

double median_load() {
  constexpr int kProcesses = 30;
  load_in_fresh_process();  // the files are in memory afterwards
  std::vector<int64_t> times(kProcesses);
  for (int64_t& time : times) time = load_in_fresh_process();
  std::ranges::sort(times);
  return static_cast<double>(times[kProcesses / 2 - 1] + times[kProcesses / 2]) / 2;
}

}  // namespace

std::vector<Measured> measure_overhead(const std::string& op, const std::string& device) {
  constexpr int kChain = 1000;
  const Tensor x = ones({8}), y = ones({8});
  const Tensor a = ones({8}).requires_grad_(), w = ones({8}).requires_grad_();
  const Tensor one = ones({8});

  std::vector<Measured> results;
  results.push_back({"add", 100, nanoseconds([&] { add(x, y); })});
  results.push_back({"add_grad", 200, nanoseconds([&] { add(a, w); })});
  results.push_back({"view", 60, nanoseconds([&] { x.view({2, 4}); })});
  results.push_back({"empty", 60, nanoseconds([&] { empty({8}); })});
  results.push_back({"mul_chain", 300, nanoseconds([&] {
                                         Tensor z = a;
                                         for (int i = 0; i < kChain; ++i) z = z * w;
                                         z.backward(one);
                                         a.zero_grad();
                                         w.zero_grad();
                                       }) / kChain});
  results.push_back({"mul_sum_backward", 700, nanoseconds([&] {
                       sum(a * w).backward();
                       a.zero_grad();
                       w.zero_grad();
                     })});
  const auto chain = compile([&](Tensor z) {
    for (int i = 0; i < kChain; ++i) z = z + y;
    return z;
  });
  const auto one_call = compile([](Tensor z) { return z * 2; });
  chain(x), one_call(x);  // recorded
  results.push_back({"replay", 60, nanoseconds([&] { chain(x); }) / kChain});
  results.push_back({"replay_call", 1000, nanoseconds([&] { one_call(x); })});
  results.push_back({"load", 30'000'000, median_load()});
  if (!op.empty()) {  // no op is favoured: one of any pack should cost what `add` costs
    const OpRef called(op.c_str());
    const double budget = 1.3 * results.front().measured;
    results.push_back({op, budget, nanoseconds([&] { call(called, x); })});
  }
  if (!device.empty()) {  // memory comes from the cache, on one stream
    const Device d(device);
    results.push_back({"empty_device", 80, nanoseconds([&] { empty({8}, float32, d); })});
    results.push_back({"upload_device", 0, nanoseconds([&] { x.to(d); })});
    const Tensor there = x.to(d), here = y.to(d);
    results.push_back({"add_device", 300, nanoseconds([&] { add(there, there); })});
    const auto step = compile([&](Tensor z) {
      for (int i = 0; i < 10; ++i) z = z + there;
      return z;
    });
    step(here);  // recorded
    results.push_back({"replay_device", 2000, nanoseconds([&] { step(here); })});
    d.synchronize();
  }
  return results;
}

}  // namespace tenon::cli
