// How good a model is on what its training holds out. Used by train and eval.
#pragma once

#include <string>
#include <vector>

#include "training.h"

namespace tenon::cli {

struct Score {
  std::string name;  // "test accuracy"
  double value;

  std::string line() const;      // "test accuracy: 0.983"
  std::string json_key() const;  // "test_accuracy"
};

// The one by which a training is judged: "test accuracy", the part that it puts into the right class;
// "test loss" where the targets are numbers; "validation loss" of a text, the mean over windows side
// by side.
Score score(const Training& training);

// The loss first, which is what early stopping looks at; then for classes the accuracy, and the
// metrics of the file.
std::vector<Score> all_scores(const Training& training);

// The metrics of the file, and last the score.
std::vector<Score> final_scores(const Training& training);
// The same behind a training. An Error where one, or the loss on what is held out, is NaN or infinite.
std::vector<Score> scores_of_trained(const Training& training);

}  // namespace tenon::cli
