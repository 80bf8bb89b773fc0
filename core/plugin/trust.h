// Who else may write what is loaded: a library that another user can replace runs with the rights
// of whoever loads it.
#pragma once

#include <filesystem>
#include <string>

#include "base/status.h"

namespace tenon {

// Why `path`, a file or a folder, may be written or replaced by every user of the machine, naming
// the file or folder that lets them; "" where none does. Folders above count too, unless only the
// owner of a file may rename it in them (/tmp). Nothing is said of what is not there.
std::string open_to_others(const std::filesystem::path& path);

// Warns of a path that is open to others, once; an error in a process that has more rights than its
// user.
[[nodiscard]] Status check_trust(const std::filesystem::path& path);

}  // namespace tenon
