// Which training a checkpoint is of: one of another model, optimizer, loss, schedule or of other data is
// refused, though its tensors might fit. Used by train.cpp.
#pragma once

#include <string>
#include <vector>

#include "training.h"

namespace tenon::cli {

// A part of a Checkpoint, which loads nothing.
class Identity {
 public:
  explicit Identity(const Training& training);

  NamedTensors state_dict() const;
  // An Error names the first part that is another one, and what it is there and here.
  void load_state_dict(const NamedTensors& state) const;

 private:
  struct Part {
    std::string name, text;
    bool of_data = false;
  };
  std::vector<Part> parts_;
};

}  // namespace tenon::cli
