// gpu_bench: what a GPU does with whole steps and single ops, eagerly and captured.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tenon/tenon.hpp>

namespace gpu_bench {

struct Sizes {
  tenon::Device device;
  bool is_small = false;  // so that a run takes milliseconds on a processor
  // The size of a case, or what stands for it in small.
  int64_t of(int64_t full, int64_t small) const { return is_small ? small : full; }
};

// What is timed: it gives a tensor that depends on all that it computed, since a captured function
// drops what nobody needs, and reads nothing back.
using Run = std::function<tenon::Tensor()>;

// `make` prepares a run. torch_bench.py has the same cases by their names.
struct Case {
  std::string name, what, unit;
  double amount;  // of units in a run: with a run's seconds it gives the rate
  std::function<Run(const Sizes&)> make;
};
std::vector<Case> cases(const Sizes& sizes);

}  // namespace gpu_bench
