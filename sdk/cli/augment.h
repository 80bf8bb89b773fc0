// The field "augment" of a training file: what is drawn anew for each image of the training. Used by
// config.cpp and train.cpp.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tenon/data.hpp>

#include "json.h"

namespace tenon::cli {

using Transform = std::function<Tensor(const Tensor& image, data::Random& random)>;

// Throws a tenon::Error with file and line.
std::vector<Transform> read_augment(const std::string& file, const JsonMember& member);

// Items whose images are changed.
struct AugmentedTable {
  data::Dataset items;
  std::vector<Transform> transforms;

  int64_t size() const { return items.size(); }
  std::pair<Tensor, Tensor> get(int64_t index, data::Random& random) const;
};

}  // namespace tenon::cli
