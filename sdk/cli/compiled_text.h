// What a compiled step says of itself (CompiledFunction::describe), read for lines and JSON. Used
// by train and explain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tenon::cli {

struct CompiledText {
  int64_t recorded = 0, replayed = 0;  // calls
  std::vector<std::string> reasons;    // why calls ran eagerly, each once

  explicit CompiledText(const std::string& described);

  // "compiled: 1037 of 1040 steps were replayed, 3 recorded"
  std::string line(int64_t steps) const;
  nlohmann::ordered_json json(int64_t steps) const;
};

}  // namespace tenon::cli
