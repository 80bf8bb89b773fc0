// A training as a JSON file describes it (examples/digits/README.md has the fields), checked as far
// as it can be without plugins, with the lines that later errors name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json.h"

namespace tenon::cli {

// {"layer": "Linear", "in_features": 64}: a factory by its name, and its options.
struct FactoryCall {
  std::string kind;  // "layer", "optimizer"
  std::string name;
  int line = 0;  // of the name
  std::vector<JsonMember> options;
};

struct DataConfig {
  std::string csv;  // as a path from the working directory
  int line = 0;
  int64_t label = -1;
  double scale = 1;
  bool header = false;
  int64_t test_every = 0;
};

// Beyond what anyone counts to; keeps products in range.
inline constexpr int64_t kMostCounted = int64_t{1} << 40;

struct TrainingConfig {
  std::string file;
  DataConfig data;
  std::vector<FactoryCall> model;
  int model_line = 0;
  FactoryCall optimizer;
  std::string loss;
  int loss_line = 0;
  int64_t epochs = 0;
  int64_t batch_size = 0;
  uint64_t seed = 0;
};

// Throws a tenon::Error with file and line.
TrainingConfig read_config(const std::string& file);

}  // namespace tenon::cli
