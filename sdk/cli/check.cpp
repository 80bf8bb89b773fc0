// tenon check: the command, and what it prints.
#include "check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "check_watch.h"
#include "commands.h"
#include "plugin_list.h"
#include "process.h"
#include "text.h"
#include "training.h"

namespace tenon::cli {
namespace {
namespace po = boost::program_options;
using conformance::Checks;
using conformance::Failure;
using conformance::Group;

constexpr size_t kShownFailures = 20, kShownNames = 4;
constexpr unsigned kCaseSeconds = 60;

std::string row(const std::string& name, const std::string& cases, const std::string& passed,
                const std::string& failed, const std::string& refused, const std::string& seconds) {
  return fmt::format("{:<12} {:>7} {:>7} {:>7} {:>10} {:>8}\n", name, cases, passed, failed,
                     refused, seconds);
}

std::string row(const Group& group) {
  return row(group.name, std::to_string(group.cases()), std::to_string(group.passed),
             std::to_string(group.failed), std::to_string(group.refused),
             fmt::format("{:.1f}", group.seconds));
}

std::string refusals_text(const std::vector<Group>& groups) {
  std::string text;
  for (const Group& group : groups) {
    for (const auto& [reason, names] : group.refusals) {
      std::vector<std::string> shown(names.begin(),
                                     names.begin() + std::min(names.size(), kShownNames));
      if (names.size() > kShownNames) shown.emplace_back("..");
      text += fmt::format("  {}: {} cases: {}\n    ({})\n", group.name, names.size(),
                          messages::cleaned(reason), joined(shown, "; "));
    }
  }
  return text.empty() ? "" : "\nnot there, which a backend may leave out:\n" + text;
}

std::string failures_text(const std::vector<Group>& groups, const Checks& checks) {
  std::string text;
  size_t shown = 0, in_all = 0;
  const std::string device = checks.device().name();
  for (const Group& group : groups) {
    in_all += group.failures.size();
    // Each group that has failures is heard.
    const size_t most = std::max<size_t>(3, kShownFailures / groups.size());
    for (size_t i = 0; i < std::min(most, group.failures.size()); ++i, ++shown) {
      const Failure& failure = group.failures[i];
      text += fmt::format("\n{}\n  {}\n", failure.name, messages::cleaned(failure.what));
      if (failure.difference > 0)
        text += fmt::format("  largest difference {:.3g}\n", failure.difference);
      text += fmt::format("  tenon check {} --seed {} --only '{}'\n", device,
                          checks.settings().seed, failure.name);
    }
  }
  if (in_all == 0) return "";
  return fmt::format("\nfailures, {} of {}:\n", shown, in_all) + text;
}

nlohmann::ordered_json as_json(const std::vector<Group>& groups, const Checks& checks,
                               const std::string& ended) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Group& group : groups) {
    nlohmann::ordered_json failures = nlohmann::ordered_json::array(),
                           refusals = nlohmann::ordered_json::array();
    for (const Failure& failure : group.failures) {
      failures.push_back({{"case", failure.name},
                          {"what", failure.what},
                          {"largest_difference", failure.difference}});
    }
    for (const auto& [reason, names] : group.refusals)
      refusals.push_back({{"reason", reason}, {"cases", names}});
    list.push_back({{"group", group.name},
                    {"cases", group.cases()},
                    {"passed", group.passed},
                    {"failed", group.failed},
                    {"not_supported", group.refused},
                    {"failures", failures},
                    {"refusals", refusals}});
  }
  nlohmann::ordered_json json = {{"device", checks.device().name()},
                                 {"compared_with", checks.settings().oracle.name()},
                                 {"seed", checks.settings().seed},
                                 {"groups", list},
                                 {"ops_not_called", checks.uncalled}};
  if (!ended.empty()) json["ended"] = ended;
  return json;
}

// What computes the expected values: cpu, or for cpu itself the reference.
Device oracle_of(Device device) {
  if (!device.is_cpu()) return cpu;
  try {
    return Device("ref");
  } catch (const Error&) {
    fail("check: cpu is compared with the device ref, whose plugin is not loaded");
  }
}

int run_check(const Line& line) {
  // Memory that was given back has other bytes, so that what is not written is seen.
  ::setenv("TENON_POISON", "1", /*overwrite=*/0);
  // What ops say of odd arguments, which are drawn here, is nothing that a backend's author could
  // act on.
  ::setenv("TENON_LOG", "error", /*overwrite=*/0);
  conformance::Settings settings;
  settings.seed = static_cast<uint64_t>(integer_of(line, "seed", 0, INT64_MAX));
  settings.only = name_of(line, "only");
  load_all_plugins();
  settings.device = find_device(line.get("DEVICE"));
  settings.oracle = oracle_of(settings.device);
  conformance::watch_cases(kCaseSeconds);
  const bool is_json = line.flag("json");
  Checks checks(settings);
  if (!is_json) {
    fmt::print("device {}, compared with {} in float64, seed {}\n\n{}", settings.device.name(),
               settings.oracle.name(), settings.seed,
               row("group", "cases", "passed", "failed", "not there", "seconds"));
    checks.on_end = [](const Group& group) {
      if (group.cases() == 0) return;
      fmt::print("{}", row(group));
      std::fflush(stdout);  // where the next group ends the process, this one is to be seen
    };
  }
  std::string ended;
  try {
    for (const auto subject :
         {conformance::check_device, conformance::check_elementwise, conformance::check_reductions,
          conformance::check_moves, conformance::check_indices, conformance::check_ops,
          conformance::check_training})
      subject(checks);
    checks.end();
  } catch (const conformance::Ended& lost) {
    ended = lost.what();
  }
  std::vector<Group>& groups = checks.groups();
  std::erase_if(groups, [](const Group& group) { return group.cases() == 0; });
  if (groups.empty()) {
    throw UsageError(fmt::format(
        "no case has '{}' in its name; cases are named as 'reduce sum float32 [7, 13] over "
        "[0] contiguous' and 'op ops.softmax float32 #0'",
        printable(settings.only)));
  }
  int64_t failed = 0;
  for (const Group& group : groups) failed += group.failed;
  if (is_json) {
    fmt::print("{}\n", as_json(groups, checks, ended).dump(2));
  } else {
    if (!ended.empty()) fmt::print("{}", row(groups.back()));
    fmt::print("{}{}", refusals_text(groups), failures_text(groups, checks));
    if (!checks.uncalled.empty()) {
      fmt::print(
          "\n{} ops took none of the arguments that were drawn for them (--json names them)\n",
          checks.uncalled.size());
    }
    if (!ended.empty())
      fmt::print("\nended early, the device is lost: {}\n", messages::cleaned(ended));
    fmt::print("\n{}\n", failed == 0
                             ? "nothing failed"
                             : fmt::format("{} case{} failed", failed, failed == 1 ? "" : "s"));
  }
  return failed == 0 && ended.empty() ? 0 : 1;
}

}  // namespace

Command check_command() {
  Command command{"check",
                  "Tries a backend whole: memory, copies, streams, each primitive, ops and their "
                  "gradients, trainings; all compared with another device. Exit code 0 where "
                  "nothing failed.",
                  "DEVICE", "the device of the backend (see tenon devices)"};
  command.options.add_options()  //
      ("only", po::value<std::string>()->value_name("NAME"),
       "the cases whose name has this part: 'reduce sum', 'op ops.softmax '")  //
      ("seed", po::value<std::string>()->value_name("N")->default_value("1"),
       "of what is drawn; the same cases and values for the same number")  //
      ("json", po::bool_switch(), "as one JSON object")                    //
      ("help,h", "this text");
  command.run = run_check;
  return command;
}

}  // namespace tenon::cli
