// A stream of the device, and what kernels report on it.
#pragma once

#include "driver.h"

namespace cuda {

// As kernels/index.cuh has it: the first index out of range, in memory of the host that kernels
// write.
struct Fault {
  int32_t is_set, is_scatter;
  int64_t index, dim, size;
};

// What stream_create gives.
struct Stream {
  int32_t index;
  CUstream handle;
  Fault* fault;
};

inline const Stream& stream_of(const tn_call* call) {
  return *static_cast<const Stream*>(call->stream->handle);
}

// Waits for all work so far, and gives the fault that was reported, once.
tn_status* synchronize(const Stream& stream);

void add_stream_slots(tn_device_def* def);

}  // namespace cuda
