// `tenon train`, `eval` and `generate` on a text that a tokenizer makes tokens of.
#include <cmath>
#include <random>

#include <nlohmann/json.hpp>

#include "cli_support.h"

namespace cli {
namespace {

using nlohmann::json;

// What follows each token, without those before it.
constexpr const char* kTraining = R"({
  "data": {"text": "text.txt", "tokenizer": "tokenizer.json", "context": 16},
  "model": [
    {"layer": "Embedding", "num_embeddings": "vocab", "embedding_dim": 24},
    {"layer": "Linear", "in_features": 24, "out_features": "vocab"},
    {"layer": "Flatten", "start_dim": 0, "end_dim": 1}
  ],
  "optimizer": {"optimizer": "AdamW", "lr": 0.05},
  "loss": "cross_entropy",
  "steps": 60,
  "batch_size": 16
}
)";

class CliTokens : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const char* const kWords[] = {"seven ",   "ships ",  "sail ",     "by ",
                                  "morning ", "light, ", "quietly.\n"};
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i) text_ += kWords[random() % std::size(kWords)];
    write("text.txt", text_);
    use("byte_level");
    const Outcome run = tenon("summary " + with("", ""));
    if (run.err.find("is named 'Tokenizer'") != std::string::npos)
      GTEST_SKIP() << run.err;  // the plugin is left out where ICU is not there
  }
  static std::string tokenizer(const std::string& name) {
    return read(std::string(::getenv("TENON_SOURCE_DIR")) + "/tests/data/tokenizers/" + name +
                ".json");
  }
  void use(const std::string& name) const { write("tokenizer.json", tokenizer(name)); }
  std::string with(const std::string& from, const std::string& to) const {
    std::string text = kTraining;
    const size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return write("t.json", text.replace(at, from.size(), to));
  }
  std::string weights(const std::string& name) const {
    const Outcome run = tenon("train " + with("", "") + " --steps 2 --save " + path(name));
    EXPECT_EQ(run.code, 0) << run.err;
    return path(name);
  }
  std::string refused(const std::string& line) const {
    const Outcome run = tenon(line);
    EXPECT_EQ(run.code, 1) << line << run.out;
    EXPECT_EQ(run.out, "") << line;
    return run.err;
  }
  std::string text_;
};

TEST_F(CliTokens, AModelLearnsTokensAndWritesThem) {
  const std::string file = with("", ""), saved = path("w.safetensors");
  const Outcome run = tenon("train " + file + " --json --save " + saved);
  ASSERT_EQ(run.code, 0) << run.err;
  const double loss = json::parse(run.out).at("validation_loss");
  EXPECT_LT(loss, std::log(603) / 3);
  const Outcome eval = tenon("eval " + file + " --json --weights " + saved);
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_EQ(json::parse(eval.out).at("validation_loss"), loss);

  fs::remove(path("text.txt"));  // to generate, weights and the tokenizer are enough
  const std::string line = "generate " + file + " --weights " + saved + " --prompt 'seven ships'";
  const Outcome written = tenon(line + " --length 60 --seed 5");
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(written.out.rfind("seven ships", 0), 0u) << written.out;
  EXPECT_GT(written.out.size(), 60u);
  // Its first words: pieces of the text's own, with blanks between them.
  const std::string begin = written.out.substr(0, 30);
  EXPECT_EQ(begin.find_first_not_of(text_), begin.npos) << begin;
  EXPECT_NE(begin.find(' ', 12), begin.npos) << begin;
  EXPECT_EQ(tenon(line + " --length 60 --seed 5").out, written.out);
  // What is written token by token is what the tokens are together.
  const std::string half = tenon(line + " --length 30 --temperature 0").out;
  const std::string whole = tenon(line + " --length 60 --temperature 0").out;
  EXPECT_EQ(whole.rfind(half.substr(0, half.size() - 1), 0), 0u) << half << whole;
}

// Those that know blanks, parts of words and bytes; that cut, fill up, and add tokens at the ends.
TEST_F(CliTokens, TakesTokenizersOfAllKinds) {
  for (const char* name : {"bert", "llama", "metaspace", "words", "lower_words"}) {
    use(name);
    const std::string saved = weights("w.safetensors");
    const Outcome written = tenon("generate " + path("t.json") + " --weights " + saved +
                                  " --prompt 'sail by' --length 20 --top-k 500");
    EXPECT_EQ(written.code, 0) << name << written.err;
    EXPECT_EQ(written.out.rfind("sail by", 0), 0u) << name;
  }
  // Its words, all of them, though it cuts what it is given to 10 tokens and fills it up.
  EXPECT_HAS(refused("train " + with("\"context\": 16", "\"context\": 5000")),
             "t.json:2: data: the text has 2000 tokens, 1800 of them for the training and 200 for "
             "the validation; expected more than the context, 5000, in each");
}

TEST_F(CliTokens, WhatDoesNotFitIsSaid) {
  const auto message = [&](const std::string& from, const std::string& to) {
    return refused("train " + with(from, to));
  };
  EXPECT_HAS(message("\"num_embeddings\": \"vocab\"", "\"num_embeddings\": 500"),
             "t.json:4: model: layer 0: Embedding: embedding: gather: index 602");
  EXPECT_HAS(message("\"num_embeddings\": \"vocab\"", "\"num_embeddings\": 500"),
             "tokenizer.json has tokens of ids 0 to 602; \"vocab\" as an option of a layer stands "
             "for 603");
  EXPECT_HAS(message("\"out_features\": \"vocab\"", "\"out_features\": 602"),
             "t.json:3: model: gives a tensor of shape [16, 602] for 1 windows of 16 tokens, "
             "expected [16, 603]: a row for each, a column for each of the 603 tokens of the "
             "vocabulary");
  // A multiple of 64.
  const Outcome run =
      tenon("train " + with("\"out_features\": \"vocab\"", "\"out_features\": 640") +
            " --steps 1 --save " + path("w.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(
      tenon("generate " + path("t.json") + " --weights " + path("w.safetensors") + " --length 20")
          .code,
      0);
  EXPECT_HAS(message("\"tokenizer.json\"", "\"absent.json\""),
             "absent.json: cannot be opened: No such file or directory");
  EXPECT_HAS(message("\"tokenizer.json\"", "\"t.json\""), "t.json:2: data: ");
  EXPECT_HAS(message("\"tokenizer.json\"", "\"\""),
             "t.json:2: data: tokenizer is empty, expected the path of a file");
  EXPECT_HAS(message("\"tokenizer.json\"", "7"),
             "t.json:2: data: tokenizer is an integer, expected a path");
  EXPECT_HAS(refused("train " + with("", "") + " --save " + path("tokenizer.json")),
             "tokenizer.json is read by this training; expected another file");
  write("text.txt", text_ + "\xff");
  EXPECT_HAS(message("", ""), "text.txt: ");
  EXPECT_HAS(message("", ""), "t.json:2: data: ");
  EXPECT_HAS(message("", ""), "UTF-8");
}

TEST_F(CliTokens, WeightsAreOfOneTokenizer) {
  const std::string saved = weights("w.safetensors"), folder = path("run");
  ASSERT_EQ(tenon("train " + path("t.json") + " --steps 2 --checkpoint " + folder).code, 0);
  // As many tokens, of which one is another one.
  json other = json::parse(tokenizer("byte_level"));
  json vocabulary = other["model"]["vocab"];
  for (auto& [token, id] : vocabulary.items()) {
    if (id != 5) continue;
    other["model"]["vocab"].erase(token);
    other["model"]["vocab"]["zzzz"] = 5;
  }
  other["model"]["merges"] = json::array();
  write("tokenizer.json", other.dump());
  const std::string file = path("t.json"), difference = "the token of id 5 is '";
  EXPECT_HAS(refused("eval " + file + " --weights " + saved),
             "its vocabulary is not that of the text of");
  for (const std::string& line :
       {"eval " + file + " --weights " + saved, "generate " + file + " --weights " + saved,
        "train " + file + " --init " + saved}) {
    EXPECT_HAS(refused(line), "another tokenizer: " + difference);
    EXPECT_HAS(refused(line), "' there, 'zzzz' here");
  }
  use("llama");
  EXPECT_HAS(
      refused("generate " + file + " --weights " + saved),
      "t.json:2: data: " + saved + " is of a text with another tokenizer: 603 tokens there, ");
  // Characters and tokens.
  const std::string characters = path("c.safetensors");
  const std::string of_characters = with(R"("tokenizer": "tokenizer.json", )", "");
  ASSERT_EQ(tenon("train " + of_characters + " --steps 2 --save " + characters).code, 0);
  EXPECT_HAS(refused("generate " + of_characters + " --weights " + saved),
             "w.safetensors is of a text of tokens; expected the field 'tokenizer' with the file "
             "that made them");
  EXPECT_HAS(refused("eval " + of_characters + " --weights " + saved),
             "tokens there and characters here");
  EXPECT_HAS(refused("generate " + with("", "") + " --weights " + characters),
             "is of a text with characters there and tokens here");
}

TEST_F(CliTokens, ATrainingGoesOn) {
  const std::string file = with("", ""), folder = path("run");
  ASSERT_EQ(tenon("train " + file + " --steps 6 --save " + path("a.safetensors")).code, 0);
  ASSERT_EQ(tenon("train " + file + " --steps 3 --run " + folder).code, 0);
  const Outcome run = tenon("train " + folder + "/config.json --steps 6 --resume " + folder +
                            " --save " + path("b.safetensors"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read(path("a.safetensors")), read(path("b.safetensors")));
  // The same numbers of tokens and of windows.
  json other = json::parse(tokenizer("byte_level"));
  other["added_tokens"].back()["content"] = "<other>";
  write("tokenizer.json", other.dump());
  EXPECT_HAS(refused("train " + file + " --steps 6 --resume " + folder),
             "loader: the checkpoint is of a text with another tokenizer: the token of id ");
}

}  // namespace
}  // namespace cli
