// The field "augment" of a training file: what is drawn anew for each image of the training. Used by
// config.cpp and items.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tenon/data.hpp>

#include "json.h"

namespace tenon::cli {

using Transform = std::function<Tensor(const Tensor& image, data::Random& random)>;

// Throws a tenon::Error with file and line.
std::vector<Transform> read_augment(const std::string& file, const JsonMember& member);

}  // namespace tenon::cli
