// `tenon train` on tables as they are met, with names, texts and values that are missing, and losses that
// are layers with options.
#include "cli_support.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace cli {
namespace {

using nlohmann::json;

class TablesTest : public CliTest {
 protected:
  // Flowers of two kinds, which a line between their sizes keeps apart.
  void SetUp() override {
    CliTest::SetUp();
    std::string table = "id;place;\"length; cm\";width;kind\n";
    for (int i = 0; i < 60; ++i) {
      const bool is_rose = i % 3 == 0;
      table += "f" + std::to_string(i) + ";" + (i % 2 ? "wood" : "\"by a; lake\"") + ";" +
               (i % 7 == 5 ? "NA" : std::to_string(is_rose ? 4 + i % 5 : -4 - i % 5)) + ";" +
               std::to_string(i % 4) + ";" + (is_rose ? "rose" : "lily") + "\n";
    }
    write("flowers.csv", table);
  }
  std::string file(const std::string& data, const std::string& loss = R"("cross_entropy")",
                   int outputs = 2, int inputs = 4) const {
    return write("t.json", R"({
  "data": {"csv": "flowers.csv", "separator": ";", )" +
                               data + R"(, "test_every": 5},
  "model": [{"layer": "Linear", "in_features": )" +
                               std::to_string(inputs) + R"(, "out_features": )" +
                               std::to_string(outputs) + R"(}],
  "optimizer": {"optimizer": "Adam", "lr": 0.05},
  "loss": )" + loss + R"(,
  "epochs": 8, "batch_size": 8
})");
  }
  json trained(const std::string& training, const std::string& more = "") const {
    const Outcome run = tenon("train " + training + " --json" + more);
    EXPECT_EQ(run.code, 0) << run.err;
    return run.code == 0 ? json::parse(run.out) : json();
  }
  std::string refused(const std::string& training) const {
    const Outcome run = tenon("train " + training);
    EXPECT_EQ(run.code, 1);
    EXPECT_EQ(run.out, "");
    return run.err;
  }
};

constexpr const char* kFlowers =
    R"("header": true, "label": "kind", "skip": "id", "one_hot": ["place"], "missing": 0)";
// Numbers to learn, of the same table.
constexpr const char* kWidths =
    R"("header": true, "targets": "width", "skip": ["id", 4], "one_hot": "place", "missing": 0)";

TEST_F(TablesTest, TextsAreClassesAndColumns) {
  const json result = trained(file(kFlowers));
  EXPECT_GT(result.at("test_accuracy").get<double>(), 0.85);  // 1/3 by chance, 2/3 by the likelier
}

TEST_F(TablesTest, WhatIsWrongIsNamed) {
  const auto said = [&](const std::string& from, const std::string& to) {
    std::string fields = kFlowers;
    fields.replace(fields.find(from), from.size(), to);
    return refused(file(fields));
  };
  EXPECT_HAS(said("\"kind\"", "\"kinds\""),
             "flowers.csv: there is no column 'kinds'; did you mean 'kind'?");
  EXPECT_HAS(said("\"header\": true, ", ""), "t.json:2: data: label is the column of the class");
  EXPECT_HAS(said("\"id\"", "[\"id\", \"\"]"), "flowers.csv: there is no column ''");
  trained(file(std::string(kFlowers).replace(std::string(kFlowers).find("\"id\""), 4, "[\"id\"]")));
  EXPECT_HAS(said("\"id\"", "[-1]"), "t.json:2: data: skip are columns that are not read");
  EXPECT_HAS(said("[\"place\"]", "{}"), "t.json:2: data: one_hot are columns of texts");
  EXPECT_HAS(said("[\"place\"]", "\"kind\""),
             "column 4 is among those of `one_hot`, and also the label");
  EXPECT_HAS(said(", \"missing\": 0", ""),
             "flowers.csv:7: column 3 (length; cm): 'NA' is not a number");
  EXPECT_HAS(said("\"missing\": 0", "\"missing\": \"0\""), "t.json:2: data: missing");
  EXPECT_HAS(said("\"skip\"", "\"skpi\""),
             "t.json:2: data: unknown field 'skpi'; did you mean 'skip'?");
  std::string comma = file(kFlowers);
  const std::string text = read(comma);
  const size_t at = text.find("\";\"");
  write("t.json", std::string(text).replace(at, 3, "\"ab\""));
  EXPECT_HAS(refused(comma), "t.json:2: data: separator is 'ab', expected one character");
  write("t.json", std::string(text).replace(at, 3, "\"e\""));
  EXPECT_HAS(refused(comma), "separator is 'e', which may be part of a field");
  EXPECT_HAS(refused(file(kFlowers, R"("cross_entropy")", 1)),
             "flowers.csv:2: the label is 1, but the model of ");
}

TEST_F(TablesTest, LossesHaveOptions) {
  const json op = trained(file(kFlowers)).at("epochs");
  EXPECT_EQ(trained(file(kFlowers, R"({"loss": "CrossEntropyLoss"})")).at("epochs"), op);
  // The mean is one of weights, so that equal ones change nothing; others do, and so does smoothing.
  const json equal =
      trained(file(kFlowers, R"({"loss": "CrossEntropyLoss", "weight": [2, 2]})")).at("epochs");
  ASSERT_EQ(equal.size(), op.size());
  for (size_t i = 0; i < op.size(); ++i)
    EXPECT_NEAR(equal[i].at("loss").get<double>(), op[i].at("loss").get<double>(), 1e-6);
  const auto last_loss = [](const json& result) {
    return result.at("epochs").back().at("loss").get<double>();
  };
  const double plain = op.back().at("loss").get<double>();
  for (const char* option : {R"("weight": [0.5, 2])", R"("label_smoothing": 0.1)"}) {
    const std::string other =
        file(kFlowers, std::string(R"({"loss": "CrossEntropyLoss", )") + option + "}");
    const double eager = last_loss(trained(other));
    EXPECT_GT(std::abs(eager - plain), 1e-3) << option;
    EXPECT_EQ(last_loss(trained(other, " --compile")), eager) << option;
  }
  // Within delta Huber's loss is half of the square.
  const std::string square = file(kWidths, R"("mse_loss")", 1, 3);
  const double mse =
      trained(square, " --save " + path("w.safetensors")).at("test_loss").get<double>();
  const Outcome half =
      tenon("eval " + file(kWidths, R"({"loss": "HuberLoss", "delta": 1000})", 1, 3) +
            " --weights " + path("w.safetensors") + " --json");
  ASSERT_EQ(half.code, 0) << half.err;
  EXPECT_NEAR(json::parse(half.out).at("test_loss").get<double>(), mse / 2, 1e-4 * mse);
}

TEST_F(TablesTest, WhatIsWrongWithALossIsNamed) {
  const auto said = [&](const char* loss) { return refused(file(kFlowers, loss)); };
  EXPECT_HAS(said(R"({"loss": "CrossEntropyLos"})"),
             "t.json:5: layer: 'CrossEntropyLos' is no layer; did you mean 'CrossEntropyLoss'?");
  EXPECT_HAS(said(R"({"loss": "CrossEntropyLoss", "smoothing": 1})"), "t.json:5: ");
  EXPECT_HAS(said(R"({"loss": "CrossEntropyLoss", "weight": [1, 2, 3]})"), "t.json:5: loss: ");
  EXPECT_HAS(said(R"({"loss": "CrossEntropyLoss", "weight": "2"})"), "t.json:5: ");
  EXPECT_HAS(said(R"({"loss": "CrossEntropyLoss", "reduction": "none"})"),
             "t.json:5: loss: CrossEntropyLoss gives a tensor of shape [2], expected one number");
  EXPECT_HAS(said(R"({"loss": "Linear", "in_features": 2, "out_features": 2})"),
             "t.json:5: loss: Linear has parameters of its own, which nothing trains");
  EXPECT_HAS(said(R"({"label_smoothing": 0.1})"), "t.json:5: loss: the field 'loss' is missing");
  EXPECT_HAS(said("[]"),
             "t.json:5: loss: the name of an op is expected, or {\"loss\": \"CrossEntropyLoss\"");
  EXPECT_HAS(
      said(R"({"loss": "cross_entropy", "label_smoothing": 0.1})"),
      "t.json:5: loss: 'cross_entropy' is an op, whose options files do not say; expected a layer");
  EXPECT_HAS(said(R"({"loss": "CrossEntropyLoss", "weight": [1, 1e39]})"),
             "t.json:5: CrossEntropyLoss: 'weight' has 1e+39, which is more than float32 holds");
}

// A checkpoint knows the options of the loss.
TEST_F(TablesTest, ACheckpointOfAnotherLossIsRefused) {
  trained(file(kFlowers, R"({"loss": "CrossEntropyLoss", "label_smoothing": 0.1})"),
          " --checkpoint " + path("c") + " --epochs 1");
  const Outcome run =
      tenon("train " + file(kFlowers, R"({"loss": "CrossEntropyLoss", "label_smoothing": 0.2})") +
            " --resume " + path("c"));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err,
             "another loss: CrossEntropyLoss(label_smoothing=0.1) there, "
             "CrossEntropyLoss(label_smoothing=0.2) here");
}

}  // namespace
}  // namespace cli
