// Training files that are damaged at random: the command refuses them by an error that it says, or
// trains.
#include <random>

#include "cli_hostile.h"
#include "long_form.h"

namespace cli {
namespace {

constexpr const char* kText = R"({
  "data": {"text": "text.txt", "context": 8, "validation": 0.2},
  "model": [
    {"layer": "Embedding", "num_embeddings": "vocab", "embedding_dim": 8},
    {"layer": "PositionalEmbedding", "num_embeddings": 8, "embedding_dim": 8},
    {"layer": "TransformerEncoderLayer", "repeat": 2, "d_model": 8, "nhead": 2, "dim_feedforward": 16, "dropout": 0.0,
     "activation": "gelu", "batch_first": true, "norm_first": true, "is_causal": true},
    {"layer": "LayerNorm", "normalized_shape": [8]},
    {"layer": "Linear", "in_features": 8, "out_features": "vocab"},
    {"layer": "Flatten", "start_dim": 0, "end_dim": 1}
  ],
  "optimizer": {"optimizer": "AdamW", "lr": 0.01, "betas": [0.9, 0.99]},
  "schedule": {"schedule": "cosine", "warmup_steps": 2, "min_lr": 0.0001},
  "clip_grad_norm": 1.0,
  "loss": "cross_entropy",
  "steps": 2, "batch_size": 4, "seed": 1
})";

// One change: a number by a hostile value, or a byte, or a part that is gone or there twice.
std::string damaged(std::string text, std::mt19937& random) {
  const char* const kValues[] = {"-1",
                                 "0",
                                 "1",
                                 "2",
                                 "-3",
                                 "1e308",
                                 "-1e308",
                                 "1e-320",
                                 "0.5",
                                 "1000000000000000000",
                                 "9223372036854775807",
                                 "-9223372036854775808",
                                 "18446744073709551616",
                                 "null",
                                 "true",
                                 "\"\"",
                                 "\"vocab\"",
                                 "[]",
                                 "[-1]",
                                 "[1, -9223372036854775808]",
                                 "{}"};
  const auto below = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  std::vector<std::pair<size_t, size_t>> numbers;  // where they begin, and their lengths
  for (size_t i = 1; i < text.size(); ++i) {
    const size_t n = std::min(text.find_first_not_of("0123456789.-", i), text.size()) - i;
    if (n > 0 && (text[i - 1] == ' ' || text[i - 1] == '[')) numbers.emplace_back(i, n);
    i += n;
  }
  if (random() % 4 != 0 && !numbers.empty()) {
    const auto [at, n] = numbers[below(numbers.size())];
    return text.replace(at, n, kValues[below(std::size(kValues))]);
  }
  const size_t at = below(text.size()), n = 1 + below(30);
  switch (random() % 4) {
    case 0:
      return text.erase(at, n);
    case 1:
      return text.insert(at, text.substr(below(text.size()), n));
    case 2:
      text[at] = static_cast<char>(random());
      return text;
    default:
      return text.substr(0, at);
  }
}

TEST_F(Hostile, DamagedTrainingFilesAreRefusedOrTrained) {
  const int rounds = long_form() ? 1500 : 100;
  std::string table, rest = read(digits() + "/digits.csv"), text;
  for (int i = 0; i < 40; ++i) {
    table += rest.substr(0, rest.find('\n') + 1);
    rest.erase(0, rest.find('\n') + 1);
  }
  write("digits.csv", table);
  for (int i = 0; i < 40; ++i) text += "ships sail by " + std::to_string(i % 7) + ", ";
  write("text.txt", text);
  const std::string files[] = {read(digits() + "/mlp.json"), read(digits() + "/cnn.json"), kText};
  const char* const counts[] = {"--epochs 1", "--epochs 1", "--steps 2"};
  // A sanitizer maps more than any limit.
  const std::string limit = std::getenv("TENON_SANITIZED") != nullptr ? "" : "ulimit -v 8000000; ";
  std::mt19937 random(8);
  for (int i = 0; i < rounds; ++i) {
    const size_t which = static_cast<size_t>(i) % 3;
    std::string json = damaged(files[which], random);
    if (i % 5 == 4) json = damaged(json, random);
    const Outcome run =
        shell(limit + "$tenon train '" + write("f.json", json) + "' " + counts[which]);
    ASSERT_TRUE(run.code == 0 || run.code == 1)
        << run.code << ": " << run.err << "\nround " << i << " of\n"
        << json;
    EXPECT_EQ(run.code == 0, run.err.empty()) << run.err;
    EXPECT_TRUE(is_plain(run.err)) << json;
    EXPECT_EQ(run.err.find("std::"), std::string::npos) << run.err << json;
  }
}

}  // namespace
}  // namespace cli
