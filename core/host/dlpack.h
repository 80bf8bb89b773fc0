// DLPack 1.x in and out, without a copy (https://dmlc.github.io/dlpack/latest/c_api.html).
#pragma once

#include "tensor/tensor.h"

namespace tenon {

// A DLManagedTensorVersioned* over the tensor's memory, which it keeps alive. cpu only, until a
// backend states its DLPack device.
[[nodiscard]] Status export_dlpack(Tensor* t, bool writable, void** managed);
// Takes the managed tensor on success; one that is marked READ_ONLY is copied and let go at once.
// Its shape, strides and dtype are checked; memory of the host only.
[[nodiscard]] Status import_dlpack(void* managed, Tensor** tensor);

}  // namespace tenon
