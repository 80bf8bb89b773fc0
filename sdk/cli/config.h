// A training as a JSON file describes it (docs/training.md has the fields), checked as far
// as it can be without plugins, with the lines that later errors name.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tenon/build.hpp>
#include <tenon/data.hpp>
#include <tenon/early_stopping.hpp>

#include "augment.h"
#include "json.h"
#include "schedules.h"

namespace tenon::cli {

// Where the data is; of the fields below, those of its kind.
struct DataConfig {
  enum class Kind { kCsv, kIdx, kSafetensors, kText, kTextFolder, kImageFolder };
  Kind kind = Kind::kCsv;
  int line = 0;  // of the field that names the kind
  // Paths from the working directory: one; of images and labels (IDX); or of texts, of which the
  // first that exists is taken.
  std::vector<std::string> paths;
  std::set<std::string> path_fields;  // the names of the fields that have a path, or a list of them
  data::CsvOptions csv;               // CSV, but for the scale
  // Safetensors: names of tensors
  std::string input, target;
  // All but texts
  double scale = 1;
  std::vector<int64_t> shape;  // of an item; empty: as it is
  int64_t test_every = 0;
  // Text, and folders of texts: a tokenizer.json, or "" for characters
  std::string tokenizer;
  // Text
  int64_t context = 0;
  double validation = 0;
  // Folders of texts: how many tokens of a text are read
  int64_t length = 0;
  // Folders of images: heights and widths; no crop where it is empty
  bool is_gray = false;
  std::vector<int64_t> resize, crop;
  std::vector<double> mean, std;
  int64_t workers = -1;  // that decode; -1: as many as there are processors
};

// Beyond what anyone counts to; keeps products in range.
inline constexpr int64_t kMostCounted = int64_t{1} << 40;
inline constexpr int64_t kMostContext = int64_t{1} << 20;
inline constexpr int64_t kMostInBatch = int64_t{1} << 28;  // characters in the windows of a batch
inline constexpr int64_t kMostSide = int64_t{1} << 16;     // of an image
inline constexpr int64_t kMostWorkers = 1024;
inline constexpr int64_t kMostPadding = int64_t{1} << 20;
inline constexpr double kMostFactor = 1e6;         // of a learning rate, and the rate
inline constexpr double kMostFloat = 3.402823e38;  // that float32 holds

// Mixed precision: a policy by its name; empty: none.
struct AmpConfig {
  std::string policy;
  std::string dtype;  // "float16" or "bfloat16"; empty: the device's own
  int line = 0;
};

struct TrainingConfig {
  std::string file;
  DataConfig data;
  Description model;  // a Sequential
  int model_line = 0;
  Description optimizer;
  std::string loss;                       // the name of an op
  std::optional<Description> loss_layer;  // or a layer with options
  int loss_line = 0;
  ScheduleConfig schedule;
  double clip_grad_norm = 0;         // 0: not clipped
  int64_t accumulate = 1;            // parts of a batch
  std::vector<std::string> metrics;  // beside the loss and the accuracy
  int metrics_line = 0;
  std::vector<Transform> augment;
  int augment_line = 0;
  std::optional<EarlyStoppingOptions> early_stopping;
  bool compile = false;  // steps are recorded and replayed
  AmpConfig amp;
  std::string device;
  int device_line = 0;
  int64_t epochs = 0;  // tables
  int64_t steps = 0;   // text
  int64_t batch_size = 0;
  int batch_line = 0;      // of batch_size
  bool drop_last = false;  // of a table: a last batch that is not full is left out
  uint64_t seed = 0;

  bool trains() const { return !optimizer.name.empty(); }  // it has an optimizer
};

// Throws a tenon::Error with file and line. `forward_alone`: it may have no optimizer, and then it
// need not say loss, epochs and steps either.
TrainingConfig read_config(const std::string& file, bool forward_alone = false);

}  // namespace tenon::cli
