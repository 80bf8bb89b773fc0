// Depthwise convolutions of row-major planes, one filter for each channel, whose windows move by one element.
#pragma once

#include <cstdint>

#include "tenon/abi.h"

namespace tenon::cpu_backend {

// x [batch, channels, size[0], size[1]], weight [channels, kernel[0], kernel[1]]; all float32. What has one
// dimension has a first one of size 1.
struct Depthwise {
  int64_t batch, channels;
  int64_t size[2] = {1, 1}, kernel[2] = {1, 1}, dilation[2] = {1, 1}, padding[2] = {};

  int64_t span(int d) const { return (kernel[d] - 1) * dilation[d]; }
  int64_t out(int d) const { return size[d] + 2 * padding[d] - span(d); }
  int64_t n_taps() const { return kernel[0] * kernel[1]; }
  // Is it faster than oneDNN's? For gradients of dilated or large windows that takes up to fifteen times as long.
  bool is_worth_it(bool backward) const;
};

// bias: [channels] or NULL.
void depthwise_y(const tn_call* call, const Depthwise& c, const float* x, const float* weight,
                 const float* bias, float* y);
void depthwise_dx(const tn_call* call, const Depthwise& c, const float* g, const float* weight,
                  float* dx);
void depthwise_dw(const tn_call* call, const Depthwise& c, const float* g, const float* x,
                  float* dw);

}  // namespace tenon::cpu_backend
