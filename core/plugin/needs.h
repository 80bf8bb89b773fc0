// What a manifest says that a plugin needs from the machine: CPU features and native libraries.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace tenon {

// "avx2", "avx512f", "fma" ...: this CPU must have each. Unknown names are refused.
[[nodiscard]] Status check_cpu_features(const std::vector<std::string>& features);
// Sonames that the dynamic loader must find. What it finds stays loaded.
[[nodiscard]] Status check_libraries(const std::vector<std::string>& libraries);

}  // namespace tenon
