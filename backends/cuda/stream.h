// A stream of the device, and what kernels report on it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "driver.h"

namespace cuda {

// As kernels/fault.cuh has it: the first index out of range, in memory of the host that kernels
// write.
struct Fault {
  int32_t is_set, op;
  int64_t index, dim, size;
};
// The place of a stream or of a graph. The memory is freed with the last holder, who has the context
// of the device.
using FaultPlace = std::shared_ptr<Fault>;
tn_status* make_fault_place(int32_t index, FaultPlace* place);

struct Graph;

// What stream_create gives.
struct Stream {
  int32_t index;
  CUstream handle;
  Fault* fault;  // where kernels report that are launched now: on this stream, or in its recording
  FaultPlace own;
  std::unique_ptr<Graph> recording;  // between capture_begin and capture_end
  std::mutex mutex;
  std::vector<FaultPlace> launched;  // of graphs, since the stream was waited for; needs the mutex
};

inline const Stream& stream_of(const tn_call* call) {
  return *static_cast<const Stream*>(call->stream->handle);
}

// Waits for all work so far, and gives a fault that was reported, once.
tn_status* synchronize(Stream& stream);

void add_stream_slots(tn_device_def* def);

}  // namespace cuda
