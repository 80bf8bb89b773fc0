// Two nodes of a program that are one step: an instruction over floats, and the one that alone reads
// what it gives. A pass over a tile takes as long as its loads and stores, which are halved.
#pragma once

#include <array>
#include <vector>

#include "programs/graph.h"

namespace tenon::cpu_backend {

struct Pair {
  StepFn fn = nullptr;  // of a node that is the second of a pair
  std::array<int, 4> operands = {kNone, kNone, kNone, kNone};  // values, as the step has them
  bool is_first = false;                                       // the node has no step of its own
};

// A pair for each node. What first nodes read is kept until their second ones. Not for plans that work
// in place, whose memory may change in between.
std::vector<Pair> find_pairs(const Table& table, Graph* graph);

}  // namespace tenon::cpu_backend
