// gpu_bench [--device cuda] [--small] [--seconds 2] [--only NAME,NAME] [--beside FILE]
//
// Times each case eagerly and as a compiled function, which a GPU replays as one graph, and prints a
// table. FILE has lines "name milliseconds milliseconds" of PyTorch, eager and compiled
// (torch_bench.py), which become columns. A case that fails has its error in the table's end.
#include "gpu_bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

namespace {

namespace tn = tenon;
using gpu_bench::Case;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "cuda", only, beside;
  bool is_small = false;
  double seconds = 2;
};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds of a run: the median over groups of runs, each of which ends with the device idle.
double measure(const gpu_bench::Run& run, tn::Device device, double seconds) {
  const auto group = [&](int n) {
    const auto start = Clock::now();
    for (int k = 0; k < n; ++k) run();
    tn::synchronize(device);
    return since(start) / n;
  };
  group(3);
  const int n = std::clamp(static_cast<int>(seconds / 10 / group(2)), 1, 1000);
  std::vector<double> times;
  for (const auto start = Clock::now(); times.size() < 3 || since(start) < seconds;)
    times.push_back(group(n));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Row {
  const Case* of;
  double eager = 0, captured = 0;  // seconds; 0: failed
};

Row measure_case(const Case& one, const gpu_bench::Sizes& sizes, double seconds,
                 std::vector<std::string>* failures) {
  Row row{&one};
  const auto attempt = [&](const char* how, double* time, const auto& body) {
    try {
      *time = body();
    } catch (const std::exception& e) {
      failures->push_back(one.name + ", " + how + ": " + e.what());
    }
  };
  gpu_bench::Run run;
  attempt("eager", &row.eager, [&] {
    tn::manual_seed(0);
    run = one.make(sizes);
    return measure(run, sizes.device, seconds);
  });
  if (row.eager == 0) return row;
  attempt("captured", &row.captured, [&] {
    const auto compiled = tn::compile([run] { return run(); });
    return measure([&] { return compiled(); }, sizes.device, seconds);
  });
  return row;
}

// PyTorch's columns, by case.
std::map<std::string, std::pair<double, double>> read_beside(const std::string& file) {
  std::map<std::string, std::pair<double, double>> rows;
  std::ifstream in(file);
  std::string name;
  for (double eager, compiled; in >> name >> eager >> compiled;) rows[name] = {eager, compiled};
  return rows;
}

std::string number(double value, const char* format = "%.3f") {
  char text[40] = "-";
  if (value > 0) std::snprintf(text, sizeof text, format, value);
  return text;
}

void print_head() {
  std::printf("%-14s %10s %10s %10s %10s  %-22s %s\n", "milliseconds", "eager", "captured", "torch",
              "compiled", "at best", "what");
}

// At once: who has no time left ends the program.
void print(const Row& row, std::pair<double, double> torch) {
  const double best = row.captured > 0 ? std::min(row.eager, row.captured) : row.eager;
  const std::string rate =
      best > 0 ? number(row.of->amount / best, "%.4g") + " " + row.of->unit : "-";
  std::printf("%-14s %10s %10s %10s %10s  %-22s %s\n", row.of->name.c_str(),
              number(row.eager * 1e3).c_str(), number(row.captured * 1e3).c_str(),
              number(torch.first).c_str(), number(torch.second).c_str(), rate.c_str(),
              row.of->what.c_str());
  std::fflush(stdout);
}

bool is_wanted(const std::string& list, const std::string& name) {
  return list.empty() || ("," + list + ",").find("," + name + ",") != std::string::npos;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const char* value = k + 1 < argc ? argv[k + 1] : nullptr;
    if (word == "--small") {
      options.is_small = true;
      continue;
    }
    if (word == "--device" && value) {
      options.device = value;
    } else if (word == "--only" && value) {
      options.only = value;
    } else if (word == "--beside" && value) {
      options.beside = value;
    } else if (word == "--seconds" && value && std::atof(value) > 0) {
      options.seconds = std::atof(value);
    } else {
      std::fprintf(stderr, "gpu_bench: '%s' is no option, or lacks its value\n", word.c_str());
      std::exit(2);
    }
    ++k;
  }
  return options;
}

int run(const Options& options) {
  tn::load_plugins();
  gpu_bench::Sizes sizes;
  sizes.device = tn::Device(options.device.c_str());
  sizes.is_small = options.is_small;
  const std::vector<Case> cases = gpu_bench::cases(sizes);
  auto torch = read_beside(options.beside);
  std::vector<std::string> failures;
  int n = 0;
  for (const Case& one : cases) {
    if (!is_wanted(options.only, one.name)) continue;
    std::fprintf(stderr, "%s\n", one.name.c_str());
    if (n++ == 0) print_head();
    print(measure_case(one, sizes, options.seconds, &failures), torch[one.name]);
  }
  if (n == 0) {
    std::fprintf(stderr, "gpu_bench: --only '%s' names no case\n", options.only.c_str());
    return 2;
  }
  if (options.is_small)
    std::printf("The sizes were small ones, and not those of the last column.\n");
  for (const std::string& failure : failures) std::printf("failed: %s\n", failure.c_str());
  return failures.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_bench: %s\n", e.what());
    return 1;
  }
}
