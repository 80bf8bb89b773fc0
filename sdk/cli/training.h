// A training made from a config: data, model, loss, optimizer, and the two things done with them.
// Used by train, eval, explain.
#pragma once

#include <cstdint>
#include <string>

#include <tenon/tenon.hpp>

#include "config.h"

namespace tenon::cli {

struct Training {
  TrainingConfig config;
  Device device;
  data::Dataset train, test;
  Object model;
  optim::Optimizer optimizer;
  OpRef loss{""};
};

// A device by its name; an Error names those that there are, and where plugins were looked for.
Device find_device(const std::string& name);

// Loads the plugins, reads config and data, makes the objects on the device. Errors name file and
// line. `seed` and `epochs` replace the file's where not negative. Moves nothing later: OpRef
// points into the config, so a Training stays where it is.
void prepare(Training& training, const std::string& file, const std::string& device,
             int64_t seed = -1, int64_t epochs = -1);

struct Step {
  Tensor output, loss;
};
// Forward, backward and update, on tensors of the device.
Step train_step(const Training& training, const Tensor& x, const Tensor& y);

// The part of the test set that the model puts into the right class.
double test_accuracy(const Training& training);

// "test accuracy: 0.983".
std::string accuracy_line(double accuracy);

}  // namespace tenon::cli
