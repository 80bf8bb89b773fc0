// What a stream records between capture_begin and capture_end, which is launched as one.
#pragma once

#include "stream.h"

namespace cuda {

struct Graph {
  int32_t index;
  CUgraphExec handle;
  PlacePtr place;  // of its kernels, on whatever stream it runs
};

void add_graph_slots(tn_device_def* def);

}  // namespace cuda
