// Between a recording and its first replay: calls whose results nobody reads go, cheap values are
// computed again where that saves memory, what is left is given memory, and kernels prepare their
// calls. docs/architecture.md, "A compiled function".
#pragma once

#include "capture/graph.h"

namespace tenon {

// In this order.
void drop_dead_steps(LaunchGraph* graph);
// What one elementwise call or copy makes, and is read again behind the step at which the most memory
// lives, is computed a second time there, where all that it is made of lives anyway.
[[nodiscard]] Status recompute_cheap_values(LaunchGraph* graph);
// One arena a device for all that lives inside, laid out by lifetimes; takes it, and puts it into
// the calls.
[[nodiscard]] Status plan_memory(LaunchGraph* graph);
[[nodiscard]] Status prepare_calls(LaunchGraph* graph);

}  // namespace tenon
