// The check of a library's ELF headers before it is loaded: a truncated library would otherwise
// kill the process with SIGBUS when the loader touches what is not there.
#pragma once

#include <filesystem>

#include "base/status.h"

namespace tenon {

// A shared library for this machine, whose segments and section headers end within the file. Reads
// headers, maps nothing.
[[nodiscard]] Status check_elf(const std::filesystem::path& file);

}  // namespace tenon
