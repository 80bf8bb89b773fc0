// The manifest file beside a plugin's library (lib<x>.so, lib<x>.json), made by tenon_add_plugin:
// read and checked before anything of the library is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tenon {

struct Manifest {
  std::string id;           // lower case letters, digits, '_': the prefix of its ops
  std::string version;      // of the plugin
  std::string description;  // may be empty
  std::string library;      // the file's name
  uint32_t abi_min = 0, abi_max = 0;
  std::vector<std::string> needs_plugins;    // ids
  std::vector<std::string> needs_libraries;  // sonames
  std::vector<std::string> needs_cpu;        // "avx2"
};

// Lower case letters, digits and '_', a letter first.
bool is_plugin_id(std::string_view text);

// Reads the manifest of the library. Errors name the manifest file and the field.
[[nodiscard]] Status read_manifest(const std::filesystem::path& library, Manifest* manifest);

std::string abi_text(uint32_t min, uint32_t max);  // "0.2", "1.0 to 1.4"
// Does a plugin built for this range fit the host? Before 1.0 versions match exactly.
[[nodiscard]] Status check_abi(uint32_t min, uint32_t max);

}  // namespace tenon
