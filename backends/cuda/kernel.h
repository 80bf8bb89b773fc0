// The kernels, for plugin.cpp: a function each, which puts the work of a call on its stream. It runs
// with the context of the device.
#pragma once

#include "stream.h"

namespace cuda {

using Run = tn_status*(const tn_call* call, const Stream& stream);
Run elementwise, reduce, scan, matmul, copy, fill, iota, gather, scatter, sort, random_bits,
    nonzero;

}  // namespace cuda
