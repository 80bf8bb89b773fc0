// The compilers of recorded functions that plugins brought (capture/compile_list.h runs them).
#pragma once

#include <string>
#include <vector>

#include "tenon/abi.h"

namespace tenon {

struct Compiler {
  tn_compiler_def def;
  std::string name, device, plugin;
};

// Thread-safe. During the commit of a plugin; at shutdown, after which there are none.
void add_compiler(const Compiler& compiler);
void reset_compilers();
// In the order of loading.
std::vector<Compiler> all_compilers();

}  // namespace tenon
