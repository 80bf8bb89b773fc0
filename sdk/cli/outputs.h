// Files that a command writes, looked at before its work. Used by train, graph and bench.
#pragma once

#include <string>

#include "config.h"

namespace tenon::cli {

// What is written may not take the place of what is read. `option`: who writes the file.
void expect_other(const std::string& option, const std::string& file, const TrainingConfig& config);

// An Error where no file can be written there.
void expect_writable(const std::string& option, const std::string& file);

}  // namespace tenon::cli
