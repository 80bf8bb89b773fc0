// tenon check: a backend that is right passes whole, and each fault that a test plugin has is found
// and named.
#include <nlohmann/json.hpp>

#include "cli_support.h"
#include "plugin_folder.h"

namespace cli {
namespace {

class CliCheck : public CliTest {
 protected:
  // On the device `faulty`, which is `ref` with the fault.
  Outcome faulty(const std::string& fault, const std::string& options) const {
    here_.place_once();
    ::setenv("TENON_TEST_FAULT", fault.c_str(), 1);
    ::setenv("TENON_PLUGIN_PATH",
             (here_.folder.path().string() + ":" + build() + "/lib/tenon/plugins").c_str(), 1);
    const Outcome run = tenon("check faulty " + options);
    ::unsetenv("TENON_TEST_FAULT");
    return run;
  }

  struct Here {
    void place_once() const {
      if (!std::exchange(is_placed, true)) folder.place("faulty");
    }
    tenon::testing::Folder folder;
    mutable bool is_placed = false;
  } here_;
};

TEST_F(CliCheck, TheReferencePassesWhole) {
  const Outcome run = tenon("check ref");
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_HAS(run.out, "device ref:0, compared with cpu in float64, seed 1\n");
  EXPECT_EQ(last_line(run.out), "nothing failed");
  for (const std::string group :
       {"device", "elementwise", "reduce", "scan", "sort", "matmul", "copy", "fill", "iota",
        "random_bits", "gather", "scatter", "nonzero", "ops", "gradients", "training"})
    EXPECT_HAS(run.out, "\n" + group + " ");
  EXPECT_EQ(run.out.find("not there, which"), run.out.npos) << run.out;
}

// For cpu the reference is what it is compared with.
TEST_F(CliCheck, TheCpuPassesWhatTypesAndReplaysPromise) {
  for (const std::string cases :
       {"device ", "beyond its range", "of nan and inf", "iota ", "random_bits", "training "}) {
    const Outcome run = tenon("check cpu --only '" + cases + "'");
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    EXPECT_HAS(run.out, "device cpu, compared with ref:0 in float64");
  }
}

TEST_F(CliCheck, EachFaultIsFoundAndNamed) {
  struct Fault {
    const char *name, *only, *case_name, *what;
  };
  const Fault faults[] = {
      {"stride", "elementwise x * y + x float32",
       "elementwise x * y + x float32 [5] and [5] stepped", "4 of 5 elements are wrong; element 1"},
      {"last", "elementwise max(x, y) float32", "elementwise max(x, y) float32 [7, 33]",
       "1 of 231 elements are wrong; element 230"},
      {"primitive", "reduce max float32", "reduce max float32 [7, 13] over [1] contiguous",
       "7 of 7 elements are wrong; element 0"},
      {"primitive", "op ops.amax ", "op ops.amax float32 #0", "elements are wrong"},
      {"write", "scatter float32", "scatter float32 [5] by [3] along 0 contiguous",
       "3 of 5 elements are wrong"},
      {"behind", "device what lies", "device what lies behind a failed launch",
       "a launch behind a gather that failed is not passed over: add_: 5 of 5 elements are wrong"},
      {"wrap", "elementwise x * x > 0 int", "elementwise x * x > 0 int32 beyond its range",
       "elements are wrong; element 0 is 1, expected 0"},
      {"nan", "elementwise int(x) float32", "elementwise int(x) float32 of nan and inf",
       "1 of 12 elements are wrong; element 0 is 0, expected -9223372036854775808"},
      {"tenths", "iota float32", "iota float32 in tenths", "elements are wrong; element "},
      {"offset", "random_bits", "random_bits far on in a sequence",
       "the first 6 of seed 0x0123456789abcdef and offset 0x100000002: 6 of 6 elements are wrong"},
      {"rate", "training with a rate", "training with a rate that is set SGD compiled",
       "step 3 of the rate 0 makes -4 of -3, expected -3"},
      {"random", "training dropout", "training dropout compiled",
       " has the mask of the call before it"},
  };
  for (const Fault& fault : faults) {
    const Outcome run = faulty(fault.name, "--only '" + std::string(fault.only) + "'");
    EXPECT_EQ(run.code, 1) << fault.name << run.out << run.err;
    EXPECT_HAS(run.out, std::string("\n") + fault.case_name + "\n");
    EXPECT_HAS(run.out, fault.what);
    EXPECT_HAS(run.out,
               std::string("  tenon check faulty:0 --seed 1 --only '") + fault.case_name + "'\n");
    // Alone it fails in the same way, and the same plugin without the fault passes.
    const Outcome alone = faulty(fault.name, "--only '" + std::string(fault.case_name) + "'");
    EXPECT_EQ(alone.code, 1) << alone.out;
    EXPECT_HAS(alone.out, fault.what);
    const Outcome right = faulty("none", "--only '" + std::string(fault.only) + "'");
    EXPECT_EQ(right.code, 0) << right.out;
  }
}

TEST_F(CliCheck, ALossThatGoesAstrayIsAFailure) {
  const Outcome run = faulty("write", "--only 'training mlp SGD eager'");
  EXPECT_EQ(run.code, 1) << run.out;
  EXPECT_HAS(run.out, "the loss of step 1 is ");
}

TEST_F(CliCheck, WhatIsNotThereIsNoFailure) {
  const Outcome run = faulty("float64", "--only 'reduce sum'");
  EXPECT_EQ(run.code, 0) << run.out;
  EXPECT_HAS(run.out, "not there, which a backend may leave out:\n  reduce: ");
  EXPECT_HAS(run.out,
             "dtype float64 is not among its own\n    (reduce sum float64 [7, 13] over [0] "
             "contiguous; ");
  EXPECT_EQ(last_line(run.out), "nothing failed");
}

TEST_F(CliCheck, ACaseThatEndsTheProcessIsNamed) {
  const Outcome run = faulty("crash", "--only 'iota float32'");
  EXPECT_NE(run.code, 0);
  EXPECT_HAS(
      run.err,
      "tenon: the process was ended in the case 'iota float32 1'; --only repeats it alone\n");
}

TEST_F(CliCheck, ADeviceThatIsLostEndsTheCheck) {
  const Outcome run = faulty("lost", "--only 'iota float32'");
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_HAS(run.out, "\niota float32 1\n");
  EXPECT_HAS(run.out, "\nended early, the device is lost: ");
  EXPECT_HAS(run.out, "the bus is gone");
  EXPECT_EQ(last_line(run.out), "1 case failed");
  EXPECT_EQ(run.out.find("iota float32 5"), run.out.npos) << run.out;
}

TEST_F(CliCheck, JsonIsTheSameForASeed) {
  const Outcome first = faulty("primitive", "--json --seed 7 --only 'reduce max'"),
                again = faulty("primitive", "--json --seed 7 --only 'reduce max'"),
                other = faulty("primitive", "--json --seed 8 --only 'reduce max'");
  EXPECT_EQ(first.code, 1);
  EXPECT_EQ(first.out, again.out);
  EXPECT_NE(first.out, other.out);
  const nlohmann::json json = nlohmann::json::parse(first.out);
  EXPECT_EQ(json.at("device"), "faulty:0");
  EXPECT_EQ(json.at("compared_with"), "cpu");
  EXPECT_EQ(json.at("seed"), 7);
  const nlohmann::json& group = json.at("groups").at(0);
  EXPECT_EQ(group.at("group"), "reduce");
  EXPECT_EQ(group.at("failures").size(), group.at("failed"));
  EXPECT_GT(group.at("failures").at(0).at("largest_difference"), 0.0);
}

TEST_F(CliCheck, ALineThatMeansNothingIsRefused) {
  const Outcome nothing = tenon("check ref --only nonsense");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_HAS(nothing.err,
             "check: no case has 'nonsense' in its name; cases are named as 'reduce sum");
  const Outcome seed = tenon("check ref --seed x");
  EXPECT_EQ(seed.code, 2);
  EXPECT_HAS(seed.err, "--seed is 'x', expected an integer from 0 to ");
  const Outcome device = tenon("check nowhere");
  EXPECT_EQ(device.code, 1);
  EXPECT_HAS(device.err, "nowhere");
}

}  // namespace
}  // namespace cli
