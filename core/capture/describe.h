// What a graph holds, for readers (capture/1's describe). The command reads these lines as well
// (sdk/cli/compiled_text.cpp).
#pragma once

#include <string>

#include "capture/graph.h"

namespace tenon {

// A line of counts, a few that begin with a name and a colon, and one for each step:
// "op | plugin kernel | operands -> results | notes". `arguments` are text already.
std::string described(const LaunchGraph& graph, const std::string& arguments);
// With what the line of a step begins: "add | cpu elementwise".
std::string step_name(const Step& step);

}  // namespace tenon
