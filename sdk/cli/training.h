// A training made from a config: data, model, loss, optimizer, and what is done with them. Used by
// train, eval, explain and generate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tenon/precision.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train.hpp>

#include "config.h"
#include "items.h"
#include "text_data.h"

namespace tenon::cli {

struct Training {
  TrainingConfig config;
  Device device;
  data::Dataset train, test;  // of a table; of pictures x are their numbers
  std::shared_ptr<const Pictures> pictures;
  // Of texts in folders: how many ids there are, and the one that fills up, none where no text needs
  // it.
  int64_t ids = 0;
  std::optional<int64_t> padding;
  Vocabulary vocabulary;  // of a text
  TextData text, validation;
  Object model;
  std::optional<Precision> precision;  // where the file or the line wants a policy
  optim::Optimizer optimizer;
  LossFunction loss;  // of output and target; empty where the file needs none and has none

  bool of_text() const { return config.data.kind == DataConfig::Kind::kText; }
  // In which the model is called, until it is destroyed; NULL: nothing is lower.
  std::unique_ptr<Autocast> scope() const { return precision ? precision->open() : nullptr; }
  // A table whose targets are numbers, and no classes.
  bool of_numbers() const { return !of_text() && train.y.dtype().is_float(); }
};

// A device by its name; an Error names those that there are, and where plugins were looked for.
Device find_device(const std::string& name);

// What the command's line says instead of the file: what is negative or empty, the file decides.
struct Overrides {
  std::string device;
  int64_t seed = -1;
  int64_t epochs = -1;
  int64_t steps = -1;
  bool compile = false;
  std::string amp, amp_dtype;
  bool forward_alone = false;  // the file may have no optimizer
};

// Loads the plugins, reads the config and finds the device.
void open(Training& training, const std::string& file, const Overrides& overrides);
// Makes the model on the device; that of a text knows its vocabulary already.
void make_model(Training& training);

// Opens, reads the data and makes all objects. Errors name file and line. The loss points into the
// config, so a Training stays where it is.
void prepare(Training& training, const std::string& file, const Overrides& overrides);

// What a loader gives of `train` or `test`; the first are changed as the file says.
Items items_of(const Training& training, bool is_trained);
data::LoaderOptions loader_options(const Training& training, int64_t batch_size, bool is_trained);

// What `train` saves: the weights, and for a text its vocabulary (training_text.cpp).
NamedTensors saved_state(const Training& training);
// What --init and --weights name: a file that was saved so, or a checkpoint, of which it gives the
// same.
NamedTensors read_weights(const std::string& file);
// Takes the vocabulary out of what was saved. An Error names the file.
Vocabulary take_vocabulary(NamedTensors& state, const std::string& weights);
// An Error says what does not fit the model.
void load_weights(const Training& training, const NamedTensors& state, const std::string& weights);

// Refuses sizes of which no step can be made: fewer items than a batch of them, and a batch (or a part
// of one) of a single item where the model cannot train on one, as BatchNorm cannot.
void check_batches(const Training& training);

// The steps of the whole training, by which its schedule goes.
int64_t steps_of(const Training& training);
// With the options of the file; that of `compile` may be another.
Trainer make_trainer(const Training& training, bool compile);

// Batches of the text at random places, which the seed decides.
class TextBatches {
 public:
  explicit TextBatches(const Training& training);
  std::pair<Tensor, Tensor> next();
  // For checkpoints: the places that come next, and of what text they are.
  NamedTensors state_dict() const;
  void load_state_dict(const NamedTensors& state);

 private:
  const Training& training_;
  uint64_t state_;
};

// The first batch of the training, as the data is.
std::pair<Tensor, Tensor> first_batch(const Training& training);

}  // namespace tenon::cli
