// A stream's launches as a graph of its device, by the device's graph slots. While it is recorded,
// reading back is an error, and so is a kernel that is not capture-safe (kModeCapture). The thread
// records on a stream of its own, which stands for its current one (Stream::stands_for).
// Functions that are recorded on any device are in compiled.h; device_replay.h makes graphs of them.
#pragma once

#include <vector>

#include "base/counted.h"
#include "tensor/device.h"
#include "tensor/storage.h"

namespace tenon {

struct DeviceGraph {
  const DeviceType* type;
  void* handle;
  std::vector<Ref<tn_storage>> workspaces;  // of its kernels
};

// On the current stream of the device, whose table must have the graph slots. One capture a thread.
[[nodiscard]] Status begin_capture(tn_device device);
[[nodiscard]] Status end_capture(DeviceGraph** graph);
// On the device's current stream of this thread.
[[nodiscard]] Status launch_graph(DeviceGraph* graph, tn_device device);
void destroy_graph(DeviceGraph* graph);

}  // namespace tenon
