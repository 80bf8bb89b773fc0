// From JSON to descriptions of layers and optimizers, {"layer": "Linear", "in_features": 64}. Used
// by config.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tenon/build.hpp>

#include "json.h"

namespace tenon::cli {

inline constexpr int64_t kMostLayers = 10000;

// `kind` is the field with the factory's name: "layer", "optimizer"; those of `skipped` are none of
// its options. Errors about the description begin with the file and the line.
Description read_description(const std::string& file, const Json& json, const std::string& kind,
                             const std::vector<std::string>& skipped = {});

// A list of layers in order, as a Sequential: by factories' names, with lists of their own where they
// are containers, as {"residual": [..]}, {"branches": {..}} or {"shared": ".."}. `what` begins
// errors.
Description read_layers(const std::string& file, const JsonMember& member, const std::string& what);

// "file:line", as errors begin.
std::string place_at(const std::string& file, int line);

}  // namespace tenon::cli
