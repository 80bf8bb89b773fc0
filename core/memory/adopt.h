// Host memory of somebody else as a tensor. For from_memory and DLPack.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace tenon {

// As adopt_host_memory of memory.h, with its tensor. Where memory is exhausted nothing was taken:
// `release` is not called.
Tensor* adopt_host_tensor(void* memory, uint64_t bytes, void (*release)(void*), void* context,
                          std::span<const int64_t> sizes, const int64_t* strides, tn_dtype dtype);

}  // namespace tenon
