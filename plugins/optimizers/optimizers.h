// The optimizer pack: a file an optimizer, each with a function that registers it. Names, options,
// state and formulas are PyTorch's. A step is one op on lists of tensors, so that a backend may
// fuse it over all parameters.
#pragma once

#include "tenon/plugin.hpp"

namespace optimizers {

using namespace tenon;          // NOLINT
using namespace tenon::plugin;  // NOLINT

void add_adam();
void add_sgd();

// Refuses a value below 0, and NaN.
void expect_not_negative(const char* option, double value);

}  // namespace optimizers
