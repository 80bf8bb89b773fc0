// tenon explain --compiled: what of a training step is launched when it is compiled.
#pragma once

#include "training.h"

namespace tenon::cli {

// Runs and records the step of the training, or the model's forward where the file has no
// optimizer, and prints what is replayed, or why the step stays eager.
void explain_compiled(const Training& training, bool json);

}  // namespace tenon::cli
