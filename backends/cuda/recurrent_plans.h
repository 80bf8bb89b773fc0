// What cuDNN was told of recurrent layers, and what it said of them, kept by shape, of the devices that
// are here.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "recurrent_descriptors.h"

namespace cuda {

struct RecurrentPlan {
  explicit RecurrentPlan(Recurrent layer) : of(std::move(layer)), d(of) {}

  const Recurrent of;
  const RecurrentDescriptors d;
  RecurrentDescriptors::Sizes inference, training;
  // Held while cuDNN is given the descriptors: it does not say that threads may share them.
  std::mutex mutex;
  // Where the weights lie; empty until the first call asks, which has memory for them. Written once, by
  // who holds the mutex.
  std::vector<WeightPiece> pieces;
};

// The plan of a layer on a device, of which `handle` is; made when it is first asked for. Those that were
// used last are kept, and one that is not any more lives as long as its holders. NULL: cuDNN does not take
// the layer, as `checks` say, and is asked again the next time. From any thread.
std::shared_ptr<RecurrentPlan> find_recurrent(int32_t index, cudnnHandle_t handle,
                                              const Recurrent& of, Checks* checks);

}  // namespace cuda
