// The commands of `tenon`, a file each.
#pragma once

#include "command.h"

namespace tenon::cli {

Command train_command();
Command eval_command();
Command generate_command();
Command plugins_command();
Command ops_command();
Command header_command();
Command devices_command();
Command explain_command();
Command summary_command();
Command graph_command();
Command bench_command();
Command check_command();

}  // namespace tenon::cli
