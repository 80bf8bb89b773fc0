// Slots of the call path for what lies above it. `wire()` in host/host.cpp fills them at the first
// tenon_host, before any call.
#pragma once

#include <span>

#include "base/status.h"
#include "registry/registry.h"

namespace tenon {

struct Tensor;

struct Handlers {
  // Called when an argument needs a gradient and grad mode is on (autograd/record.h).
  Status (*autograd_op)(const Op*, std::span<const tn_value> args,
                        std::span<tn_value> results) = nullptr;
  // Called when autocast is on; goes on by call_below_autocast (amp/autocast.h).
  Status (*autocast)(const Op*, std::span<const tn_value> args,
                     std::span<tn_value> results) = nullptr;
  // The outputs' metas of an op that states no inference: its meaning runs on meta tensors
  // (call/tracing.h).
  Status (*trace)(const Op*, std::span<const tn_value> args, std::span<tn_meta> metas) = nullptr;
  // What a launch needs for a kernel that does not take a tensor's layout: a row-major copy, and
  // the way back (primitive/convert.h).
  Status (*contiguous)(Tensor* x, Tensor** result) = nullptr;
  Status (*copy_into)(Tensor* dst, Tensor* src) = nullptr;
};
extern Handlers handlers;

}  // namespace tenon
