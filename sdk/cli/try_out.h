// Some items go through model and loss before a training, so that what does not fit is said with its line.
// Used by training.cpp.
#pragma once

#include "training.h"

namespace tenon::cli {

// Leaves no trace: the seed decides the training alone. `all`: of a table, the items in the file's order.
void try_out(const Training& training, const data::Dataset& all);

}  // namespace tenon::cli
