// Counters on a device in which the blocks of a launch are counted, so that the last of them may do
// what needs all others (is_last_to_come in kernels/base.cuh). One belongs to a stream or to a graph,
// whose launches come one after the other.
#pragma once

#include <cstdint>
#include <memory>

#include "driver.h"

namespace cuda {

// An unsigned of the device, which is 0 but while a launch counts. Let go with the device's context.
using Arrivals = std::shared_ptr<void>;

// `stream` captures nothing. It may be waited for: the memory of new counters is cleared on it.
tn_status* take_arrivals(int32_t index, CUstream stream, Arrivals* arrivals);

}  // namespace cuda
