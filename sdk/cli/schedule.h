// The learning rate of each step.
#pragma once

#include <cstdint>

#include "config.h"

namespace tenon::cli {

// Of step number `step`, from 0, of `steps`; `base` is the optimizer's own.
double learning_rate(const ScheduleConfig& schedule, double base, int64_t step, int64_t steps);

}  // namespace tenon::cli
