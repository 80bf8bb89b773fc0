// The command `tenon`: its help, its exit codes, and what it says of files that are wrong.
#include "cli_support.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace cli {
namespace {

using nlohmann::json;

const std::vector<std::string> kCommands = {"train", "eval",    "generate", "plugins",
                                            "ops",   "devices", "explain",  "bench"};

TEST_F(CliTest, HelpNamesEveryCommand) {
  const Outcome run = tenon("--help");
  EXPECT_EQ(run.code, 0);
  for (const std::string& command : kCommands) EXPECT_HAS(run.out, "\n  " + command);
}

TEST_F(CliTest, EachCommandHasHelp) {
  for (const std::string& command : kCommands) {
    const Outcome run = tenon(command + " --help");
    EXPECT_EQ(run.code, 0) << command;
    EXPECT_EQ(run.out.rfind("usage: tenon " + command, 0), 0u) << run.out;
    EXPECT_HAS(run.out, "--help");
  }
}

TEST_F(CliTest, TellsItsVersion) {
  const Outcome run = tenon("--version");
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out.rfind("tenon ", 0), 0u);
}

TEST_F(CliTest, ALineThatCannotBeParsedIsCode2) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"", "a command is missing"},
      {"trian x.json", "no command 'trian'; did you mean 'train'?"},
      {"train", "train: FILE.json is missing"},
      {"train a.json b.json", "train: more arguments than it takes"},
      {"train a.json --sede 3", "train: unknown option '--sede'; did you mean '--seed'?"},
      {"train a.json --seed three", "'three'"},
      {"train a.json --seed", "--seed"},
      {"train a.json --seed -1",
       "--seed is '-1', expected an integer from 0 to 9223372036854775807"},
      {"train a.json --seed 18446744073709551615",
       "--seed is '18446744073709551615', expected an integer from 0 to 9223372036854775807"},
      {"train a.json --epochs 0", "--epochs is '0', expected an integer from 1 to 1099511627776"},
      {"train a.json --epochs 2.5", "--epochs is '2.5', expected an integer from 1 to "},
      {"eval a.json", "eval: --weights FILE is missing"},
      {"generate a.json", "generate: --weights FILE is missing"},
      {"plugins --json --factories",
       "plugins: --json has the factories, too; give one of --json and --factories"},
      {"plugins extra", "plugins: more arguments than it takes (none)"},
      {"bench ops --only sofmax",
       "bench: --only is 'sofmax'; did you mean 'softmax'? (there are: add, "},
      {"bench ops --op relu", "bench: --op is overhead's"},
      {"bench steps --device ref", "bench: --device is overhead's"},
      {"bench overhead --only add", "bench: --only is ops', steps', compiled's and amp's"},
      {"bench overhed", "bench: no suite 'overhed'; did you mean 'overhead'?"},
  };
  for (const auto& [line, message] : lines) {
    const Outcome run = tenon(line);
    EXPECT_EQ(run.code, 2) << line << "\n" << run.err;
    EXPECT_HAS(run.err, message);
    EXPECT_HAS(run.err, "--help");
    EXPECT_EQ(run.out, "");
  }
}

TEST_F(CliTest, AnUnknownDeviceIsAnsweredWithThoseThereAre) {
  for (const std::string command : {"train", "explain"}) {
    const Outcome run = tenon(command + " " + digits() + "/mlp.json --device acme");
    EXPECT_EQ(run.code, 1);
    EXPECT_HAS(run.err, "acme");
    EXPECT_HAS(run.err, "cpu");
    EXPECT_HAS(run.err, "ref");
    EXPECT_HAS(run.err, "plugins were looked for in: ");
    EXPECT_HAS(run.err, build() + "/lib/tenon/plugins");
  }
}

TEST_F(CliTest, WhatIsWrongInTheJsonIsNamedWithItsLine) {
  using Replacements = std::vector<std::pair<std::string, std::string>>;
  const std::vector<std::pair<Replacements, std::string>> cases = {
      {{{"\"Linear\"", "\"Linaer\""}}, "t.json:9: "},
      {{{"\"Linear\"", "\"Linaer\""}}, "'Linear'"},
      {{{"in_features", "in_feature"}}, "t.json:9: "},
      {{{"in_features", "in_feature"}}, "'in_features'"},
      {{{"64, \"out", "\"many\", \"out"}}, "t.json:9: "},
      {{{"0.2}", "1.5}"}}, "t.json:11: "},
      {{{"\"Adam\"", "\"Adma\""}}, "t.json:14: "},
      {{{"\"Adam\"", "\"Adma\""}}, "'Adam'"},
      {{{"\"Adam\"", "\"Linear\""}},
       "t.json:14: optimizer: 'Linear' is no optimizer (known are SGD, Adam, AdamW, Adagrad, "
       "SparseAdam, RMSprop, "},
      {{{"\"Adam\"", "\"CsvFile\""}}, "t.json:14: optimizer: 'CsvFile' is no optimizer"},
      {{{"\"Adam\"", "\"\""}}, "t.json:14: optimizer: its name is empty, expected one as \"Adam\""},
      {{{"\"ReLU\"", "\"CsvFile\""}},
       "t.json:10: layer: 'CsvFile' is no layer (known are Linear, "},
      {{{"\"ReLU\"", "\"Adam\""}}, "t.json:10: layer: 'Adam' is no layer"},
      {{{"128, \"out", "127, \"out"}}, "t.json:12: model: layer 3: Linear: linear: x is [2, 128]"},
      {{{"{\"layer\": \"Linear\", \"in_features\": 128, \"out_features\": 10}",
         "{\"layer\": \"Flatten\", \"start_dim\": 0}"}},
       "t.json:8: model: gives a tensor of shape [256] for 2 rows, expected [2, classes]"},
      {{{"cross_entropy", "relu"}}, "t.json:15: loss: relu: 2 arguments, expected at most 1"},
      {{{"cross_entropy", "mul"}}, "t.json:15: loss: mul: shapes [2, 10] and [2] do not broadcast"},
      {{{"weight_decay", "wieght_decay"}}, "'weight_decay'"},
      {{{"cross_entropy", "cros_entropy"}}, "t.json:15: loss: "},
      {{{"cross_entropy", "cros_entropy"}}, "cross_entropy'"},
      {{{"\"epochs\"", "\"epoch\""}},
       "t.json:16: training: unknown field 'epoch'; did you mean 'epochs'?"},
      {{{"\"seed\"", "\"sed\""}}, "t.json:18: training: unknown field 'sed'; did you mean 'seed'?"},
      {{{"\"scale\"", "\"scael\""}},
       "t.json:5: data: unknown field 'scael'; did you mean 'scale'?"},
      {{{"\"last\"", "\"lats\""}}, "t.json:4: data: label is the column of the class"},
      {{{"\"last\"", "70"}}, "digits.csv: there is no column 70 among its 65"},
      {{{"6\n", "1\n"}}, "t.json:6: data: test_every is 1, expected at least 2"},
      {{{": 40", ": 0"}}, "t.json:16: training: epochs is 0, expected at least 1"},
      {{{": 40", ": 2.5"}},
       "t.json:16: training: epochs is 2.5, expected an integer from 1 to 1099511627776"},
      {{{": 40", ": 1e30"}},
       "t.json:16: training: epochs is 1e30, expected an integer from 1 to 1099511627776"},
      {{{": 40", ": \"2\""}},
       "t.json:16: training: epochs is a string, expected an integer from 1"},
      {{{"\"seed\": 0", "\"seed\": 18446744073709551615"}},
       "t.json:18: training: seed is 18446744073709551615, expected an integer from 0 to "
       "9223372036854775807"},
      {{{"0.003", "1e999"}},
       "t.json:14: the number 1e999 is out of range, expected at most 1.7976931348623157e+308"},
      {{{"\"digits.csv\"", "\"a\\u0000b\""}}, "t.json:3: a string with \\u0000 in it, after 'a'"},
      {{{"weight_decay", "a\\u0000b"}}, "t.json:14: a string with \\u0000 in it, after 'a'"},
      {{{"\"digits.csv\"", "\"\""}}, "t.json:3: data: csv is empty, expected the path of a file"},
      {{{"64,\n", "64\n"}}, "t.json:18: syntax error"},
      {{{"\"batch_size\": 64,", "\"epochs\": 64,"}},
       "t.json:17: 'epochs' is there twice, first on line 16"},
      {{{"{\"layer\": \"ReLU\"}", "\"ReLU\""}},
       "t.json:10: layer: an object {...} is expected, this is a string"},
  };
  for (const auto& [replacements, message] : cases) {
    const Outcome run = tenon("train " + training(replacements));
    EXPECT_EQ(run.code, 1) << message;
    EXPECT_HAS(run.err, message);
  }
  EXPECT_HAS(tenon("train " + path("absent.json")).err,
             "absent.json: cannot be opened: No such file");
}

TEST_F(CliTest, WhatIsWrongInTheDataIsNamedWithItsLine) {
  const auto message = [&](const std::string& data) {
    write("data.csv", data);
    const Outcome run = tenon("train " + training({{"\"digits.csv\"", "\"data.csv\""}}));
    EXPECT_EQ(run.code, 1) << data;
    return run.err;
  };
  EXPECT_HAS(message("1,2,3\n1,1e40,3\n"),
             "data.csv:2: column 2: 1e+40 times the scale 0.0625 is more than float32 holds");
  EXPECT_HAS(message("1,2,3\n1,2\n"), "data.csv:2: 2 fields, line 1 has 3");
  EXPECT_HAS(message("1,2,3\n1,two,3\n"), "data.csv:2: column 2: 'two' is not a number");
  EXPECT_HAS(message("1,2,3\n\n1,2\n"), "data.csv:3: 2 fields, line 1 has 3");
  EXPECT_HAS(message("1,2,3\n1,2,0.5\n"), "data.csv:2: column 3: 0.5 is not a class");
  EXPECT_HAS(message(""), "data.csv: has no rows");
  EXPECT_HAS(message("1,2,3\n"), "t.json:3: data: ");
  EXPECT_HAS(message("1,2,3\n1,2,3\n1,2,3\n"), "[2, 2]");  // two columns where the model takes 64
  fs::remove(path("data.csv"));
  const Outcome run = tenon("train " + path("t.json"));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "data.csv: cannot be opened: No such file");
}

// Line 1 is for the test, line 2 for the training: a label that no output stands for is refused in
// both, where it would otherwise count as wrong for ever.
TEST_F(CliTest, ALabelBeyondTheOutputsIsNamedWithItsLine) {
  const std::string json = training({{"64,", "2,"},
                                     {"\"digits.csv\"", "\"data.csv\""},
                                     {"\"test_every\": 6", "\"test_every\": 2"}});
  write("data.csv", "1,2,10\n1,2,3\n1,2,3\n");
  const std::string message =
      ": the label is 10, but the model of " + json + " has 10 outputs; expected 0 to 9";
  for (const std::string command : {"train ", "explain "}) {
    const Outcome run = tenon(command + json);
    EXPECT_EQ(run.code, 1);
    EXPECT_HAS(run.err, "data.csv:1" + message);
    EXPECT_EQ(run.out, "");
  }
  write("data.csv", "1,2,3\n1,2,10\n1,2,3\n");
  EXPECT_HAS(tenon("train " + json).err, "data.csv:2" + message);
  write("data.csv", "1,2,9\n1,2,9\n1,2,0\n");
  EXPECT_EQ(tenon("train " + json + " --epochs 1").code, 0);
}

TEST_F(CliTest, ALossThatIsNoNumberIsNamedWithItsLine) {
  write("data.csv", "1,2,0\n1,2,1\n1,2,1\n1,2,0\n");
  const Outcome run = tenon("train " + training({{"64,", "2,"},
                                                 {"\"out_features\": 10", "\"out_features\": 2"},
                                                 {"\"digits.csv\"", "\"data.csv\""},
                                                 {"\"test_every\": 6", "\"test_every\": 2"},
                                                 {"cross_entropy", "mul"}}));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "t.json:15: loss: mul gives a tensor of shape [2, 2], expected one number");
}

TEST_F(CliTest, AnEmptyPathIsNamedWithItsOption) {
  const std::string file = digits() + "/mlp.json";
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"train ''", "FILE.json"},
      {"explain ''", "FILE.json"},
      {"eval '' --weights w", "FILE.json"},
      {"eval " + file + " --weights ''", "--weights"},
      {"train " + file + " --save ''", "--save"},
  };
  for (const auto& [line, name] : lines) {
    const Outcome run = tenon(line);
    EXPECT_EQ(run.code, 1) << line;
    EXPECT_EQ(run.err, "tenon: " + name + ": the path is empty, expected a file's\n");
  }
}

TEST_F(CliTest, ADeviceThatComputesNothingIsAnsweredWithThoseThatDo) {
  const Outcome run = tenon("train " + digits() + "/mlp.json --device meta");
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "device meta computes nothing; devices that do: cpu, ref:0, ref:1");
}

TEST_F(CliTest, AnUnknownChoiceOfKernelsIsSaidOnce) {
  for (const std::string value : {"foo", "PRIMITIVES"}) {
    ::setenv("TENON_KERNELS", value.c_str(), 1);
    const Outcome run = tenon("explain " + digits() + "/mlp.json");
    ::unsetenv("TENON_KERNELS");
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.err, "tenon warning: TENON_KERNELS=" + value +
                           " has no effect; the one known value is 'primitives'\n");
  }
}

TEST_F(CliTest, AnUnknownValueOfASwitchOfLaunchesIsSaidOnce) {
  for (const auto& [name, value, known] :
       {std::array{"TENON_TRACE", "launch", "launches"}, std::array{"TENON_SYNC", "yes", "1"}}) {
    ::setenv(name, value, 1);
    const Outcome run = tenon("explain " + digits() + "/mlp.json --device ref");
    ::unsetenv(name);
    EXPECT_EQ(run.code, 0);
    EXPECT_EQ(run.err, std::string("tenon warning: ") + name + "=" + value +
                           " has no effect; the one known value is '" + known + "'\n");
  }
}

TEST_F(CliTest, ListsPluginsOpsAndDevicesAsJson) {
  const json plugins = json::parse(tenon("plugins --json").out);
  std::vector<std::string> ids;
  for (const json& plugin : plugins.at("plugins")) ids.push_back(plugin.at("id"));
  for (const char* id : {"ops", "cpu", "ref", "layers", "optimizers", "amp", "files"}) {
    EXPECT_NE(std::find(ids.begin(), ids.end(), id), ids.end()) << id;
  }
  const json ops = json::parse(tenon("ops --json --device ref").out);
  const auto add = std::find_if(ops.begin(), ops.end(),
                                [](const json& op) { return op.at("name") == "ops.add"; });
  ASSERT_NE(add, ops.end());
  EXPECT_EQ(add->at("runs_as"), "program");
  EXPECT_EQ(add->at("device"), "ref");
  // No kernel of the plugin cpu cuts its sums by the number of threads. LAPACK's promise nothing.
  for (const json& op : json::parse(tenon("ops --json").out)) {
    for (const json& kernel : op.at("kernels")) {
      if (kernel.at("plugin") != "cpu") continue;
      EXPECT_EQ(kernel.at("traits"), (json{"capture_safe", "deterministic"})) << op.at("name");
    }
  }
  std::vector<std::string> devices;
  for (const json& device : json::parse(tenon("devices --json").out))
    devices.push_back(device.at("name"));
  EXPECT_EQ(devices, (std::vector<std::string>{"cpu", "ref:0", "ref:1"}));
}

TEST_F(CliTest, ListsThemAsTables) {
  const Outcome plugins = tenon("plugins");
  EXPECT_EQ(plugins.code, 0);
  EXPECT_EQ(plugins.out.rfind("id", 0), 0u);
  EXPECT_HAS(plugins.out, build() + "/lib/tenon/plugins");
  const Outcome factories = tenon("plugins --factories");
  EXPECT_EQ(factories.code, 0);
  EXPECT_EQ(factories.out.rfind("kind       schema", 0), 0u) << factories.out;
  EXPECT_HAS(factories.out,
             "\nlayer      Linear(int in_features, int out_features, bool bias=True)\n");
  EXPECT_HAS(factories.out, "\noptimizer  SGD(");
  EXPECT_HAS(factories.out, "\nother      CsvFile(");
  const Outcome ops = tenon("ops");
  EXPECT_EQ(ops.code, 0);
  EXPECT_HAS(ops.out, "pair of cpu, else decomposed");  // cross_entropy
  EXPECT_HAS(tenon("ops --device ref").out, "decomposed");
  EXPECT_HAS(tenon("devices").out, "ref:1");
}

TEST_F(CliTest, EveryOpRunsOnEachDevice) {
  for (const std::string device : {"cpu", "ref"}) {
    const Outcome run = tenon("ops --device " + device + " --json");
    EXPECT_EQ(run.code, 0) << run.err;
    const json ops = json::parse(run.out);
    EXPECT_GT(ops.size(), 300u);
    for (const json& op : ops) {
      EXPECT_EQ(op.at("device"), device);
      const std::string way = op.at("runs_as");
      EXPECT_FALSE(way.empty()) << op;
      EXPECT_EQ(way.find("absent"), way.npos) << op;
    }
  }
}

TEST_F(CliTest, ListsABrokenPluginWithTheReason) {
  write("libbroken.so", "no library");
  const Outcome run = tenon("plugins");
  EXPECT_EQ(run.out.find("libbroken"), run.out.npos);
  ::setenv("TENON_PLUGIN_PATH", (folder_.string() + ":" + build() + "/lib/tenon/plugins").c_str(),
           1);
  const Outcome with = tenon("plugins");
  // What is not there may be what it was to bring.
  std::string net = read(digits() + "/mlp.json");
  net.replace(net.find("digits.csv"), 10, digits() + "/digits.csv");
  net.replace(net.find("ReLU"), 4, "Broken");
  write("net.json", net);
  const Outcome summary = tenon("summary " + path("net.json"));
  ::setenv("TENON_PLUGIN_PATH", (build() + "/lib/tenon/plugins").c_str(), 1);
  EXPECT_EQ(with.code, 0);
  EXPECT_HAS(with.out, "not loaded: ");
  EXPECT_HAS(with.out, path("libbroken.so"));
  EXPECT_EQ(summary.code, 1);
  EXPECT_HAS(summary.err, "layer: 'Broken' is no layer (known are ");
  EXPECT_HAS(summary.err, "\n  not loaded: no manifest: " + path("libbroken.json"));
}

TEST_F(CliTest, ExplainsTheCallsOfOneStep) {
  const Outcome run = tenon("explain " + digits() + "/mlp.json --device ref");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "why not the others");
  EXPECT_HAS(run.out, "cross_entropy [64, 10]·[64]");
  EXPECT_HAS(run.out, "decomposed: ");
  EXPECT_HAS(run.out, "ref has no cross_entropy; cpu pair: other device");
  const json phases = json::parse(tenon("explain " + digits() + "/mlp.json --json").out);
  for (const char* phase : {"forward", "backward", "step"})
    EXPECT_FALSE(phases.at(phase).empty()) << phase;
}

TEST_F(CliTest, BenchWritesEveryFigure) {
  const Outcome run = tenon("bench overhead --op relu --json " + path("bench.json"));
  EXPECT_EQ(run.code, 0) << run.err;
  json figures = json::parse(read(path("bench.json")));
  EXPECT_GT(figures.at("relu"), 0);
  figures.erase("relu");
  for (const char* name : {"add", "add_grad", "view", "empty", "mul_chain", "mul_sum_backward",
                           "replay", "replay_call", "load"}) {
    EXPECT_GT(figures.at(name), 0) << name;
  }
  EXPECT_EQ(figures.size(), 9u);
}

TEST_F(CliTest, BenchMeasuresTheMemoryOfADevice) {
  const Outcome run = tenon("bench overhead --device ref --json -");
  EXPECT_EQ(run.code, 0) << run.err;
  const json figures = json::parse(run.out);
  EXPECT_GT(figures.at("empty_device"), 0);
  for (const char* name : {"upload_device", "add_device", "replay_device"})
    EXPECT_GT(figures.at(name), 0) << name;
}

TEST_F(CliTest, BenchMeasuresOpsAndStepsByName) {
  const Outcome ops = tenon("bench ops --only softmax_backward --json -");
  EXPECT_EQ(ops.code, 0) << ops.err;
  EXPECT_GT(json::parse(ops.out).at("softmax_backward"), 0);
  const Outcome step = tenon("bench steps --only mlp");
  EXPECT_EQ(step.code, 0) << step.err;
  EXPECT_HAS(step.out, "784-1024-1024-10, 256 rows, Adam");
}

// The same names on both sides, so that no case is left out of the comparison.
TEST_F(CliTest, BenchAndTheComparisonHaveTheSameCases) {
  const std::string script =
      read(std::string(::getenv("TENON_SOURCE_DIR")) + "/tests/benchmarks/compare/compare.py");
  for (const std::string suite : {"ops", "steps"}) {
    const Outcome all = tenon("bench " + suite + " --only none");
    EXPECT_EQ(all.code, 2);
    const size_t from = all.err.find("(there are: ") + 12;
    std::string names = all.err.substr(from, all.err.find(')', from) - from);
    int n = 0;
    for (size_t at = 0; at < names.size(); ++n) {
      const size_t end = std::min(names.find(", ", at), names.size());
      EXPECT_HAS(script, "\"" + names.substr(at, end - at) + "\": ");
      at = end + 2;
    }
    EXPECT_GE(n, 3) << names;
  }
}

}  // namespace
}  // namespace cli
