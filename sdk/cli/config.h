// A training as a JSON file describes it (docs/training.md has the fields), checked as far
// as it can be without plugins, with the lines that later errors name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

namespace tenon::cli {

// Ops and factories of such a name ("_x", "ops._x") serve their plugin alone: no training file can
// name them.
inline bool is_private(std::string_view name) {
  return name.substr(name.rfind('.') + 1).starts_with('_');
}

// {"layer": "Linear", "in_features": 64}: a factory by its name, and its options. Layers with
// "repeat": n are there n times.
struct FactoryCall {
  std::string kind;  // "layer", "optimizer"
  std::string name;
  int line = 0;  // of the name
  std::vector<JsonMember> options;
};

// Where the data is; of the fields below, those of its kind.
struct DataConfig {
  enum class Kind { kCsv, kIdx, kSafetensors, kText };
  Kind kind = Kind::kCsv;
  int line = 0;  // of the field that names the kind
  // Paths from the working directory: one; of images and labels (IDX); or of texts, of which the
  // first that exists is taken.
  std::vector<std::string> paths;
  // CSV
  int64_t label = -1;
  bool header = false;
  // Safetensors: names of tensors
  std::string input, target;
  // All but text
  double scale = 1;
  int64_t test_every = 0;
  // Text
  int64_t context = 0;
  double validation = 0;
};

// The learning rate of each step, from the optimizer's `lr`: an absolute one, which all groups get.
struct ScheduleConfig {
  enum class Kind { kConstant, kStep, kCosine };
  Kind kind = Kind::kConstant;
  int line = 0;  // 0: there is none, and the optimizer's options stay as they are
  int64_t warmup_steps = 0;
  int64_t step_size = 0;  // step
  double gamma = 0;       // step
  double min_lr = 0;      // cosine
};

// Beyond what anyone counts to; keeps products in range.
inline constexpr int64_t kMostCounted = int64_t{1} << 40;
inline constexpr int64_t kMostContext = int64_t{1} << 20;
inline constexpr int64_t kMostInBatch = int64_t{1} << 28;  // characters in the windows of a batch
inline constexpr int64_t kMostLayers = 10000;
inline constexpr double kMostFactor = 1e6;         // of a learning rate, and the rate
inline constexpr double kMostFloat = 3.402823e38;  // that float32 holds

struct TrainingConfig {
  std::string file;
  DataConfig data;
  std::vector<std::shared_ptr<const FactoryCall>> model;  // a layer that is repeated is one call
  int model_line = 0;
  FactoryCall optimizer;
  std::string loss;
  int loss_line = 0;
  ScheduleConfig schedule;
  double clip_grad_norm = 0;  // 0: not clipped
  std::string device;
  int64_t epochs = 0;  // tables
  int64_t steps = 0;   // text
  int64_t batch_size = 0;
  uint64_t seed = 0;
};

// Throws a tenon::Error with file and line.
TrainingConfig read_config(const std::string& file);

}  // namespace tenon::cli
