// The end of plugins: in reverse order of loading, when nothing of them runs or lives. Used by the
// loader alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/staging.h"

namespace tenon {

struct LoadedPlugin {
  std::string id;
  std::filesystem::path file;
  std::filesystem::path identity;
  bool is_bundled;
  const Staging* staging;
  tn_plugin_shutdown_fn shutdown;  // may be NULL
  void* self;
};

// Waits for the plugins' devices and empties their caches. An error names the device whose tensors
// still live.
[[nodiscard]] Status check_nothing_lives(const std::vector<LoadedPlugin>& plugins);
// Closes what they brought, calls destroy slots and tenon_plugin_shutdown. Goes on after a failure,
// and gives the first.
[[nodiscard]] Status shut_down(const std::vector<LoadedPlugin>& plugins);

[[nodiscard]] Status call_shutdown(tn_plugin_shutdown_fn shutdown, void* self);

}  // namespace tenon
