// What a stream records between capture_begin and capture_end, which is launched as one.
#pragma once

#include <mutex>

#include "stream.h"

namespace cuda {

struct Graph {
  explicit Graph(int32_t device) : index(device) {}

  const int32_t index;
  CUgraphExec handle = nullptr;
  PlacePtr place;        // of its kernels, on whatever stream it runs
  std::mutex launching;  // what the driver made may be launched by one thread at a time
};

void add_graph_slots(tn_device_def* def);

}  // namespace cuda
