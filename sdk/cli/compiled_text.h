// What a compiled function says of itself (CompiledFunction::describe; the lines are written in
// core/capture), read for tables and JSON. Used by train and explain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tenon::cli {

// What is launched at a replay, or copied or written.
struct CompiledStep {
  std::string op, kernel;
  std::vector<std::string> operands, results;  // "[8, 12] float32"
  std::string notes;                           // "random; reads lr"
};

// A recording.
struct CompiledGraph {
  int64_t dropped = 0, results = 0, leaves = 0, objects = 0;
  int64_t launches = 0, copies = 0, constants = 0, random = 0;
  int64_t own_bytes = 0, asked_bytes = 0;  // of memory that lives inside
  int64_t outside = 0, outside_bytes = 0;  // tensors that were there before
  int64_t left = 0, left_bytes = 0;        // results and gradients
  int64_t eager_bytes = 0;                 // the most that an eager call holds
  std::vector<std::string> arguments;      // "[8, 12] float32 on cpu"
  std::string bits;                        // what it promises: "those of an eager call, ..."
  std::string device_graph;                // "ref:0": the device that gets it as one graph
  std::vector<CompiledStep> steps;
};

struct CompiledText {
  int64_t recorded = 0, replayed = 0;  // calls
  std::vector<std::string> reasons;    // why calls ran eagerly, each once
  std::vector<CompiledGraph> graphs;

  explicit CompiledText(const std::string& described);

  // "compiled: 1037 of 1040 steps were replayed, 3 recorded"
  std::string line(int64_t steps) const;
  nlohmann::ordered_json json(int64_t steps) const;
};

}  // namespace tenon::cli
