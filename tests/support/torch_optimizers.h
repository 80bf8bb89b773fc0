// What the scripts tests/data/torch_*.py wrote of PyTorch's optimizers, and optimizers with the same
// options.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tenon/build.hpp"

namespace {

using Values = std::vector<double>;

inline nlohmann::json torch_data(const std::string& name) {
  return nlohmann::json::parse(
      std::ifstream(std::string(std::getenv("TENON_SOURCE_DIR")) + "/tests/data/" + name));
}

inline tenon::Description description_of(const std::string& name, const nlohmann::json& options) {
  tenon::Description description{.name = name};
  for (const auto& [key, value] : options.items()) {
    tenon::Description::Value option;
    if (value.is_boolean()) {
      option = value.get<bool>();
    } else if (value.is_string()) {
      option = value.get<std::string>();
    } else if (value.is_array()) {
      option = value.get<Values>();
    } else if (value.is_number_integer()) {
      option = value.get<int64_t>();
    } else {
      option = value.get<double>();
    }
    description.options.push_back({key, option});
  }
  return description;
}

}  // namespace
