// `tenon train` on folders of texts and of pictures, a folder for each class; and recurrent layers in
// training files; and the training files of the examples.
#include <cmath>

#include <nlohmann/json.hpp>

#include "cli_support.h"
#include "file_bytes.h"

namespace cli {
namespace {

using nlohmann::json;
using ::tenon::file_bytes::png;

struct CliFolders : CliTest {
  // Rows of letters of 3 to 30: their class is the vowel that came last.
  void write_texts(int n) const {
    uint32_t state = 1;
    const auto draw = [&](uint32_t below) {
      return (state = state * 1664525 + 1013904223) / 65536 % below;
    };
    for (const char* name : {"a", "e"}) fs::create_directories(folder_ / "texts" / name);
    for (int i = 0; i < n; ++i) {
      std::string text;
      char last = 'a';
      for (uint32_t length = 3 + draw(28); length > 0; --length) {
        if (text.empty() || draw(6) == 0) {
          text += last = "ae"[draw(2)];
        } else {
          text += "bcdfgh"[draw(6)];
        }
      }
      write("texts/" + std::string(1, last) + "/" + std::to_string(i) + ".txt", text);
    }
  }
  std::string texts(const std::string& data, const std::string& sequences = "") const {
    return write("t.json", R"({"data": {"text_folder": "texts", )" + data + R"( "test_every": 6},
      "model": [
        {"layer": "Sequences", "padding": "pad", )" +
                               sequences + R"( "layers": [
          {"layer": "Embedding", "num_embeddings": "vocab", "embedding_dim": 8},
          {"layer": "LSTM", "input_size": 8, "hidden_size": 16}]},
        {"layer": "Linear", "in_features": 16, "out_features": 2}],
      "optimizer": {"optimizer": "Adam", "lr": 0.02}, "loss": "cross_entropy",
      "epochs": 8, "batch_size": 16})");
  }

  // Red and blue ones of different sizes with some noise.
  void write_pictures(int n) const {
    uint32_t state = 1;
    for (const char* name : {"blue", "red"}) {
      fs::create_directories(folder_ / "pictures" / name);
      for (int i = 0; i < n; ++i) {
        const uint32_t side = 6 + uint32_t(i) % 5;
        std::string rows;
        for (uint32_t y = 0; y < side; ++y) {
          rows += '\0';
          for (uint32_t x = 0; x < 3 * side; ++x) {
            const bool bright = x % 3 == (*name == 'r' ? 0 : 2);
            rows +=
                char((bright ? 150 : 20) + (state = state * 1664525 + 1013904223) / 65536 % 100);
          }
        }
        write("pictures/" + std::string(name) + "/" + std::to_string(i) + ".png",
              png({side, side, 8, 2, rows}));
      }
    }
  }
  std::string pictures(const std::string& data = R"("resize": 8, )",
                       const std::string& more = "") const {
    return write("p.json", R"({"data": {"image_folder": "pictures", )" + data +
                               R"("test_every": 4}, )" + more + R"(
      "model": [
        {"layer": "AdaptiveAvgPool2d", "output_size": 1}, {"layer": "Flatten"},
        {"layer": "Linear", "in_features": 3, "out_features": 2}],
      "optimizer": {"optimizer": "Adam", "lr": 0.1}, "loss": "cross_entropy",
      "epochs": 5, "batch_size": 8})");
  }
  std::string refused(const std::string& file) const {
    const Outcome run = tenon("train " + file);
    EXPECT_EQ(run.code, 1) << run.out;
    return run.err;
  }
};

TEST_F(CliFolders, AnLstmReadsTextsOfDifferentLengths) {
  write_texts(240);
  const std::string file = texts(R"("length": 40,)");
  Outcome run = tenon("train " + file + " --save " + path("w.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(accuracy(run), 0.9) << run.out;
  run = tenon("eval " + file + " --weights " + path("w.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(accuracy(run), 0.9) << run.out;
  run = tenon("summary " + file);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_HAS(run.out, "LSTM");
  // Every byte and the padding; 4 * (8 * 16 + 16 * 16 + 2 * 16) + 257 * 8 + 34.
  EXPECT_HAS(run.out, "parameters: 3,754");
  // Bytes that no text had before change no other's id.
  for (int i = 0; i < 4; ++i) write("texts/a/" + std::to_string(1000 + i) + ".txt", "#!");
  run = tenon("eval " + file + " --weights " + path("w.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(accuracy(run), 0.85) << run.out;
}

TEST_F(CliFolders, TextsGoThroughATokenizer) {
  write_texts(60);
  write(
      "tokenizer.json",
      R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": false},
    "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"[PAD]": 0, "?": 1, "a": 2, "e": 3, "b": 9}},
    "added_tokens": [{"id": 0, "content": "[PAD]", "special": true, "single_word": false, "lstrip": false,
                      "rstrip": false, "normalized": false}]})");
  const Outcome run =
      tenon("train " + texts(R"("length": 40, "tokenizer": "tokenizer.json",)") + " --epochs 1");
  if (run.err.find("is named 'Tokenizer'") != std::string::npos)
    GTEST_SKIP() << run.err;  // the plugin is left out where ICU is not there
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GE(accuracy(run), 0);
}

TEST_F(CliFolders, ATokenizerWithoutPaddingGetsAnIdForIt) {
  write_texts(60);
  write(
      "tokenizer.json",
      R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": false},
    "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "e": 2, "b": 3}}})");
  const std::string file = texts(R"("length": 40, "tokenizer": "tokenizer.json",)");
  Outcome run = tenon("train " + file + " --epochs 1 --save " + path("w.safetensors"));
  if (run.err.find("is named 'Tokenizer'") != std::string::npos)
    GTEST_SKIP() << run.err;  // the plugin is left out where ICU is not there
  EXPECT_EQ(run.code, 0) << run.err;
  run = tenon("summary " + file);
  // Four tokens and the padding; 4 * (8 * 16 + 16 * 16 + 2 * 16) + 5 * 8 + 34.
  EXPECT_HAS(run.out, "parameters: 1,738");
  // Texts of one length fill nothing up, and the weights fit all the same.
  for (const char* name : {"a", "e"}) {
    fs::remove_all(folder_ / "texts" / name);
    fs::create_directories(folder_ / "texts" / name);
    for (int i = 0; i < 8; ++i)
      write("texts/" + std::string(name) + "/" + std::to_string(i) + ".txt",
            std::string("b") + name);
  }
  run = tenon("eval " + file + " --weights " + path("w.safetensors"));
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(CliFolders, WhatIsWrongWithTextsIsSaid) {
  write_texts(12);
  EXPECT_HAS(refused(texts("")), "t.json:1: data: the field 'length' is missing");
  EXPECT_HAS(refused(texts(R"("length": 0,)")), "t.json:1: data: length is 0, expected at least 1");
  const std::string absent = refused(texts(R"("length": 9, "tokenizer": "none.json",)"));
  if (absent.find("is named 'Tokenizer'") == absent.npos) {  // its plugin is there
    EXPECT_HAS(absent, "none.json: cannot be opened");
  }
  EXPECT_HAS(refused(texts(R"("length": 9,)", R"("output": "first",)")),
             "t.json:3: Sequences could not be made\n  because output is 'first', expected 'last' "
             "or 'all'");
  fs::create_directory(folder_ / "other");
  std::string file = texts(R"("length": 9,)"), text = read(file);
  write("o.json", text.replace(text.find("\"texts\""), 7, "\"other\""));
  EXPECT_HAS(refused(path("o.json")), "o.json:1: data: ");
  EXPECT_HAS(refused(path("o.json")),
             "other: has no .txt in folders of its own, one for each class");
  write("texts/a/bad.txt", "one\n\xff");
  EXPECT_HAS(refused(file), "bad.txt:2: byte 0 of the line is ff, which is no UTF-8");
}

TEST_F(CliFolders, PicturesAreDecodedAsTheyAreNeeded) {
  write_pictures(24);
  const std::string file =
      pictures(R"("resize": [10, 9], "crop": 8, "mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2], )",
               R"("augment": [{"transform": "RandomHorizontalFlip"}],)");
  Outcome run = tenon("train " + file + " --save " + path("w.safetensors"));
  if (run.err.find("is named 'ImageFolder'") != std::string::npos)
    GTEST_SKIP() << run.err;  // the plugin is left out where its libraries are not there
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(accuracy(run), 1) << run.out;
  run = tenon("eval " + file + " --weights " + path("w.safetensors"));
  EXPECT_EQ(accuracy(run), 1) << run.out << run.err;
  run = tenon("summary " + file);
  EXPECT_HAS(run.out, "parameters: 8") << run.err;
}

// The number of threads that decode changes nothing.
TEST_F(CliFolders, WorkersChangeNothing) {
  write_pictures(12);
  std::string first;
  for (const char* workers : {"0", "1", "3"}) {
    const std::string file =
        pictures(std::string(R"("resize": 10, "crop": 8, "workers": )") + workers + ", ",
                 R"("augment": [{"transform": "ColorJitter", "brightness": 0.3}],)");
    const Outcome run = tenon("train " + file + " --json");
    if (run.err.find("is named 'ImageFolder'") != std::string::npos) GTEST_SKIP() << run.err;
    ASSERT_EQ(run.code, 0) << run.err;
    const std::string losses = json::parse(run.out).at("epochs").dump();
    if (first.empty()) first = losses;
    EXPECT_EQ(losses, first) << workers;
  }
}

TEST_F(CliFolders, WhatIsWrongWithPicturesIsSaid) {
  write_pictures(8);
  if (const std::string err = tenon("train " + pictures()).err;
      err.find("is named 'ImageFolder'") != std::string::npos)
    GTEST_SKIP() << err;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "p.json:1: data: the field 'resize' is missing"},
      {R"("resize": 0, )",
       "data: resize is a height and width, one number from 1 to 65536 or a list of two"},
      {R"("resize": [8], )", "data: resize is a height and width"},
      {R"("resize": 8, "crop": [9, 8], )",
       "data: crop is [9, 8], expected a part of the resized image, [8, 8]"},
      {R"("resize": 8, "mode": "CMYK", )", "data: mode is 'CMYK', expected 'RGB' or 'L', gray"},
      {R"("resize": 8, "mean": [0.5], )",
       "data: mean is a list of 3 numbers: of each channel of the images"},
      {R"("resize": 8, "mode": "L", "std": 2, )",
       "data: std is a list of 1 number: of each channel"},
      {R"("resize": 8, "std": [1, 1, 0], )", "data: std has 0, expected numbers above 0"},
      {R"("resize": 8, "workers": 2000, )", "data: workers is 2000, expected at most 1024"},
  };
  for (const auto& [data, message] : cases) EXPECT_HAS(refused(pictures(data)), message);
  EXPECT_HAS(refused(pictures(R"("resize": 8, "mode": "L", )")), "p.json:4: model: layer 2: ");
  EXPECT_HAS(refused(pictures(R"("resize": 8, )",
                              R"("augment": [{"transform": "Cutout", "size": 3, "fill": 1e9},
      {"transform": "RandomCrop", "padding": 2}, {"transform": "Mirror"}],)")),
             "augment: there is no 'Mirror'");
  write("pictures/red/7.png", read(path("pictures/red/7.png")).substr(0, 40));
  EXPECT_HAS(refused(pictures()), "pictures/red/7.png: is no whole PNG file");
}

// Images of 8 x 8 read row by row.
TEST_F(CliFolders, DigitsAreReadRowByRow) {
  const std::string file = digits() + "/lstm.json";
  const Outcome run = tenon("train " + file + " --epochs 4");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_GT(accuracy(run), 0.8) << run.out;
  const Outcome compiled = tenon("train " + file + " --epochs 1 --compile");
  EXPECT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_HAS(compiled.out, "steps were replayed");
}

// The files of examples/ themselves, on few of the pictures and texts that their scripts make, and on a
// short text in the place of the one that the GPT reads.
struct CliExamples : CliTest {
  static std::string examples() { return std::string(::getenv("TENON_SOURCE_DIR")) + "/examples"; }
  // Beside its data.
  std::string copied(const std::string& example, const std::string& to) const {
    fs::create_directories(fs::path(path(to)).parent_path());
    fs::copy_file(examples() + "/" + example, path(to));
    return path(to);
  }
  // The losses of its lines.
  std::vector<double> losses(const std::string& file, const std::string& options,
                             const char* lines) const {
    const Outcome run = tenon("train " + file + " --json " + options);
    if (run.err.find("is named 'ImageFolder'") != std::string::npos) return {};
    EXPECT_EQ(run.code, 0) << run.err;
    std::vector<double> list;
    if (run.code != 0) return list;
    const json result = json::parse(run.out);
    for (const json& line : result.at(lines)) list.push_back(line.at("loss"));
    return list;
  }
};

TEST_F(CliExamples, TheResNetOfPictures) {
  const std::string script = "python3 '" + examples() + "/images/make_images.py' ";
  ASSERT_EQ(std::system((script + path("shapes") + " 18").c_str()), 0);
  const std::vector<double> list =
      losses(copied("images/resnet.json", "resnet.json"), "--epochs 4", "epochs");
  if (list.empty()) GTEST_SKIP() << "the plugin images is left out where its libraries are not";
  ASSERT_EQ(list.size(), 4u);
  EXPECT_NEAR(list[0], std::log(5), 0.4);
  EXPECT_LT(list[3], list[0]);
}

TEST_F(CliExamples, TheLstmOfSources) {
  const std::string script = "bash '" + examples() + "/sources/make_texts.sh' ";
  ASSERT_EQ(std::system((script + path("texts") + " 40").c_str()), 0);
  const std::vector<double> list =
      losses(copied("sources/lstm.json", "lstm.json"), "--epochs 7", "epochs");
  ASSERT_EQ(list.size(), 7u);
  EXPECT_NEAR(list[0], std::log(5), 0.1);
  EXPECT_LT(list[6], list[0] - 0.1);
}

TEST_F(CliExamples, TheGptOfATextAndTheNetworksOfDigits) {
  const std::string file = copied("text/gpt.json", "a/b/c/gpt.json");
  fs::create_directories(path("shared/data"));
  std::string text;
  for (int i = 0; i < 200; ++i) text += "to be, or not to be\n";
  write("shared/data/tinyshakespeare.txt", text);
  const std::vector<double> list = losses(file, "--steps 3", "steps");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_LT(list[2], list[0]);
  for (const char* name : {"mlp", "cnn", "resnet", "lstm"})
    EXPECT_EQ(losses(digits() + "/" + name + ".json", "--epochs 1", "epochs").size(), 1u) << name;
}

}  // namespace
}  // namespace cli
