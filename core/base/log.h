// The log: lines to stderr from a level on. TENON_LOG says the level (debug, info, warning, error,
// off); warning otherwise.
#pragma once

#include <cstdint>

#include "tenon/abi.h"

namespace tenon {

// 0 debug, 1 info, 2 warning, 3 error. Thread-safe; lines do not mix.
void log_line(int32_t level, const char* message);
// Logs an error that nobody is there to get, and frees it. True: there was none.
bool log_failure(tn_status* failed);

}  // namespace tenon
