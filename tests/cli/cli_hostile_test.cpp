// The command among hostile files and streams: what it says is short and cannot command a terminal,
// what is no file does not hang it, and what failed is never a success.
#include <fcntl.h>
#include <sys/stat.h>

#include "cli_hostile.h"

namespace cli {
namespace {

TEST_F(Hostile, ManyFieldsAndLongNamesAreAnswered) {
  std::string fields;
  for (int i = 0; i < 50'000; ++i) fields += "\"field" + std::to_string(i) + "\": 1, ";
  EXPECT_HAS(refused(with("\"epochs\"", fields + "\"epochs\"")),
             "training: unknown field 'field0'");
  EXPECT_HAS(refused(with("\"csv\"", fields + "\"csv\"")), "data: unknown field 'field0'");
  EXPECT_HAS(refused(with("\"csv\"", fields + "\"cvs\"")),
             "data: unknown field 'cvs'; did you mean 'csv'?");
  EXPECT_HAS(refused(with("\"in_features\"", fields + "\"in_features\"")),
             "Linear has no option 'field");
  EXPECT_HAS(refused(with("\"epochs\"", fields + "\"field7\": 2, \"epochs\"")),
             "'field7' is there twice, first on line");
  const std::string name(1'000'000, 'a');
  const std::string shown = std::string(80, 'a') + "... (1000000 bytes)'";
  EXPECT_HAS(refused(with("\"epochs\"", "\"" + name + "\": 1, \"epochs\"")),
             "training: unknown field '" + shown);
  EXPECT_HAS(refused(with("\"Linear\"", "\"" + name + "\"")),
             "layer: '" + shown + " is no layer (known are");
  EXPECT_HAS(refused(with("\"in_features\"", "\"" + name + "\"")),
             "Linear has no option '" + shown);
  EXPECT_HAS(refused(with("\"cross_entropy\"", "\"" + name + "\"")), "loss: unknown op '" + shown);
  EXPECT_HAS(refused(with("\"seed\"", "\"device\": \"" + name + "\", \"seed\"")),
             "unknown device '" + shown);
  EXPECT_HAS(refused(with("\"digits.csv\"", "\"" + name + "\"")),
             "cannot be opened: File name too long");
  EXPECT_HAS(refused(with("\"cross_entropy\"", "\"" + name)), "; last read: '\"aaa");
  const std::string long_word(100'000, 'a');  // an argument has at most 128 KiB
  for (const std::string& line :
       {"$tenon " + long_word, "$tenon ops --" + long_word, "$tenon train " + long_word,
        "$tenon bench " + long_word, "$tenon bench ops --only " + long_word,
        "$tenon train t.json --seed " + long_word, "$tenon train t.json --device " + long_word}) {
    const Outcome run = shell(line);
    EXPECT_NE(run.code, 0);
    EXPECT_TRUE(is_plain(run.err));
    EXPECT_HAS(run.err, "tenon: ");
  }
}

TEST_F(Hostile, NoTextOfOthersCommandsTheTerminal) {
  const std::string escape = "\\u001b]0;gotcha\\u0007\\r\\u009b31m\\u202e";
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"epochs\"", "\"" + escape + "\": 1, \"epochs\""},
           {"\"epochs\"", "\"" + escape + "\": 1, \"" + escape + "\": 1, \"epochs\""},
           {"\"epochs\"", "\"a" + escape + "\\u0000\": 1, \"epochs\""},
           {"\"csv\"", "\"" + escape + "\""},
           {"\"Linear\"", "\"" + escape + "\""},
           {"\"in_features\"", "\"" + escape + "\""},
           {"\"in_features\": 64", "\"in_features\": \"" + escape + "\""},
           {"\"Adam\"", "\"" + escape + "\""},
           {"\"cross_entropy\"", "\"" + escape + "\""},
           {"\"seed\"", "\"device\": \"" + escape + "\", \"seed\""},
           {"\"digits.csv\"", "\"" + escape + "\""},
           {"\"seed\"", "\"schedule\": {\"schedule\": \"" + escape + "\"}, \"seed\""},
           {"\"epochs\"", "\x1b[2J\xff\x80"},
           {"\"epochs\"", "\"\xff\xfe\x80\": 1"},
           {"\"epochs\"", "\"\x1b[2J\": 1"},
       }) {
    refused(with(from, to));
  }
  write("bad.csv", "1,2\n1,\x1b[2J\xc2\x9b\n");
  refused(with("\"digits.csv\"", "\"" + path("bad.csv") + "\""));
  const std::string header =
      R"({"\u001b[2J\r":{"dtype":"\u001b[2J","shape":[1],"data_offsets":[0,1]}})";
  write("bad.safetensors", std::string{char(header.size()), 0, 0, 0, 0, 0, 0, 0} + header + "a");
  refused(with(
      "\"csv\": \"digits.csv\",\n    \"label\": \"last\"",
      "\"safetensors\": \"" + path("bad.safetensors") + "\", \"input\": \"x\", \"target\": \"y\""));
  refused(write("a\x1b[2J\r\xff.json", "{"));
  for (const std::string line :
       {"$tenon $'\\e[2J'", "$tenon ops $'--\\e[2J'", "$tenon train $'\\e[2J'",
        "$tenon train t.json --seed $'\\e[2J'", "$tenon bench $'\\e[2J'",
        "TENON_PLUGIN_PATH=$'/\\e[2J:\\e[3J' $tenon plugins",
        "TENON_KERNELS=$'\\e[2J' $tenon train t.json"}) {
    const Outcome run = shell("exec bash -c \"tenon='$tenon'; " + line + "\"");
    EXPECT_TRUE(is_plain(run.err)) << line;
    EXPECT_TRUE(is_plain(run.out)) << line;
  }
}

TEST_F(Hostile, WhatIsNoRegularFileIsRefused) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& file : {path("pipe"), std::string("/dev/zero"), folder_.string()}) {
    const char* what = file == folder_.string() ? "is a folder, not a regular file"
                                                : "is a device or pipe, not a regular file";
    EXPECT_HAS(refused(file), file + ": " + what);
    EXPECT_HAS(refused(with("\"digits.csv\"", "\"" + file + "\"")), file + ": " + what);
    const std::string csv = "\"csv\": \"digits.csv\",\n    \"label\": \"last\"";
    EXPECT_HAS(refused(with(csv, "\"images\": \"" + file + "\", \"labels\": \"" + file + "\"")),
               file + ": " + what);
    EXPECT_HAS(refused(with(
                   csv, "\"safetensors\": \"" + file + "\", \"input\": \"x\", \"target\": \"y\"")),
               file + ": " + what);
    const Outcome eval = shell("$tenon eval " + digits() + "/mlp.json --weights " + file);
    EXPECT_EQ(eval.code, 1);
    EXPECT_HAS(eval.err, file + ": " + what);
    const Outcome save = shell("$tenon train " + digits() + "/mlp.json --epochs 1 --save " + file);
    EXPECT_EQ(save.code, 1);
    EXPECT_HAS(save.err, file + ": " + what);
  }
  const std::string text =
      R"({"data": {"text": "pipe", "context": 4}, "model": [{"layer": "Flatten"}],
    "optimizer": {"optimizer": "SGD", "lr": 1}, "loss": "cross_entropy", "steps": 1, "batch_size": 1})";
  const Outcome run = shell("$tenon train " + write("text.json", text));
  EXPECT_EQ(run.code, 1);
  EXPECT_HAS(run.err, "pipe: is a device or pipe, not a regular file");
  if (::truncate(write("large.json", "").c_str(), off_t{1} << 40) == 0) {
    EXPECT_HAS(refused(path("large.json")), "has 1099511627776 bytes, expected at most 67108864");
  }
}

TEST_F(Hostile, FilesThatAreNoJsonAreNamed) {
  EXPECT_HAS(refused(write("t.json", std::string(100'000, '['))), "t.json:1: more than 64 levels");
  EXPECT_HAS(refused(write("t.json", "\xef\xbb\xbf{}")),
             "t.json:1: training: the field 'data' is missing");
  EXPECT_HAS(refused(write("t.json", std::string("{\"data\": \0}", 11))), "t.json:1: ");
  EXPECT_HAS(refused(write("t.json", "")), "t.json:1: ");
  EXPECT_HAS(refused(with("\"epochs\": ", "\"epochs\": 1e999, \"x\": ")),
             "the number 1e999 is out of range");
  EXPECT_HAS(
      refused(with("\"epochs\": ", "\"epochs\": 1" + std::string(100'000, '0') + ", \"x\": ")),
      "is out of range");
}

TEST_F(Hostile, WeightsDoNotTakeThePlaceOfWhatTheyComeFrom) {
  const std::string csv = path("rows.csv");
  fs::copy_file(digits() + "/digits.csv", csv);
  const std::string file = with("\"digits.csv\"", "\"" + csv + "\""), before = read(file),
                    rows = read(csv);
  fs::create_hard_link(file, path("other name"));
  const auto saved_to = [&](const std::string& target) {
    const Outcome run = shell("$tenon train '" + file + "' --epochs 1 --save '" + target + "'");
    EXPECT_EQ(run.code, 1);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_HAS(saved_to(file), "--save: " + file + " is the training file; expected another file");
  EXPECT_HAS(saved_to(path("other name")), "is the training file");
  EXPECT_HAS(saved_to(csv), "--save: " + csv + " is read by this training; expected another file");
  EXPECT_TRUE(read(file) == before);
  EXPECT_TRUE(read(csv) == rows);
}

TEST_F(Hostile, APathIsShownOnOneLine) {
  EXPECT_HAS(refused(with("\"digits.csv\"", "\"a\\nb.csv\"")), "a\\x0ab.csv: ");
  EXPECT_HAS(refused(write("a\nb.json", "{")), "a\\x0ab.json:1: ");
}

TEST_F(Hostile, WhatServesAPluginAloneIsUnknown) {
  EXPECT_HAS(refused(with("\"cross_entropy\"", "\"mse\"")),
             "loss: unknown op 'mse'; did you mean 'mse_loss'?");
  EXPECT_HAS(refused(with("\"cross_entropy\"", "\"_attention\"")), "loss: unknown op '_attention'");
  EXPECT_HAS(refused(with("\"cross_entropy\"", "\"ops._attention\"")),
             "loss: unknown op 'ops._attention'");
}

TEST_F(Hostile, ParametersAreTheModels) {
  EXPECT_HAS(refused(with("\"lr\": ", "\"params\": [1], \"lr\": ")),
             "'params' is not an option here: they are the model's");
}

TEST_F(Hostile, ValuesOfImagesAreNumbers) {
  const auto idx = [&](const std::string& name, char type, const std::string& sizes,
                       const std::string& values) {
    const std::string dims(1, static_cast<char>(sizes.size()));
    std::string bytes = std::string(2, '\0') + type + dims;
    for (const char size : sizes) bytes += std::string(3, '\0') + size;
    return write(name, bytes + values);
  };
  const std::string csv = "\"csv\": \"digits.csv\",\n    \"label\": \"last\"";
  const auto of = [&](const std::string& images, const std::string& labels) {
    return refused(with(csv, "\"images\": \"" + images + "\", \"labels\": \"" + labels + "\""));
  };
  const std::string images =
      idx("images", '\x0d', "\2\2", std::string("\0\0\0\0\0\0\0\0\0\0\0\0\x7f\xc0\0\0", 16));
  EXPECT_HAS(of(images, idx("labels", '\x08', "\2", std::string(2, '\0'))),
             images + ": item 1, value 1 of 2: nan is no number that float32 holds");
  const std::string none(1, '\0');
  EXPECT_HAS(of(idx("images", '\x0d', none + "\2", ""), idx("labels", '\x08', none, "")),
             "there are no examples");
}

// A model says what it has read. What is no terminal gets it as it is.
TEST_F(Hostile, AModelCommandsNoTerminal) {
  if (std::system("command -v script >/dev/null") != 0)
    GTEST_SKIP() << "no program that makes a terminal";
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\x1b[2J\xc3\xa4\xc2\x9b";
  write("text.txt", text);
  const std::string file = write("text.json", R"({"data": {"text": "text.txt", "context": 4},
    "model": [{"layer": "Embedding", "num_embeddings": "vocab", "embedding_dim": 4},
              {"layer": "Linear", "in_features": 4, "out_features": "vocab"},
              {"layer": "Flatten", "start_dim": 0, "end_dim": 1}],
    "optimizer": {"optimizer": "SGD", "lr": 0.01}, "loss": "cross_entropy", "steps": 1, "batch_size": 1})");
  const Outcome train = shell("$tenon train " + file + " --save " + path("w"));
  ASSERT_EQ(train.code, 0) << train.err;
  const std::string generate =
      "generate " + file + " --weights " + path("w") + " --prompt '[' --temperature 2";
  EXPECT_NE(shell("$tenon " + generate).out.find('\x1b'), std::string::npos);
  const Outcome run = shell("script -qec \"$tenon " + generate + "\" /dev/null | tr -d '\\r'");
  EXPECT_TRUE(is_plain(run.out)) << run.out;
  EXPECT_HAS(run.out, "\\x1b");
}

// Each number that is read, with what lies outside of its range.
TEST_F(Hostile, NumbersOutOfRangeAreNamedWithTheirField) {
  const std::string seed = "\"seed\"";
  const auto schedule = [&](const std::string& fields) {
    return refused(with(seed, "\"schedule\": {" + fields + "}, \"seed\""));
  };
  for (const char* value : {"-1", "0", "1000000000000000000", "1e308", "-0.5", "null", "\"1\""}) {
    const std::string number = value;
    EXPECT_HAS(refused(with("\"batch_size\": ", "\"batch_size\": " + number + ", \"x\": ")),
               "training: batch_size is ");
    EXPECT_HAS(refused(with("\"test_every\": ", "\"test_every\": " + number + ", \"x\": ")),
               "data: test_every is ");
    EXPECT_HAS(refused(with("\"epochs\": ", "\"epochs\": " + number + ", \"x\": ")),
               "training: epochs is ");
    EXPECT_HAS(refused(with("\"layer\": \"ReLU\"", "\"layer\": \"ReLU\", \"repeat\": " + number)),
               "layer: repeat is ");
    EXPECT_HAS(schedule("\"schedule\": \"step\", \"step_size\": " + number),
               "schedule: step_size is ");
  }
  EXPECT_HAS(refused(with(seed, "\"clip_grad_norm\": 0, \"seed\"")),
             "training: clip_grad_norm is 0, expected more than 0");
  EXPECT_HAS(refused(with(seed, "\"clip_grad_norm\": 1e308, \"seed\"")),
             "training: clip_grad_norm is 1e+308, expected");
  EXPECT_HAS(refused(with("\"scale\": ", "\"scale\": -1e308, \"x\": ")),
             "data: scale is -1e+308, expected a number from");
  EXPECT_HAS(refused(with("\"seed\": ", "\"seed\": -1, \"x\": ")),
             "training: seed is -1, expected at least 0");
  EXPECT_HAS(schedule("\"schedule\": \"step\", \"step_size\": 1, \"gamma\": 1e308"),
             "schedule: gamma is 1e+308, expected");
  EXPECT_HAS(schedule("\"schedule\": \"cosine\", \"min_lr\": 1e308"),
             "schedule: min_lr is 1e+308, expected");
  EXPECT_HAS(schedule("\"schedule\": \"cosine\", \"warmup_steps\": -1"),
             "schedule: warmup_steps is -1, expected");
  std::string layers;
  for (int i = 0; i < 2; ++i) layers += "{\"layer\": \"ReLU\", \"repeat\": 9999}, ";
  EXPECT_HAS(refused(with("{\"layer\": \"ReLU\"}", layers + "{\"layer\": \"ReLU\"}")),
             "model: more than 10000 layers");
}

TEST_F(Hostile, ADimensionOutOfRangeIsNamedWithItsLayer) {
  for (const char* dim : {"-3", "2", "-9223372036854775808", "9223372036854775807"}) {
    EXPECT_HAS(
        refused(with("{\"layer\": \"ReLU\"}", std::string("{\"layer\": \"Unflatten\", \"dim\": ") +
                                                  dim + ", \"unflattened_size\": [1, 128]}")),
        "model: layer 1: ");
  }
}

TEST_F(Hostile, WhatIsEmptyOrElsewhereIsSaidWithItsLine) {
  const std::string seed = "\"seed\"";
  EXPECT_HAS(refused(with(seed, "\"device\": \"\", \"seed\"")),
             "training: device is empty, expected a name as \"cpu\"");
  EXPECT_HAS(refused(with(seed, "\"device\": \"gpu\", \"seed\"")),
             "t.json:18: device: unknown device 'gpu'");
  EXPECT_HAS(refused(with("\"cross_entropy\"", "\"\"")), "training: loss is empty, expected");
  EXPECT_HAS(refused(with(seed, R"("amp": {"policy": "O1", "dtype": ""}, "seed")")),
             "amp: dtype is empty, expected float16 or bfloat16");
  EXPECT_HAS(refused(with("\"digits.csv\"", "\"absent.csv\"")), "absent.csv: cannot be opened");
  EXPECT_EQ(refused(with("\"digits.csv\"", "\"absent.csv\"")).find("could not be made"),
            std::string::npos);
  EXPECT_HAS(refused(with("\"label\": \"last\"", "\"label\": 65")), "t.json:3: data: CsvFile: ");
  EXPECT_HAS(refused(with("\"lr\": 0.003", "\"lr\": 1e308")),
             "optimizer: lr is 1e+308, expected a number from -3.402823e+38 to 3.402823e+38");
  EXPECT_HAS(refused(with(seed, R"("schedule": {"schedule": "one_cycle", "max_lr": 1,
      "div_factor": 1e-320}, "seed")")),
             "schedule: OneCycleLR: max_lr / div_factor is inf");
  EXPECT_HAS(refused(write("zero.json", read(with("\"seed\"", "\"seed\"")) + '\0' + "{")),
             ": a zero byte, which no JSON has");
}

// Each of these would be read by the same command.
TEST_F(Hostile, NothingThatIsReadIsWrittenOver) {
  const std::string file = with("\"seed\"", "\"seed\""), text = read(file);
  const auto expect_refused = [&](const std::string& line, const std::string& message) {
    const Outcome run = shell("$tenon " + line);
    EXPECT_NE(run.code, 0) << line;
    EXPECT_HAS(run.err, message);
  };
  const std::string other = "is the training file; expected another file";
  expect_refused("graph " + file + " --dot " + file, "--dot: " + file + " " + other);
  expect_refused("graph " + file + " --svg " + file, "--svg: " + file + " " + other);
  expect_refused("graph " + file + " --dot x --svg x", "--dot and --svg are both x");
  EXPECT_EQ(read(file), text);
  for (const char* name : {"a", "b"}) {
    fs::create_directories(path(std::string("texts/") + name));
    for (int i = 0; i < 4; ++i)
      write(std::string("texts/") + name + "/" + std::to_string(i) + ".txt", name);
  }
  const std::string texts =
      write("texts.json", R"({"data": {"text_folder": "texts", "length": 4, "test_every": 4},
    "model": [{"layer": "Embedding", "num_embeddings": "vocab", "embedding_dim": 2}, {"layer": "Flatten"}],
    "optimizer": {"optimizer": "SGD", "lr": 0.1}, "loss": "cross_entropy", "epochs": 1, "batch_size": 2})");
  expect_refused("train " + texts + " --save " + path("texts/a/1.txt"),
                 "--save: " + path("texts/a/1.txt") + " is in the folder of this training's data");
  EXPECT_EQ(read(path("texts/a/1.txt")), "a");
  expect_refused("bench ops --json " + path("no/such/file"), "--json: " + path("no/such/file"));
}

TEST_F(Hostile, LinesThatContradictThemselvesAreRefused) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"ops --json --markdown", "ops: --json and --markdown are there, expected one of them"},
      {"ops relu --json", "ops: NAME and --json are there, expected one of them"},
      {"header ops --namespace '1 2'", "header: --namespace is '1 2', expected a name of C++"},
      {"header ops --namespace a::", "header: --namespace is 'a::', expected a name of C++"},
      {"header ops --namespace a::class", "--namespace is 'a::class', expected a name of C++"},
      {"header ops --group ''", "header: --group is empty, expected a name"},
      {"header layers --methods definitions", "header: plugin 'layers' brings no method of Tensor"},
      {"header ops --methods definitions --namespace a", "expected no --namespace"},
      {"train t.json --device ''", "train: --device is empty, expected a name"},
      {"train t.json --steps 1 --steps 2", "option '--steps' cannot be specified more than once"},
      {"train t.json --steps 0x10", "train: --steps is '0x10', expected an integer from 1 to"},
      {"help trian", "no command 'trian'; did you mean 'train'?"},
      {"--version 2", "more arguments than --version takes"},
  };
  for (const auto& [line, message] : lines) {
    const Outcome run = shell("$tenon " + line);
    EXPECT_EQ(run.code, 2) << line;
    EXPECT_HAS(run.err, message);
    EXPECT_EQ(run.out, "") << line;
  }
  EXPECT_EQ(shell("$tenon help train").out, shell("$tenon train --help").out);
}

TEST_F(Hostile, ClosedStreamsEndNothing) {
  EXPECT_EQ(shell("$tenon ops 2>&-").code, 0);
  EXPECT_EQ(shell("$tenon ops <&- 2>&-").code, 0);
  EXPECT_EQ(shell("$tenon no_such_command 2>&-").code, 2);
  EXPECT_EQ(shell("$tenon train absent.json <&- >&- 2>&-").code, 1);
  const Outcome unwritten = shell("$tenon ops >&-");
  EXPECT_EQ(unwritten.code, 1);
  EXPECT_HAS(unwritten.err, "tenon: the output cannot be written: Bad file descriptor");
  EXPECT_EQ(shell("$tenon ops >&- 2>&-").code, 1);
  // The file that is saved does not get the number of a stream that is printed to.
  const Outcome saved = shell("$tenon train " + digits() + "/mlp.json --epochs 1 --save " +
                              path("w") + " <&- >&- 2>&-");
  EXPECT_EQ(saved.code, 1);
  const Outcome eval = shell("$tenon eval " + digits() + "/mlp.json --weights " + path("w"));
  EXPECT_EQ(eval.code, 0) << eval.err;
}

TEST_F(Hostile, AnOutputThatCannotBeWrittenIsAFailure) {
  for (const std::string words : {"--help", "--version", "ops", "plugins --json", "train --help"}) {
    const Outcome full = shell("$tenon " + words + " >/dev/full");
    EXPECT_EQ(full.code, 1) << words;
    EXPECT_HAS(full.err, "No space left on device");
  }
  // A reader that has enough is none: the signal ends the command as it ends others, without a
  // word.
  const Outcome head = shell("$tenon ops --json | head -n 1");
  EXPECT_EQ(head.code, 0);
  EXPECT_EQ(head.out, "[\n");
  EXPECT_EQ(head.err, "");
}

TEST_F(Hostile, SavesOverWhatIsThereAndKeepsItsMode) {
  fs::create_directory(path("elsewhere"));
  write("elsewhere/w", "old");
  ASSERT_EQ(::chmod(path("elsewhere/w").c_str(), 0600), 0);
  fs::create_symlink("elsewhere/w", path("w"));
  const Outcome run =
      shell("$tenon train " + digits() + "/mlp.json --epochs 1 --save " + path("w"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(fs::is_symlink(path("w")));
  EXPECT_EQ(fs::status(path("elsewhere/w")).permissions(), fs::perms(0600));
  EXPECT_EQ(shell("$tenon eval " + digits() + "/mlp.json --weights " + path("elsewhere/w")).code,
            0);
  const Outcome bench = shell("$tenon bench overhead --json " + path("no/such/file"));
  EXPECT_EQ(bench.code, 1);
  EXPECT_HAS(bench.err, "no/such/file: cannot be written in");
}

}  // namespace
}  // namespace cli
