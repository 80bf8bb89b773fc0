// Elementwise launches from within the plugin.
#pragma once

#include "tenon/abi.h"

namespace tenon::cpu_backend {

void run_loop(const tn_host* host, const tn_loop& loop);

}  // namespace tenon::cpu_backend
