// The field "schedule" of training files: the rates that a training of a text goes through, and what is
// refused of it with its line.
#include "cli_text.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace cli {
namespace {

using nlohmann::json;
using SchedulesOfFiles = TextTest;

TEST_F(SchedulesOfFiles, SchedulesGiveTheLearningRates) {
  const auto rates = [&](const std::string& schedule, int steps) {
    const std::string file = with({{R"({"schedule": "cosine", "warmup_steps": 10})", schedule},
                                   {": 120", ": " + std::to_string(steps)}});
    const Outcome run = tenon("train " + file + " --json");
    EXPECT_EQ(run.code, 0) << run.err;
    std::vector<double> list;
    const json result = json::parse(run.out);
    for (const json& step : result.at("steps")) list.push_back(step.at("lr"));
    return list;
  };
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
  };
  expect(rates(R"({"schedule": "constant"})", 3), {0.01, 0.01, 0.01});
  expect(rates(R"({"schedule": "constant", "warmup_steps": 4})", 6),
         {0.0025, 0.005, 0.0075, 0.01, 0.01, 0.01});
  expect(rates(R"({"schedule": "step", "step_size": 2, "gamma": 0.5})", 5),
         {0.01, 0.01, 0.005, 0.005, 0.0025});
  expect(rates(R"({"schedule": "step", "step_size": 1, "warmup_steps": 2})", 4),
         {0.005, 0.01, 0.01, 0.001});
  expect(rates(R"({"schedule": "cosine", "min_lr": 0.002})", 4),
         {0.01, 0.002 + 0.008 * (0.5 + std::sqrt(0.125)), 0.006,
          0.002 + 0.008 * (0.5 - std::sqrt(0.125))});
  expect(rates(R"({"schedule": "cosine", "warmup_steps": 2})", 4), {0.005, 0.01, 0.01, 0.005});
  expect(rates(R"({"schedule": "multi_step", "milestones": [1, 3], "gamma": 0.5})", 5),
         {0.01, 0.005, 0.005, 0.0025, 0.0025});
  expect(rates(R"({"schedule": "exponential", "gamma": 0.5, "warmup_steps": 1})", 4),
         {0.01, 0.01, 0.005, 0.0025});
  expect(rates(R"({"schedule": "warm_restarts", "t_0": 2, "min_lr": 0.002})", 4),
         {0.01, 0.006, 0.01, 0.006});
  expect(rates(R"({"schedule": "linear", "start_factor": 0.5, "end_factor": 1})", 4),
         {0.005, 0.00625, 0.0075, 0.00875});
  expect(rates(R"({"schedule": "polynomial", "power": 2})", 4), {0.01, 0.005625, 0.0025, 0.000625});
  // Up in the first half, 5 steps of 10, and down to a tenth of the first rate.
  const auto cycle = rates(
      R"({"schedule": "one_cycle", "max_lr": 0.02, "pct_start": 0.5, "div_factor": 4, "final_div_factor": 10})",
      10);
  ASSERT_EQ(cycle.size(), 10u);
  EXPECT_NEAR(cycle[0], 0.005, 1e-12);
  EXPECT_NEAR(cycle[4], 0.02, 1e-12);
  EXPECT_NEAR(cycle[9], 0.0005, 1e-12);
  expect(rates(R"({"schedule": "one_cycle", "max_lr": 0.02, "pct_start": 0.4, "div_factor": 4,
      "final_div_factor": 10, "anneal_strategy": "linear", "three_phase": true,
      "cycle_momentum": false})",
               10),
         {0.005, 0.01, 0.015, 0.02, 0.015, 0.01, 0.005, 0.0035, 0.002, 0.0005});
  expect(rates(R"({"schedule": "cyclic", "base_lr": 0.01, "max_lr": 0.05, "step_size_up": 2,
      "step_size_down": 1, "mode": "triangular2"})",
               6),
         {0.01, 0.03, 0.05, 0.01, 0.02, 0.03});
  expect(rates(R"({"schedule": "function", "rate": "where(step < 2, 1, 0.5 ** (step / steps)) * lr"
})",
               4),
         {0.01, 0.01, 0.01 * std::exp2(-0.5), 0.01 * std::exp2(-0.75)});
  expect(rates(R"({"schedule": "function", "warmup_steps": 2, "rate": "1 / (4 + step) + 0"
})",
               4),
         {0.005, 0.01, 0.25, 0.2});
  expect(rates(R"({"schedule": "chained", "schedules": [
      {"schedule": "constant", "warmup_steps": 4},
      {"schedule": "step", "step_size": 2, "gamma": 0.1}]})",
               5),
         {0.0025, 0.005, 0.00075, 0.001, 0.0001});
  // Each is of the steps up to the next milestone: a line in 2 steps, then in the rest.
  expect(rates(R"({"schedule": "sequential", "milestones": [2], "warmup_steps": 1, "schedules": [
      {"schedule": "linear"}, {"schedule": "linear", "end_factor": 0.5}]})",
               5),
         {0.01, 0.01, 0.005, 0.01, 0.0075});
  // No line is better by a half than the best before it.
  expect(
      rates(
          R"({"schedule": "plateau", "patience": 0, "factor": 0.5, "threshold": 0.5, "min_lr": 0.001})",
          6),
      {0.01, 0.01, 0.005, 0.0025, 0.00125, 0.001});
}

// The rates are the same, and with another momentum the losses are not.
TEST_F(SchedulesOfFiles, ACycleChangesTheMomentumUnlessItIsToldNotTo) {
  const auto steps = [&](const std::string& momentum) {
    const std::string cycle = R"({"schedule": "one_cycle", "max_lr": 0.02, )" + momentum + "}";
    const Outcome run =
        tenon("train " +
              with({{R"({"schedule": "cosine", "warmup_steps": 10})", cycle}, {": 120", ": 6"}}) +
              " --json");
    EXPECT_EQ(run.code, 0) << run.err;
    return run.code == 0 ? json::parse(run.out).at("steps") : json();
  };
  const json kept = steps("\"cycle_momentum\": false"),
             cycled = steps("\"base_momentum\": 0.5, \"max_momentum\": 0.6"),
             own = steps("\"base_momentum\": 0.9, \"max_momentum\": 0.9");
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(cycled[i].at("lr"), kept[i].at("lr"));
  EXPECT_NE(cycled, kept);
  EXPECT_EQ(own, kept);
}

// Of tests/nn/optimizers_torch_test.cpp, which has their values; here they are compiled, too.
TEST_F(SchedulesOfFiles, ATableHasASchedulesAndClippingToo) {
  const Outcome run = tenon(
      "train " + training({{"\"epochs\": 40", R"("schedule": {"schedule": "step", "step_size": 24},
      "clip_grad_norm": 0.5, "device": "ref", "epochs": 2)"}}) +
      " --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_EQ(result.at("device"), "ref:0");
  EXPECT_NEAR(result.at("epochs")[0].at("lr").get<double>(), 0.003, 1e-12);  // 24 batches
  EXPECT_NEAR(result.at("epochs")[1].at("lr").get<double>(), 0.0003, 1e-12);
}

TEST_F(SchedulesOfFiles, WhatIsWrongInAScheduleIsNamedWithItsLine) {
  const std::vector<std::pair<Replacements, std::string>> cases = {
      {{{"\"cosine\"", "\"cosin\""}},
       "t.json:13: schedule: there is no 'cosin'; did you mean 'cosine'? (known are constant, "
       "step, cosine, multi_step, exponential, warm_restarts, one_cycle, cyclic, linear, "
       "polynomial, function, chained, sequential, plateau)"},
      {{{"\"cosine\"", "\"multi_step\", \"milestones\": [2, -1]"}},
       "t.json:13: schedule: milestones is a list of steps from 0, as [100, 200]"},
      {{{"\"cosine\"", "\"exponential\""}}, "t.json:13: schedule: the field 'gamma' is missing"},
      {{{"\"cosine\"", "\"warm_restarts\", \"t_0\": 0"}},
       "t.json:13: schedule: t_0 is 0, expected at least 1"},
      {{{"\"cosine\"", "\"one_cycle\""}}, "t.json:13: schedule: the field 'max_lr' is missing"},
      {{{"\"cosine\"", "\"one_cycle\", \"max_lr\": 1, \"base_momentum\": -0.5"}},
       "t.json:13: schedule: base_momentum is -0.5, expected a number from 0 to 1"},
      {{{"\"cosine\"", "\"one_cycle\", \"max_lr\": 1, \"pct_start\": 30"}},
       "t.json:13: schedule: pct_start is 30, expected a number from 0 to 1"},
      {{{"\"cosine\"", "\"linear\", \"start_factor\": 3"}},
       "t.json:13: schedule: start_factor is 3, expected more than 0 and at most 1"},
      {{{"\"cosine\"", "\"one_cycle\", \"max_lr\": 1, \"anneal_strategy\": \"cosine\""}},
       "t.json:13: schedule: anneal_strategy is 'cosine', expected one of cos, linear"},
      {{{"\"cosine\"", "\"cyclic\", \"max_lr\": 1"}},
       "t.json:13: schedule: the field 'base_lr' is missing"},
      {{{"\"AdamW\"", "\"Adagrad\""}, {"\"cosine\"", "\"one_cycle\", \"max_lr\": 1"}},
       "t.json:13: schedule: Adagrad has neither momentum nor betas: the optimizer must support "
       "momentum or beta1 where the schedule's cycle_momentum is set"},
      {{{"\"cosine\"", "\"function\""}}, "t.json:13: schedule: the field 'rate' is missing"},
      {{{"\"cosine\"", "\"function\", \"rate\": \"lr * stop\""}},
       "t.json:13: schedule: rate: column 6"},
      {{{"\"cosine\"", "\"function\", \"rate\": \"lr - step / 2000\""}},
       "t.json:13: schedule: the rate of step 21 is -0.0005"},
      {{{"\"cosine\"", "\"chained\""}}, "t.json:13: schedule: the field 'schedules' is missing"},
      {{{"\"cosine\"", "\"chained\", \"schedules\": []"}},
       "t.json:13: schedule: schedules is a list of schedules, each an object as this one"},
      {{{"\"cosine\"",
         "\"chained\", \"schedules\": [{\"schedule\": \"constant\"},\n{\"schedule\": "
         "\"stop\"}]"}},
       "t.json:14: schedule: schedules[1]: there is no 'stop'; did you mean 'step'? (known are "
       "constant, "},
      {{{"\"cosine\"",
         "\"chained\", \"schedules\": [{\"schedule\": \"cosine\",\n\"min_lr\": -1}]"}},
       "t.json:14: schedule: schedules[0]: min_lr is -1, expected a number from 0 to "},
      {{{"\"cosine\"", "\"chained\", \"schedules\": [{\"schedule\": \"cosine\", \"min\": 1}]"}},
       "t.json:13: schedule: schedules[0]: unknown field 'min'"},
      {{{"\"cosine\"", "\"chained\", \"schedules\": [7]"}},
       "t.json:13: schedule: schedules[0]: an object {...} is expected, this is an integer"},
      {{{"\"cosine\"", "\"chained\", \"schedules\": [{\"schedule\": \"plateau\"}]"}},
       "t.json:13: schedule: schedules[0]: a plateau goes by the loss and stands alone, expected "
       "one of constant, "},
      {{{"\"cosine\"",
         "\"chained\", \"schedules\": [{\"schedule\": \"one_cycle\", \"max_lr\": 1, "
         "\"div_factor\": 1e-320}]"}},
       "t.json:13: schedule: schedules[0]: OneCycleLR: max_lr / div_factor is inf"},
      {{{"\"cosine\"",
         "\"sequential\", \"milestones\": [5, 2], \"schedules\": [{\"schedule\": "
         "\"constant\"}]"}},
       "t.json:13: schedule: milestones is [5, 2], expected the steps at which the second of the "
       "1 "
       "schedules begins, and so on"},
      {{{"\"cosine\"", "\"linear\", \"end_factor\": -1"}},
       "t.json:13: schedule: end_factor is -1, expected a number from 0 to 1"},
      {{{"\"cosine\"", "\"plateau\""}},
       "t.json:13: schedule: unknown field 'warmup_steps' (known are"},
      {{{"\"warmup_steps\": 10", "\"min_lr\": -1"}},
       "t.json:13: schedule: min_lr is -1, expected a number from 0 to 1000000"},
      {{{"\"cosine\"", "\"step\""}}, "t.json:13: schedule: the field 'step_size' is missing"},
      {{{"\"warmup_steps\": 10", "\"gamma\": 1"}},
       "t.json:13: schedule: unknown field 'gamma' (known are"},
      {{{"\"warmup_steps\": 10", "\"warmup_steps\": -1"}},
       "t.json:13: schedule: warmup_steps is -1, expected at least 0"},
      {{{"{\"schedule\": \"cosine\", \"warmup_steps\": 10}", "\"cosine\""}},
       "t.json:13: schedule: an object {...} is expected, this is a string"},
      {{{"\"cosine\"", "\"step\", \"step_size\": 3, \"gamma\": 0"}},
       "t.json:13: schedule: gamma is 0, expected more than 0"},
  };
  for (const auto& [replacements, message] : cases) {
    const Outcome run = tenon("train " + with(replacements));
    EXPECT_EQ(run.code, 1) << message;
    EXPECT_HAS(run.err, message);
    EXPECT_EQ(run.out, "") << message;
  }
}

}  // namespace
}  // namespace cli
