// Trainings on text, for tests of the command: a small transformer, and what it learns from.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cli_support.h"

namespace cli {

using Replacements = std::vector<std::pair<std::string, std::string>>;

// A training of a transformer of 5,000 parameters on text.txt, of 22 characters.
inline constexpr const char* kTraining = R"({
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
inline std::string sentences(int words) {
  const char* const kWords[] = {"seven ",   "ships ",  "sail ",     "by ",
                                "morning ", "light, ", "quietly.\n"};
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < words; ++i) text += kWords[random() % std::size(kWords)];
  return text;
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

}  // namespace cli
