// Layouts: the order in which the dimensions lie in memory. Sizes and strides only.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/tensor.h"

namespace tenon {

// The dimensions from the outermost to the innermost; equal strides as they stand, and a dimension of
// stride 0, as `expand` makes them, as it stands among any others: so PyTorch orders a result.
void dimension_order(const tn_tensor* t, int32_t* order);
// Strides of a tensor that is row-major in this order of its dimensions.
void strides_in_order(std::span<const int64_t> sizes, const int32_t* order, int64_t* strides);
// Row-major in some order: each element has one place, and between the first and the last there is
// no other.
bool is_dense(const tn_tensor* t);

}  // namespace tenon
