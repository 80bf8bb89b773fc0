// Which dtypes a plugin's device has. A backend may leave some out; a tensor of one of these could
// be put there, but no op would take it, so moves to there and `empty` refuse it.
#pragma once

#include "base/status.h"
#include "tenon/abi.h"

namespace tenon {

// An error where the device has kernels and none of them takes the dtype. What it has is found out
// once, from its kernels.
[[nodiscard]] Status check_has_dtype(tn_device device, tn_dtype dtype);

}  // namespace tenon
