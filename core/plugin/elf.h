// The check of a library before it is loaded: a truncated or damaged one would otherwise kill the
// process when the dynamic loader touches what is not there.
#pragma once

#include <filesystem>

#include "base/status.h"

namespace tenon {

// A shared library for this machine, whose segments and section headers end within the file, and
// whose symbols, versions and relocations lie in what is mapped. Reads, maps nothing.
[[nodiscard]] Status check_elf(const std::filesystem::path& file);

}  // namespace tenon
