// Distances that losses are made of.
#pragma once

#include "pack.h"

namespace tenon::ops_pack {

// The p-norm of a - b + eps along the last dimension; errors name the op.
Tensor distance_between(const char* op, const Tensor& a, const Tensor& b, double p, double eps,
                        bool keepdim);
// x, or `least` where that is more; the slope is 1 everywhere.
Tensor raised(const Tensor& x, double least);

}  // namespace tenon::ops_pack
