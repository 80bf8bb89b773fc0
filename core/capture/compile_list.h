// Hands the list of a recorded function to the compilers that plugins brought, which replace calls.
#pragma once

#include "capture/graph.h"

namespace tenon {

// Before memory is planned: storages are names while compilers look.
[[nodiscard]] Status run_compilers(LaunchGraph* graph, bool is_exact);

}  // namespace tenon
