// batch_norm on channels-last images, for the kernels of norm_planes.cpp, which have read the call.
#pragma once

#include "ops/norm.h"

namespace tenon::cpu_backend {

// args of the call: _batch_norm's; x: its first one's elements, [rows, channels].
void batch_forward_last(const tn_call* call, const float* x, const float* weight, const float* bias,
                        double eps);
// Outputs of the call: gradients of x, weight and bias, each may be NULL.
void batch_backward_last(const tn_call* call, const tn_tensor& x_tensor, const float* g,
                         const float* x, const float* weight, const float* mean, const float* var,
                         double eps);

}  // namespace tenon::cpu_backend
