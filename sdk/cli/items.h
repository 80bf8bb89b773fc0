// The items of a table as a loader gives them: rows of tensors, or pictures that are decoded when they
// are asked for; those that are trained on may be changed. Used by training.cpp, train.cpp and
// scores.cpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tenon/data.hpp>
#include <tenon/data/augment.hpp>
#include <tenon/data/images.hpp>
#include <tenon/data/transforms.hpp>

#include "config.h"

namespace tenon::cli {

// A folder of pictures, a folder for each class. What is drawn comes between decoding and
// normalizing.
class Pictures {
 public:
  explicit Pictures(const DataConfig& data);

  int64_t size() const { return folder_.size(); }
  std::vector<int64_t> labels() const;
  // float32 [channels, height, width]. `random`: of a picture that is trained on, which is cut at a
  // random place and goes through the transforms; null: of one that is held out.
  Tensor get(int64_t number, data::Random* random, const std::vector<Transform>& transforms) const;

 private:
  data::ImageFolder folder_;
  data::Resize resize_;
  std::vector<int64_t> crop_;
  data::Normalize normalize_;
};

// For a DataLoader. With pictures the x of `rows` are their numbers, int64 [n].
struct Items {
  data::Dataset rows;
  std::shared_ptr<const Pictures> pictures;  // null: x are the items themselves
  std::vector<Transform> transforms;
  bool is_trained = false;

  int64_t size() const { return rows.size(); }
  std::pair<Tensor, Tensor> get(int64_t index, data::Random& random) const;
};

}  // namespace tenon::cli
