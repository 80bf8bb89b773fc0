// Moving values: between devices and dtypes, into existing tensors, to and from host memory. Below
// autograd: nothing here is recorded. The recorded forms are `prim::convert` (autograd/prim.h) and
// `copy_recorded` (autograd/inplace.h).
#pragma once

#include "tensor/tensor.h"

namespace tenon {

// A new row-major tensor with the values of x, or x itself, retained, when it is row-major already.
[[nodiscard]] Status contiguous(Tensor* x, Tensor** result);
// Values of src into dst: sizes broadcast, devices and dtypes may differ, any strides. Bumps dst's
// version.
[[nodiscard]] Status copy_into(Tensor* dst, Tensor* src);
// A new row-major tensor; dtype TN_DTYPE_NONE keeps.
[[nodiscard]] Status copy_to(Tensor* x, tn_device device, tn_dtype dtype, Tensor** result);
// A new tensor with the dimensions in the order in which they lie in x, where x is dense: so images
// stay channels-last. Row-major otherwise.
[[nodiscard]] Status copy_in_order(Tensor* x, tn_device device, tn_dtype dtype, Tensor** result);
[[nodiscard]] Status fill(Tensor* x, const tn_value& number);
// Row-major values to host memory and back; waits for the device.
[[nodiscard]] Status read_values(Tensor* x, void* memory, uint64_t bytes);
[[nodiscard]] Status write_values(Tensor* x, const void* memory, uint64_t bytes);
// The value of a 0-dimensional cpu tensor as a number.
tn_value read_scalar(const tn_tensor* t);

}  // namespace tenon
