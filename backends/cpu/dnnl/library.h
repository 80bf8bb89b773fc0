// The plugin's way to oneDNN: the table of cpu/libtenon_cpu_dnnl.so, which is opened when it is
// first asked for.
#pragma once

#include "dnnl/adapter.h"
#include "tenon/abi.h"

namespace tenon::cpu_backend {

// NULL, said once in the log, where oneDNN is not there; TENON_CPU_DNNL=0 does without.
const tenon_cpu_dnnl* dnnl_library(const tn_host* host);

// The plugin's threads as the adapter takes them.
tenon_cpu_dnnl_threads dnnl_threads(const tn_host* host);

}  // namespace tenon::cpu_backend
