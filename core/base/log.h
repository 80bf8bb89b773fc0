// The log: lines to stderr from a level on. TENON_LOG says the level (debug, info, warning, error, off); warning otherwise.
#pragma once

#include <cstdint>

namespace tenon {

// 0 debug, 1 info, 2 warning, 3 error. Thread-safe; lines do not mix.
void log_line(int32_t level, const char* message);

}  // namespace tenon
