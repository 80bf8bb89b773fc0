// `tenon train`, `eval` and `generate` on text: a small transformer learns what follows what, and
// writes it; what is wrong is said with its place. Their schedules are in cli_schedules_test.cpp.
#include "cli_text.h"

#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "tenon/tenon.hpp"

namespace cli {
namespace {

using nlohmann::json;

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
      {{{"\"loss\"", "\"metrics\": [\"accuracy\"], \"loss\""}},
       "metrics: a text has none, only tables and folders have"},
      {{{"\"loss\"", "\"augment\": [{\"transform\": \"Cutout\", \"size\": 3}], \"loss\""}},
       "augment: a text has none, only tables and folders have"},
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
