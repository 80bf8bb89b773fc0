// From JSON to descriptions of layers and optimizers, {"layer": "Linear", "in_features": 64}. Used
// by config.cpp.
#pragma once

#include <string>

#include <tenon/build.hpp>

#include "json.h"

namespace tenon::cli {

// `kind` is the field with the factory's name: "layer", "optimizer"; `skipped` is none of its
// options. Errors about the description begin with the file and the line.
Description read_description(const std::string& file, const Json& json, const std::string& kind,
                             const std::string& skipped = "");

// "file:line", as errors begin.
std::string place_at(const std::string& file, int line);

}  // namespace tenon::cli
