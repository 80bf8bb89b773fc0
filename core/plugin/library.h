// A plugin's shared library and its three symbols. The sole user of Boost.DLL.
#pragma once

#include <filesystem>

#include "base/status.h"

namespace tenon {

struct Library {
  const tn_manifest* manifest = nullptr;
  tn_plugin_init_fn init = nullptr;
  tn_plugin_shutdown_fn shutdown = nullptr;  // optional
};

// Loads by absolute path, bound at once, local; never unloaded, also after a failure: its code may
// have run. Errors are the dynamic loader's words, or name the symbol that is missing. Call under
// the loader's lock.
[[nodiscard]] Status open_library(const std::filesystem::path& file, Library* library);

}  // namespace tenon
