// Copies from within the plugin.
#pragma once

#include "tenon/abi.h"

namespace tenon::cpu_backend {

// y = x, of the same sizes, any strides and dtypes.
void run_copy(const tn_host* host, const tn_tensor& y, const tn_tensor& x);

}  // namespace tenon::cpu_backend
