// --amp POLICY and --amp-dtype DTYPE: mixed precision by the command's line, instead of the file's. Used by
// train, eval, generate and explain.
#pragma once

#include <string>

#include "command.h"
#include "training.h"

namespace tenon::cli {

// `what` says what is done in it: "train".
void add_amp_options(boost::program_options::options_description& options, const std::string& what);
// What the line says; throws UsageError.
void read_amp(const Line& line, const std::string& command, Overrides* overrides);

}  // namespace tenon::cli
