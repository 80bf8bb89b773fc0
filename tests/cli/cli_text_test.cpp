// `tenon train`, `eval` and `generate` on text: a small transformer learns what follows what, and
// writes it; schedules; what is wrong is said with its place.
#include "cli_support.h"

#include <cmath>
#include <map>
#include <random>

#include <nlohmann/json.hpp>

#include "tenon/tenon.hpp"

namespace cli {
namespace {

using nlohmann::json;
using Replacements = std::vector<std::pair<std::string, std::string>>;

// A training of a transformer of 5,000 parameters on text.txt, of 22 characters.
constexpr const char* kTraining = R"({
  "data": {"text": "text.txt", "context": 16, "validation": 0.1},
  "model": [
    {"layer": "Embedding", "num_embeddings": "vocab", "embedding_dim": 16},
    {"layer": "PositionalEmbedding", "num_embeddings": 16, "embedding_dim": 16},
    {"layer": "TransformerEncoderLayer", "repeat": 2, "d_model": 16, "nhead": 2, "dim_feedforward": 32, "dropout": 0.0,
     "activation": "gelu", "batch_first": true, "norm_first": true, "is_causal": true},
    {"layer": "LayerNorm", "normalized_shape": [16]},
    {"layer": "Linear", "in_features": 16, "out_features": "vocab"},
    {"layer": "Flatten", "start_dim": 0, "end_dim": 1}
  ],
  "optimizer": {"optimizer": "AdamW", "lr": 0.01},
  "schedule": {"schedule": "cosine", "warmup_steps": 10},
  "clip_grad_norm": 1.0,
  "loss": "cross_entropy",
  "steps": 120,
  "batch_size": 16,
  "seed": 1
}
)";

// Words in a random order.
std::string sentences(int words) {
  const char* const kWords[] = {"seven ",   "ships ",  "sail ",     "by ",
                                "morning ", "light, ", "quietly.\n"};
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < words; ++i) text += kWords[random() % std::size(kWords)];
  return text;
}

double letter_entropy(const std::string& text) {  // in nats
  std::map<char, double> counts;
  for (const char c : text) ++counts[c];
  double entropy = 0;
  for (const auto& [c, n] : counts)
    entropy -= n / double(text.size()) * std::log(n / double(text.size()));
  return entropy;
}

double validation_loss(const Outcome& run) {
  double value = -1;
  char rest = 0;
  return std::sscanf(last_line(run.out).c_str(), "validation loss: %lf%c", &value, &rest) == 1
             ? value
             : -1;
}

class TextTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    text_ = sentences(2000);
    write("text.txt", text_);
  }
  // The training with replacements of its text.
  std::string with(const Replacements& replacements) const {
    std::string text = kTraining;
    for (const auto& [from, to] : replacements) {
      const size_t at = text.find(from);
      EXPECT_NE(at, text.npos) << from;
      text.replace(at, from.size(), to);
    }
    return write("t.json", text);
  }
  // Weights of a training of two steps.
  std::string weights() const {
    const std::string file = path("w.safetensors");
    const Outcome run = tenon("train " + with({}) + " --steps 2 --save " + file);
    EXPECT_EQ(run.code, 0) << run.err;
    return file;
  }
  std::string text_;
};

TEST_F(TextTest, LearnsWhatFollowsWhatAndWritesIt) {
  const std::string file = with({}), weights = path("w.safetensors");
  const Outcome run = tenon("train " + file + " --save " + weights);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "step   6/120  loss ");
  EXPECT_HAS(run.out, "step 120/120  loss ");
  // A letter without those before it cannot be guessed better than its entropy; a word has a choice
  // of 7, log(7) / 6.6 = 0.29 a letter.
  const double entropy = letter_entropy(text_);
  EXPECT_GT(entropy, 2.5);
  const double loss = validation_loss(run);
  EXPECT_GT(loss, 0.25) << run.out;
  EXPECT_LT(loss, entropy / 2) << run.out;

  for (const char* device : {"cpu", "ref:1"}) {
    const Outcome eval = tenon("eval " + file + " --weights " + weights + " --device " + device);
    EXPECT_EQ(eval.code, 0) << eval.err;
    EXPECT_NEAR(validation_loss(eval), loss, 0.0011);
  }

  fs::remove(path("text.txt"));  // to generate, weights are enough
  const std::string begin = "generate " + file + " --weights " + weights + " --prompt 'sail '",
                    line = begin + " --length 300";
  const Outcome written = tenon(line + " --seed 5");
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(written.out.size(), 5u + 300 + 1);
  EXPECT_EQ(written.out.rfind("sail ", 0), 0u);
  EXPECT_EQ(written.out.find_first_not_of(text_), written.out.npos);
  EXPECT_EQ(tenon(line + " --seed 5").out, written.out);
  EXPECT_NE(tenon(line + " --seed 6").out, written.out);
  // Of the likeliest alone nothing is left to chance.
  const std::string likeliest = tenon(line + " --temperature 0 --seed 5").out;
  EXPECT_EQ(tenon(line + " --temperature 0 --seed 6").out, likeliest);
  EXPECT_EQ(tenon(line + " --top-k 1 --seed 7").out, likeliest);
  EXPECT_NE(likeliest, written.out);
  EXPECT_EQ(tenon(begin + " --temperature 1e-3 --device ref --length 20").out.size(), 26u);
}

TEST_F(TextTest, TheSeedDecidesTheRun) {
  const auto result = [&](const std::string& seed) {
    return json::parse(tenon("train " + with({}) + " --steps 4 --json --seed " + seed).out);
  };
  const json first = result("7");
  EXPECT_EQ(first.at("steps").size(), 4u);
  EXPECT_EQ(first.at("steps"), result("7").at("steps"));
  EXPECT_EQ(first.at("validation_loss"), result("7").at("validation_loss"));
  EXPECT_NE(first.at("steps"), result("8").at("steps"));
}

// A row of the table for each character has the scores of what follows it: the loss can be computed
// here.
TEST_F(TextTest, TheValidationIsTheMeanOverItsWindows) {
  std::string text = kTraining;
  const size_t first = text.find("    {\"layer\": \"Emb"),
               last = text.find("    {\"layer\": \"Flatten");
  text.replace(first, last - first,
               "    {\"layer\": \"Embedding\", \"num_embeddings\": \"vocab\", \"embedding_dim\": "
               "\"vocab\"},\n");
  const std::string file = write("t.json", text), weights = path("w.safetensors");
  const Outcome run = tenon("train " + file + " --steps 3 --json --save " + weights);
  ASSERT_EQ(run.code, 0) << run.err;

  ::tenon::load_plugins();
  const std::vector<float> table = ::tenon::load(weights)[0].second.to_vector<float>();
  const std::string characters = "\n ,.abeghilmnopqrstuvy";
  ASSERT_EQ(table.size(), characters.size() * characters.size());
  const auto row = [&](char c) {
    return table.begin() + std::ptrdiff_t(characters.find(c) * characters.size());
  };
  const std::string held = text_.substr(text_.size() - text_.size() / 10);
  const size_t n = (held.size() - 1) / 16 * 16;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    double total = 0;
    for (size_t c = 0; c < characters.size(); ++c)
      total += std::exp(double(row(held[i])[std::ptrdiff_t(c)]));
    sum += std::log(total) - row(held[i])[std::ptrdiff_t(characters.find(held[i + 1]))];
  }
  EXPECT_NEAR(json::parse(run.out).at("validation_loss").get<double>(), sum / double(n), 1e-5);
}

TEST_F(TextTest, SchedulesGiveTheLearningRates) {
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
TEST_F(TextTest, ACycleChangesTheMomentumUnlessItIsToldNotTo) {
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
TEST_F(TextTest, RpropAveragedSgdAndAmsgradTrain) {
  const auto train = [&](const std::string& optimizer) {
    return tenon("train " +
                 with({{R"("optimizer": "AdamW", "lr": 0.01)", optimizer},
                       {"\"seed\"", "\"compile\": true, \"seed\""},
                       {": 120", ": 12"}}) +
                 " --json");
  };
  for (const char* optimizer :
       {R"("optimizer": "Rprop", "lr": 0.001)", R"("optimizer": "ASGD", "lr": 0.3, "t0": 5)",
        R"("optimizer": "Adam", "lr": 0.01, "amsgrad": true)",
        R"("optimizer": "AdamW", "lr": 0.01, "amsgrad": true)"}) {
    const Outcome run = train(optimizer);
    ASSERT_EQ(run.code, 0) << run.err;
    const json steps = json::parse(run.out).at("steps");
    EXPECT_LT(steps.back().at("loss"), steps.front().at("loss")) << optimizer;
  }
  EXPECT_HAS(train(R"("optimizer": "Adam", "amsgrad": 1)").err,
             "t.json:12: Adam: argument 'amsgrad' must be bool, got int 1");
  EXPECT_HAS(train(R"("optimizer": "Rprop", "etas": [1.5, 2])").err,
             "because etas is [1.5, 2], expected two numbers, the first between 0 and 1 and the "
             "second above 1");
}

TEST_F(TextTest, ATableHasASchedulesAndClippingToo) {
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

TEST_F(TextTest, TheFirstTextThatIsThereIsTaken) {
  const auto losses = [&](const std::string& text) {
    const Outcome run = tenon("train " + with({{"\"text.txt\"", text}}) + " --steps 2 --json");
    EXPECT_EQ(run.code, 0) << run.err;
    return run.code == 0 ? json::parse(run.out).at("steps") : json();
  };
  const json expected = losses("\"text.txt\"");
  EXPECT_EQ(losses("[\"absent.txt\", \"text.txt\", \"t.json\"]"), expected);
  // The files of a folder by name; a link would be the same text again.
  fs::create_directories(path("books"));
  write("books/b", text_.substr(1000));
  write("books/a", text_.substr(0, 1000));
  fs::create_symlink("a", path("books/c"));
  EXPECT_EQ(losses("\"books\""), expected);
  EXPECT_NE(losses("\"books/b\""), expected);
}

TEST_F(TextTest, WhatIsWrongInATrainingOfTextIsNamedWithItsLine) {
  const std::vector<std::pair<Replacements, std::string>> cases = {
      {{{"\"text.txt\"", "\"absent\""}},
       "t.json:2: data: there is no file or folder " + path("absent")},
      {{{"\"text.txt\"", "[\"a\", \"b\"]"}},
       "there is no file or folder " + path("a") + " or " + path("b")},
      {{{"\"text.txt\"", "[]"}}, "t.json:2: data: text is empty, expected paths"},
      {{{"\"text.txt\"", "\"\""}}, "t.json:2: data: text is empty, expected the path of a file"},
      {{{"\"text.txt\"", "7"}}, "t.json:2: data: text is an integer, expected a path"},
      {{{"\"context\": 16", "\"context\": 100000"}},
       "t.json:2: data: the text has " + std::to_string(text_.size()) + " characters, "},
      {{{"\"context\": 16", "\"context\": 100000"}},
       "expected more than the context, 100000, in each"},
      {{{"\"context\": 16", "\"context\": 17"}},
       "t.json:5: model: layer 1: PositionalEmbedding: x is [2, 17, 16], expected [.., n, 16] "
       "with "
       "at most 16 positions"},
      {{{"\"context\": 16", "\"context\": 0"}},
       "t.json:2: data: context is 0, expected at least 1"},
      {{{"\"context\"", "\"contxt\""}},
       "t.json:2: data: unknown field 'contxt'; did you mean 'context'?"},
      {{{"0.1}", "1.5}"}},
       "t.json:2: data: validation is 1.5, expected a part of the text between 0 and 1"},
      {{{"0.1}", "0.1, \"csv\": \"a\"}"}},
       "t.json:2: data: csv and text are there, expected one kind of data"},
      {{{"\"text\":", "\"txt\":"}}, "t.json:2: data: unknown field 'txt'; did you mean 'text'?"},
      {{{"\"text\": \"text.txt\", ", ""}}, "t.json:2: data: one of the fields csv, "},
      {{{"\"repeat\": 2", "\"repeat\": 0"}}, "t.json:6: layer: repeat is 0, expected at least 1"},
      {{{"16, \"out_features\": \"vocab\"", "16, \"out_features\": 21"}},
       "t.json:3: model: gives a tensor of shape [32, 21] for 2 windows of 16 characters, "
       "expected "
       "[32, 22]"},
      {{{"\"num_embeddings\": \"vocab\"", "\"num_embeddings\": 21"}},
       "t.json:4: model: layer 0: Embedding: embedding: gather: index 21"},
      {{{"\"start_dim\": 0", "\"start_dim\": 1"}},
       "expected [32, 22]: a row for each, a column for each of the 22"},
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
      {{{"\"clip_grad_norm\": 1.0", "\"clip_grad_norm\": 0"}},
       "t.json:14: training: clip_grad_norm is 0, expected more than 0"},
      {{{"\"steps\"", "\"epochs\""}}, "training: the field 'steps' is missing"},
      {{{"\"seed\"", "\"device\": \"acme\", \"seed\""}}, "acme"},
  };
  for (const auto& [replacements, message] : cases) {
    const Outcome run = tenon("train " + with(replacements));
    EXPECT_EQ(run.code, 1) << message;
    EXPECT_HAS(run.err, message);
    EXPECT_EQ(run.out, "") << message;
  }
  EXPECT_HAS(
      tenon("train " + training({{"\"in_features\": 64", "\"in_features\": \"vocab\""}})).err,
      "'in_features'");
  EXPECT_HAS(tenon("train " + training({{"\"epochs\"", "\"steps\""}})).err,
             "the field 'epochs' is missing");
  EXPECT_HAS(tenon("train " + with({}) + " --epochs 2").err,
             "--epochs: this training counts its steps");
  EXPECT_HAS(tenon("train " + training({}) + " --steps 2").err,
             "--steps: this training counts its epochs");
}

TEST_F(TextTest, StopsWhereTheLossIsNoNumber) {
  const Outcome run = tenon("train " + with({{"\"AdamW\", \"lr\": 0.01", "\"SGD\", \"lr\": 1e30"},
                                             {"  \"clip_grad_norm\": 1.0,\n", ""}}));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "the training diverged; try a smaller lr than 1e+30");
  EXPECT_EQ(run.err.rfind("tenon: step ", 0), 0u) << run.err;
}

TEST_F(TextTest, ExplainsAStepOfText) {
  const Outcome run = tenon("explain " + with({}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "cross_entropy [256, 22]·[256]");
}

TEST_F(TextTest, GenerateSaysWhatDoesNotFit) {
  const std::string weights = this->weights(), file = path("t.json");
  const auto message = [&](const std::string& line, int code = 1) {
    const Outcome run = tenon("generate " + line);
    EXPECT_EQ(run.code, code) << line;
    EXPECT_EQ(run.out, "") << line;
    return run.err;
  };
  const std::string line = file + " --weights " + weights + " --length 3";
  EXPECT_HAS(message(line + " --prompt 'sail X'"),
             "--prompt: 'X' is none of the 22 characters that the model knows");
  EXPECT_HAS(message(line + " --prompt '\xc3\xa4'"), "--prompt: '\\xc3' is none of the 22");
  EXPECT_HAS(message(line + " --prompt ''"), "--prompt: is empty, expected at least one character");
  EXPECT_HAS(message(file, 2), "generate: --weights FILE is missing");
  EXPECT_HAS(message(line + " --temperature -1", 2),
             "--temperature is '-1', expected a number that is 0 or more");
  EXPECT_HAS(message(line + " --temperature nan", 2), "--temperature is 'nan'");
  EXPECT_HAS(message(line + " --temperature inf", 2), "--temperature is 'inf'");
  EXPECT_HAS(message(line + " --temperature warm", 2), "--temperature is 'warm'");
  EXPECT_HAS(message(line + " --top-k 0", 2),
             "--top-k is '0', expected an integer from 1 to 1000000");
  EXPECT_HAS(message(file + " --weights " + weights + " --length 0", 2),
             "--length is '0', expected an integer from 1 to");
  EXPECT_HAS(message(line + " --seed -1", 2), "--seed is '-1'");
  EXPECT_HAS(message(file + " --weights " + path("absent")), "absent: cannot be opened");
  EXPECT_HAS(message(line + " --device acme"), "acme");

  EXPECT_HAS(message(digits() + "/mlp.json --weights " + weights),
             "mlp.json:3: data: only a model of text generates; this one is of a table");
  const std::string table = path("digits.safetensors");
  ASSERT_EQ(tenon("train " + digits() + "/mlp.json --epochs 1 --save " + table).code, 0);
  EXPECT_HAS(message(file + " --weights " + table),
             "digits.safetensors: has no tensor 'vocabulary'");
  EXPECT_HAS(message(with({{"\"repeat\": 2", "\"repeat\": 1"}}) + " --weights " + weights),
             "does not fit the model");
  EXPECT_HAS(
      message(with({{"\"start_dim\": 0", "\"start_dim\": 1"}}) + " --weights " + weights),
      "t.json:3: model: gives a tensor of shape [1, 1, 22] for 1 characters, expected [1, 22]");

  // A vocabulary that is none: its last character changed to its first.
  std::string bytes = read(weights);
  const std::string characters = "\n ,.abeghilmnopqrstuvy";
  const size_t at = bytes.find(characters.substr(0, 8));
  ASSERT_NE(at, bytes.npos);
  bytes[at + 1] = '\n';
  EXPECT_HAS(message(with({}) + " --weights " + write("bad.safetensors", bytes)),
             "bad.safetensors: the vocabulary is not sorted");
}

TEST_F(TextTest, EvalRefusesWeightsOfAnotherText) {
  const std::string weights = this->weights();
  std::string other = text_;
  for (char& c : other) {
    if (c == 's') c = 'z';
  }
  write("text.txt", other);
  const Outcome run = tenon("eval " + path("t.json") + " --weights " + weights);
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "w.safetensors: its vocabulary is not that of the text of");
}

}  // namespace
}  // namespace cli
