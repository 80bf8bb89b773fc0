// Where plugins are looked for: TENON_PLUGIN_PATH, then the install's folder. Never the working
// directory.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace tenon {

struct SearchFolder {
  std::filesystem::path folder;
  std::string ignored;       // why it is not searched; "": it is
  bool is_installs = false;  // of the install, whose plugins are the bundled ones
};

// In order. Entries of TENON_PLUGIN_PATH that are not absolute are ignored, all of it in a
// privileged process.
std::vector<SearchFolder> search_folders();

// The files lib*.so in the folder, by name; none where it cannot be read, as `failed` says.
std::vector<std::filesystem::path> libraries_in(const std::filesystem::path& folder,
                                                std::error_code* failed);

}  // namespace tenon
