// tenon bench: the command, and what it prints.
#include "bench.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tenon/tenon.hpp>

#include "commands.h"
#include "process.h"
#include "outputs.h"
#include "text.h"

namespace tenon::cli {

double median_of_runs(const std::function<void()>& run) {
  for (int i = 0; i < 2; ++i) run();
  constexpr int64_t kAtLeast = 500'000'000;
  constexpr size_t kRuns = 5;
  std::vector<double> times;
  for (const auto start = Clock::now(); since(start) < kAtLeast || times.size() < kRuns;) {
    const auto one = Clock::now();
    run();
    times.push_back(static_cast<double>(since(one)));
  }
  std::ranges::nth_element(times, times.begin() + static_cast<int64_t>(times.size() / 2));
  return times[times.size() / 2];
}

namespace {
namespace po = boost::program_options;

void write_json(const std::string& file, const std::vector<Measured>& results) {
  nlohmann::ordered_json json;
  for (const Measured& result : results)
    json[result.name] = std::round(result.measured * 1000) / 1000;
  if (file == "-") {
    fmt::print("{}\n", json.dump(2));
    return;
  }
  write_text(file, json.dump(2) + "\n");
}

std::string overhead_table(const std::vector<Measured>& results) {
  Table table({"nanoseconds", "measured", "budget", ""}, {1, 2});
  for (const Measured& result : results) {
    const bool has_budget = result.budget > 0;
    table.add({result.name, fmt::format("{:.0f}", result.measured),
               has_budget ? fmt::format("{:.0f}", result.budget) : "",
               !has_budget || result.measured <= result.budget ? "" : "over"});
  }
  return table.text();
}

std::string case_table(const std::vector<Case>& cases, const std::vector<Measured>& results) {
  Table table({"milliseconds", "median", "what"}, {1});
  for (size_t i = 0; i < cases.size(); ++i) {
    table.add({results[i].name, fmt::format("{:.3f}", results[i].measured / 1e6), cases[i].what});
  }
  return table.text();
}

std::string compiled_table(const std::vector<StepTimes>& steps) {
  Table table(
      {"milliseconds", "eager", "compiled", "times", "recording", "memory", "page faults", "what"},
      {1, 2, 3, 4, 5, 6});
  for (const StepTimes& s : steps) {
    table.add({s.name, fmt::format("{:.3f}", s.eager / 1e6), fmt::format("{:.3f}", s.replay / 1e6),
               fmt::format("{:.2f}", s.times), fmt::format("{:.2f}", s.recording),
               s.memory > 0 ? fmt::format("{:.2f}", s.memory) : "",
               fmt::format("{:.0f}", s.page_faults), s.what});
  }
  return table.text();
}

std::string mixed_table(const std::vector<MixedTimes>& steps) {
  Table table({"milliseconds", "float32", "bfloat16", "times", "what"}, {1, 2, 3});
  for (const MixedTimes& s : steps) {
    table.add({s.name, fmt::format("{:.3f}", s.full / 1e6), fmt::format("{:.3f}", s.mixed / 1e6),
               fmt::format("{:.2f}", s.times), s.what});
  }
  return table.text();
}

std::vector<Measured> numbers_of(const StepTimes& s) {
  return {{s.name + ".eager", 0, s.eager},   {s.name + ".compiled", 0, s.replay},
          {s.name + ".times", 0, s.times},   {s.name + ".recording", 0, s.recording},
          {s.name + ".memory", 0, s.memory}, {s.name + ".page_faults", 0, s.page_faults}};
}

std::vector<Measured> numbers_of(const MixedTimes& s) {
  return {{s.name + ".float32", 0, s.full},
          {s.name + ".bfloat16", 0, s.mixed},
          {s.name + ".times", 0, s.times}};
}

// All, or the one that was named.
std::vector<Case> chosen(const Line& line, std::vector<Case> cases) {
  if (!line.has("only")) return cases;
  const std::string name = line.get("only");
  std::vector<std::string> names;
  for (const Case& known : cases) {
    if (known.name == name) return {known};
    names.push_back(known.name);
  }
  throw UsageError(fmt::format("bench: --only is '{}'{} (there are: {})", printable(name),
                               did_you_mean(name, names), joined(names)));
}

int run(const Line& line) {
  const std::string suite = line.get("SUITE");
  if (suite == "load-once") {  // what `overhead` runs in processes of their own
    const auto start = Clock::now();
    load_all_plugins();
    fmt::print("{}\n", since(start));
    return 0;
  }
  const std::vector<std::string> suites = {"overhead", "ops", "steps", "compiled", "amp"};
  if (std::ranges::find(suites, suite) == suites.end()) {
    throw UsageError(fmt::format("bench: no suite '{}'{} (there are: {})", printable(suite),
                                 did_you_mean(suite, suites), joined(suites)));
  }
  for (const char* option : {"op", "device"}) {
    if (line.has(option) && suite != "overhead")
      throw UsageError(fmt::format("bench: --{} is overhead's", option));
  }
  if (line.has("only") && suite == "overhead")
    throw UsageError("bench: --only is ops', steps', compiled's and amp's");
  load_all_plugins();
  const std::string file = line.has("json") ? path_of(line, "--json") : "";
  if (!file.empty() && file != "-") expect_writable("--json", file);  // before minutes of work
  std::vector<Case> cases;
  std::vector<Measured> results;
  std::vector<StepTimes> steps;
  std::vector<MixedTimes> mixed;
  if (suite == "overhead") {
    results = measure_overhead(name_of(line, "op"), name_of(line, "device"));
  } else if (suite == "compiled") {
    for (const Case& one : chosen(line, compiled_cases())) {
      manual_seed(0);
      steps.push_back(measure_compiled(one));
      std::ranges::copy(numbers_of(steps.back()), std::back_inserter(results));
    }
  } else if (suite == "amp") {
    for (const Case& one : chosen(line, network_cases({}))) {
      manual_seed(0);
      mixed.push_back(measure_mixed(one.name));
      std::ranges::copy(numbers_of(mixed.back()), std::back_inserter(results));
    }
  } else {
    cases = chosen(line, suite == "ops" ? op_cases() : step_cases());
    for (const Case& one : cases) {
      manual_seed(0);
      results.push_back({one.name, 0, median_of_runs(one.make())});
    }
  }
  if (!file.empty()) {
    write_json(file, results);
    if (file == "-") return 0;
  }
  fmt::print("{}", suite == "overhead"   ? overhead_table(results)
                   : suite == "compiled" ? compiled_table(steps)
                   : suite == "amp"      ? mixed_table(mixed)
                                         : case_table(cases, results));
  return 0;
}

}  // namespace

Command bench_command() {
  Command command{
      "bench", "Measures this machine: what calls cost beside their kernels, ops, training steps.",
      "SUITE", "overhead, ops, steps, compiled or amp"};
  command.options.add_options()  //
      ("json", po::value<std::string>()->value_name("FILE"),
       "write nanoseconds to this file as one JSON object; -: to the output")  //
      ("only", po::value<std::string>()->value_name("NAME"),
       "this one of ops, steps, compiled or amp")  //
      ("op", po::value<std::string>()->value_name("NAME"),
       "overhead: measure this op of one tensor as well; its budget is 1.3 times what `add` took")(
          "device", po::value<std::string>()->value_name("NAME"),
          "overhead: measure the memory of this device as well, and what a small upload costs the "
          "caller")  //
      ("help,h", "this text");
  command.run = run;
  return command;
}

}  // namespace tenon::cli
