// What the kernels of pools share: their calls read.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/images.h"
#include "vector/table.h"

namespace tenon::cpu_backend {

// A call's planes: [h, w], with h = 1 for one dimension.
struct PoolPlanes {
  PoolAxis axes[2];
  int64_t planes = 0;  // samples times channels
  int64_t x_plane() const { return axes[0].size * axes[1].size; }
  int64_t y_plane() const { return axes[0].out * axes[1].out; }
};

// The elements [begin, end) of an average's window along one dimension, and what each counts.
struct PoolShare {
  int64_t begin, end;
  float factor;
};
struct PoolShares {
  std::vector<PoolShare> h, w;
};

// Channels-last images (pool_last.cpp): x and dx are [n, h, w, channels], y, g and places
// [n, out.., channels]. places: of each maximum in its plane, or -1.
void max_forward_last(const tn_call* call, const PoolPlanes& p, int64_t channels, const float* x,
                      float* y, int32_t* places);
void max_backward_last(const tn_call* call, const PoolPlanes& p, int64_t channels, const float* g,
                       const int32_t* places, float* dx);
void average_forward_last(const tn_call* call, const PoolPlanes& p, const PoolShares& shares,
                          int64_t channels, const float* x, float* y);
void average_backward_last(const tn_call* call, const PoolPlanes& p, const PoolShares& shares,
                           int64_t channels, const float* g, float* dx);

}  // namespace tenon::cpu_backend
