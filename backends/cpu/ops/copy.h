// Copies from within the plugin.
#pragma once

#include "tenon/abi.h"

namespace tenon::cpu {

// y = x, of the same sizes, any strides and dtypes.
tn_status* run_copy(const tn_host* host, const tn_tensor& y, const tn_tensor& x);

}  // namespace tenon::cpu
